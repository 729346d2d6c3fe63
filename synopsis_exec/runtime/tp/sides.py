"""The two sides of a join in one DataFrame, sorted for a scan: one shuffle, by the keys that are equal in a pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from streambound_runtime.periods.frames import columns
from streambound_runtime.periods.plan import PeriodJoin
from streambound_runtime.periods.times import bin_of, literal
from streambound_runtime.tp.overlaps import LETTERS, SIDES, OverlapScan, overlaps
from streambound_runtime.tp.plan import WINDOWS
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, P

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

OWN = (BEGIN, END, LINEAGE, P)
BIN = "_bin"


def tagged(join: PeriodJoin, left: DataFrame, right: DataFrame, borders: list[int]) -> tuple[DataFrame, OverlapScan]:
    """The rows of both sides as `overlaps` reads them, and how it shall.

    Without keys, rows are cut at the borders, and those of one bin are a task's. Rows whose key is NULL match nothing:
    they are spread, or left out where a row without a match is not wanted.
    """
    from pyspark.sql import functions as F

    frames, widths = (left, right), (_width(left), _width(right))
    keys = [f"k{place}" for place in range(len(join.keys))]
    prepared = []
    for side, frame in enumerate(frames):
        own = zip(keys, (pair[side] for pair in join.keys), _key_types(join, left, right), strict=True)
        listed = [_normal(f"CAST({expression} AS {kind})", kind) + f" AS {key}" for key, expression, kind in own]
        values = [*_values(0, widths, left, side), *_values(1, widths, right, side)]
        found = frame.selectExpr(*listed, f"{side} AS side", *OWN, *values)
        if keys and not WINDOWS[join.kind][side]:
            found = found.where(" AND ".join(f"{key} IS NOT NULL" for key in keys))
        prepared.append(_in_bins(found, borders) if borders else found)
    both = prepared[0].unionAll(prepared[1])
    scanned = (*keys, BIN) if borders else tuple(keys)
    scan = OverlapScan(scanned, widths, WINDOWS[join.kind], tuple(keys))
    if not scanned:
        return both.repartition(1).sortWithinPartitions(BEGIN), scan
    if keys:
        no_key = " OR ".join(f"{key} IS NULL" for key in keys)
        salt = F.expr(f"CASE WHEN {no_key} THEN xxhash64({LINEAGE}, {BEGIN}) ELSE 0L END")
        both = both.repartition(*scanned, salt)
    else:
        both = both.repartition(*scanned)
    return both.sortWithinPartitions(*scanned, BEGIN), scan


def pairs(rows: DataFrame, scan: OverlapScan, condition: str) -> DataFrame:
    """The pairs that satisfy a condition over the columns of both sides, and the rows alone."""
    from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

    kinds = dict(zip(OWN, (LongType(), LongType(), StringType(), DoubleType()), strict=True))
    fields = [StructField("group", LongType())]
    for name, letter, number in zip(SIDES, LETTERS, scan.widths, strict=True):
        fields.append(StructField(name, LongType()))
        fields += [StructField(f"{letter}{own}", kind) for own, kind in kinds.items()]
        fields += [StructField(f"{letter}{place}", rows.schema[f"{letter}{place}"].dataType) for place in range(number)]
    found = rows.mapInArrow(partial(overlaps, scan), StructType(fields))
    by = scan.widths[0]
    seen = [f"l{place} AS c{place}" for place in range(by)]
    seen += [f"r{place} AS c{by + place}" for place in range(scan.widths[1])]
    alone = " OR ".join(f"{name} IS NULL" for name in SIDES)
    kept = found.selectExpr("*", *seen).where(f"{alone} OR ({condition})")
    return kept.select(*found.columns)


def value_fields(rows: DataFrame, scan: OverlapScan, shown: Sequence[int]) -> list[StructField]:
    """The columns of the result of a join, of these sides."""
    from pyspark.sql.types import StructField

    names = [f"{LETTERS[side]}{place}" for side in shown for place in range(scan.widths[side])]
    return [StructField(f"c{place}", rows.schema[name].dataType) for place, name in enumerate(names)]


def _width(frame: DataFrame) -> int:
    return len(frame.columns) - len(OWN)


def _values(mine: int, widths: tuple[int, int], frame: DataFrame, side: int) -> list[str]:
    """The value columns of one side in the rows of a side."""
    letter, kinds = LETTERS[mine], dict(frame.dtypes)
    if mine == side:
        return [f"{name} AS {letter}{place}" for place, name in enumerate(columns(widths[mine]))]
    return [f"CAST(NULL AS {kinds[name]}) AS {letter}{place}" for place, name in enumerate(columns(widths[mine]))]


def _key_types(join: PeriodJoin, left: DataFrame, right: DataFrame) -> list[str]:
    """The types in which the keys are compared: those that Spark gives both sides."""
    found = []
    for one, other in join.keys:
        kinds = [frame.selectExpr(f"{key} AS k").dtypes[0][1] for frame, key in ((left, one), (right, other))]
        if kinds[0] != kinds[1]:
            listed = ", ".join(f"CAST(NULL AS {kind})" for kind in kinds)
            kinds = [left.selectExpr(f"coalesce({listed}) AS k").dtypes[0][1]]
        found.append(kinds[0])
    return found


def _normal(expression: str, kind: str) -> str:
    """One value for each that is equal: no negative zero, and one NaN."""
    return f"CAST(nanvl({expression} + 0.0D, double('NaN')) AS {kind})" if kind in ("float", "double") else expression


def _in_bins(rows: DataFrame, borders: list[int]) -> DataFrame:
    """Each row cut at the borders, with the bin of each piece."""
    bins = f"explode(sequence({bin_of(borders, BEGIN)}, {bin_of(borders, f'({END} - 1L)')}))"
    spread = rows.selectExpr("*", f"{bins} AS {BIN}")
    lows = " ".join(f"WHEN {number} THEN {literal(border)}" for number, border in enumerate(borders, start=1))
    highs = " ".join(f"WHEN {number} THEN {literal(border)}" for number, border in enumerate(borders))
    begin = f"greatest({BEGIN}, CASE {BIN} {lows} END) AS {BEGIN}"
    end = f"least({END}, CASE {BIN} {highs} END) AS {END}"
    others = (name for name in rows.columns if name not in (BEGIN, END))
    return spread.selectExpr(*others, BIN, begin, end)
