"""DataFrames of rows with periods: the columns ``c0``, ``c1``, …, then begin, end and multiplicity, as integers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from streambound_runtime.periods.times import GREATEST, LEAST, bin_of, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BEGIN, END, COUNT = "_b", "_e", "_m"
PERIOD = (BEGIN, END, COUNT)
BIN = "_bin"
"""The column with the number of the bin of time that a row's part lies in."""
_ACCURACY = 1_000


def columns_of(frame: DataFrame) -> list[str]:
    """The names of its value columns."""
    return [name for name in frame.columns if name not in PERIOD]


def columns(number: int, start: int = 0) -> list[str]:
    """The names of a number of value columns."""
    return [f"c{place}" for place in range(start, start + number)]


def normal(frame: DataFrame) -> DataFrame:
    """The rows with one value for each that is equal: no negative zero, and one NaN."""
    kinds = dict(frame.dtypes)
    floats = [name for name in columns_of(frame) if kinds[name] in ("double", "float")]
    if not floats:
        return frame
    changed = {name: f"CAST(nanvl({name} + 0.0D, double('NaN')) AS {kinds[name].upper()}) AS {name}" for name in floats}
    return frame.selectExpr(*(changed.get(name, name) for name in frame.columns))


def within(frame: DataFrame, low: int | None, high: int | None) -> DataFrame:
    """The rows in the time from ``low`` to before ``high``, where these are known."""
    since, until = literal(LEAST if low is None else low), literal(GREATEST if high is None else high)
    changed = {BEGIN: f"greatest({BEGIN}, {since}) AS {BEGIN}", END: f"least({END}, {until}) AS {END}"}
    there = frame.where(f"{END} > {since} AND {BEGIN} < {until}")
    return there.selectExpr(*(changed.get(name, name) for name in frame.columns))


def borders_of(frames: Sequence[DataFrame], bins: int) -> list[int]:
    """Points of time between which about as many rows begin; one small job, over the begins of the relations.

    Every change of a result is at an end of some row of a relation, so that these are good borders for all of a plan.
    They are literals of the plan, so that no part of it reads others than another part.
    """
    if bins < 2 or not frames:
        return []
    begins = reduce(lambda left, right: left.unionAll(right), [frame.select(BEGIN) for frame in frames])
    shares = ", ".join(f"{number / bins:.6f}D" for number in range(1, bins))
    row = begins.selectExpr(f"approx_percentile({BEGIN}, array({shares}), {_ACCURACY}) AS found").head()
    return sorted(set(row.found)) if row is not None and row.found else []


def in_bins(rows: DataFrame, borders: Sequence[int]) -> DataFrame:
    """Each row cut at the borders, with the bin of each piece: what is valid at a time stays so."""
    first, last = bin_of(borders, BEGIN), bin_of(borders, f"({END} - 1L)")
    spread = rows.selectExpr("*", f"explode(sequence({first}, {last})) AS {BIN}")
    lows = " ".join(f"WHEN {number} THEN {literal(border)}" for number, border in enumerate(borders, start=1))
    highs = " ".join(f"WHEN {number} THEN {literal(border)}" for number, border in enumerate(borders))
    cut = {
        BEGIN: f"greatest({BEGIN}, CASE {BIN} {lows} END) AS {BEGIN}",
        END: f"least({END}, CASE {BIN} {highs} END) AS {END}",
    }
    return spread.selectExpr(*(cut.get(name, name) for name in rows.columns), BIN) if borders else spread
