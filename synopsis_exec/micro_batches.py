"""Recorded streams cut into random micro-batches: other boundaries and another order, the same meaning.

Each stream is put in an order that the catalog allows (`arriving`) and cut at random places of its own, so that the
streams are at different times within a batch; and within a batch its rows come in any order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

from streambound.synopsis_exec.plan_ir import Input, JobPlan
from streambound.synopsis_exec.recorded import input_files, lines_of, read_rows
from streambound.synopsis_exec.recorded_streams import write_part

Lines = dict[str, list[bytes]]
"""Lines of JSON by stream and relation, as they were recorded."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Recorded rows: the streams in order of time, one with punctuations as it was recorded; and the relations."""

    streams: Lines
    relations: Lines

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(len(lines) for part in (self.streams, self.relations) for lines in part.values())


def recorded(plan: JobPlan, folder: Path) -> Rows:
    """The rows of a directory, as `run --input` takes it. Raises InputError for a file that cannot be read."""
    lines = {
        item.name: [row for file in input_files(item.name, folder) for row in lines_of(file)] for item in plan.inputs
    }
    streams = {item.name: in_order(item, lines[item.name]) for item in plan.streams}
    return Rows(streams, {item.name: lines[item.name] for item in plan.relations})


def in_order(stream: Input, lines: Sequence[bytes]) -> list[bytes]:
    """Lines in order of time; one that cannot be used stays behind the line before it.

    A stream with punctuations stays as it is: what they end depends on which rows come before them.
    """
    if stream.arrival.mark is not None:
        return list(lines)
    stamped, now = [], 0
    for line, row in zip(lines, read_rows(stream, lines), strict=True):
        now = row[str(stream.timestamp)] if isinstance(row, dict) else now
        stamped.append((now, line))
    return [line for _, line in sorted(stamped, key=lambda pair: pair[0])]


def cut(random: Random, streams: Sequence[Input], lines: Mapping[str, Sequence[bytes]], most: int) -> BatchedLines:
    """The lines of each stream in up to ``most`` micro-batches, shuffled within each."""
    batches = {
        s.name: _in_batches(random, arriving(random, s, lines[s.name]), random.randint(1, most)) for s in streams
    }
    return not_idle(streams, batches)


def _in_batches(random: Random, lines: Sequence[bytes], number: int) -> list[list[bytes]]:
    places = [0, *sorted(random.randint(0, len(lines)) for _ in range(number - 1)), len(lines)]
    batches = [list(lines[start:end]) for start, end in pairwise(places)]
    for batch in batches:
        random.shuffle(batch)
    return batches


def write_batches(
    folder: Path, relations: Mapping[str, Sequence[bytes]], batches: Mapping[str, Sequence[list[bytes]]]
) -> int:
    """A directory that a job reads batch by batch; returns the number of micro-batches."""
    for name, mine in {**{name: [lines] for name, lines in relations.items()}, **batches}.items():
        for number, lines in enumerate(mine):
            write_part(folder, name, number, [_text(line) for line in lines])
    return max((len(mine) for mine in batches.values()), default=0)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape") + "\n"


BatchedLines = dict[str, list[list[bytes]]]
"""The lines of each stream by micro-batch."""


def arriving(random: Random, stream: Input, lines: Sequence[bytes]) -> list[bytes]:
    """A stream's lines in an order that its ``order``, ``lateness``, ``punctuation`` and ``partitions`` allow.

    A row comes up to the lateness after its timestamp, at any time where there is no order; one partition may be far
    behind another; no row passes a punctuation. A line that cannot be used stays behind the line before it.
    """
    rows = read_rows(stream, lines)
    times = [row[str(stream.timestamp)] for row in rows if isinstance(row, dict)]
    span, late = max(times, default=0) - min(times, default=0), stream.arrival.lateness
    behind: dict[str, int] = {}
    keys: list[tuple[int, float, float]] = []
    between, moment = 0, 0.0
    for line, row in zip(lines, rows, strict=True):
        if row is None:  # a punctuation
            between += 1
        elif isinstance(row, dict):
            extra = (
                0
                if late is None
                else random.randint(0, late)
                + behind.setdefault(_part(stream, line), random.choice((0, random.randint(0, span))))
            )
            moment = random.random() if late is None else row[str(stream.timestamp)] + extra
        keys.append((between, -1 if row is None else moment, random.random()))
    return [lines[place] for place in sorted(range(len(lines)), key=keys.__getitem__)]


def _part(stream: Input, line: bytes) -> str:
    """The partition of a row, as its line has it."""
    partitions = stream.arrival.partitions
    return "" if partitions is None else str(json.loads(line)[partitions.column])


def not_idle(streams: Sequence[Input], batches: Mapping[str, Sequence[list[bytes]]]) -> BatchedLines:
    """Rows of streams with ``idle_after`` come earlier, where they would be that far behind an earlier micro-batch."""
    stamped = {s.name: [_stamps(s, lines) for lines in batches[s.name]] for s in streams}
    reached: list[int | None] = [None]  # the largest timestamp before each micro-batch
    for batch in range(max(map(len, batches.values()), default=0)):
        now = [ts for mine in stamped.values() for ts in (mine[batch] if batch < len(mine) else ())]
        reached.append(max((ts for ts in (*now, reached[-1]) if ts is not None), default=None))
    found: BatchedLines = {}
    for stream in streams:
        found[stream.name] = [[] for _ in batches[stream.name]]
        for batch, lines in enumerate(batches[stream.name]):
            for line, ts in zip(lines, stamped[stream.name][batch], strict=True):
                found[stream.name][_in_time(batch, ts, stream.arrival.idle_after, reached)].append(line)
    return found


def _stamps(stream: Input, lines: Sequence[bytes]) -> list[int | None]:
    rows = read_rows(stream, lines)
    return [row[str(stream.timestamp)] if isinstance(row, dict) else None for row in rows]


def _in_time(batch: int, ts: int | None, idle_after: int | None, reached: Sequence[int | None]) -> int:
    """The last micro-batch up to that one in which a row is not too far behind what came before it."""
    while batch and ts is not None and idle_after is not None:
        before = reached[batch]
        if before is None or ts >= before - idle_after:
            break
        batch -= 1
    return batch
