"""Spark may try a bucket's task several times, also at once: each attempt saves a state of its own, and one counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.checkpoint.state import unpacked
from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.placement.decoded_chunk import chunk_of
from streambound_runtime.placement.executors import blob_of, in_buckets, record
from streambound_runtime.placement.in_buckets import Folding, _folded
from streambound_runtime.placement.result_rows import FACTS
from streambound_runtime.reading.files import Raw
from streambound_runtime.spec import JobSpec
from support.jobs import job_of

STREAM = {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}}
Found = tuple[list[tuple[int, int]], tuple[str, ...]]
"""When a result became true, and how often, and each bucket's file."""


@pytest.fixture(scope="module")
def job() -> JobSpec:
    sql = "SELECT S.k FROM S, T WHERE S.k = T.k AND S.ts <= T.ts AND T.ts <= S.ts + 9"
    return job_of(sql, {"streams": {"S": STREAM, "T": STREAM}}, "buckets")


def attempt(job: JobSpec, folder: Path, files: tuple[str, ...] | None, batch: int) -> Iterator[pa.RecordBatch]:
    """Fold a batch: a row with the key 1 of each stream, at the batch's number; lazily, as Spark does."""
    rows: list[Any] = [(0, -1, bucket, None) for bucket in range(job.placement.buckets)]
    for number, stream in enumerate(job.streams):
        lines = pa.table({"value": pa.array([json.dumps({"k": 1, "ts": batch})])})
        good = chunk_of(stream, number, Decoder(stream, lines=True).decode(lines, None), Raw(lines)).good
        assert good is not None
        rows += [(number, 0, bucket, blob_of(part)) for bucket, part in in_buckets(job, number, good)]
    rows.sort(key=lambda row: row[2])
    return _folded(Folding(job, {}, str(folder), files, batch, batch + 1, last=False))(iter([record(rows)]))


def ended(batches: Iterator[pa.RecordBatch]) -> Found:
    rows = [row for batch in batches for row in batch.to_pylist()]
    states = [state[0] for row in rows if row[FACTS] and (state := unpacked(row[FACTS])) is not None]
    results = [(row["_ts"], row["_mult"]) for row in rows if not row[FACTS]]
    return results, tuple(str(state["file"]) for state in sorted(states, key=lambda state: int(str(state["bucket"]))))


def test_attempts_at_once_and_one_that_ends_late(job: JobSpec, tmp_path: Path) -> None:
    late = attempt(job, tmp_path, None, 0)
    next(late)  # a straggler, which Spark tries again elsewhere
    one, other = ended(attempt(job, tmp_path, None, 0)), ended(attempt(job, tmp_path, None, 0))
    assert one[0] == other[0] == [(0, 1)] and not set(one[1]) & set(other[1]) and len(one[1]) == job.placement.buckets
    after = ended(attempt(job, tmp_path, one[1], 1))
    assert after == (ended(attempt(job, tmp_path, other[1], 1))[0], after[1])
    assert sum(n for _, n in after[0]) == 2, "the S of batch 0, too"
    third = ended(attempt(job, tmp_path, after[1], 2))
    before = {file: file.read_bytes() for file in tmp_path.rglob("[0-9]*.*") if file.is_file()}
    assert ended(late)[0] in ([(0, 1)], [])
    assert all(file.read_bytes() == data for file, data in before.items())
    assert sum(n for _, n in ended(attempt(job, tmp_path, third[1], 3))[0]) == 4
    kept = {int(file.name.partition(".")[0]) for file in before}
    assert kept == {0, 1, 2}


def test_states_that_no_restart_needs_are_removed(job: JobSpec, tmp_path: Path) -> None:
    files: tuple[str, ...] | None = None
    for batch in range(6):
        files = ended(attempt(job, tmp_path, files, batch))[1]
    names = {file.name.partition(".")[0] for file in tmp_path.rglob("[0-9]*.*") if file.is_file()}
    assert names == {"3", "4", "5"}
    assert not [*tmp_path.rglob("*.tmp")]
