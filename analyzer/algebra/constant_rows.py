"""Rows that a statement writes down: VALUES, and SELECTs without FROM, as relations that are computed of no other.

VALUES (1, 'a'), (2, 'b')  ->  SELECT 1 AS col1, 'a' AS col2 UNION ALL SELECT 2, 'b'
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def rows_of(values: exp.Values) -> exp.Query | None:
    """The query that VALUES is; None where its rows have other numbers of columns."""
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    if len({len(row) for row in rows}) != 1:
        return None
    return union_of([_select(row) for row in rows])


def union_of(selects: Sequence[exp.Query]) -> exp.Query:
    """UNION ALL of queries, nested no deeper than it has to be."""
    if len(selects) == 1:
        return selects[0]
    half = len(selects) // 2
    return exp.Union(this=union_of(selects[:half]), expression=union_of(selects[half:]), distinct=False)


def _select(row: Sequence[exp.Expr]) -> exp.Select:
    return exp.Select(expressions=[exp.alias_(one.copy(), f"col{place}") for place, one in enumerate(row, 1)])
