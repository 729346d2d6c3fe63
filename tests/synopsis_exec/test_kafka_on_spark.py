"""Jobs from topics of Kafka's to topics of Kafka's, with kills: exactly what DuckDB returns of the records.

`make kafka` fetches the broker and Spark's package.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

from streambound import compile
from streambound.synopsis_exec.job_file import CompiledJob
from streambound_runtime.endpoints import SERVERS
from support.jobs import read, told
from support.kafka_broker import CONNECTOR, Broker, Record
from support.killing import KILLED_JOB
from support.quick_java import FEW_ROWS
from support.submitting import environment

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("kafka"),
    pytest.mark.skipif(not CONNECTOR, reason="there is no broker: `make kafka` fetches one"),
]
RECORDS, KINDS = 300, 30
DISORDER = 8
SECONDS = 200
JOIN = "SELECT S.a, T.b FROM S, T WHERE S.a = T.a AND S.ts > T.ts AND S.a BETWEEN 0 AND 3 AND T.b BETWEEN 0 AND 2"
GROUPS = "SELECT a, COUNT(*) AS n, MAX(b) AS most FROM U GROUP BY a HAVING COUNT(*) % 3 <> 0"
PARTITIONS = {"column": "part", "values": [0, 1, 2]}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    broker = Broker(tmp_path_factory.mktemp("broker"))
    yield broker
    broker.stop()


def variables(broker: Broker) -> dict[str, str]:
    """What a process has around it whose Spark has the package: that of the other tests has not."""
    arguments = f"--master local[2] --jars {CONNECTOR} --driver-memory 512m {FEW_ROWS} pyspark-shell"
    return {"PYSPARK_SUBMIT_ARGS": arguments, "SERVERS": broker.servers}


@pytest.fixture(scope="module")
def elsewhere(broker: Broker) -> Iterator[Executor]:
    """Such a process; Spark starts with its first job."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables(broker).items():
            patch.setenv(name, value)
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            yield pool


def job_of(sql: str, tables: dict[str, Any], topic: str) -> CompiledJob:
    """A job whose results go to a topic."""
    sink = {"format": "kafka", "options": {SERVERS: "${env:SERVERS}", "topic": topic}}
    found = compile(f"-- name: q\n{sql}", {**tables, "sinks": {"q": sink}}, placement="driver").compiled
    assert isinstance(found, CompiledJob)
    return found


def kafka(topic: str, **options: Any) -> dict[str, Any]:
    return {"format": "kafka", "options": {SERVERS: "${env:SERVERS}", "subscribe": topic, **options}}


def by_duckdb(folder: Path, rows: dict[str, list[dict[str, Any]]], sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as database:
        for name, mine in rows.items():
            (folder / f"{name}.json").write_text(json.dumps(mine))
            database.execute(f"CREATE TABLE {name} AS FROM read_json('{folder}/{name}.json')")
        return database.execute(sql).fetchall()


def records_of(name: str) -> tuple[list[Record], list[dict[str, int]]]:
    """Records of a stream, and the rows of those that are good."""
    dice, rows, records = random.Random(name), list[dict[str, int]](), list[Record]()
    for number in range(RECORDS):
        row = {"a": dice.randrange(5), "ts": number // 3 + dice.randrange(DISORDER), "b": dice.randrange(4)}
        odd = {7: None, 8: "not json", 9: json.dumps({**row, "a": "x"})}
        if number % KINDS not in odd:
            rows.append(row)
        records.append(Record(str(dice.randrange(9)), odd.get(number % KINDS, json.dumps(row))))
    return records, rows


def test_a_job_that_is_killed(broker: Broker, elsewhere: Executor, tmp_path: Path) -> None:
    """Between the records and the state, and between the state and Spark's commit.

    Kafka's own partitions are those of the streams: rows are late only behind others of their partition. Records of a
    batch that is done again have the same headers.
    """
    rows = dict[str, list[dict[str, int]]]()
    for name in "ST":
        records, rows[name] = records_of(name)
        broker.put(name, records)
    streams = {
        name: {
            "timestamp": "ts",
            "lateness": DISORDER,
            "partitions": PARTITIONS,
            "columns": {"a": "bigint", "ts": "bigint", "b": "int", "part": "int"},
            "source": kafka(name, maxOffsetsPerTrigger=RECORDS // 2) | {"metadata": {"part": "partition"}},
        }
        for name in rows
    }
    job = job_of(JOIN, {"streams": streams}, "joined")
    file = job.write(tmp_path)
    options = [f"--checkpoint={tmp_path}/checkpoint", f"--quarantine={tmp_path}/bad", "--report=json"]
    for point, batch in (("after a batch is handed over", 0), ("after the state is saved", 1)):
        died = subprocess.run(
            [sys.executable, str(KILLED_JOB), str(file), point, str(batch), *options], check=False,
            env={**environment(tmp_path), **variables(broker)}, capture_output=True, text=True,
            start_new_session=True, timeout=SECONDS,
        )  # fmt: skip
        assert died.returncode == -signal.SIGKILL, died.stderr
    status, said = elsewhere.submit(told, job.job, options).result(SECONDS)
    assert status == 0, said
    found = broker.get("joined")
    values = {record.headers: record.value or "" for record in found}
    assert {(one.headers, one.value) for one in found} == set(values.items())
    times = Counter(one.headers for one in found)
    assert all(n == (2 if batch in "01" else 1) for (batch, _), n in times.items())
    results = Counter[tuple[int, ...]]()
    for value in map(json.loads, values.values()):
        results[value["a"], value["b"], value["_ts"]] += value["_mult"]
    counted = JOIN.replace("T.b FROM", "T.b, S.ts, COUNT(*) FROM") + " GROUP BY ALL"
    assert results == {tuple(key): n for *key, n in by_duckdb(tmp_path, rows, counted)}
    summary = json.loads(said.splitlines()[-1])
    assert summary["rows"] == {"S": RECORDS, "T": RECORDS}
    reasons = ("the record has no value", "not a JSON object", "a is not a bigint")
    assert summary["quarantined"] == dict.fromkeys(reasons, 2 * RECORDS // KINDS)
    values_at = {(name, one.partition, one.offset): one.value for name in rows for one in broker.get(name)}
    for bad in read(tmp_path / "bad"):
        value = values_at[bad["stream"], bad["partition"], bad["offset"]]
        assert bad["reason"] == {None: "no-value", "not json": "not-json"}.get(value, "wrong-type")


def test_upserts(broker: Broker, elsewhere: Executor, tmp_path: Path) -> None:
    """The last record of each key, NULL too, is its row, also for a job that reads them as changes of a relation.

    What the end of the input has closed cannot be taken back.
    """
    dice = random.Random(12)
    rows = [{"a": dice.choice([None, 0, 1, 2, 3]), "b": dice.randrange(9)} for _ in range(80)]
    records = [Record(str(n % 5), json.dumps(row), timestamp=10**12 + 1000 * n) for n, row in enumerate(rows)]
    stream = {
        "timestamp": "at",
        "partitions": PARTITIONS,
        "columns": {"a": "bigint", "b": "int", "at": "timestamp", "part": "int"},
        "domain": {"a": [0, 3]},
        "source": kafka("U", maxOffsetsPerTrigger=20) | {"metadata": {"at": "timestamp", "part": "partition"}},
    }
    job = job_of(f"-- streambound: emit upsert\n{GROUPS}", {"streams": {"U": stream}}, "groups").job

    def ran(trigger: str) -> tuple[int, str]:
        arguments = [f"--checkpoint={tmp_path}/checkpoint", f"--trigger={trigger}"]
        return elsewhere.submit(told, job, arguments).result(SECONDS)

    for part, trigger in ((records[:50], "available"), (records[50:], "end")):
        broker.put("U", part)
        status, said = ran(trigger)
        assert status == 0, said
    upserts = broker.get("groups")
    table = {json.loads(record.key or "")["a"]: record.value for record in upserts}
    assert len(upserts) > len(table) and None in table and None in table.values()
    expected = {row[0]: row for row in by_duckdb(tmp_path, {"U": rows}, GROUPS)}
    assert {key: tuple(json.loads(value).values()) for key, value in table.items() if value} == expected
    changes = {"timestamp": "ts", "format": "upsert", "key": ["a"]}
    relation = {
        "columns": {"a": "bigint", "n": "bigint", "most": "int", "ts": "timestamp"},
        "rows": 5,
        "changes": changes,
    }
    relation["source"] = kafka("groups") | {"metadata": {"ts": "timestamp"}}
    tables = {"streams": {"U": stream}, "relations": {"groups": relation}}
    reader = job_of("SELECT a, n, most FROM groups", tables, "net").job
    status, said = elsewhere.submit(told, reader, [f"--checkpoint={tmp_path}/net"]).result(SECONDS)
    assert status == 0, said
    net = Counter[tuple[Any, ...]]()
    for row in (json.loads(record.value or "") for record in broker.get("net")):
        net[row["a"], row["n"], row["most"]] += row["_mult"]
    assert {row for row, n in net.items() if n} == set(expected.values())
    broker.put("U", records[-1:])
    status, said = ran("end")
    closed = f"Kafka's topic groups at {broker.servers} has what was closed when the input ended, and there is more"
    assert status == 2 and closed in said


def test_no_broker(elsewhere: Executor, tmp_path: Path) -> None:
    """The failure names who should have answered."""
    quickly = {"kafka.request.timeout.ms": 500, "kafka.default.api.timeout.ms": 1000, "fetchOffset.numRetries": 1}
    nowhere = kafka("S", **quickly, **{SERVERS: "127.0.0.1:1"})
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "source": nowhere}
    job = job_of("SELECT S.a FROM S", {"streams": {"S": stream}}, "none").job
    status, said = elsewhere.submit(told, job, [f"--checkpoint={tmp_path}/checkpoint"]).result(SECONDS)
    assert status == 3 and "Kafka's servers are 127.0.0.1:1" in said
