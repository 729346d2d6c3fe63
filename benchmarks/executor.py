"""The executor's speed: `python benchmarks/executor.py` compares, in one run, engine and job with what else there is.

Times are by the clock, and of the processor, of Python, Spark's JVM and their helpers together, because machines are
shared; ratios of medians taken in one run are what counts. `--write` puts the table in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from streambound.benchmarks.measuring import Rows, in_turn, memory, rate, show, write_table
from streambound.benchmarks.native import PROVIDERS, by_spark, drain, stream
from streambound.benchmarks.workloads import FORMATS, JOINS, W1, WORKLOADS, Workload
from streambound_runtime.main import run
from streambound_runtime.operators.delta import Delta
from streambound_runtime.placement.on_driver import operator_of
from streambound_runtime.results import write_results
from streambound_runtime.session import session
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import JobSpec

START, END = "<!-- executor -->", "<!-- end of executor -->"


# --- the engine alone ------------------------------------------------------------------------------------------------


Batch = dict[str, Delta]


def deltas_of(batch: dict[str, dict[str, Any]]) -> Batch:
    """A batch as the engine takes it."""
    values = {name: {c: v for c, v in columns.items() if c != "ts"} for name, columns in batch.items()}
    return {name: Delta(batch[name]["ts"], None, columns) for name, columns in values.items()}


def kernel_batches(workload: Workload, rows: int, size: int) -> list[Batch]:
    return [deltas_of(batch) for batch in workload.batches(rows, size)]


def by_hand(batches: list[Batch]) -> int:
    """W1 as a person would write it with numpy: counts per key, brought up to date before each row of S."""
    table, results = np.zeros(400, dtype=np.int64), 0
    for batch in batches:
        t, s = batch["T"], batch["S"]
        k, b = t.columns["K"], t.columns["B"]
        good = (b > 0) & (b < 5) & (k >= 0) & (k < 100)
        code, times = (k * 4 + b - 1)[good], t.time[good]
        start = 0
        for now, key in zip(s.time, s.columns["K"], strict=True):
            stop = np.searchsorted(times, now)
            table += np.bincount(code[start:stop], minlength=400)
            start = stop
            results += np.count_nonzero(table[key * 4 : key * 4 + 4]) if 0 <= key < 100 else 0
        table += np.bincount(code[start:], minlength=400)
    return results


def run_kernel(job: JobSpec, batches: Iterable[Batch]) -> tuple[int, int, int]:
    """The numbers of results and of entries at the end, and the most entries."""
    kernel, results, peak = operator_of(job, {}), 0, 0
    for batch in batches:
        results += kernel.step(batch).size
        peak = max(peak, kernel.peak)
    return results, kernel.entries(), peak


def kernels(rows: int, size: int, rounds: int) -> Rows:
    """The engine against a loop by hand, and on every workload."""
    found: Rows = []
    job = W1.job()
    batches = kernel_batches(W1, rows, size)
    assert run_kernel(job, batches)[0] == by_hand(batches), "the two disagree"
    times = in_turn(
        {"ours": lambda: run_kernel(job, batches), "hand": lambda: by_hand(batches)}, rounds, time.process_time
    )
    found.append(("engine, W1", rate(rows, times["ours"].processor)))
    found.append(("numpy by hand, W1", rate(rows, times["hand"].processor)))
    found.append(("ratio", f"{times['hand'].processor / times['ours'].processor:.2f}"))
    for workload in JOINS[1:]:
        job = workload.job()
        batches = kernel_batches(workload, rows // 4, size)
        seconds = in_turn({"ours": lambda job=job, b=batches: run_kernel(job, b)}, rounds, time.process_time)[
            "ours"
        ].processor
        found.append((f"engine, {workload.name}", rate(rows // 4, seconds)))
    return found


def lines(rows: int, rounds: int) -> Rows:
    """Results made into lines of JSON: four small integers each, timestamps and multiplicities included."""
    job, random = W1.job(), np.random.default_rng(7)
    columns = {"K": random.integers(0, 100, rows), "B": random.integers(1, 5, rows)}
    results = Delta(np.arange(rows), random.integers(1, 1000, rows), columns)
    action = {"lines": lambda: write_results(io.StringIO(), job, results, "count")}
    seconds = in_turn(action, rounds, time.process_time)["lines"].processor
    return [("results as lines of JSON", rate(rows, seconds).replace("rows", "results"))]


def entries(sizes: list[int], size: int) -> Rows:
    """Entries and memory do not depend on how many rows there were."""
    found: Rows = []
    for workload in JOINS:
        job = workload.job()
        for rows in sizes:
            _, last, peak = run_kernel(job, map(deltas_of, workload.batches(rows, size)))
            what = f"{peak} entries at most, {last} at the end, {memory()['Python']:.0f} MiB"
            found.append((f"{workload.name}, {rows:,} rows", what))
    return found


# --- the job on Spark ------------------------------------------------------------------------------------------------


def together(spark: Any, workload: Workload, folder: Path, columns: tuple[str, ...]) -> Any:
    """All rows of all streams, with NULL in the columns that a stream does not have."""
    parts = [
        frame.selectExpr(*(c if c in frame.columns else f"CAST(NULL AS BIGINT) AS {c}" for c in columns))
        for frame in stream(spark, workload, folder).values()
    ]
    return reduce(lambda rows, more: rows.unionAll(more), parts)


def read_only(spark: Any, workload: Workload, folder: Path) -> None:
    """The floor: Spark reads all streams, and nothing is done with them."""
    drain(together(spark, workload, folder, ("ts", *workload.values)))


def count(spark: Any, workload: Workload, folder: Path) -> None:
    """Spark's own streaming count of the same rows by all their values but the timestamp, which it writes nowhere."""
    columns = tuple(workload.values)
    drain(together(spark, workload, folder, columns).groupBy(*columns).count(), "update")


def operators(spark: Any, workload: Workload, folder: Path) -> None:
    """Spark's own operators for the statement, with watermarks."""
    for name, frame in stream(spark, workload, folder).items():
        frame.withWatermark("ts", "0 seconds").createOrReplaceTempView(name)
    drain(spark.sql(workload.sql))


class Watched:
    """A job's reports, with the memory of Python and of Java after each batch."""

    def __init__(self) -> None:
        self.batches: list[dict[str, Any]] = []
        self.memory: list[dict[str, float]] = []

    def __call__(self, event: dict[str, Any]) -> None:
        if "batch" in event:
            self.batches.append(event)
            self.memory.append(memory())

    def in_words(self) -> str:
        peak = max(event["peak"] for event in self.batches)
        seen = (self.memory[0], self.memory[len(self.memory) // 2], self.memory[-1])
        used = ", ".join(f"{name} {' / '.join(f'{at[name]:.0f}' for at in seen)} MiB" for name in seen[0])
        entries = f"{peak} entries at most, {self.batches[-1]['entries']} at the end"
        return f"{entries}; resident at the beginning / in the middle / at the end: {used}"


def run_job(
    job: JobSpec, spark: Any, folder: Path, *more: str, report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    """The job, with its sink; a batch per file, as the others have it."""
    with tempfile.TemporaryDirectory() as scratch:
        output, checkpoint = f"{scratch}/out.jsonl", f"{scratch}/checkpoint"
        options = ["--base", "/", "--output", output, "--checkpoint", checkpoint, "--files-per-batch", "1", *more]
        return run(spark, job, settings_of(job, options), report)


def on_spark(workload: Workload, rows: int, size: int, rounds: int, native: float) -> Rows:
    """The job against reading alone, Spark's own count and, for ``native`` seconds at most, its own join."""
    watched = Watched()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        workload.write(folder / "data", rows, size)
        workload.write(folder / "warm", 2 * size // 10, size // 10)
        placement = "driver" if workload.beyond_joins else None
        jobs = {part: workload.job(folder / part, placement) for part in ("data", "warm")}
        spark = session(workload.name)
        actions: dict[str, Callable[[Path, str], object]] = {
            "job": lambda data, part: run_job(jobs[part], spark, data, report=watched),
        }
        if workload.beyond_joins:
            actions["Spark's own"] = lambda data, part: operators(spark, workload, data)
        else:
            actions["reading only"] = lambda data, part: read_only(spark, workload, data)
            counted = f"groupBy({', '.join(workload.values)}).count()"
            actions[counted] = lambda data, part: count(spark, workload, data)
        for action in actions.values():
            action(folder / "warm", "warm")
        watched = Watched()
        times = in_turn({name: (lambda a=a: a(folder / "data", "data")) for name, a in actions.items()}, rounds)
        what = f"{workload.name}, {rows:,} rows of {workload.format}, {size:,} a batch"
        found: Rows = [(f"{what}: job, {rounds} times", watched.in_words())]
        each = " ".join(f"{event['entries']:,}" for event in watched.batches[: rows // size])
        found += [("entries after each batch", each)] if workload.beyond_joins else []
        mine = times["job"]
        for name, seconds in times.items():
            clock, processor = rate(rows, seconds.clock), rate(rows, seconds.processor)
            found.append((f"{what}: {name}", f"{clock} by the clock, {processor} of processor time"))
            if name != "job":
                found.append(beside(seconds.clock / mine.clock, seconds.processor / mine.processor))
        for provider in PROVIDERS if native and not workload.beyond_joins else ():
            far = by_spark(workload, folder, provider, native, rows, size)
            found.append((f"{what}: native join, {provider}", far.in_words(rows)))
            if far.rows:
                clock, processor = far.seconds / far.rows * rows, far.processor / far.rows * rows
                found.append(beside(clock / mine.clock, processor / mine.processor))
    return found


def beside(clock: float, processor: float) -> tuple[str, str]:
    return "the job's speed beside it", f"{clock:.2f} by the clock, {processor:.2f} of processor time"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[100_000, 1_000_000], help="rows a batch, on Spark")
    parser.add_argument("--batches", type=int, default=5, help="how many batches of each size")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--native",
        type=float,
        metavar="SECONDS",
        default=0,
        help="also Spark's native joins, each cut off after so long",
    )
    parser.add_argument("--no-spark", action="store_true", help="the engine alone")
    parser.add_argument("--workload", choices=[w.name for w in WORKLOADS], nargs="+", default=["W1", "W2", "W3"])
    parser.add_argument(
        "--format", choices=tuple(FORMATS), nargs="+", default=list(FORMATS), help="of the files on Spark"
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = kernels(1_000_000, 100_000, options.rounds) + lines(1_000_000, options.rounds)
    rows += entries([100_000, 1_000_000, 10_000_000], 100_000)
    show(rows)
    for workload in (w for w in WORKLOADS if w.name in options.workload and not options.no_spark):
        for size, kind in product(options.batch, options.format):
            of_kind = replace(workload, format=kind)
            rows += (more := on_spark(of_kind, size * options.batches, size, options.rounds, options.native))
            show(more)
    if options.write:
        write(rows, options)


def write(rows: Rows, options: argparse.Namespace) -> None:
    """Put the table in the README."""
    load = f"{os.getloadavg()[1]:.1f} processes at the end, of which the job and Spark are about two."
    how = f"Medians of {options.rounds}; the load of the machine was {load}"
    write_table(rows, START, END, how, "")


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main()
