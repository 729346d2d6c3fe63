"""Part of every job: when a timestamp closes. What the inputs promise are punctuations on the timestamp.

An input is a stream, or one of its partitions. It promises that no more rows come before the largest timestamp it has
brought less the declared lateness, before the largest of any input less `idle_after`, and whatever its punctuation
records say. A stream promises what all its partitions do, all streams together what each of them does (union); the
timestamps that this ends without a gap from the first one on are closed (sort).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from streambound.punctuation.coverage import first_gap
from streambound.punctuation.match import Punctuation
from streambound.punctuation.pattern import FIRST, LAST, Range, Wildcard
from streambound.punctuation.sort import sort_propagation
from streambound.punctuation.union import union_propagation
from streambound.synopsis_exec.job.given import STREAMS, TIME_TYPE
from streambound.synopsis_exec.job.output import json_value
from streambound.synopsis_exec.job.reasons import reason_text

if TYPE_CHECKING:
    from pyspark.sql import Column

END = 2**63
"""Beyond every timestamp."""


class Heard(NamedTuple):
    """What an input has brought: its largest timestamp, and which times its punctuations have ended.

    ``stalled`` is for how many batches the gap has stayed before which it has ended all.
    """

    largest: int | None = None
    ended: tuple[tuple[int | None, int], ...] = ()
    """From when on (None: from the first timestamp on), and before when; in order and apart from each other."""
    stalled: int = 0


class Closing:
    """Which timestamps are closed, by what the inputs have promised up to now."""

    def __init__(self, state: list[list[Any]] | None = None) -> None:
        self.inputs = [(number, part) for number, source in enumerate(STREAMS) for part in range(len(source.parts))]
        self.heard = dict.fromkeys(self.inputs, Heard())
        for number, part, largest, ended, stalled in state or ():
            self.heard[number, part] = Heard(largest, tuple((low, end) for low, end in ended), stalled)
        self.over = False

    def dump(self) -> list[list[Any]]:
        """What has been promised, as JSON can hold it."""
        return [[*key, *heard] for key, heard in self.heard.items()]

    # --- batches ----------------------------------------------------------------------------------------------------

    def late(self) -> str:
        """Whether a row of the next batch is late, in Spark SQL over `source` and `ts`.

        Spark compiles a batch anew where a number in its text changes, but not for other values of an array.
        """
        complete = self.complete()
        if complete is None:
            return "FALSE"
        if complete == END:
            return "ts IS NOT NULL"
        return f"coalesce(ts < get(array({', '.join(f'{complete}L' for _ in STREAMS)}), source), FALSE)"

    def late_reason(self, number: int, part: int, ts: int) -> str:
        """Which promise of its input a late row breaks."""
        source, heard = STREAMS[number], self.heard[number, part]
        if heard.largest is not None and source.lateness is not None and ts < heard.largest - source.lateness:
            return reason_text("beyond-lateness" if source.lateness else "late")
        if any((low is None or low <= ts) and ts < end for low, end in heard.ended):
            return reason_text("after-punctuation")
        return reason_text("after-idle")

    def observed(self) -> list[Column]:
        """What to observe of a batch with the columns `source`, `part`, `ts` and `mark`; also how many rows it has."""
        from pyspark.sql import functions as F

        found = [F.expr(f"count(CASE WHEN source = {n} THEN 1 END)").alias(f"rows_{n}") for n in range(len(STREAMS))]
        for number, part in self.inputs:
            mine = f"CASE WHEN source = {number} AND part = {part}"
            found.append(F.expr(f"max({mine} THEN ts END)").alias(f"largest_{number}_{part}"))
            if STREAMS[number].mark != "FALSE":
                found.append(F.expr(f"collect_set({mine} THEN mark END)").alias(f"marks_{number}_{part}"))
        return found

    def take(self, observed: dict[str, Any]) -> None:
        """Take in what a batch brought. All its rows count as before all its punctuations, however they are mixed."""
        before = {key: beginning(self.promised_by(*key)) for key in self.inputs}
        for number, part in self.inputs:
            largest, marks = observed[f"largest_{number}_{part}"], observed.get(f"marks_{number}_{part}") or ()
            heard = self.heard[number, part]
            self.heard[number, part] = heard._replace(
                largest=max((ts for ts in (largest, heard.largest) if ts is not None), default=None),
                ended=joined([*heard.ended, *((low, high + 1) for low, high in marks)]),
            )
        for key, heard in self.heard.items():
            advanced = beginning(self.promised_by(*key)) != before[key]
            self.heard[key] = heard._replace(stalled=0 if advanced else heard.stalled + 1)

    def end(self) -> None:
        """The input is over: nothing more will come."""
        self.over = True

    # --- promises ---------------------------------------------------------------------------------------------------

    def complete(self) -> int | None:
        """The timestamp before which all are closed; None while nothing is."""
        streams = (self.promised_by_stream(number) for number in range(len(STREAMS)))
        return beginning(union_propagation(*streams))

    def promised_by_stream(self, number: int) -> tuple[Punctuation, ...]:
        """The punctuations of a stream: what all its partitions promise."""
        return union_propagation(*(self.promised_by(number, part) for part in range(len(STREAMS[number].parts))))

    def promised_by(self, number: int, part: int) -> tuple[Punctuation, ...]:
        """The punctuations of an input."""
        if self.over:
            return ((Wildcard(),),)
        source, heard = STREAMS[number], self.heard[number, part]
        newest = max((h.largest for h in self.heard.values() if h.largest is not None), default=None)
        ended = list(heard.ended)
        if heard.largest is not None and source.lateness is not None:
            ended.append((None, heard.largest - source.lateness))
        if newest is not None and source.idle_after is not None:
            ended.append((None, newest - source.idle_after))
        return tuple((Range(low, end, open_high=True),) for low, end in joined(ended))

    def waits_for(self) -> dict[str, str]:
        """The inputs that have not advanced in the last batch, and hold back what all others have ended."""
        least = self.complete()
        found = {}
        for (number, part), heard in self.heard.items():
            until = beginning(self.promised_by(number, part))
            if heard.stalled and until == least:
                source = STREAMS[number]
                name = source.name + (f", partition {source.parts[part]}" if source.parts[1:] else "")
                what = "promises nothing yet" if until is None else f"promises nothing from {moment(until)} on"
                found[name] = f"{what}, for {heard.stalled} batch{'es' if heard.stalled > 1 else ''}"
        return found


def beginning(punctuations: tuple[Punctuation, ...]) -> int | None:
    """The timestamp before which these leave no gap; None when they do not begin with the first."""
    gap = first_gap(0, sort_propagation(0, punctuations))
    if gap == FIRST:
        return None
    return END if gap == LAST else int(gap[1])


def joined(ended: list[tuple[int | None, int]]) -> tuple[tuple[int | None, int], ...]:
    """The same times as intervals in order that do not touch."""
    found: list[tuple[int | None, int]] = []
    for low, end in sorted(ended, key=lambda pair: (pair[0] is not None, pair[0] or 0)):
        if found and (low is None or low <= found[-1][1]):
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif low is None or low < end:
            found.append((low, end))
    return tuple(found)


def moment(timestamp: int) -> str:
    """A timestamp as the output shows it."""
    return json_value(timestamp, TIME_TYPE).strip('"')
