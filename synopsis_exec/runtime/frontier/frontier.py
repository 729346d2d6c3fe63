"""When a timestamp closes: what the inputs have promised up to now.

An input is a stream, or one of its partitions. It promises that no more rows come before the largest timestamp it has
brought less the declared lateness, before the largest of any input less ``idle_after``, and whatever its punctuation
records say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streambound_runtime.frontier.intervals import END, Ended, Interval, closed, in_all, joined
from streambound_runtime.spec import Stream

Input = tuple[int, int]
"""A stream's number, and its partition's."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What an input has brought in a batch: its largest timestamp, and which times its punctuations have ended."""

    largest: int | None = None
    marks: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What an input has brought so far; ``stalled`` is for how many batches it has ended nothing new."""

    largest: int | None = None
    ended: Ended = ()
    stalled: int = 0


class Frontier:
    """Which timestamps are closed. ``over`` says that the input has ended: nothing more will come."""

    def __init__(self, streams: Sequence[Stream], state: Sequence[Sequence[Any]] = ()) -> None:
        self.streams = streams
        inputs = [(number, part) for number, stream in enumerate(streams) for part in range(parts_of(stream))]
        self.heard: dict[Input, Heard] = dict.fromkeys(inputs, Heard())
        for number, part, largest, ended, stalled in state:
            self.heard[number, part] = Heard(largest, tuple((low, end) for low, end in ended), stalled)
        self.over = False

    def dump(self) -> list[list[Any]]:
        """What has been promised, as JSON can hold it."""
        return [[*key, heard.largest, heard.ended, heard.stalled] for key, heard in self.heard.items()]

    def take(self, brought: Mapping[Input, Brought]) -> None:
        """Take in what a batch brought. All its rows count as before all its punctuations, however they are mixed."""
        before = {key: closed(self.promised_by(key)) for key in self.heard}
        for key, new in brought.items():
            heard = self.heard[key]
            largest = max((ts for ts in (new.largest, heard.largest) if ts is not None), default=None)
            self.heard[key] = replace(heard, largest=largest, ended=joined((*heard.ended, *new.marks)))
        for key, heard in self.heard.items():
            advanced = closed(self.promised_by(key)) != before[key]
            self.heard[key] = replace(heard, stalled=0 if advanced else heard.stalled + 1)

    def complete(self) -> int | None:
        """The timestamp before which all are closed; None while none is."""
        if self.over:
            return END
        return closed(in_all(self.promised_by(key) for key in self.heard))

    def promised_by(self, key: Input) -> Ended:
        """The times that an input has ended."""
        arrival, heard = self.streams[key[0]].arrival, self.heard[key]
        newest = max((each.largest for each in self.heard.values() if each.largest is not None), default=None)
        ended = list(heard.ended)
        if heard.largest is not None and arrival.lateness is not None:
            ended.append((None, heard.largest - arrival.lateness))
        if newest is not None and arrival.idle_after is not None:
            ended.append((None, newest - arrival.idle_after))
        return joined(ended)

    def late(self, key: Input, ts: int) -> str:
        """Which promise of its input a late row breaks: a code of `decoding.reasons`."""
        arrival, heard = self.streams[key[0]].arrival, self.heard[key]
        if heard.largest is not None and arrival.lateness is not None and ts < heard.largest - arrival.lateness:
            return "beyond-lateness" if arrival.lateness else "late"
        if any((low is None or low <= ts) and ts < end for low, end in heard.ended):
            return "after-punctuation"
        return "after-idle"

    def waits_for(self, written: Callable[[int], str] = str) -> dict[str, str]:
        """The inputs that have not advanced in the last batch, and hold back what all others have ended.

        ``written`` is how a timestamp is shown.
        """
        least, found = self.complete(), {}
        for (number, part), heard in self.heard.items():
            until = closed(self.promised_by((number, part)))
            if heard.stalled and until == least:
                stream = self.streams[number]
                partitions = stream.arrival.partitions
                beside = f", partition {partitions.values[part]}" if partitions and partitions.values[1:] else ""
                what = "promises nothing yet" if until is None else f"promises nothing from {written(until)} on"
                found[stream.name + beside] = f"{what}, for {heard.stalled} batch{'es' if heard.stalled > 1 else ''}"
        return found


def parts_of(stream: Stream) -> int:
    """How many partitions a stream has."""
    return len(stream.arrival.partitions.values) if stream.arrival.partitions else 1
