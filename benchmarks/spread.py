"""Batches on the driver and on the executors: `python benchmarks/spread.py` measures where it pays, by cores, too.

Each row is one batch of a workload, folded by the generated job on Spark with `--driver-rows` so high, and so low, that
the driver and the executors fold it; then on one core and on two. Every setting is a process, and its times, by the
clock, are medians of some runs after a first one. `--write` puts the tables in docs/executor.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from streambound.benchmarks.workloads import DENSE, LEAST, SECONDS, W1, W2, W3, Workload

ROOT = Path(__file__).resolve().parent.parent
DRIVER, EXECUTORS = 10**12, 0
BY_NAME = {workload.name: workload for workload in (W1, W2, W3, DENSE, LEAST, SECONDS)}
DOCS = ROOT / "docs" / "executor.md"


def child(name: str, folder: str, rows: int, driver_rows: int, rounds: int, counting: int, keyed: int) -> None:
    """Run the job of a workload on rows in a folder; prints seconds and the most memory.

    ``counting`` says that rows which are the same are always counted first (1), never (0), or where the job says (2);
    ``keyed`` the same of whether executors fold by key.
    """
    from streambound.benchmarks.executor import run_job
    from streambound.synopsis_exec.codegen import job_text
    from streambound.synopsis_exec.simulate import load_kernel

    workload: Workload = BY_NAME[name]
    job = load_kernel(job_text(workload.plan(folder.lstrip("/")), keyed=None if keyed == 2 else bool(keyed)))
    if counting < 2:
        job.worth_it = lambda rows, number: bool(counting)
    spark = job.session()
    times = []
    for _ in range(1 + rounds):
        begun = time.perf_counter()
        summary = run_job(job, spark, Path(folder), "--driver-rows", str(driver_rows))
        times.append(time.perf_counter() - begun)
    most = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    found = {"seconds": times[1:], "results": summary["results"], "peak": summary["peak"], "kib": int(most.split()[1])}
    print(json.dumps({**found, "rows": rows}), flush=True)


def measured(
    workload: Workload,
    folder: Path,
    rows: int,
    driver_rows: int,
    cores: int,
    rounds: int,
    counting: int = 2,
    keyed: int = 2,
) -> dict[str, Any] | None:
    """What a process of its own measures; None where the job fails, as one does that has too little memory."""
    arguments = ["--child", workload.name, *map(str, (folder, rows, driver_rows, rounds, counting, keyed))]
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"--master local[{cores}] pyspark-shell",
    }
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found["median"] = statistics.median(found["seconds"])
    return found


def median(*given: Any) -> float:
    """Seconds of what a process of its own measures; raises SystemExit where the job fails."""
    found = measured(*given)
    if found is None:
        raise SystemExit(f"the job failed: {given}")
    seconds: float = found["median"]
    return seconds


def show(*cells: str) -> str:
    line = f"| {' | '.join(cells)} |"
    print(line, flush=True)
    return line


def places(names: list[str], sizes: list[int], rounds: int) -> list[str]:
    """Driver against executors, by the size of the batch."""
    lines = [show("workload, one batch", "driver", "executors", "ratio", "driver's Python"), show(*["---"] * 5)]
    for name in names:
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                BY_NAME[name].write(Path(folder), size, size)
                two = [measured(BY_NAME[name], Path(folder), size, n, 2, rounds) for n in (DRIVER, EXECUTORS)]
            done = [one for one in two if one is not None]
            assert len({(one["results"], one["peak"]) for one in done}) == 1
            seconds = ("out of memory" if one is None else f"{one['median']:.2f} s" for one in two)
            memory = " / ".join("-" if one is None else f"{one['kib'] / 1024:,.0f} MiB" for one in two)
            ratio = f"{done[0]['median'] / done[1]['median']:.2f}" if len(done) == 2 else "-"
            lines.append(show(f"{name}, {size:,} rows", *seconds, ratio, memory))
    return lines


def keys(sizes: list[int], rounds: int) -> list[str]:
    """By key against ranges of time, and where these are not possible against slices on the driver."""
    lines = [show("workload, one batch", "by time", "by key", "ratio", "driver's Python"), show(*["---"] * 5)]
    for workload in (W1, LEAST):
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                workload.write(Path(folder), size, size)
                two = [measured(workload, Path(folder), size, EXECUTORS, 2, rounds, 2, way) for way in (0, 1)]
            time, key = (one for one in two if one is not None)
            assert (time["results"], time["peak"]) == (key["results"], key["peak"])
            memory = " / ".join(f"{one['kib'] / 1024:,.0f} MiB" for one in (time, key))
            seconds = (f"{one['median']:.2f} s" for one in (time, key))
            ratio = f"{time['median'] / key['median']:.2f}"
            lines.append(show(f"{workload.name}, {size:,} rows", *seconds, ratio, memory))
    return lines


def counts(size: int, rounds: int) -> list[str]:
    """Fetching rows as they are against counting those that are the same first, in ten batches on the driver."""
    lines = [show("workload, ten batches", "as they are", "as counts", "ratio"), show(*["---"] * 4)]
    for name in ("W2 by the second", "W1"):
        with tempfile.TemporaryDirectory() as folder:
            BY_NAME[name].write(Path(folder), size, size // 10)
            two = [median(BY_NAME[name], Path(folder), size, DRIVER, 2, rounds, way) for way in (0, 1)]
        lines.append(show(f"{name}, {size:,} rows", *(f"{one:.2f} s" for one in two), f"{two[0] / two[1]:.2f}"))
    return lines


def cores(size: int, rounds: int) -> list[tuple[str, float]]:
    """Seconds on one core and on two, of a workload whose kernel takes most of the time."""
    with tempfile.TemporaryDirectory() as folder:
        DENSE.write(Path(folder), size, size)
        found = [(n, median(DENSE, Path(folder), size, EXECUTORS, n, rounds)) for n in (1, 2)]
    return [(f"{DENSE.name}, {size:,} rows in one batch, executors, {n} core{'s'[: n - 1]}", s) for n, s in found]


def cores_table(size: int, rounds: int) -> list[str]:
    lines = [show("what", "by the clock"), show("---", "---")]
    (one, first), (two, second) = cores(size, rounds)
    return [
        *lines,
        show(one, f"{first:.2f} s"),
        show(two, f"{second:.2f} s"),
        show("two cores are faster than one", f"{first / second:.2f} times"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=7, help=argparse.SUPPRESS)
    parser.add_argument("--workload", choices=list(BY_NAME), nargs="*", default=["W1", "W2", "W3"])
    parser.add_argument("--rows", type=int, nargs="+", default=[300_000, 1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--cores", type=int, default=600_000, metavar="ROWS", help="rows on 1 core and on 2")
    parser.add_argument("--counts", type=int, default=1_000_000, metavar="ROWS", help="rows fetched as counts")
    parser.add_argument(
        "--keys", type=int, nargs="*", default=[1_000_000, 3_000_000], metavar="ROWS", help="rows by key"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.child:
        name, folder, *numbers = options.child
        child(name, folder, *map(int, numbers))
        return
    tables = {"places": places(options.workload, options.rows, options.rounds)} if options.workload else {}
    if options.keys:
        tables["keys"] = keys(options.keys, options.rounds)
    if options.counts:
        tables["counts"] = counts(options.counts, options.rounds)
    if options.cores:
        tables["cores"] = cores_table(options.cores, options.rounds)
    if options.write:
        for what, lines in tables.items():
            write(what, lines)


def write(what: str, lines: list[str]) -> None:
    """Put a table where the document has a place for it."""
    start, end = f"<!-- {what} -->", f"<!-- end of {what} -->"
    before, rest = DOCS.read_text(encoding="utf-8").split(start)
    DOCS.write_text(before + start + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
