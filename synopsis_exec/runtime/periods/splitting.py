"""Split: rows cut at the end points of others (Dignös et al., Snapshot Semantics, Definition 8.3).

It copies a row as often as it is cut, so that a group of n rows over each other's ends becomes n² pieces: aggregates
and differences are computed without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streambound_runtime.decoding.quoting import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_POINTS, _KEY = "_points", "_by"


def split(df: DataFrame, period: tuple[str, str], by: tuple[str, ...], at: DataFrame | None) -> DataFrame:
    """Each row in pieces between neighbouring points at which a row with its values of ``by`` begins or ends."""
    from pyspark.sql import functions as F

    begin, end = map(quoted, period)
    keys = [f"{quoted(name)} AS {_KEY}{place}" for place, name in enumerate(by)]
    points = None
    for frame in (df, *([at] if at is not None else [])):
        found = frame.selectExpr(*keys, f"explode(array({begin}, {end})) AS _t")
        points = found if points is None else points.unionAll(found)
    assert points is not None
    names = [f"{_KEY}{place}" for place in range(len(by))]
    listed = points.groupBy(*names).agg(F.sort_array(F.collect_set("_t")).alias(_POINTS))
    same = [df[name].eqNullSafe(listed[key]) for name, key in zip(by, names, strict=True)]
    joined = df.join(listed, same) if same else df.crossJoin(listed)
    inside = f"filter({_POINTS}, _x -> {begin} <= _x AND _x <= {end})"
    cut = "transform(sequence(1, size(_inside) - 1), _i -> struct(_inside[_i - 1] AS f, _inside[_i] AS t))"
    cut_rows = joined.selectExpr(*map(quoted, df.columns), f"{inside} AS _inside").selectExpr(
        "*", f"explode({cut}) AS _p"
    )
    changed = {period[0].lower(): f"_p.f AS {begin}", period[1].lower(): f"_p.t AS {end}"}
    return cut_rows.selectExpr(*(changed.get(name.lower(), quoted(name)) for name in df.columns))
