"""A window join whose state outgrows the driver: `python benchmarks/buckets.py` runs it in buckets on two executors.

It makes streams of Parquet, compiles the job, runs `python job.py` with `local-cluster[2,1,1024]` and tells how many
entries the buckets held, how fast rows were taken in, and how much memory Python took at most, on the driver and in the
tasks of both executors. `--write` puts the table in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import streambound
from streambound.benchmarks.measuring import rate, table_lines, write_table
from streambound.benchmarks.workloads import FIRST_FILE, write_parquet
from streambound.synopsis_exec.measuring import resident, running

START, END = "<!-- buckets -->", "<!-- end of buckets -->"
SQL = "SELECT S.v, T.w FROM S, T WHERE S.k = T.k AND S.ts <= T.ts AND T.ts <= S.ts + 1000000000"

CLUSTER = "local-cluster[2,1,1024]"


def main() -> None:
    """Make the streams, run the job, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=6_000_000, help="rows of S, each an entry (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=1_000_000, help="rows of S in a batch (default: %(default)s)")
    parser.add_argument("--placement", default="buckets", choices=("buckets", "driver"))
    parser.add_argument("--write", action="store_true", help="put the table in benchmarks/README.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="streambound-bench-") as name:
        found = measured(Path(name), given.rows, given.batch, given.placement)
    print("\n".join(table_lines(found)))
    if given.write:
        write_table(found, START, END)


def make_streams(folder: Path, rows: int, batch: int) -> None:
    """Files of S, whose rows all stay within the window, and of T, of a hundred rows each."""
    dice = np.random.default_rng(11)
    for number, start in enumerate(range(0, rows, batch)):
        times = np.arange(start, min(rows, start + batch))
        few = times[:: max(1, len(times) // 100)]
        tables = {
            "S": {"k": dice.integers(0, rows, len(times)), "v": dice.integers(0, 1 << 40, len(times)), "ts": times},
            "T": {"k": dice.integers(0, rows, len(few)), "w": dice.integers(0, 9, len(few)), "ts": few},
        }
        for stream, columns in tables.items():
            file = folder / stream / f"{number:04d}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_parquet(file, columns)
            os.utime(file, (FIRST_FILE + number,) * 2)


def measured(folder: Path, rows: int, batch: int, placement: str) -> list[tuple[str, str]]:
    """Run the job on a cluster of two executors; the figures."""
    make_streams(folder, rows, batch)
    streams = {
        name: {
            "timestamp": "ts",
            "columns": dict.fromkeys(("k", value, "ts"), "bigint"),
            "source": {"format": "parquet", "path": name, "options": {"maxFilesPerTrigger": 1}},
        }
        for name, value in (("S", "v"), ("T", "w"))
    }
    job = streambound.compile(SQL, {"streams": streams}, placement=placement).write(folder / "job")
    cluster = (
        "--master local-cluster[2,1,1024] --conf spark.executor.memory=1g --conf spark.ui.enabled=false pyspark-shell"
    )
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": cluster, "PYSPARK_PYTHON": sys.executable}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder / "work")}
    options = ["--base", str(folder), "--checkpoint", f"file:{folder}/checkpoint", "--output", str(folder / "out")]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, str(job), *options, "--report", "json"],
            env=environment, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder,
        )  # fmt: skip
        entries, ends, driver, tasks = 0, [], 0, 0
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if "batch" in event:
                entries = max(entries, event["entries"])
                ends.append((time.perf_counter(), event["rows"]))
                processes = running()
                own = processes[process.pid].resident
                driver, tasks = max(driver, own), max(tasks, resident(process.pid, processes)["python"] - own)
        if process.wait():
            sys.exit((folder / "log").read_text()[-4000:])
    between = sum(rows for _, rows in ends[1:])
    return [
        ("entries at most", f"{entries:,}"),
        ("rows taken in, from the second batch on", rate(between, ends[-1][0] - ends[0][0])),
        ("Python on the driver, at most", f"{driver / 2**20:.0f} MiB"),
        ("Python in the tasks, at most", f"{tasks / 2**20:.0f} MiB"),
    ]


if __name__ == "__main__":
    main()
