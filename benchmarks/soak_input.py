"""What the soak feeds its job: a workload's rows, out of order within a lateness, the streams at different times."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streambound.benchmarks.workloads import FIRST_FILE, Workload

Columns = dict[str, Any]


@dataclass(frozen=True)
class Disorder:
    """How rows arrive: up to ``lateness`` behind their stream; each stream ``apart`` behind the one before it."""

    lateness: int
    apart: int
    seed: int


@dataclass
class Written:
    """What was written: rows, those older than one before them in their stream, or in an earlier file."""

    files: int = 0
    rows: int = 0
    out_of_order: int = 0
    across_files: int = 0


def write_disordered(folder: Path, workload: Workload, rows: int, size: int, disorder: Disorder) -> Written:
    """The workload's rows as Parquet, a file per stream and so many rows, in order of arrival.

    A row arrives at its timestamp and up to ``lateness`` later, so that no row is more than that behind an earlier one.
    """
    random = np.random.default_rng(disorder.seed)
    written = Written()
    waiting: dict[str, Columns] = {}
    latest = dict.fromkeys(workload.columns, -1)
    for number, batch in enumerate(workload.batches(rows, size)):
        done = min(rows, (number + 1) * size)
        until = None if done == rows else done // workload.rows_per_timestamp
        for place, (name, columns) in enumerate(batch.items()):
            noise = random.integers(0, disorder.lateness, len(columns["ts"]), endpoint=True)
            arrival = columns["ts"] + noise + place * disorder.apart
            together = _together(waiting.get(name), {**columns, "arrival": arrival})
            now, waiting[name] = _arrived(together, until)
            latest[name] = _count(written, now["ts"], latest[name])
            _write(folder / name / f"part-{number:05}.parquet", now, number)
        written.files = number + 1
    return written


def _together(before: Columns | None, more: Columns) -> Columns:
    return more if before is None else {name: np.concatenate([before[name], column]) for name, column in more.items()}


def _arrived(columns: Columns, until: int | None) -> tuple[Columns, Columns]:
    """What arrives before a moment (None: all), in order of arrival, and the rest."""
    order = np.argsort(columns["arrival"], kind="stable")
    many = len(order) if until is None else int(np.searchsorted(columns["arrival"][order], until))
    parts = [{name: column[part] for name, column in columns.items()} for part in (order[:many], order[many:])]
    return parts[0], parts[1]


def _count(written: Written, times: Any, latest: int) -> int:
    """Count the rows of a file that are behind others; returns the stream's largest timestamp."""
    written.rows += len(times)
    if len(times) == 0:
        return latest
    before = np.maximum.accumulate(np.r_[latest, times])[:-1]
    written.out_of_order += int((times < before).sum())
    written.across_files += int((times < latest).sum())
    return max(latest, int(times.max()))


def _write(file: Path, columns: Columns, number: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({name: column for name, column in columns.items() if name != "arrival"}), file)
    os.utime(file, (FIRST_FILE + number, FIRST_FILE + number))


COUNTED = """
WITH
  older AS (SELECT ts, sum(count(*)) OVER (ORDER BY ts) AS n FROM U GROUP BY ts),
  mine AS (SELECT ts, B, count(*) AS n FROM T WHERE B IN (1, 2, 3, 4) GROUP BY ts, B),
  pairs AS (SELECT mine.ts, mine.B, mine.n * older.n AS n FROM mine ASOF JOIN older ON mine.ts > older.ts),
  known AS (SELECT ts, B, sum(n) OVER (PARTITION BY B ORDER BY ts) AS n FROM pairs),
  four AS (SELECT unnest([1, 2, 3, 4]) AS B),
  asked AS (SELECT S.A, four.B, S.ts, count(*) AS n FROM S, four WHERE S.A > four.B GROUP BY ALL)
SELECT asked.A, asked.B, asked.ts AS _ts, CAST(asked.n * known.n AS HUGEINT) AS _mult
FROM asked ASOF JOIN known ON asked.B = known.B AND asked.ts > known.ts
"""
MOST_MEMORY = "4GB"
SHOWN = 10


@dataclass(frozen=True)
class Sums:
    """Results as a multiset: how many are different, how many there are, and a checksum that knows no order."""

    different: int
    all: int
    checksum: int


@dataclass(frozen=True)
class Compared:
    """The job's results, the expected ones, and the first that differ: `_ts`, A, B, times by the job, expected."""

    job: Sums
    expected: Sums
    differing: list[tuple[Any, ...]]

    @property
    def equal(self) -> bool:
        """Whether count and checksum are the same."""
        return self.job == self.expected


def compared(folder: Path, output: Path) -> Compared:
    """Compare the Parquet files of a job's output with what DuckDB says of those of its input."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{MOST_MEMORY}'")
    connection.execute(f"SET temp_directory = '{output.parent / 'duckdb'}'")
    for name in "STU":
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}/*.parquet')")
    connection.execute(f"CREATE TABLE expected AS {COUNTED}")
    files = f"read_parquet('{output}/batch=*/*.parquet', hive_partitioning = true)"
    connection.execute(f"CREATE TABLE printed AS SELECT A, B, _ts, _mult FROM {files}")
    connection.execute(
        "CREATE TABLE job AS SELECT A, B, _ts, CAST(sum(_mult) AS HUGEINT) AS _mult FROM printed GROUP BY ALL"
    )
    job, expected = (_sums(connection, table) for table in ("job", "expected"))
    return Compared(job, expected, [] if job == expected else _differing(connection))


def _sums(connection: Any, table: str) -> Sums:
    sums = "count(*), coalesce(sum(_mult), 0), coalesce(sum(CAST(hash(A, B, _ts, _mult) AS HUGEINT)), 0)"
    return Sums(*connection.execute(f"SELECT {sums} FROM {table}").fetchone())


def _differing(connection: Any) -> list[tuple[Any, ...]]:
    both = "job FULL JOIN expected USING (A, B, _ts)"
    numbers = "coalesce(job._mult, 0), coalesce(expected._mult, 0)"
    where = "WHERE job._mult IS DISTINCT FROM expected._mult ORDER BY _ts, A, B"
    found: list[tuple[Any, ...]] = connection.execute(
        f"SELECT _ts, A, B, {numbers} FROM {both} {where} LIMIT {SHOWN}"
    ).fetchall()
    return found
