"""Joins of rows that are valid together, and what is left of rows where nothing matches.

A row without a match at some time is the gap between the periods of its matches (Papaioannou et al., Generalized
Lineage-Aware Temporal Windows: unmatched windows): all rows of equal values and periods are looked at together with
their matches in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streambound_runtime.periods.frames import BEGIN, COUNT, END, columns, columns_of, normal
from streambound_runtime.periods.overlapping import can_scan, overlapping
from streambound_runtime.periods.times import bin_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OVERLAP = ("lb < re", "rb < le")
_FROM, _TO = "_f", "_t"
"""When a pair is valid."""


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One side of a join: the prefix of its begin, end and multiplicity among the pairs, and its columns there."""

    prefix: str
    columns: tuple[str, ...]

    @property
    def period(self) -> tuple[str, str, str]:
        """The names of its begin, end and multiplicity."""
        return f"{self.prefix}b", f"{self.prefix}e", f"{self.prefix}m"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs that are valid together: both sides' columns and periods, and when the pair is valid."""

    frame: DataFrame
    left: JoinSide
    right: JoinSide
    sides: tuple[DataFrame, DataFrame]

    def inner(self) -> DataFrame:
        """The pairs as rows."""
        count = f"{self.left.prefix}m * {self.right.prefix}m AS {COUNT}"
        names = (*self.left.columns, *self.right.columns)
        return self.frame.selectExpr(*names, f"{_FROM} AS {BEGIN}", f"{_TO} AS {END}", count)

    def matched(self) -> DataFrame:
        """The left rows, where something matches."""
        found = self._in_order(self.left, self.sides[0])
        since = f"greatest(coalesce(_last, lb), {_FROM})"
        kept = found.where(f"NOT _is_row AND {since} < {_TO}")
        return kept.selectExpr(*self.left.columns, f"{since} AS {BEGIN}", f"{_TO} AS {END}", f"_all AS {COUNT}")

    def unmatched(self, side: JoinSide) -> DataFrame:
        """The rows of a side where nothing matches."""
        found = self._in_order(side, self.sides[0 if side is self.left else 1])
        begin, _, _ = side.period
        kept = found.where(f"coalesce(_last, {begin}) < {_FROM}")
        return kept.selectExpr(
            *side.columns, f"coalesce(_last, {begin}) AS {BEGIN}", f"{_FROM} AS {END}", f"_all AS {COUNT}"
        )

    def outer(self, side: JoinSide) -> DataFrame:
        """The pairs, and the rows of a side with NULLs where nothing matches."""
        other = self.right if side is self.left else self.left
        found = self._in_order(side, self.sides[0 if side is self.left else 1], other)
        begin, _, _ = side.period
        names = (*self.left.columns, *self.right.columns)
        kinds = dict(found.dtypes)

        def row(since: str, until: str, count: str, padded: bool) -> str:
            cells = [
                f"CAST(NULL AS {kinds[name]}) AS {name}" if padded and name in other.columns else f"{name} AS {name}"
                for name in names
            ]
            return f"struct({', '.join([*cells, f'{since} AS {BEGIN}', f'{until} AS {END}', f'{count} AS {COUNT}'])})"

        gap = row(f"coalesce(_last, {begin})", _FROM, "_all", padded=True)
        pair = row(_FROM, _TO, "_pair", padded=False)
        has_gap = f"coalesce(_last, {begin}) < {_FROM}"
        both = f"CASE WHEN {has_gap} AND _is_row THEN array({gap}) WHEN {has_gap} THEN array({gap}, {pair})"
        return found.where(f"{has_gap} OR NOT _is_row").selectExpr(f"inline({both} ELSE array({pair}) END)")

    def _in_order(self, side: JoinSide, rows_of_side: DataFrame, other: JoinSide | None = None) -> DataFrame:
        """The pairs of each row of a side in order of time, and after them the row itself.

        ``_last`` is the greatest end before, ``_all`` the multiplicity of all rows of the values and the period.
        ``other``: with the other side's columns.
        """
        begin, end, count = side.period
        theirs = other.columns if other is not None else ()
        own = [f"c{place}" for place in range(len(side.columns))]
        given = [f"{mine} AS {name}" for mine, name in zip(own, side.columns, strict=True)]
        kinds = dict(self.frame.dtypes)
        rows = normal(rows_of_side).selectExpr(
            *given,
            *(f"CAST(NULL AS {kinds[name]}) AS {name}" for name in theirs),
            *(f"{mine} AS {name}" for mine, name in zip((BEGIN, END, COUNT), side.period, strict=True)),
            f"{END} AS {_FROM}",
            f"{END} AS {_TO}",
            "true AS _is_row",
            "0L AS _pair",
        )
        pairs = self.frame.selectExpr(
            *side.columns,
            *theirs,
            begin,
            end,
            f"0L AS {count}",
            _FROM,
            _TO,
            "false AS _is_row",
            f"{self.left.prefix}m * {self.right.prefix}m AS _pair",
        )
        by = ", ".join((*side.columns, begin, end))
        before = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
        return rows.unionAll(pairs).selectExpr(
            "*",
            f"max({_TO}) OVER (PARTITION BY {by} ORDER BY {_FROM} {before}) AS _last",
            f"sum({count}) OVER (PARTITION BY {by}) AS _all",
        )


def pairs(
    left: DataFrame, right: DataFrame, keys: Sequence[tuple[str, str]], condition: str, borders: list[int], few: bool
) -> Pairs:
    """The pairs of two sides that agree in the keys and satisfy a condition, where both are valid.

    Without keys time is cut at ``borders``, rows are in every bin that they touch, and a pair in that in which it
    begins. ``few``: the keys have few rows each.
    """
    from pyspark.sql import functions as F

    left, right = normal(left), normal(right)
    sides = (left, right)
    mine, theirs = len(columns_of(left)), len(columns_of(right))
    one, two = JoinSide("l", tuple(columns(mine))), JoinSide("r", tuple(columns(theirs, mine)))
    conditions = list[str]()
    names = ([key for key, _ in keys], [key for _, key in keys])
    if not keys and borders:
        bins = f"explode(sequence({bin_of(borders, BEGIN)}, {bin_of(borders, f'({END} - 1L)')}))"
        left, right = (side.selectExpr("*", f"{bins} AS _bin") for side in (left, right))
        names = (["_bin"], ["_bin"])
        conditions.append(f"_l0 = {bin_of(borders, 'greatest(lb, rb)')}")
    prepared = []
    for side, frame, own in zip((one, two), (left, right), names, strict=True):
        given = [f"c{place} AS {name}" for place, name in enumerate(side.columns)]
        period = [f"{mine} AS {name}" for mine, name in zip((BEGIN, END, COUNT), side.period, strict=True)]
        prepared.append(
            frame.selectExpr(*given, *period, *(f"{key} AS _{side.prefix}{place}" for place, key in enumerate(own)))
        )
    keyed = [(f"_l{place}", f"_r{place}") for place in range(len(names[0]))]
    if not few and can_scan(prepared[0], prepared[1], keyed):
        joined = overlapping(prepared[0], prepared[1], keyed)
    else:
        joined = prepared[0].join(prepared[1], F.expr(" AND ".join([*(f"{m} = {t}" for m, t in keyed), *_OVERLAP])))
    for test in (*conditions, *([f"({condition})"] if condition else [])):
        joined = joined.where(test)
    found = joined.selectExpr(
        *one.columns, *two.columns, *one.period, *two.period, f"greatest(lb, rb) AS {_FROM}", f"least(le, re) AS {_TO}"
    )
    return Pairs(found, one, two, sides)


def joined(kind: str, found: Pairs) -> DataFrame:
    """The rows of a join of a kind."""
    match kind:
        case "inner":
            return found.inner()
        case "left":
            return found.outer(found.left)
        case "right":
            return found.outer(found.right)
        case "semi":
            return found.matched()
        case "anti":
            return found.unmatched(found.left)
    rest = found.unmatched(found.right)
    kinds = dict(found.frame.dtypes)
    padded = [f"CAST(NULL AS {kinds[name]}) AS {name}" for name in found.left.columns]
    return found.outer(found.left).unionAll(rest.selectExpr(*padded, *found.right.columns, BEGIN, END, COUNT))
