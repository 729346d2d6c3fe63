"""The executor's workloads: their queries, their catalogs, and rows as columns, the same in every run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import streambound
from streambound_runtime.spec import JobSpec

FIRST_FILE = 1_600_000_000
"""The modification time of a first file: Spark reads files in the order of these times."""


def write_parquet(file: Path, columns: dict[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), file)


def write_json(file: Path, columns: dict[str, Any]) -> None:
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    file.write_text("".join(f"{json.dumps(dict(zip(columns, row, strict=True)))}\n" for row in rows), encoding="utf-8")


FORMATS = {"parquet": write_parquet, "json": write_json}


@dataclass(frozen=True)
class Workload:
    """A query over streams; ``shares`` says what part of all rows belongs to each of its streams.

    The application time is of the type ``time``, a timestamp being so many milliseconds; ``declared`` says that the
    catalog has the columns' ``values`` as domains; ``beyond_joins`` that Spark runs it by operators with a watermark.
    """

    name: str
    sql: str
    columns: dict[str, tuple[str, ...]]
    shares: dict[str, float]
    values: dict[str, tuple[int, int]]
    rows_per_timestamp: int = 1
    format: str = "parquet"
    time: str = "bigint"
    declared: bool = False
    beyond_joins: bool = False

    def catalog(self, folder: str = "", files: int = 1) -> dict[str, Any]:
        """The catalog; with the files in a folder as sources."""
        streams = {}
        for name, columns in self.columns.items():
            source = {"format": self.format, "path": f"{folder}/{name}", "options": {"maxFilesPerTrigger": files}}
            streams[name] = {
                "timestamp": "ts",
                "columns": {**dict.fromkeys(columns, "bigint"), "ts": self.time},
                **({"domain": {name: list(self.values[name]) for name in columns}} if self.declared else {}),
                **({"source": source} if folder else {}),
            }
        return {"streams": streams}

    def job(self, folder: Path | None = None, placement: str | None = None) -> JobSpec:
        """The job of the query, which reads the files in a folder."""
        catalog = self.catalog("" if folder is None else str(folder).lstrip("/"))
        return streambound.compile(self.sql, catalog, placement=placement).compiled.job  # type: ignore[return-value]

    def batches(self, rows: int, size: int) -> Iterator[dict[str, dict[str, Any]]]:
        """The rows in order of time, so many at a time, by stream and column."""
        random = np.random.default_rng(7)
        names, shares = list(self.shares), list(self.shares.values())
        for start in range(0, rows, size):
            count = min(size, rows - start)
            stream = random.choice(len(names), count, p=shares)
            ts = np.arange(start, start + count) // self.rows_per_timestamp
            drawn = {c: random.integers(low, high, count, endpoint=True) for c, (low, high) in self.values.items()}
            yield {
                name: {
                    **{c: drawn[c][stream == number] for c in self.columns[name]},
                    "ts": self._times(ts[stream == number]),
                }
                for number, name in enumerate(names)
            }

    def _times(self, ts: Any) -> Any:
        if self.time != "timestamp":
            return ts
        import pyarrow as pa

        return pa.array(ts * 1000, pa.timestamp("us", tz="UTC"))

    def write(self, folder: Path, rows: int, size: int) -> None:
        """The rows as files of the workload's format, one per stream and batch."""
        for number, batch in enumerate(self.batches(rows, size)):
            for name, columns in batch.items():
                file = folder / name / f"part-{number:05}.{self.format}"
                file.parent.mkdir(parents=True, exist_ok=True)
                FORMATS[self.format](file, columns)
                os.utime(file, (FIRST_FILE + number, FIRST_FILE + number))


W1 = Workload(
    "W1",
    "SELECT S.K, T.B FROM S, T WHERE S.K = T.K AND S.ts > T.ts AND 0 < T.B AND T.B < 5 AND 0 <= S.K AND S.K < 100",
    {"S": ("K",), "T": ("K", "B")},
    {"S": 0.001, "T": 0.999},
    {"K": (0, 99), "B": (0, 5)},
)
W2 = Workload(
    "W2",
    "SELECT S.A, T.B FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.A > T.B AND 0 < T.B AND T.B < 5",
    {"S": ("A",), "T": ("B",), "U": ("C",)},
    {"S": 0.001, "T": 0.5, "U": 0.499},
    {"A": (0, 1000), "B": (0, 9), "C": (0, 9)},
)
W3 = Workload(
    "W3",
    "SELECT S.K FROM S, T, U WHERE S.K = T.K AND T.K = U.K AND S.ts - 60 <= T.ts AND T.ts <= S.ts + 60 "
    "AND S.ts - 60 <= U.ts AND U.ts <= S.ts + 60 AND T.ts - 60 <= U.ts AND U.ts <= T.ts + 60",
    {"S": ("K",), "T": ("K",), "U": ("K",)},
    {"S": 0.2, "T": 0.4, "U": 0.4},
    {"K": (0, 999)},
    rows_per_timestamp=10,
)
COUNT = Workload(
    "count",
    "-- streambound: emit final\n"
    "SELECT window(ts, '1 minute').start AS start, k, COUNT(*) AS n FROM S GROUP BY window(ts, '1 minute'), k",
    {"S": ("k",)},
    {"S": 1.0},
    {"k": (0, 999)},
    time="timestamp",
    declared=True,
    beyond_joins=True,
)
"""A thousand rows a second of a thousand keys."""
LEFT = Workload(
    "left-join",
    "SELECT S.k, S.v, T.w FROM S LEFT JOIN T ON T.k = S.k AND T.ts BETWEEN S.ts - INTERVAL 10 SECONDS AND S.ts",
    {"S": ("k", "v"), "T": ("k", "w")},
    {"S": 0.5, "T": 0.5},
    {"k": (0, 9_999), "v": (0, 999), "w": (0, 999)},
    time="timestamp",
    beyond_joins=True,
)
"""Each row with those of the last ten seconds, five thousand rows of ten thousand keys; nothing is ever taken back."""
JOINS = (W1, W2, W3)
"""Spark's own join is measured beside these."""
WORKLOADS = (*JOINS, COUNT, LEFT)
