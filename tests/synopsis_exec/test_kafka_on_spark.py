"""Jobs from topics of Kafka's to a topic of Kafka's, through `spark-submit`, with kills.

They need a broker, which nothing here installs, and Spark's package for Kafka:

    STREAMBOUND_KAFKA=localhost:9092 pytest tests/synopsis_exec/test_kafka_on_spark.py

The package comes with `--packages`, from Maven's registry; `STREAMBOUND_KAFKA_PACKAGE="--jars A,B,C"` brings it from
files. Topics are created by use, so the broker has to allow that; with `num.partitions` above one they are in parts.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from support.jobs import compiled_of
from support.submitting import environment, spark_submit

SERVERS = os.environ.get("STREAMBOUND_KAFKA", "")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(not SERVERS, reason="STREAMBOUND_KAFKA names no broker"),
]
RECORDS, KINDS = 3000, 60
DISORDER = 8
LATENESS = 300
"""How far a row may be behind those before it in its partition, and in all."""
SECONDS = 300
SQL = "SELECT S.a, T.b FROM S, T WHERE S.a = T.a AND S.ts > T.ts AND S.a BETWEEN 0 AND 3 AND T.b BETWEEN 0 AND 2"
EXPECTED = SQL.replace("T.b FROM", "T.b, S.ts AS _ts, count(*) AS _mult FROM") + " GROUP BY ALL"


def package() -> list[str]:
    import pyspark

    newest = f"--packages org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
    return shlex.split(os.environ.get("STREAMBOUND_KAFKA_PACKAGE", newest))


def submitted(folder: Path, *job: str, master: str = "local[2]", **variables: str) -> subprocess.Popen[str]:
    """A job with all its processes in a group of its own; what it says is in one stream."""
    command = [*spark_submit(master, "spark.log.level=ERROR"), *package(), *job]
    return subprocess.Popen(
        command, cwd=folder, env={**environment(folder), **variables}, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said[-4000:]
    return said


def transfer(folder: Path, what: str, topic: str, file: Path) -> None:
    script = Path(__file__).parents[1] / "support" / "kafka_records.py"
    finished(submitted(folder, str(script), what, SERVERS, topic, str(file)))


class Topics:
    """Two streams with bad records, each in a topic; the query's results over their good rows."""

    def __init__(self, folder: Path) -> None:
        self.name, dice = uuid.uuid4().hex, random.Random(11)
        self.rows: dict[str, list[dict[str, int]]] = {"S": [], "T": []}
        for stream, rows in self.rows.items():
            with (folder / f"{stream}.jsonl").open("w") as file:
                for number in range(RECORDS):
                    row = {"a": dice.randrange(5), "ts": number // 3 + dice.randrange(DISORDER), "b": dice.randrange(4)}
                    if stream == "S":
                        del row["b"]
                    odd = {7: None, 8: "not json", 9: json.dumps({**row, "a": "x"})}
                    if number % KINDS not in odd:
                        rows.append(row)
                    value = odd.get(number % KINDS, json.dumps(row))
                    file.write(json.dumps({"key": str(dice.randrange(9)), "value": value}) + "\n")
            transfer(folder, "put", self.topic(stream), folder / f"{stream}.jsonl")
        self.results = Counter({result[:-1]: result[-1] for result in self.by_duckdb(folder)})
        each = 2 * RECORDS // KINDS
        self.bad = {"the record has no value": each, "not a JSON object": each, "a is not a bigint": each}

    def topic(self, stream: str) -> str:
        return f"{stream}-{self.name}"

    def by_duckdb(self, folder: Path) -> list[tuple[int, ...]]:
        with duckdb.connect() as connection:
            for stream, rows in self.rows.items():
                file = folder / f"{stream}_good.json"
                file.write_text(json.dumps(rows))
                connection.execute(f"CREATE TABLE {stream} AS FROM read_json('{file}')")
            return connection.execute(EXPECTED).fetchall()

    def job(self, folder: Path, at_a_time: int, partitions: bool = False, **options: str) -> str:
        """The job's file. Servers and topic of the sink come from the environment.

        With ``partitions`` each may be as far behind as it likes.
        """
        columns = {"a": "bigint", "ts": "bigint", **({"part": "int"} if partitions else {})}
        parts = {"lateness": DISORDER, "partitions": {"column": "part", "values": list(range(8))}}
        metadata = {"metadata": {"part": "partition"}} if partitions else {}
        streams = {
            name: {
                "timestamp": "ts",
                **(parts if partitions else {"lateness": LATENESS}),
                "columns": {**columns, **({"b": "int"} if name == "T" else {})},
                "source": {
                    "format": "kafka",
                    "options": {
                        "kafka.bootstrap.servers": "${env:SERVERS}", "subscribe": self.topic(name),
                        "maxOffsetsPerTrigger": at_a_time, **options,
                    },
                    **metadata,
                },
            }
            for name in "ST"
        }  # fmt: skip
        sink = {"format": "kafka", "options": {"kafka.bootstrap.servers": "${env:SERVERS}", "topic": "${env:TOPIC}"}}
        catalog: dict[str, Any] = {"streams": streams, "sinks": {"q": sink}}
        return str(compiled_of(SQL, catalog).write(folder))

    def check(self, folder: Path, topic: str, said: str) -> int:
        """Whether a topic has the query's results, and the summary all bad records; how many came again."""
        transfer(folder, "get", topic, folder / "results.json")
        records = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        values = {tuple(record["headers"]): json.loads(record["value"]) for record in records}
        assert all(values[tuple(record["headers"])] == json.loads(record["value"]) for record in records)
        found: Counter[tuple[int, ...]] = Counter()
        for value in values.values():
            found[value["a"], value["b"], value["_ts"]] += value["_mult"]
        assert found == self.results
        summary = json.loads(next(line for line in said.splitlines() if '"summary"' in line))
        assert summary["quarantined"] == self.bad
        assert summary["rows"] == {"S": RECORDS, "T": RECORDS}
        return len(records) - len(values)


@pytest.fixture(scope="module")
def topics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    yield Topics(tmp_path_factory.mktemp("topics"))


def options(folder: Path) -> list[str]:
    return ["--checkpoint", f"file:{folder}/checkpoint", "--report", "json"]


def test_a_job_that_is_killed(topics: Topics, tmp_path: Path) -> None:
    """Whenever that is, the topic has the same results; those of a batch may come twice, with the same headers."""
    dice, out = random.Random(3), f"killed-{topics.name}"
    job, variables = topics.job(tmp_path, RECORDS // 10), {"SERVERS": SERVERS, "TOPIC": out}
    for _ in range(4):
        process, left = submitted(tmp_path, job, *options(tmp_path), **variables), dice.randrange(1, 4)
        assert process.stdout is not None
        for line in process.stdout:
            left -= line.startswith('{"batch"') or '"event": "batch"' in line
            if not left:
                time.sleep(dice.random())
                break
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    said = finished(submitted(tmp_path, job, *options(tmp_path), **variables))
    topics.check(tmp_path, out, said)


def test_partitions_of_topics(topics: Topics, tmp_path: Path) -> None:
    """Kafka's own partitions are those of the streams: rows are late only behind others of their partition."""
    out = f"parts-{topics.name}"
    job = topics.job(tmp_path, RECORDS // 10, partitions=True)
    said = finished(submitted(tmp_path, job, *options(tmp_path), SERVERS=SERVERS, TOPIC=out))
    assert topics.check(tmp_path, out, said) == 0


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_records_on_a_cluster(topics: Topics, tmp_path: Path, master: str) -> None:
    out = f"spread-{uuid.uuid4().hex}"
    job = topics.job(tmp_path, RECORDS // 2)
    process = submitted(tmp_path, job, *options(tmp_path), master=master, SERVERS=SERVERS, TOPIC=out)
    assert topics.check(tmp_path, out, finished(process)) == 0


def test_no_broker(topics: Topics, tmp_path: Path) -> None:
    """The failure names who should have answered; nothing is done without the variables."""
    quickly = {"kafka.request.timeout.ms": "2000", "kafka.default.api.timeout.ms": "3000"}
    job = topics.job(tmp_path, RECORDS, **quickly)
    process = submitted(tmp_path, job, *options(tmp_path), SERVERS="127.0.0.1:1", TOPIC="none")
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 3
    assert "Kafka's servers are 127.0.0.1:1" in said
    process = submitted(tmp_path, job, *options(tmp_path), TOPIC="none")
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 2
    assert "${env:SERVERS}, but no variable SERVERS is set" in said
