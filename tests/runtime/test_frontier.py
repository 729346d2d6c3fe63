"""When timestamps close: against a model that asks, timestamp by timestamp, whether each input has ended it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.frontier.frontier import Brought, Frontier, Input, parts_of
from streambound_runtime.frontier.intervals import END, closed, in_all, joined
from streambound_runtime.promises import Arrival, Mark, Partitions
from streambound_runtime.spec import Stream, TableColumn
from support.profiles import examples

LAST = 12
MARK = Mark("kind", value="end")
INTERVALS = st.lists(
    st.tuples(st.none() | st.integers(0, LAST), st.integers(0, LAST)).filter(lambda i: i[0] is None or i[0] < i[1]),
    max_size=4,
)
ARRIVALS = st.builds(
    Arrival,
    st.none() | st.integers(0, 3),
    st.none() | st.integers(0, 6),
    st.sampled_from([None, MARK]),
    st.sampled_from([None, Partitions("shard", (0, 1)), Partitions("shard", (4, 5, 6))]),
)


def stream(name: str, arrival: Arrival) -> Stream:
    return Stream(name, (TableColumn("ts", "bigint"),), "ts", (), arrival=arrival)


def times(intervals: object) -> set[int]:
    return {t for t in range(LAST + 1) for low, end in intervals if (low is None or low <= t) and t < end}  # type: ignore[attr-defined]


@examples(100)
@given(INTERVALS, INTERVALS)
def test_intervals_are_sets_of_times(one: list[tuple[int | None, int]], other: list[tuple[int | None, int]]) -> None:
    assert times(joined(one)) == times(one)
    assert times(in_all([joined(one), joined(other)])) == times(one) & times(other)
    ends = [end for _, end in joined(one)]
    assert ends == sorted(ends) and all(low != end for (_, end), (low, _) in pairwise(joined(one)))
    first = closed(joined(one))
    begins = any(low is None for low, _ in one)
    assert (first is not None) == begins
    if first is not None:
        assert times(one) >= set(range(min(first, LAST + 1))) and first not in times(one)


@dataclass
class Model:
    """What each input has brought, and the definition."""

    streams: list[Stream]
    largest: dict[Input, int] = field(default_factory=dict)
    marks: dict[Input, list[tuple[int | None, int]]] = field(default_factory=dict)

    def ended(self, key: Input, t: int) -> bool:
        arrival = self.streams[key[0]].arrival
        newest = max(self.largest.values(), default=None)
        by_order = key in self.largest and arrival.lateness is not None and t < self.largest[key] - arrival.lateness
        by_idle = newest is not None and arrival.idle_after is not None and t < newest - arrival.idle_after
        return by_order or by_idle or t in times(self.marks.get(key, []))

    def broken(self, key: Input, t: int, reason: str) -> bool:
        """Whether a reason is the first promise of its input that a row at a timestamp breaks."""
        arrival = self.streams[key[0]].arrival
        by_order = key in self.largest and arrival.lateness is not None and t < self.largest[key] - arrival.lateness
        if by_order:
            return reason == ("beyond-lateness" if arrival.lateness else "late")
        return reason == ("after-punctuation" if t in times(self.marks.get(key, [])) else "after-idle")

    def closed(self) -> list[int]:
        """The timestamps from the first one on that every input has ended."""
        found: list[int] = []
        inputs = [(n, p) for n, s in enumerate(self.streams) for p in range(parts_of(s))]
        while len(found) <= LAST and all(self.ended(key, len(found)) for key in inputs):
            found.append(len(found))
        return found


@examples(100)
@given(st.lists(ARRIVALS, min_size=1, max_size=3), st.data())
def test_a_timestamp_closes_when_every_input_has_ended_it(arrivals: list[Arrival], data: st.DataObject) -> None:
    streams = [stream(f"S{n}", arrival) for n, arrival in enumerate(arrivals)]
    model, frontier = Model(streams), Frontier(streams)
    for _ in range(data.draw(st.integers(1, 5))):
        brought = []
        for key in frontier.inputs:
            largest = data.draw(st.none() | st.integers(0, LAST))
            drawn = data.draw(INTERVALS) if streams[key[0]].arrival.mark else []
            marks = [(low or None, end) for low, end in drawn]  # as the decoder gives them: time starts at 0
            brought.append(Brought(key, largest, tuple(marks)))
            if largest is not None:
                model.largest[key] = max(largest, model.largest.get(key, largest))
            model.marks.setdefault(key, []).extend(marks)
        frontier.take(brought)
        complete = frontier.complete()
        assert list(range(min(complete or 0, LAST + 1))) == model.closed()
        again = Frontier(streams, frontier.dump())
        assert (again.inputs, again.complete()) == (frontier.inputs, complete)
        for t in range(LAST + 1):
            if complete is not None and t < complete:
                assert all(model.broken(key, t, frontier.late(key, t)) for key in frontier.inputs)
    frontier.over = True
    assert frontier.complete() == END


def test_who_is_waited_for() -> None:
    streams = [stream("S", Arrival()), stream("T", Arrival(partitions=Partitions("shard", (0, 1))))]
    frontier = Frontier(streams)
    frontier.take([Brought((0, 0), 5), Brought((1, 0), 7), Brought((1, 1), 2)])
    assert frontier.complete() == 2
    assert frontier.waits_for() == {}
    frontier.take([Brought((0, 0), 9), Brought((1, 0), 9), Brought((1, 0), 8)])
    assert frontier.waits_for() == {"T, partition 1": "promises nothing from 2 on, for 1 batch"}
    frontier.take([Brought((0, 0), 10), Brought((1, 0), 10)])
    assert frontier.waits_for(lambda t: f"t{t}") == {"T, partition 1": "promises nothing from t2 on, for 2 batches"}


def test_a_late_row_is_told_which_promise_it_breaks() -> None:
    streams = [stream("S", Arrival(2, 9, MARK)), stream("T", Arrival())]
    frontier = Frontier(streams)
    frontier.take([Brought((0, 0), 10, ((None, 4),)), Brought((0, 0), None, ((9, 11),)), Brought((1, 0), 30)])
    assert frontier.late((0, 0), 7) == "beyond-lateness"
    assert frontier.late((0, 0), 9) == "after-punctuation"
    assert frontier.late((0, 0), 8) == "after-idle"
    assert frontier.late((1, 0), 29) == "late"
