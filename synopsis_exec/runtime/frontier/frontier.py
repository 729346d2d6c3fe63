"""When a timestamp closes: what the inputs have promised up to now.

An input is a stream, or one of its partitions. It promises that no more rows come before the largest timestamp it has
brought less the declared lateness, before the largest of any input less ``idle_after``, and whatever its punctuation
records say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from streambound_runtime.frontier.intervals import END, Ended, Interval, closed, in_all, joined
from streambound_runtime.spec import Stream

Input = tuple[int, int]
"""A stream's number, and its partition's."""


SavedInput = tuple[int, int, int | None, Sequence[tuple[int | None, int]], int]
"""An input with what it has brought, as JSON can hold it."""


class Brought(NamedTuple):
    """The news of some rows of an input: their largest timestamp, and the times that punctuations have ended."""

    input: Input
    largest: int | None = None
    marks: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class InputState:
    """The state of an input: its largest timestamp and the times that it has ended.

    For ``stalled`` batches it has ended nothing new.
    """

    largest: int | None = None
    ended: Ended = ()
    stalled: int = 0


class Frontier:
    """Which timestamps are closed. ``over`` says that the input has ended: nothing more will come."""

    def __init__(self, streams: Sequence[Stream], state: Sequence[SavedInput] = ()) -> None:
        self.streams = streams
        inputs = [(number, part) for number, stream in enumerate(streams) for part in range(parts_of(stream))]
        self.inputs: dict[Input, InputState] = dict.fromkeys(inputs, InputState())
        for number, part, largest, ended, stalled in state:
            self.inputs[number, part] = InputState(largest, tuple((low, end) for low, end in ended), stalled)
        self.over = False

    def dump(self) -> list[SavedInput]:
        """The promises so far, as JSON."""
        return [(*key, state.largest, state.ended, state.stalled) for key, state in self.inputs.items()]

    def take(self, brought: Iterable[Brought]) -> None:
        """Take in what a batch brought. All its rows count as before all its punctuations, however they are mixed."""
        before = {key: closed(self.promised_by(key)) for key in self.inputs}
        ended = {key: [*state.ended] for key, state in self.inputs.items()}
        for key, newest, marks in brought:
            largest = max((ts for ts in (newest, self.inputs[key].largest) if ts is not None), default=None)
            self.inputs[key] = replace(self.inputs[key], largest=largest)
            ended[key] += marks
        for key, state in self.inputs.items():
            self.inputs[key] = state = replace(state, ended=joined(ended[key]))
            advanced = closed(self.promised_by(key)) != before[key]
            self.inputs[key] = replace(state, stalled=0 if advanced else state.stalled + 1)

    def complete(self) -> int | None:
        """The timestamp before which all are closed; None while none is."""
        if self.over:
            return END
        return closed(in_all(self.promised_by(key) for key in self.inputs))

    def promised_by(self, key: Input) -> Ended:
        """The times that an input has ended."""
        arrival, state = self.streams[key[0]].arrival, self.inputs[key]
        newest = max((each.largest for each in self.inputs.values() if each.largest is not None), default=None)
        ended = list(state.ended)
        if state.largest is not None and arrival.lateness is not None:
            ended.append((None, state.largest - arrival.lateness))
        if newest is not None and arrival.idle_after is not None:
            ended.append((None, newest - arrival.idle_after))
        return joined(ended)

    def late(self, key: Input, ts: int) -> str:
        """Which promise of its input a late row breaks: a code of `decoding.reasons`."""
        arrival, state = self.streams[key[0]].arrival, self.inputs[key]
        if state.largest is not None and arrival.lateness is not None and ts < state.largest - arrival.lateness:
            return "beyond-lateness" if arrival.lateness else "late"
        if any((low is None or low <= ts) and ts < end for low, end in state.ended):
            return "after-punctuation"
        return "after-idle"

    def waits_for(self, written: Callable[[int], str] = str) -> dict[str, str]:
        """The inputs that have not advanced in the last batch, and hold back what all others have ended.

        ``written`` is how a timestamp is shown.
        """
        least, found = self.complete(), {}
        for (number, part), state in self.inputs.items():
            until = closed(self.promised_by((number, part)))
            if state.stalled and until == least:
                stream = self.streams[number]
                partitions = stream.arrival.partitions
                beside = f", partition {partitions.values[part]}" if partitions and partitions.values[1:] else ""
                what = "promises nothing yet" if until is None else f"promises nothing from {written(until)} on"
                found[stream.name + beside] = f"{what}, for {state.stalled} batch{'es' if state.stalled > 1 else ''}"
        return found


def parts_of(stream: Stream) -> int:
    """How many partitions a stream has."""
    return len(stream.arrival.partitions.values) if stream.arrival.partitions else 1
