"""How many rows a key of a join has: with few, Spark's own join is the faster one, with many a scan in order of time.

Spark's join looks at each pair of rows of a key, valid together or not, and costs little for one; the scan of
`overlapping` looks only at those that are, and costs more for one. Either is right; the rows of a key are those of the
relation that it comes from, counted in a sample, so that operators are not executed to find out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streambound_runtime.periods.plan import (
    PeriodCoalesce,
    PeriodDistinct,
    PeriodFilter,
    PeriodGroup,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    PeriodSetOperation,
    SnapshotScan,
    width,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FEW = 512
"""Rows of a key up to which Spark's join is the faster one."""
_SAMPLE = 16
"""One row of so many is counted."""


def sources(plan: PeriodPlan, keys: Iterable[str]) -> dict[SnapshotScan, frozenset[int]]:
    """The relations that key columns of an operator come from, and which of their columns they are.

    >>> people = SnapshotScan("P", ("id", "city"))
    >>> sources(PeriodFilter(PeriodProject(people, ("c1", "c0 + 1", "c0")), "c0 > 1"), ["c0", "c1", "c2"])
    {SnapshotScan(table='P', columns=('id', 'city')): frozenset({0, 1})}
    """
    found = dict[SnapshotScan, frozenset[int]]()
    for key in keys:
        source = _source(plan, key)
        if source is not None:
            scan, place = source
            found[scan] = found.get(scan, frozenset()) | {place}
    return found


def has_few(rows: DataFrame, places: Iterable[int]) -> bool:
    """Whether no values of these columns have many rows, as far as a sample tells: a small job."""
    names = [f"c{place}" for place in sorted(places)]
    counts = rows.select(*names).sample(fraction=1 / _SAMPLE, seed=0).na.drop().groupBy(*names).count()
    most = counts.selectExpr("coalesce(max(count), 0L) AS most").head()
    return most is not None and most.most * _SAMPLE <= FEW


def _source(plan: PeriodPlan, key: str) -> tuple[SnapshotScan, int] | None:
    """The relation and its column that a column is; None of an expression, and of what several relations give."""
    if not (key.startswith("c") and key[1:].isdecimal()):
        return None
    place = int(key[1:])
    match plan:
        case SnapshotScan():
            return plan, place
        case PeriodProject(input, items):
            return _source(input, items[place])
        case PeriodJoin(left=left, right=right):
            kept = width(left)
            return _source(left, key) if place < kept else _source(right, f"c{place - kept}")
        case PeriodGroup(input=input, keys=keys):
            return _source(input, key) if place < keys else None
        case PeriodFilter(input=input) | PeriodDistinct(input=input) | PeriodCoalesce(input=input):
            return _source(input, key)
        case PeriodSetOperation(left=left):
            return _source(left, key)
    return None
