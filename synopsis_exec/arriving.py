"""Another order of arrival that the catalog allows, so that nothing comes late."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random

from streambound.synopsis_exec.plan_ir import Input
from streambound.synopsis_exec.recorded import read_rows

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
