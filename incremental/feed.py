"""Rows of streams and relations as what the sources of a circuit have, closed timestamp by closed timestamp."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from streambound.incremental.operators import SourceOp
from streambound.incremental.zset import Row, ZSet


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A row of a source, with its weight, at a time; None: before all times."""

    table: str
    row: Row
    time: Fraction | None = None
    weight: int = 1


def ticks(changes: Iterable[SourceChange]) -> tuple[tuple[Fraction, ...], list[dict[SourceOp, ZSet]]]:
    """The closed timestamps, and what each source has at each: rows, and of histories changes with their times.

    The first timestamp is the least of any row; what has no time is there from then on.
    """
    listed = list(changes)
    times = tuple(sorted({change.time for change in listed if change.time is not None}))
    found = [dict[SourceOp, list[tuple[Row, int]]]() for _ in times]
    place = {time: at for at, time in enumerate(times)}
    for change in listed if times else ():
        now = found[0 if change.time is None else place[change.time]]
        now.setdefault(SourceOp(change.table), []).append((change.row, change.weight))
        dated: Row = (change.time, *change.row)
        now.setdefault(SourceOp(change.table, history=True), []).append((dated, change.weight))
    return times, [{source: ZSet(rows) for source, rows in one.items()} for one in found]


def together(changes: Iterable[SourceChange]) -> dict[SourceOp, ZSet]:
    """What each source has had when all of some changes have come, whatever their times."""
    found = dict[SourceOp, list[tuple[Row, int]]]()
    for change in changes:
        dated: Row = (change.time, *change.row)
        found.setdefault(SourceOp(change.table), []).append((change.row, change.weight))
        found.setdefault(SourceOp(change.table, history=True), []).append((dated, change.weight))
    return {source: ZSet(rows) for source, rows in found.items()}
