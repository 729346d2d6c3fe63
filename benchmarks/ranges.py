"""One batch folded in 1 to 64 ranges of time, as a cluster would: `python benchmarks/ranges.py`.

Every range is folded here, one after the other, and its processor time taken; what a cluster needs is then the slowest
range of each stage and the driver's stage between them. The results and the tables must be those of one fold. W1, whose
streams are joined by equality, is also cut into as many parts by that key, which need no summaries.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from streambound.benchmarks.executor import columns_of
from streambound.benchmarks.workloads import W1, W2, Workload
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.simulate import load_kernel

ROOT = Path(__file__).resolve().parent.parent
ROWS = 4_000_000
RANGES = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 3


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a call, and what it returns."""
    begun = time.process_time()
    found = action()
    return time.process_time() - begun, found


def between(job: Any, batch: dict[str, Any], start: int, stop: int) -> dict[str, Any]:
    """The rows of a batch from a time on and before another."""
    found = {}
    for name, rows in batch.items():
        mine = slice(*np.searchsorted(rows.time, [start, stop]))
        found[name] = job.Rows(rows.time[mine], {c: v[mine] for c, v in rows.columns.items()}, {}, {})
    return found


def stages(job: Any, parts: list[Any]) -> tuple[float, float, float, int, Any]:
    """The slowest range of the first stage, the driver's, the slowest of the last; the results and the last tables."""
    kernel = job.Columnar({})
    branch, extensions = kernel.branches[0], job.extensions(kernel.synopsis)[0]
    summaries = [seconds(lambda p=part: job.range_of(branch, extensions, [], p, False)) for part in parts[:-1]]
    starts, driver = [kernel.tables[0]], 0.0
    for _, change in summaries:
        spent, tables = seconds(lambda c=change: job.after(branch, extensions, starts[-1], c, False))
        starts.append(tables)
        driver += spent
    results, slowest = 0, 0.0
    for part, tables in zip(parts, starts, strict=True):
        one = job.Columnar({})
        one.tables = [tables]
        spent, found = seconds(lambda o=one, p=part: o.fold(p))
        results, slowest = results + int(found.n.sum()), max(slowest, spent)
    return max((spent for spent, _ in summaries), default=0.0), driver, slowest, results, one.dump()


def by_key(job: Any, batch: dict[str, Any], count: int) -> tuple[float, int]:
    """The slowest of as many folds of the rows of some keys each, and the results of all."""
    slowest, results = 0.0, 0
    for part in range(count):
        mine = {}
        for name, rows in batch.items():
            found = np.flatnonzero(rows.columns["K"] % count == part)
            mine[name] = job.Rows(rows.time[found], {c: v[found] for c, v in rows.columns.items()}, {}, {})
        spent, found = seconds(lambda m=mine: job.Columnar({}).fold(m))
        results, slowest = results + int(found.n.sum()), max(slowest, spent)
    return slowest, results


def simulate(workload: Workload, keyed: bool) -> None:
    """Print the table of a workload."""
    job = load_kernel(job_text(workload.plan(), keyed=False))
    expected, alone = None, 0.0
    (whole_batch,) = [columns_of(job, batch) for batch in workload.batches(ROWS, ROWS)]
    more = ["by key"] * keyed
    head = ["slowest summary", "on the driver", "slowest fold", "a cluster needs", "against one", *more]
    print(f"\n| {workload.name}, ranges | {' | '.join(head)} |\n|{' --- |' * (1 + len(head))}")
    for count in RANGES:
        parts = [between(job, whole_batch, ROWS * i // count, ROWS * (i + 1) // count) for i in range(count)]
        runs = [stages(job, parts) for _ in range(ROUNDS)]
        first, driver, last = (statistics.median(run[place] for run in runs) for place in range(3))
        whole = first + driver + last
        alone = alone or whole
        cells = [f"{1000 * spent:.1f} ms" for spent in (first, driver, last, whole)] + [f"{alone / whole:.1f}×"]
        outcome = runs[0][3:]
        expected = expected or outcome
        assert outcome == expected, "the ranges disagree with one fold"
        if keyed:
            folds = [by_key(job, whole_batch, count) for _ in range(ROUNDS)]
            assert folds[0][1] == expected[0], "the keys disagree with one fold"
            cells.append(f"{1000 * statistics.median(spent for spent, _ in folds):.1f} ms")
        print(f"| {count} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    simulate(W2, keyed=False)
    simulate(W1, keyed=True)


if __name__ == "__main__":
    main()
