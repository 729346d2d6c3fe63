"""A stream of rows with periods, read by the job of a SEQ VT statement: does it keep its speed and its memory?

    python benchmarks/period_streams.py [--rows 10000000] [--batch 50000]

Ten rows begin at each point of time, each is valid for up to 24, with one of eight skills. Printed after two batches,
which are 100 thousand rows, ten times as many and so on: the most entries so far, of at most M, resident
memory, and the rows a second since the line before. The job is a process of its own, its sink Parquet files; Spark's
start is in no figure.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import streambound
from streambound.benchmarks.soak import MIB, live

PER_TIME, LONGEST, SKILLS = 10, 24, 8
STATEMENT = "SEQ VT (SELECT skill, COUNT(*) AS n, MAX(pay) AS best FROM shifts GROUP BY skill)"
CATALOG: dict[str, Any] = {
    "streams": {
        "shifts": {
            "timestamp": "vb",
            "columns": {"skill": "bigint", "pay": "bigint", "vb": "bigint", "ve": "bigint"},
            "period": ["vb", "ve"],
            "max_duration": LONGEST,
            "max_per_timestamp": PER_TIME,
            "source": {"format": "parquet", "path": "in", "options": {"maxFilesPerTrigger": 1}},
        }
    },
    "sinks": {"periods": {"format": "parquet", "path": "out"}},
}


def write(folder: Path, rows: int, batch: int) -> None:
    """A file for each batch, in order of begins."""
    folder.mkdir()
    with duckdb.connect() as connection:
        for number, start in enumerate(range(0, rows, batch)):
            connection.execute(f"""COPY (
                SELECT CAST(hash(i, 'skill') % {SKILLS} AS BIGINT) AS skill,
                       CAST(hash(i, 'pay') % 1000 AS BIGINT) AS pay, i // {PER_TIME} AS vb,
                       i // {PER_TIME} + 1 + CAST(hash(i, 'end') % {LONGEST} AS BIGINT) AS ve
                FROM range({start}, {min(rows, start + batch)}) r(i)
            ) TO '{folder}/part-{number:06d}.parquet' (FORMAT parquet)""")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--batch", type=int, default=50_000)
    parser.add_argument("--heap", default="1g", help="Java's heap")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "in", given.rows, given.batch)
        job = streambound.compile(f"-- name: periods\n{STATEMENT}", CATALOG)
        job.write(folder)
        times: list[float] = []
        life = live(folder, given, None, 0, 1, lambda _: times.append(time.monotonic()))
    summary = life.reports[-1]
    print("| rows | entries so far, M | rows/s since the line before | Python, Java MiB |\n| --- | --- | --- | --- |")
    peaks = [report["peak"] for report in life.reports if "batch" in report]
    before, wanted = 0, 2 * given.batch
    for place in range(len(times)):
        rows = (place + 1) * given.batch
        if place and (rows >= wanted or rows >= given.rows):
            speed = (place - before) * given.batch / (times[place] - times[before])
            memory = f"{life.python[place] / MIB:,.0f}, {life.java[place] / MIB:,.0f}"
            print(f"| {rows:,} | {max(peaks[: place + 1])}, {summary['limit']} | {speed:,.0f} | {memory} |")
            before, wanted = place, 10 * wanted
    print(f"results: {summary['results']:,}; quarantined: {summary['quarantined'] or 'none'}")


if __name__ == "__main__":
    main()
