"""What happens when something goes wrong: docs/failures.md, row by row. Nothing is lost, and a restart goes on."""

from __future__ import annotations

import json
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pytest

from streambound_runtime.checkpoint import store
from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.errors import JobError
from streambound_runtime.sinks import Sinks
from streambound_runtime.spec import SinkSpec
from support.embedded import run_here
from support.full_disk import full_disk, java
from support.jobs import FIGURE2, batches, figure2, job_of, read, run, write

COLUMNS = {"a": "bigint", "b": "string", "ts": "bigint"}
SQL = "SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND T.a = S.a AND T.b IN ('x', 'y')"


def good_rows() -> tuple[list[list[dict[str, Any]]], list[list[dict[str, Any]]]]:
    """Three batches: S with duplicates and a jump of its clock; T stops after the second, and brings useless rows."""
    s = [[{"a": i % 4, "b": "x", "ts": 10 * batch + i // 2} for i in range(20)] for batch in range(2)]
    t = [[{"a": i % 4, "b": "xyz"[i % 3], "ts": 10 * batch + i // 2} for i in range(20)] for batch in range(2)]
    s[1] += [s[1][-1]] * 3
    s[1] += [{"a": 1, "b": "x", "ts": 10**15}]
    return [*s, [{"a": 2, "b": None, "ts": 10**15 + 1}]], [*t, []]


BAD = {
    "\0": "not a JSON object",
    '{"a": 1, "b": "x", "ts": 1': "not a JSON object",
    '{"b": "x", "ts": 25}': "a is missing",
    '{"a": "one", "b": "x", "ts": 25}': "a is not a bigint",
    '{"a": 99, "b": "x", "ts": 25}': "a is outside its domain",
    '{"a": 1, "b": "x", "ts": null}': "ts, the timestamp, is NULL",
    '{"a": 1, "b": "x", "ts": -7}': "ts is before 0, where time starts",
}


def test_every_row_is_a_result_or_quarantined_or_useless(tmp_path: Path) -> None:
    stream = {"timestamp": "ts", "columns": COLUMNS, "domain": {"a": [0, 9]}}
    job = job_of(SQL, {"streams": {"S": stream, "T": stream}})
    streams = dict(zip("ST", good_rows(), strict=True))
    late = {"a": 1, "b": "x", "ts": 0}
    for name, parts in streams.items():
        for number, rows in enumerate(parts):
            extra = [{**row, "more": {"ts": 0}} for row in rows[:5]] + rows[5:]
            faults = [*BAD] if number == 1 else [late] if number == 2 else []
            write(tmp_path / "in" / name / f"{number}.jsonl", *extra, *faults, modified=1_600_000_000 + number)
    events: list[dict[str, Any]] = []
    summary = run_here(job, tmp_path, report=events.append)
    quarantine = read(tmp_path / "quarantine")
    for name, parts in streams.items():
        good = sum(map(len, parts))
        bad = [row for row in quarantine if row["stream"] == name]
        assert summary["rows"][name] == good + len(bad) == good + len(BAD) + 1
        reasons = Counter(BAD.values()) + Counter({"late": 1})
        assert Counter(row["detail"].partition(":")[0] for row in bad) == reasons
        assert sorted(row["row"] for row in bad) == sorted([*BAD, json.dumps(late)])
    assert sum(event["rows"] for event in events if "batch" in event) == sum(summary["rows"].values())
    assert max(event["pending"] for event in events if "batch" in event) > 0
    found = Counter({(row["a"], row["b"], row["_ts"]): row["_mult"] for row in read(tmp_path / "output")})
    assert found == batch_sql(tmp_path, {name: [*chain(*parts)] for name, parts in streams.items()})
    assert found.total() > 100


def batch_sql(folder: Path, streams: dict[str, list[dict[str, Any]]]) -> Counter[tuple[Any, ...]]:
    """The query's results by DuckDB, with the time at which each becomes true."""
    connection = duckdb.connect()
    for name, rows in streams.items():
        write(folder / f"{name}.good", *rows)
        columns = "{'a': 'BIGINT', 'b': 'VARCHAR', 'ts': 'BIGINT'}"
        file = f"read_json('{folder}/{name}.good', columns = {columns}, format = 'newline_delimited')"
        connection.sql(f"CREATE VIEW {name} AS SELECT * FROM {file}")
    select = SQL.replace(" FROM", ", greatest(S.ts, T.ts) FROM")
    return Counter(connection.sql(select).fetchall())


def test_a_full_disk_stops_the_job_and_room_lets_it_go_on(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's plan finds no room, a state, a commit, bad rows, a sink of Spark, the output: nothing is lost."""
    batches(tmp_path / "in")
    job = replace(figure2().job, sink=SinkSpec("json", str(tmp_path / "sink")))
    written, saved, write_sink, events = store.replaced, Checkpoint.save, Sinks._write, list[Any]()
    claimed = Checkpoint.claim
    full: set[str] = set()
    room_for_spark: list[int] = []

    @contextmanager
    def limited(path: Path, *guard: Any) -> Iterator[Any]:
        with full_disk() if f"{path.parent.name}/{path.name}" in full else nullcontext(), written(path, *guard) as file:
            yield file

    def claim(self: Any, *arguments: Any) -> None:
        claimed(self, *arguments)
        if room_for_spark:
            resource.prlimit(java(), resource.RLIMIT_FSIZE, (room_for_spark[0], resource.RLIM_INFINITY))

    def sink(self: Any, target: Any, rows: Any, batch: int, number: int, nulls: bool) -> None:
        with full_disk(java()) if f"sink/{batch}" in full else nullcontext():
            write_sink(self, target, rows, batch, number, nulls)

    def save(self: Any, batch: int, said: Any, tables: Any) -> None:
        saved(self, batch, said, tables)
        if f"commits/{batch}" in full:
            resource.prlimit(java(), resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))

    monkeypatch.setattr(store, "replaced", limited)
    monkeypatch.setattr(Sinks, "_write", sink)
    monkeypatch.setattr(Checkpoint, "save", save)
    monkeypatch.setattr(Checkpoint, "claim", claim)

    def stopped(message: str, kind: str = "output") -> None:
        with pytest.raises(JobError, match=message) as caught:
            run(spark, job, tmp_path, report=lambda event: events.append(event["batch"]))
        assert (caught.value.kind, caught.value.status) == (kind, 3)
        assert not (tmp_path / "output").exists()
        assert not [file for file in tmp_path.rglob(".*.tmp") if "spark" not in file.parts]

    def stopped_by_spark() -> None:
        try:
            stopped("Spark stopped the job: .*File too large", "spark")
        finally:
            resource.prlimit(java(), resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    for size in (1, 60, 100):  # Spark's metadata has 45 bytes, what it has seen of a file about 90, its plan more
        room_for_spark[:] = [size]
        stopped_by_spark()
    room_for_spark.clear()
    full = {"state/1"}
    stopped("cannot write .*/checkpoint/state/1: File too large")
    full = {"commits/1"}
    stopped_by_spark()
    full = {"quarantine/000000002.jsonl"}
    stopped("cannot write .*/checkpoint/quarantine/000000002.jsonl: File too large")
    full = {"sink/2"}
    stopped("cannot write batch 2 to .*/sink: ")
    assert not (tmp_path / "sink" / "batch=000000002" / "_SUCCESS").exists()
    full = {f"{tmp_path.name}/output"}
    stopped("cannot write .*/output: File too large")
    full = set()
    summary = run(spark, job, tmp_path)
    assert events == [0, 1, 1, 2]
    assert read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")
    assert summary["rows"] == {"S": 4, "T": 5, "U": 3}
    sent = [row for file in sorted((tmp_path / "sink").glob("batch=*/*.json")) for row in read(file)]
    assert sent == read(tmp_path / "output")
