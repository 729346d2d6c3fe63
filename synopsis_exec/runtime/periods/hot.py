"""One group that has all rows, spread over tasks by time: borders cut time into bins, each of which is a task's.

The borders are literals of the plan, so that no part of it reads others than another part.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from streambound_runtime.periods.frames import BEGIN, END
from streambound_runtime.periods.times import bin_of, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ACCURACY = 1_000
_BIN = "_bin"


def borders_of(frames: Sequence[DataFrame], bins: int) -> list[int]:
    """Points of time between which about as many rows begin; one small job, over the begins of the relations.

    Every change of a result is at an end of some row of a relation, so that these are good borders for all of a plan.
    """
    if bins < 2 or not frames:
        return []
    begins = reduce(lambda left, right: left.unionAll(right), [frame.select(BEGIN) for frame in frames])
    shares = ", ".join(f"{number / bins:.6f}D" for number in range(1, bins))
    row = begins.selectExpr(f"approx_percentile({BEGIN}, array({shares}), {_ACCURACY}) AS found").head()
    return sorted(set(row.found)) if row is not None and row.found else []


def swept_in_bins(
    changes: DataFrame, sums: Sequence[str], borders: list[int], ends: tuple[int, int] | None = None
) -> DataFrame:
    """The sums from each point at which something changes to the next, as `frames.swept`, of rows of one group.

    Sums of the bins before are added to those inside of each. With ``ends`` also the times between them at which there
    is nothing. Rows are cut at the borders.
    """
    from pyspark.sql import functions as F

    inner = [border for border in borders if ends is None or ends[0] < border < ends[1]]
    found = changes.select("t", *sums)
    if marks := [*inner, *(ends[:1] if ends is not None else ())]:
        zeros = [f"CAST(0 AS {kind.upper()}) AS {name}" for name, kind in found.dtypes if name in sums]
        listed = found.sparkSession.range(1).selectExpr(f"explode(array({', '.join(map(literal, marks))})) AS t")
        found = found.unionAll(listed.selectExpr("t", *zeros))
    points = found.groupBy("t").agg(*(F.sum(name).alias(name) for name in sums))
    points = points.withColumn(_BIN, F.expr(bin_of(inner, "t")))
    totals = points.groupBy(_BIN).agg(*(F.sum(name).alias(f"{name}_bin") for name in sums))
    before = f"OVER (ORDER BY {_BIN} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    offsets = totals.selectExpr(_BIN, *(f"coalesce(sum({name}_bin) {before}, 0) AS {name}_before" for name in sums))
    last = "CAST(NULL AS BIGINT)" if ends is None else literal(ends[1])
    cuts = " ".join(f"WHEN {number} THEN {literal(border)}" for number, border in enumerate(inner))
    until = f"CASE {_BIN} {cuts} ELSE {last} END" if cuts else last
    over = f"OVER (PARTITION BY {_BIN} ORDER BY t)"
    running = (f"{name}_before + sum({name}) {over} AS {name}" for name in sums)
    segments = points.join(F.broadcast(offsets), _BIN).selectExpr(
        f"t AS {BEGIN}", f"coalesce(lead(t) {over}, {until}) AS {END}", *running
    )
    return segments.where(f"{BEGIN} < {END}")
