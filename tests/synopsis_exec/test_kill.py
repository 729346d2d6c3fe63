"""Exactly once: whenever a job is killed (kill -9, with Spark), restarts give what no kill would have given."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from streambound.synopsis_exec.simulate import replay
from support.jobs import compiled_of, read, write
from support.killing import started

pytestmark = [pytest.mark.spark, pytest.mark.slow]

BATCHES = 4
SQL = "SELECT T.a, R.name FROM S, T, R WHERE S.ts > T.ts AND T.a = R.a"
SINK = """
import json, pathlib
def write(rows, batch):
    file = pathlib.Path(__file__).with_name("sent") / f"{batch}.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(line + chr(10) for line in rows.toJSON().collect()))
"""


def declared(sink: dict[str, Any]) -> dict[str, Any]:
    columns = {"a": "bigint", "ts": "bigint"}
    return {
        "streams": {name: {"timestamp": "ts", "columns": columns, "domain": {"a": [0, 9]}} for name in "ST"},
        "relations": {"R": {"columns": {"a": "bigint", "name": "string"}}},
        "sinks": {"q": sink},
    }


def prepare(folder: Path, sink: dict[str, Any]) -> Counter[str]:
    """Input of some batches with bad rows, the job, and the results that it must have."""
    dice = random.Random(7)
    catalog = declared(sink)
    compiled = compiled_of(SQL, catalog)
    compiled.write(folder)
    (folder / "sink.py").write_text(SINK)
    relation = [{"a": a, "name": f"n{a}"} for a in range(4)]
    write(folder / "in" / "R.jsonl", *relation, "bad")
    streams: dict[str, list[dict[str, int]]] = {"S": [], "T": []}
    for name, rows in streams.items():
        for number in range(BATCHES):
            part = [{"a": dice.randrange(6), "ts": 10 * number + dice.randrange(10)} for _ in range(30)]
            write(folder / "in" / name / f"{number}.jsonl", *part, {"a": 10, "ts": 1}, modified=1_600_000_000 + number)
            rows += part
    results = [
        json.dumps({**row, "_ts": step.timestamp, "_mult": n}, sort_keys=True)
        for step in replay(compiled.job, {"R": relation}, streams)
        for row, n in step.results
    ]
    assert len(results) > 100
    return Counter(results)


def lines(texts: list[Any]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in texts)


def check_output(folder: Path, expected: Counter[str], summary: dict[str, Any]) -> None:
    """The output, the quarantine and all counts are those of a run without a kill."""
    assert lines(read(folder / "out.jsonl")) == expected
    assert [row["_ts"] for row in read(folder / "out.jsonl")] == sorted(json.loads(row)["_ts"] for row in expected)
    bad = Counter((row.get("stream") or row["relation"], row["detail"]) for row in read(folder / "bad.jsonl"))
    outside = "a is outside its domain"
    assert bad == {("R", "not a JSON object"): 1, ("S", outside): BATCHES, ("T", outside): BATCHES}
    assert summary["quarantined"] == {outside: 2 * BATCHES, "not a JSON object": 1}
    assert summary["rows"] == {"S": 31 * BATCHES, "T": 31 * BATCHES, "R": 5}
    assert summary["results"] == len(expected)


def test_a_job_killed_at_steps_of_a_batch(tmp_path: Path) -> None:
    """One job, killed as it sends, and at the end, with a function as a sink and a checkpoint without renames.

    `test_circuits_on_spark` has another step, `test_soak` a job that is killed at any moment and has a sink of files,
    and `test_embedded` crashes a job at every write of its checkpoint.
    """
    quarantine = {"format": "parquet", "path": "quarantined"}
    expected = prepare(tmp_path, {"call": "sink:write", "quarantine": quarantine})
    steps = (
        ("amid the sink", 1),
        ("after a batch is handed over", BATCHES),
        ("never", -1),
    )
    for point, batch in steps:
        done = started(tmp_path, point, batch, "--checkpoint", f"file:{tmp_path}/checkpoint")
        output, _ = done.communicate(timeout=550)
        assert done.returncode == (0 if point == "never" else -signal.SIGKILL), (point, output)
        assert (tmp_path / "out.jsonl").exists() == (point == "never")
    check_output(tmp_path, expected, json.loads(output.splitlines()[-1]))
    assert lines([row for file in (tmp_path / "sent").glob("*.jsonl") for row in read(file)]) == expected
    quarantined = f"read_parquet('{tmp_path}/quarantined/batch=*/*.parquet')"
    assert duckdb.sql(f"SELECT count(*) FROM {quarantined}").fetchall() == [(2 * BATCHES + 1,)]
