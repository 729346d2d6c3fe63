"""Queries beyond joins: `python benchmarks/circuits.py` measures them beside Spark's own operators, and recomputing.

A windowed count for each key and a left join within an interval run on Spark as jobs, and as Spark's own operators over
the same files, with the same settings, in turn. A transitive closure follows edges that come and go one at a time,
without Spark, beside the same job from nothing. `--write` puts the table in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import streambound
from streambound.benchmarks.executor import Rows, Watched, beside, run_job, show, write_table
from streambound.benchmarks.measuring import in_turn, rate
from streambound.benchmarks.native import drain, stream
from streambound.benchmarks.workloads import Workload
from streambound.synopsis_exec.simulate import evaluated, rows_as_delta
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.session import session
from streambound_runtime.spec import JobSpec

PARTS = ("count", "join", "closure")
START, END = "<!-- circuits -->", "<!-- end of circuits -->"
COUNT = Workload(
    "windowed count",
    "-- streambound: emit final\n"
    "SELECT window(ts, '1 minute').start AS start, k, COUNT(*) AS n FROM S GROUP BY window(ts, '1 minute'), k",
    {"S": ("k",)},
    {"S": 1.0},
    {"k": (0, 999)},
    time="timestamp",
    declared=True,
)
"""A thousand rows a second of a thousand keys."""
WITHIN = "T.k = S.k AND T.ts BETWEEN S.ts - INTERVAL 10 SECONDS AND S.ts"
LEFT = Workload(
    "left join within 10 s",
    f"SELECT S.k, S.v, T.w FROM S LEFT JOIN T ON {WITHIN}",
    {"S": ("k", "v"), "T": ("k", "w")},
    {"S": 0.5, "T": 0.5},
    {"k": (0, 9_999), "v": (0, 999), "w": (0, 999)},
    time="timestamp",
)
"""Each row with those of the last ten seconds, five thousand rows of ten thousand keys; nothing is ever taken back."""


def counted(spark: Any, workload: Workload, folder: Path) -> Any:
    """Spark's own windowed count."""
    from pyspark.sql import functions as F

    rows = stream(spark, workload, folder)["S"].withWatermark("ts", "0 seconds")
    return rows.groupBy(F.window("ts", "1 minute"), "k").count()


def joined(spark: Any, workload: Workload, folder: Path) -> Any:
    """Spark's own left join within an interval."""
    from pyspark.sql import functions as F

    both = [
        frame.withWatermark("ts", "0 seconds").alias(name) for name, frame in stream(spark, workload, folder).items()
    ]
    return both[0].join(both[1], F.expr(WITHIN), "left_outer").selectExpr("S.k", "S.v", "T.w")


def job_of(workload: Workload, folder: Path) -> JobSpec:
    """The workload's job over the files in a folder."""
    return streambound.compile(workload.sql, workload.catalog(str(folder).lstrip("/")), placement="driver").compiled.job


def on_spark(workload: Workload, native: Callable[..., Any], rows: int, size: int, rounds: int) -> Rows:
    """A job and Spark's own operator, in turn, over files of so many rows; entries and memory of the job."""
    with tempfile.TemporaryDirectory(prefix="streambound-bench-") as directory:
        folder, watched = Path(directory), Watched()
        workload.write(folder / "data", rows, size)
        workload.write(folder / "warm", 2 * size // 10, size // 10)
        spark = session(workload.name)

        def job(part: str, report: Callable[[dict[str, Any]], None]) -> None:
            run_job(job_of(workload, folder / part), spark, folder / part, report=report)

        def own(part: str) -> None:
            drain(native(spark, workload, folder / part))

        job("warm", lambda event: None)
        own("warm")
        times = in_turn({"job": lambda: job("data", watched), "Spark's own": lambda: own("data")}, rounds)
    what = f"{workload.name}, {rows:,} rows"
    found: Rows = [(f"{what}: job", watched.in_words())]
    found.append(
        ("entries after each batch", " ".join(f"{event['entries']:,}" for event in watched.batches[: rows // size]))
    )
    for name, seconds in times.items():
        speeds = f"{rate(rows, seconds.clock)} by the clock, {rate(rows, seconds.processor)} of processor time"
        found.append((f"{what}: {name}", speeds))
    mine, other = times["job"], times["Spark's own"]
    return [*found, beside(other.clock / mine.clock, other.processor / mine.processor)]


CLOSURE = (
    "WITH RECURSIVE r(x, y) AS (SELECT a, b FROM E UNION SELECT r.x, E.b FROM r JOIN E ON E.a = r.y) SELECT x, y FROM r"
)
EDGES = {
    "streams": {"S": {"timestamp": "ts", "columns": {"ts": "bigint"}}},
    "relations": {
        "E": {
            "columns": {"a": "bigint", "b": "bigint"},
            "rows": 100_000,
            "changes": {"timestamp": "ts", "op": "op"},
        }
    },
}
Edge = tuple[int, int]


def closure(edges: int, changes: int) -> Rows:
    """A random graph of three nodes for two edges: the times of changes of one edge each, and of all edges at once."""
    job = streambound.compile(CLOSURE, EDGES).compiled.job
    assert isinstance(job.plan, CircuitPlan)
    (stream,), dice = job.streams, np.random.default_rng(3)

    def started() -> Engine:
        return Engine(job.plan, {}, evaluated, job.streams)

    def step(operator: Engine, now: int, rows: list[tuple[Edge, str]]) -> tuple[int, float]:
        given = [{"a": a, "b": b, "op": op, "ts": now} for (a, b), op in rows]
        delta = rows_as_delta([now] * len(given), given, stream)
        begun = time.perf_counter()
        return operator.step({stream.name: delta}).size, time.perf_counter() - begun

    def random_edge() -> Edge:
        a, b = dice.integers(0, 3 * edges // 2, 2).tolist()
        return a, b

    there = [random_edge() for _ in range(edges)]
    operator = started()
    step(operator, 0, [(edge, "insert") for edge in there])
    found: list[tuple[int, float]] = []
    for now in range(1, changes + 1):
        if now % 2:
            there.append(random_edge())
            found.append(step(operator, now, [(there[-1], "insert")]))
        else:
            found.append(step(operator, now, [(there.pop(int(dice.integers(len(there)))), "delete")]))
    rows, again = step(started(), 0, [(edge, "insert") for edge in there])
    seconds = sorted(spent for _, spent in found)
    changed, middle = sum(n for n, _ in found), seconds[len(seconds) // 2]
    each = (
        f"median {middle * 1e6:,.0f} µs, mean {sum(seconds) / changes * 1e6:,.0f} µs, most {seconds[-1] * 1e3:,.1f} ms"
    )
    return [
        (f"closure of {edges:,} edges: its rows", f"{rows:,}"),
        (f"{changes:,} changes of an edge, which change {changed / changes:.1f} rows on average", each),
        ("from nothing", f"{again * 1e3:,.0f} ms, {again / (sum(seconds) / changes):,.0f} times a change's mean"),
    ]


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the count (default: %(default)s)")
    parser.add_argument("--join-rows", type=int, default=100_000, help="of the left join (default: %(default)s)")
    parser.add_argument("--batches", type=int, default=10, help="micro-batches of each (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--write", action="store_true", help="put the table in benchmarks/README.md")
    given = parser.parse_args()
    found: Rows = []
    if "count" in given.only:
        found += on_spark(COUNT, counted, given.rows, given.rows // given.batches, given.rounds)
    if "join" in given.only:
        rows = given.join_rows
        found += on_spark(LEFT, joined, rows, rows // given.batches, given.rounds)
    if "closure" in given.only:
        found += closure(1_000, 1_000) + closure(10_000, 1_000)
    show(found)
    if given.write:
        write_table(found, START, END)


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main()
