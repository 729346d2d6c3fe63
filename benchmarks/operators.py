"""Operators of compiled jobs alone, without input, output or Spark: `python benchmarks/operators.py`.

Each gets rows of columns in ticks of a size, in order of time, and every tick is a step of its engine, with one thread.
The figure is the median tick's; the most entries there were are beside it. `--write` puts the table in
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
from streambound.benchmarks.executor import Rows, show, write_table
from streambound.benchmarks.measuring import rate
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
    show(found)
    if given.write:
        write_table(found, START, END)


if __name__ == "__main__":
    main()
