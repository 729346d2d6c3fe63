"""Streams from a queue: records with a JSON object each, as Kafka's have them."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.reading.sources import QUEUE_PLACES
from support.jobs import job_of, read, run_with

SQL = "SELECT S.a, T.b FROM S, T WHERE S.a = T.a AND S.ts > T.ts AND S.a BETWEEN 0 AND 3 AND T.b BETWEEN 0 AND 2"
STEP, STEPS = 120, 2


def record(topic: str, number: int) -> bytes | None:
    """A record of a topic; of forty one has no value, one is no text, one is blank, one no object, one lacks `ts`."""
    dice = random.Random(f"{topic} {number}")
    row = {"a": dice.randrange(5), "ts": number // 3, **({"b": dice.randrange(4)} if topic == "T" else {})}
    odd: dict[int, bytes | None] = {3: None, 11: b"\xff{}", 17: b" ", 23: b"[1]", 31: b'{"a": 1}'}
    return odd.get(number % 40, json.dumps(row).encode() + b"\n" * dice.randrange(2))


def ran(spark: Any, folder: Path) -> tuple[list[Any], str, list[str]]:
    """The reports of a job that is started again for each batch, what it found, and what it put aside."""
    streams = {
        name: {
            "timestamp": "ts",
            "columns": {"a": "bigint", "ts": "bigint", **({"b": "int"} if name == "T" else {})},
            "source": {"format": "queue", "payload": "value", "options": {"topic": name}},
        }
        for name in "ST"
    }
    job = job_of(SQL, {"streams": streams})
    files = [f"--{name}={folder / name}" for name in ("output", "quarantine", "checkpoint")]
    reports: list[dict[str, Any]] = []
    for trigger in (*["available"] * (STEPS - 1), "end"):
        run_with(spark, job, [*files, "--trigger", trigger], reports.append)
    bad = sorted((folder / "quarantine").read_text(encoding="utf-8").splitlines())
    return reports, (folder / "output").read_text(encoding="utf-8"), bad


def key(number: int) -> bytes | None:
    """A record's key; of forty one is no text, and one is none."""
    return {5: b"\xff", 6: None}.get(number % 40, b"k%d" % (number % 7))


def register(spark: Any) -> None:
    """Make Spark know the source `queue`."""
    from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

    class Records(SimpleDataSourceStreamReader):
        def __init__(self, topic: str) -> None:
            self.topic = topic

        def initialOffset(self) -> dict[str, int]:
            return {"at": 0}

        def read(self, start: dict[str, int]) -> Any:
            end = {"at": min(start["at"] + STEP, STEP * STEPS)}
            return self.readBetweenOffsets(start, end), end

        def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Any:
            return iter([(key(n), record(self.topic, n), n) for n in range(start["at"], end["at"])])

    class Queue(DataSource):
        @classmethod
        def name(cls) -> str:
            return "queue"

        def schema(self) -> str:
            return "key BINARY, value BINARY, offset BIGINT"

        def simpleStreamReader(self, schema: Any) -> Any:
            return Records(self.options["topic"])

    spark.dataSource.register(Queue)


def test_records_of_a_queue(spark: Any, tmp_path: Path) -> None:
    register(spark)
    reports, output, bad = ran(spark, tmp_path)
    assert len(output.splitlines()) > 50
    assert reports[-1]["rows"] == {"S": STEP * STEPS, "T": STEP * STEPS}
    each = 2 * STEP * STEPS // 40
    assert reports[-1]["quarantined"] == {
        "not UTF-8": each, "not a JSON object": 2 * each, "the record has no value": each, "ts is missing": each,
    }  # fmt: skip
    assert len(bad) == 5 * each


def test_what_a_queue_knows_of_its_records(spark: Any, tmp_path: Path) -> None:
    """Columns that are not in the objects, and whatever these say: with their own types, domains and partitions."""
    register(spark)
    stream = {
        "timestamp": "ts",
        "columns": {"a": "string", "ts": "bigint", "tiny": "tinyint"},
        "domain": {"tiny": [0, 119]},
        "partitions": {"column": "a", "values": [f"k{n}" for n in range(6)]},
        "source": {
            "format": "queue", "payload": "value", "options": {"topic": "S"},
            "metadata": {"a": "KEY", "ts": "offset", "tiny": "offset"},
        },
    }  # fmt: skip
    job = job_of("SELECT S.a, S.tiny FROM S", {"streams": {"S": stream}})
    files = [f"--{name}={tmp_path / name}" for name in ("output", "quarantine", "checkpoint")]
    for trigger in (*["available"] * (STEPS - 1), "end"):  # each run has one batch
        summary = run_with(spark, job, [*files, "--trigger", trigger], lambda event: None)
    reasons, results = Counter[str](), []
    for number in range(STEP * STEPS):
        name, value = key(number), record("S", number)
        if value is None:
            reason = "the record has no value"
        elif b"\xff" in value:
            reason = "not UTF-8"
        elif not value.strip().startswith(b"{"):
            reason = "not a JSON object"
        elif number > 127:
            reason = "tiny is not a tinyint"
        elif name == b"\xff":
            reason = "a is not UTF-8"
        elif name in (None, b"k6"):
            reason = "a is none of the declared partitions"
        elif number > 119:
            reason = "tiny is outside its domain"
        else:
            results.append({"a": (name or b"").decode(), "tiny": number, "_ts": number, "_mult": 1})
            continue
        reasons[reason] += 1
    assert summary["quarantined"] == reasons
    assert read(tmp_path / "output") == results
    bad = read(tmp_path / "quarantine")
    assert {
        "stream": "S", "reason": "no-value", "detail": "the record has no value", "batch": 0,
        "row": '{"metadata":{"a":"k3","ts":3,"tiny":3}}',
    } in bad  # fmt: skip


def test_records_of_a_queue_have_their_offset(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Kafka's have partition and offset."""
    register(spark)
    source = {"format": "queue", "payload": "value", "options": {"topic": "S"}}
    job = job_of(
        "SELECT S.a FROM S",
        {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "source": source}}},
    )
    assert QUEUE_PLACES["kafka"] == ("partition", "offset")
    monkeypatch.setitem(QUEUE_PLACES, "queue", ("offset",))
    files = [f"--{name}={tmp_path / name}" for name in ("checkpoint", "output", "quarantine")]
    for trigger in ("available", "available", "end"):
        run_with(spark, job, [*files, "--trigger", trigger], lambda event: None)
    bad = read(tmp_path / "quarantine")
    assert [row["batch"] for row in bad] == [row["offset"] // STEP for row in bad]
    assert len(bad) == 5 * STEPS * STEP // 40
    for row in bad:
        value = record("S", row["offset"])
        assert row.get("row") == (None if value is None else value.decode("utf-8", "replace"))
        assert "file" not in row
