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
