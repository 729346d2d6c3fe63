"""A long run with faults: `python benchmarks/soak.py` gives W2's job 50 million tuples and kills it three times.

The tuples come out of order, within the lateness that the catalog declares, by streams that are at different times.
The generated job is a process of its own; `kill -9` hits it, with Spark, at random moments (`--seed`), and it is
started again with the same command. What it has written at the end must be what DuckDB says of its input, by count and
checksum, and there must never have been more entries than M. Exit status: 0 it is so, 1 it is not, 3 the job failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import streambound
from streambound.benchmarks.measuring import Rows, write_table
from streambound.benchmarks.soak_input import Compared, Disorder, Written, compared, write_disordered
from streambound.benchmarks.workloads import W2
from streambound.synopsis_exec.measuring import resident

START, END = "<!-- soak -->", "<!-- end of soak -->"
WORKLOAD = replace(W2, rows_per_timestamp=5)
MIB = 2**20


@dataclass
class Life:
    """The job from a start to its end or a kill: its reports, and resident memory after each batch, in bytes."""

    pace: float
    """Seconds of the last batch."""
    reports: list[dict[str, Any]] = field(default_factory=list)
    python: list[int] = field(default_factory=list)
    java: list[int] = field(default_factory=list)

    @property
    def batches(self) -> list[int]:
        """The batches that it reported."""
        return [report["batch"] for report in self.reports if "batch" in report]


# --- the job ----------------------------------------------------------------------------------------------------------


def write_job(folder: Path, lateness: int) -> None:
    """W2's job over the Parquet files in a folder, with a sink there."""
    catalog: dict[str, Any] = WORKLOAD.catalog("in")
    for stream in catalog["streams"].values():
        stream["lateness"] = lateness
    catalog["sinks"] = {WORKLOAD.name: {"format": "parquet", "path": "out"}}
    streambound.compile(f"-- name: {WORKLOAD.name}\n{WORKLOAD.sql}", catalog).write(folder)


def started(folder: Path, given: argparse.Namespace) -> subprocess.Popen[str]:
    """The job as a process group of its own, which Spark's Java is in."""
    options = ["--base", ".", "--checkpoint", "checkpoint", "--quarantine", "bad.jsonl", "--report", "json"]
    options += ["--files-per-batch", "1"]
    submit = f"--driver-memory {given.heap} pyspark-shell"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": submit}
    with (folder / "job.log").open("a", encoding="utf-8") as log:
        return subprocess.Popen(
            [sys.executable, "job.py", *options],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
        )  # fmt: skip


def live(
    folder: Path,
    given: argparse.Namespace,
    fatal: int | None,
    delay: float,
    pace: float,
    on_batch: Callable[[dict[str, Any]], None],
) -> Life:
    """Run the job to its end; or kill it after a batch, a part (``delay``) of that batch's time later."""
    life, process, before = Life(pace=pace), started(folder, given), 0.0
    assert process.stdout is not None
    try:
        for line in process.stdout:
            life.reports.append(report := json.loads(line))
            if "batch" not in report:
                continue
            memory = resident(process.pid)
            life.python.append(memory["python"])
            life.java.append(memory["java"])
            on_batch(report)
            now = time.monotonic()
            life.pace, before = now - before if before else pace, now  # a first batch comes with Spark's start
            if fatal is not None and report["batch"] >= fatal:
                time.sleep(delay * life.pace)
                break
        if fatal is None and process.wait() != 0:
            raise SystemExit(failed(folder, "the job failed"))
        if fatal is not None and process.poll() is not None:
            raise SystemExit(failed(folder, f"the job ended before it could be killed after batch {fatal}"))
        return life
    finally:
        kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """`kill -9` for the job and its Java, where they still run."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def failed(folder: Path, what: str) -> int:
    """Say what is wrong, with the end of the job's log; the exit status."""
    log = (folder / "job.log").read_text(encoding="utf-8", errors="replace")
    print(f"{what}; its log ends with:\n{log[-2000:]}", file=sys.stderr)
    return 3


def lives(
    folder: Path, options: argparse.Namespace, batches: int, on_batch: Callable[[dict[str, Any]], None]
) -> list[Life]:
    """Run the job with its kills."""
    dice = random.Random(options.seed)
    places = sorted(dice.sample(range(batches - 1), options.kills))
    found = []
    for number, place in enumerate(places):
        delay = dice.random()
        found.append(live(folder, options, place, delay, found[-1].pace if found else 1, on_batch))
        last = found[-1].batches[-1]
        print(f"kill {number + 1}: after batch {last} of {batches} and {delay:.2f} of a batch's time", flush=True)
    return [*found, live(folder, options, None, 0, 1, on_batch)]


# --- progress and figures ---------------------------------------------------------------------------------------------


@contextmanager
def progress(batches: int) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar on a terminal; elsewhere a line for every tenth of the batches."""
    if not sys.stderr.isatty():
        step = max(1, batches // 10)

        def line(report: dict[str, Any]) -> None:
            if (done := report["batch"] + 1) % step == 0:
                print(f"batch {done} of {batches}", file=sys.stderr, flush=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("batches"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=batches)
        yield lambda report: bar.update(task, completed=report["batch"] + 1)


def figures(written: Written, found: list[Life], seconds: float, result: Compared) -> Rows:
    """The table."""
    summary = found[-1].reports[-1]
    reports = [report for life in found for report in life.reports if "batch" in report]
    pending = max(report["pending"] for report in reports)
    read, bad = sum(summary["rows"].values()), sum(summary["quarantined"].values())
    rows = [
        ("tuples, in files per stream", f"{written.rows:,} in {written.files}"),
        (
            "behind a newer tuple of their stream, and in a later file",
            f"{written.out_of_order:,}, {written.across_files:,}",
        ),
        ("kills", f"{len(found) - 1}"),
        ("read by the job, quarantined", f"{read:,}, {bad:,}"),
        ("different results: job, DuckDB", f"{result.job.different:,}, {result.expected.different:,}"),
        ("results with duplicates: job, DuckDB", f"{result.job.all:,}, {result.expected.all:,}"),
        ("checksum: job, DuckDB", f"{result.job.checksum}, {result.expected.checksum}"),
        ("entries at most, M", f"{summary['peak']}, {summary['limit']}"),
        ("timestamps that wait for others, at most", f"{pending:,}"),
        (
            "clock, with starts and what was done twice",
            f"{seconds:,.0f} s, {written.rows / seconds / 1000:,.0f} k tuples/s",
        ),
    ]
    for number, life in enumerate(found):
        if life.python:
            what = f"start {number + 1}, batches {life.batches[0]} to {life.batches[-1]}: resident memory"
            rows.append((what, f"Python {mib(life.python)}, Java {mib(life.java)}"))
    return rows


def mib(sizes: list[int]) -> str:
    """Resident memory over the batches of a life."""
    first, middle, last = (sizes[place] // MIB for place in (len(sizes) // 5, len(sizes) // 2, -1))
    return f"{first} / {middle} / {last} MiB after a fifth, half, all"


def right(written: Written, found: list[Life], result: Compared) -> bool:
    """Whether all is as it must be; says what is not."""
    summary = found[-1].reports[-1]
    read, bad = sum(summary["rows"].values()), sum(summary["quarantined"].values())
    wrong = []
    if not result.equal:
        wrong.append("the results differ; the first of them (_ts, A, B, times by the job, times by DuckDB):")
        wrong += [f"  {row}" for row in result.differing]
    if (read, bad) != (written.rows, 0):
        wrong.append(f"of {written.rows} tuples {read} were read, {bad} of them quarantined")
    if summary["limit"] is None or summary["peak"] > summary["limit"]:
        wrong.append(f"{summary['peak']} entries, with M = {summary['limit']}")
    for line in wrong:
        print(line, file=sys.stderr)
    return not wrong


# --- the command ------------------------------------------------------------------------------------------------------


def soak(folder: Path, options: argparse.Namespace) -> int:
    """Write the input and the job, run it with its kills, compare; the exit status."""
    timestamps = options.batch // WORKLOAD.rows_per_timestamp
    disorder = Disorder(options.lateness, timestamps // 10, options.seed)
    written = write_disordered(folder / "in", WORKLOAD, options.rows, options.batch, disorder)
    write_job(folder, options.lateness)
    begun = time.monotonic()
    with progress(written.files) as on_batch:
        found = lives(folder, options, written.files, on_batch)
    seconds = time.monotonic() - begun
    result = compared(folder / "in", folder / "out")
    rows = figures(written, found, seconds, result)
    for what, figure in rows:
        print(f"| {what} | {figure} |")
    good = right(written, found, result)
    if options.write and good:
        write(rows, options)
    return 0 if good else 1


def write(rows: Rows, options: argparse.Namespace) -> None:
    """Put the table in the README."""
    given = f"--rows {options.rows} --kills {options.kills} --batch {options.batch} --seed {options.seed}"
    how = f"`python benchmarks/soak.py {given}`, Java's heap {options.heap}, on a machine that others used, too."
    write_table(rows, START, END, how, "")


def main(argv: list[str] | None = None) -> int:
    """Run the soak; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000_000, help="tuples of all streams together")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--batch", type=int, default=500_000, help="tuples of a micro-batch")
    parser.add_argument("--lateness", type=int, default=1_000, help="in timestamps; there are 5 tuples at each")
    parser.add_argument("--seed", type=int, default=0, help="of the disorder and of the kills' moments")
    parser.add_argument("--heap", default="1g", help="Java's heap")
    parser.add_argument("--folder", type=Path, help="a new directory for input, checkpoint and output, which is kept")
    parser.add_argument("--write", action="store_true", help="put the table in benchmarks/README.md")
    options = parser.parse_args(argv)
    batches = -(-options.rows // options.batch)
    if options.kills > batches - 1:
        parser.error(f"{options.kills} kills need more than {batches} batches: a smaller --batch, or more --rows")
    if options.folder is None:
        with tempfile.TemporaryDirectory(prefix="streambound-soak-") as folder:
            return soak(Path(folder), options)
    if options.folder.exists():
        parser.error(f"{options.folder} exists: a soak starts from nothing, in a new directory")
    options.folder.mkdir(parents=True)
    return soak(options.folder.absolute(), options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the job ends with it
    sys.exit(main())
