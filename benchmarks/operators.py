"""Operators of compiled jobs alone, without input, output or Spark: `python benchmarks/operators.py`.

Each gets rows of columns in ticks of a size, in order of time, and every tick is a step of its engine, with one thread.
The figure is the median tick's; the most entries there were are beside it. A transitive closure follows edges that come
and go one at a time, beside the same job from nothing. `--write` puts the table in
benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import streambound
from streambound.benchmarks.measuring import Rows, rate, show, write_table
from streambound.synopsis_exec.simulate import evaluated, rows_as_delta
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators.delta import Delta
from streambound_runtime.placement.on_driver import operator_of

START, END = "<!-- operators -->", "<!-- end of operators -->"
COLUMNS = {"k": "bigint", "v": "bigint", "ts": "timestamp"}
WITHIN = "T.k = S.k AND T.ts BETWEEN S.ts - INTERVAL {width} MILLISECONDS AND S.ts"


WINDOW = "window(ts, '10 seconds')"


@dataclass(frozen=True)
class Alone:
    """A statement over streams of k, v and ts: a row a millisecond, and of a key one of each stream in a ``width``."""

    name: str
    sql: str
    streams: str = "S"
    final: bool = False


STATEMENTS = (
    Alone("left join within a window", f"SELECT S.k, S.v, T.v AS w FROM S LEFT JOIN T ON {WITHIN}", "ST"),
    Alone(
        "windowed count",
        f"SELECT {WINDOW}.start AS w, k, COUNT(*) AS n FROM S GROUP BY {WINDOW}, k",
        final=True,
    ),
    Alone(
        "top two",
        "SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM S) q WHERE n <= 2",
    ),
    Alone("DISTINCT", "SELECT DISTINCT k, v FROM S"),
)


def catalog(keys: int) -> dict[str, Any]:
    stream = {
        "timestamp": "ts",
        "columns": COLUMNS,
        "domain": {"k": [0, keys - 1], "v": [0, 99]},
        "max_per_timestamp": 1,
    }
    return {"streams": dict.fromkeys("ST", stream)}


def ticks(one: Alone, keys: int, size: int, number: int) -> Iterator[tuple[dict[str, Delta], int]]:
    """The rows of each tick by stream, and the first timestamp after it."""
    dice = np.random.default_rng(5)
    each = size // len(one.streams)
    for tick in range(number):
        given = {}
        for stream in one.streams:
            times = np.arange(tick * each, (tick + 1) * each, dtype=np.int64) * 1000
            columns = {"k": dice.integers(0, keys, each), "v": dice.integers(0, 100, each), "ts": times}
            given[stream] = Delta(times, None, columns)
        yield given, (tick + 1) * each * 1000


def measured(one: Alone, keys: int, size: int, number: int) -> str:
    """How many rows a second a statement's operators take, and the most entries that they had."""
    emit = "-- streambound: emit final\n" if one.final else ""
    job = streambound.compile(emit + one.sql.format(width=2 * keys), catalog(keys)).compiled.job
    operator = operator_of(job, {})
    spent, most = [], 0
    for given, until in ticks(one, keys, size, number):
        begun = time.perf_counter()
        operator.step(given, until)
        spent.append(time.perf_counter() - begun)
        most = max(most, operator.entries())
    middle = statistics.median(spent[1:])
    return f"{rate(size, middle)}, {middle * 1e3:,.1f} ms a tick, {most:,} entries of at most {operator.limit:,}"


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
    parser.add_argument("--ticks", type=int, default=12, help="of each size (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="put the table in benchmarks/README.md")
    given = parser.parse_args()
    found: Rows = []
    for one in STATEMENTS:
        for size, keys, what in (
            (100_000, 1_000, "a thousand keys"),
            (1_000, 1_000, "a thousand keys"),
            (100_000, 1, "one key"),
        ):
            found.append((f"{one.name}, {what}, {size:,} rows a tick", measured(one, keys, size, given.ticks)))
    found += closure(1_000, 1_000) + closure(10_000, 1_000)
    show(found)
    if given.write:
        write_table(found, START, END)


if __name__ == "__main__":
    main()
