"""A temporal-probabilistic left join against the same written by hand in Spark SQL: a join, a union and NOT EXISTS.

    python benchmarks/tp_join.py [ROWS …] [--only webkit] [--without hand]

Data shaped as that of Papaioannou, Theobald, Böhlen, Section VII: Webkit, versions of files, joined on the file; Meteo,
few stations and metrics with many rows each, joined on the metric between different stations. Both sides have ROWS rows
(20,000 and 200,000 unless said). Sinks are included, results compared, in one session and a heap of 2 GiB; medians of
the runs, by the clock and of the processor's time. By hand, one run of more than ten minutes is enough.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import in_turn
from pyspark.sql import DataFrame, SparkSession

from streambound_runtime.operators.period_plan import SliceJoin, SliceLineage, SliceRelation
from streambound_runtime.tp.execution import LineageRelation, executed_lineage

CUT_OFF = 600
"""Seconds after which one run of a peer is enough."""
Row = tuple[int, int, int, float, int, int]
"""Two values of a fact, the key, the probability, begin and end."""


def webkit(rows: int, seed: int) -> Iterator[Row]:
    """Versions of files, about three each, one after the other with gaps: three of four files have a valid one."""
    rng = random.Random(seed)
    key = 0
    for file in range(max(1, round(rows / 3.1))):
        at = rng.randrange(400)
        while key < rows and at < 1000:
            end = at + rng.randint(50, 450)
            yield file, key % 7, key, rng.randint(1, 100) / 100, at, end
            key, at = key + 1, end + rng.choice((0, 0, rng.randint(1, 200)))


def meteo(rows: int, seed: int) -> Iterator[Row]:
    """80 stations × 4 metrics, at most one row each at a time: 37 of the 320 are valid on average."""
    rng = random.Random(seed)
    each = max(1, rows // 320)
    for station in range(80):
        for metric in range(4):
            at = rng.randrange(80)
            for number in range(each):
                end = at + rng.randint(1, 19)
                yield station, metric, (station * 4 + metric) * each + number, rng.randint(1, 100) / 100, at, end
                at = end + rng.randint(50, 104)


def written(folder: Path, name: str, rows: Iterator[Row]) -> str:
    """A Parquet file of a relation."""
    names = ("x", "y", "id", "p", "vb", "ve")
    types = (pa.int64(), pa.int64(), pa.int64(), pa.float64(), pa.int64(), pa.int64())
    columns = zip(*rows, strict=True)
    table = pa.table({n: pa.array(c, t) for n, c, t in zip(names, columns, types, strict=True)})
    place = str(folder / f"{name}.parquet")
    pq.write_table(table, place, row_group_size=len(table) // 4 + 1)
    return place


BY_HAND = """
WITH pairs AS (
  SELECT r.x AS rx, r.y AS ry, s.x AS sx, s.y AS sy, r.id AS rid, s.id AS sid, r.p AS rp, s.p AS sp,
         greatest(r.vb, s.vb) AS b, least(r.ve, s.ve) AS e
  FROM r JOIN s ON {on} AND r.vb < s.ve AND s.vb < r.ve),
points AS (
  SELECT id AS rid, vb AS t FROM r UNION SELECT id, ve FROM r
  UNION SELECT rid, b FROM pairs UNION SELECT rid, e FROM pairs),
segments AS (
  SELECT r.x, r.y, r.id, r.p, q.b, q.e
  FROM (SELECT rid, t AS b, lead(t) OVER (PARTITION BY rid ORDER BY t) AS e FROM points) q JOIN r ON q.rid = r.id
  WHERE q.e IS NOT NULL)
SELECT rx AS x, ry AS y, sx, sy, b AS _begin, e AS _end, concat('r.', rid, ' & s.', sid) AS _lineage, rp * sp AS _p
FROM pairs
UNION ALL
SELECT x, y, NULL, NULL, b, e, concat('r.', id), p FROM segments q
WHERE NOT EXISTS (SELECT 1 FROM s WHERE {inside} AND s.vb < q.e AND q.b < s.ve)
UNION ALL
SELECT x, y, NULL, NULL, b, e,
       concat('r.', any_value(id), ' & !(', array_join(array_sort(collect_list(concat('s.', sid))), ' | '), ')'),
       any_value(p) * product_of_rest
FROM (SELECT q.x, q.y, q.id, q.p, q.b, q.e, s.id AS sid,
             exp(sum(ln(1 - least(s.p, 0.9999999999999999D))) OVER (PARTITION BY q.id, q.b)) AS product_of_rest,
             max(s.p) OVER (PARTITION BY q.id, q.b) AS likeliest
      FROM segments q JOIN s ON {inside} AND s.vb < q.e AND q.b < s.ve)
WHERE likeliest < 1
GROUP BY x, y, id, p, b, e, product_of_rest
"""
CONDITIONS = {
    "webkit": ("r.x = s.x", "q.x = s.x", (("c0", "c0"),), ""),
    "meteo": ("r.y = s.y AND r.x <> s.x", "q.y = s.y AND q.x <> s.x", (("c1", "c1"),), "c0 <> c2"),
}
MAKERS: dict[str, Callable[[int, int], Iterator[Row]]] = {"webkit": webkit, "meteo": meteo}


def ours(spark: SparkSession, name: str) -> DataFrame:
    """The join by windows."""
    relations = {
        side: LineageRelation(spark.table(side), side, ("vb", "ve"), "bigint", "id", "p") for side in ("r", "s")
    }
    left, right = (SliceRelation(side, ("x", "y"), ("vb", "ve")) for side in ("r", "s"))
    plan = SliceJoin("left", left, right, *CONDITIONS[name][2:])
    return executed_lineage(spark, SliceLineage(name, plan, ("x", "y", "sx", "sy"), "bigint"), relations)


def by_hand(spark: SparkSession, name: str) -> DataFrame:
    """The join as people write it."""
    on, inside, _, _ = CONDITIONS[name]
    return spark.sql(BY_HAND.format(on=on, inside=inside))


def computed(frame: DataFrame) -> None:
    """All rows."""
    frame.write.format("noop").mode("overwrite").save()


def told(frame: DataFrame) -> tuple[Any, ...]:
    """What must be the same: the number of rows, of time points that they cover, and the sum of probabilities."""
    row = frame.selectExpr("count(*)", "sum(_end - _begin)", "round(sum(_p * (_end - _begin)), 3)").head()
    return tuple(row or ())


@click.command()
@click.argument("sizes", nargs=-1, type=int)
@click.option("--runs", default=3, show_default=True)
@click.option("--only", type=click.Choice(list(MAKERS)), multiple=True, help="Data; all by default.")
@click.option("--without", type=click.Choice(["hand"]), multiple=True, help="What is left out.")
def main(sizes: tuple[int, ...], runs: int, only: tuple[str, ...], without: tuple[str, ...]) -> None:
    """Measure and print a table of seconds."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )  # fmt: skip
    spark.sparkContext.setLogLevel("ERROR")
    print("| data | rows a side | result | bytes of lineage a row | windows | by hand | ratio | processor time |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes or (20_000, 200_000):
            for name in only or MAKERS:
                for seed, side in enumerate(("r", "s")):
                    spark.read.parquet(written(Path(folder), f"{name}_{side}_{size}", MAKERS[name](size, seed))) \
                        .createOrReplaceTempView(side)  # fmt: skip
                print(measured(spark, name, size, runs, "hand" not in without), flush=True)


def measured(spark: SparkSession, name: str, size: int, runs: int, hand: bool) -> str:
    """A line of the table."""
    frames = {"windows": ours(spark, name), **({"by hand": by_hand(spark, name)} if hand else {})}
    found = told(frames["windows"])
    length = frames["windows"].selectExpr("avg(length(_lineage))").head()
    cells = [name, f"{size:,}", f"{found[0]:,}", f"{length[0] if length else 0:.0f}"]
    slow = None
    if hand:
        start = perf_counter()
        other = told(frames["by hand"])
        if other != found:
            raise SystemExit(f"{name} {size}: windows {found}, by hand {other}")
        if perf_counter() - start > CUT_OFF:
            slow = perf_counter() - start
            del frames["by hand"]
    times = in_turn({kind: partial(computed, frame) for kind, frame in frames.items()}, runs)
    fast, peer = times["windows"], times.get("by hand")
    cells.append(f"{fast.clock:.2f} s")
    if peer is not None:
        cells += [
            f"{peer.clock:.2f} s",
            f"{peer.clock / fast.clock:.1f}",
            f"{fast.processor:.1f} s to {peer.processor:.1f} s",
        ]
    else:
        cells += [
            f"{slow:.0f} s" if slow else "not run",
            f"{slow / fast.clock:.1f}" if slow else "",
            f"{fast.processor:.1f} s",
        ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
