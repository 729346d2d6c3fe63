"""Rows of streams and relations as what the sources of a circuit have, closed timestamp by closed timestamp."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from streambound.incremental.circuit import Circuit
from streambound.incremental.evaluate import evaluate_once
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


def prefixes(given: Sequence[Mapping[SourceOp, ZSet]]) -> list[dict[SourceOp, ZSet]]:
    """What each source has had until each tick, that tick included."""
    summed: dict[SourceOp, ZSet] = {}
    result = []
    for one in given:
        summed = {source: summed.get(source, ZSet()) + one.get(source, ZSet()) for source in {**summed, **one}}
        result.append(summed)
    return result


def recomputed(circuit: Circuit, given: Sequence[Mapping[SourceOp, ZSet]]) -> list[ZSet]:
    """``Δ[t] = Q(prefix t) − Q(prefix before)`` of a circuit over Z-sets, evaluated anew for each prefix.

    Before the first tick the result is the empty Z-set, not that of no rows.
    """
    results, before = [], ZSet()
    for prefix in prefixes(given):
        now = evaluate_once(circuit, prefix)
        results.append(now - before)
        before = now
    return results


def finals(
    circuit: Circuit, given: Sequence[Mapping[SourceOp, ZSet]], bucket: int, last: Callable[[Fraction], Fraction]
) -> dict[Fraction, ZSet]:
    """The results of mode `final` of a query by windows, at the last timestamp of each; rows of no window are left out.

    ``bucket`` is the column that says which window a row is of, ``last`` the window's last timestamp.
    """
    found: dict[Fraction, list[tuple[Row, int]]] = {}
    for row, weight in evaluate_once(circuit, prefixes(given)[-1]).items() if given else ():
        value = row[bucket]
        if isinstance(value, Fraction):
            found.setdefault(last(value), []).append((row, weight))
    return {time: ZSet(rows) for time, rows in sorted(found.items())}
