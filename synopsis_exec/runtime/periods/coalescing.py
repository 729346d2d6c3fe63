"""The unique encoding, duplicate elimination and set operations: counts of open rows, by value and point of time.

Source: Dignös et al., Snapshot Semantics for Temporal Multiset Relations, Definition 5.3 and section 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streambound_runtime.periods.frames import BEGIN, COUNT, END, columns_of, events, normal, segments, together
from streambound_runtime.periods.hot import swept_in_bins

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LEFT, _RIGHT = "_l", "_r"
_KEPT = {
    "except all": f"{_LEFT} - {_RIGHT}",
    "except": f"CASE WHEN {_LEFT} > 0 AND {_RIGHT} = 0 THEN 1L ELSE 0L END",
    "intersect all": f"least({_LEFT}, {_RIGHT})",
    "intersect": f"CASE WHEN {_LEFT} > 0 AND {_RIGHT} > 0 THEN 1L ELSE 0L END",
}
"""What is left of the multiplicities of both sides."""


def coalesced(frame: DataFrame, distinct: bool = False) -> DataFrame:
    """Maximal periods of constant multiplicity; with ``distinct`` each value once at a time."""
    names = columns_of(frame)
    changes = events(together(normal(frame), names), names, [(COUNT, COUNT)])
    found = segments(changes, names, [COUNT]).where(f"{COUNT} > 0")
    return found.selectExpr(*names, BEGIN, END, f"1L AS {COUNT}") if distinct else found


def coalesced_constant(
    frame: DataFrame, values: Sequence[str], borders: list[int], distinct: bool = False
) -> DataFrame:
    """As `coalesced`, of rows that all have the values of these literals: they are spread over tasks by time.

    They are cut at the borders, so that periods are maximal only once the few rows that are left are coalesced.
    """
    changes = events(frame, (), [(COUNT, COUNT)])
    found = swept_in_bins(changes, [COUNT], borders).where(f"{COUNT} > 0")
    count = f"1L AS {COUNT}" if distinct else COUNT
    listed = (f"{value} AS c{place}" for place, value in enumerate(values))
    return coalesced(found.selectExpr(*listed, BEGIN, END, count))


def set_operation(kind: str, left: DataFrame, right: DataFrame) -> DataFrame:
    """``except all``, ``except``, ``intersect all`` or ``intersect`` of two sides, at every point of time."""
    tagged = [
        side.selectExpr(*columns_of(side), BEGIN, END, f"{mine} AS {_LEFT}", f"{theirs} AS {_RIGHT}")
        for side, mine, theirs in ((left, COUNT, "0L"), (right, "0L", COUNT))
    ]
    both = normal(tagged[0].unionAll(tagged[1]))
    names = [name for name in columns_of(both) if name not in (_LEFT, _RIGHT)]
    changes = events(together(both, names), names, [(_LEFT, _LEFT), (_RIGHT, _RIGHT)])
    found = segments(changes, names, [_LEFT, _RIGHT])
    return found.selectExpr(*names, BEGIN, END, f"{_KEPT[kind]} AS {COUNT}").where(f"{COUNT} > 0 AND {END} IS NOT NULL")
