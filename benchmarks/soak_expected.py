"""What W2 must have printed, by DuckDB, and how a job's output differs from it.

The plain join of 50 million rows has about 10^19 combinations, so the results are counted: how many tuples of U are
older than each tuple of T, how many such pairs there are per B before each tuple of S. `tests/test_soak.py` compares
that with the plain join of a few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
