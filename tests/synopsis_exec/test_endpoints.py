"""Where sources and sinks are in a run: variables of the environment, the beginning of topics, what failures say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.jobs import kernel

SERVERS = "kafka.bootstrap.servers"
KAFKA = {
    "format": "kafka",
    "metadata": {"a": "partition"},
    "options": {SERVERS: "${env:HOST}:9092", "Subscribe": "${env:TEAM}-s"},
}


def job(source: dict[str, Any], sink: dict[str, Any] | None = None) -> Any:
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "source": source}
    return kernel("SELECT S.a FROM S", {"streams": {"S": stream}, **({"sinks": {"q": sink}} if sink else {})})


def test_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """In paths and options; the catalog and the job have their names only."""
    monkeypatch.setenv("HOST", "b1")
    monkeypatch.setenv("TEAM", "x")
    of_kafka = job(KAFKA, {"format": "json", "path": "s3a://${env:TEAM}/out"})
    options = of_kafka.arguments(["--trigger", "1 second"])
    stream = of_kafka.STREAMS[0]
    assert of_kafka.settings(stream, options) == {SERVERS: "b1:9092", "Subscribe": "x-s"}
    assert of_kafka.identity(stream, options) == ["S", "kafka", "", "Subscribe=x-s", "a=partition"]
    assert of_kafka.in_words(of_kafka.SINK, options) == "s3a://x/out"
    of_kafka.check_endpoints(options)
    monkeypatch.delenv("TEAM")
    for empty in (False, True):
        if empty:
            monkeypatch.setenv("TEAM", "")
        with pytest.raises(of_kafka.JobError, match=r"\$\{env:TEAM\}, but no variable TEAM is set") as failure:
            of_kafka.check_endpoints(options)
        assert failure.value.status == 2


@pytest.mark.parametrize("text", ["${env:MY-VAR}", "a${ENV:PW}b", "${ env: PW}", "${env:PW", "${env}"])
def test_what_is_no_variable(text: str) -> None:
    """It is not taken as it is, for a password say; other texts are."""
    of_kafka = job({**KAFKA, "options": {SERVERS: "b:1", "subscribe": "s", "kafka.sasl.jaas.config": text}})
    with pytest.raises(of_kafka.JobError, match=r"a variable is written \$\{env:NAME\}") as failure:
        of_kafka.check_endpoints(of_kafka.arguments([]))
    assert failure.value.status == 2
    assert of_kafka.filled("${user} {env} $env") == "${user} {env} $env"


def test_variables_of_a_source_that_is_not_read(tmp_path: Path) -> None:
    """With `--input` the catalog's sources do not matter."""
    of_kafka = job(KAFKA)
    of_kafka.check_endpoints(of_kafka.arguments(["--input", str(tmp_path)]))


@pytest.mark.parametrize(
    ("trigger", "more", "begins"),
    [
        ("end", {}, "earliest"),
        ("end", {"StartingOffsets": "latest"}, None),
        ("end", {"startingTimestamp": "1"}, None),
        ("available", {}, "earliest"),
        ("1 second", {}, None),
    ],
)
def test_where_a_topic_begins(trigger: str, more: dict[str, str], begins: str | None) -> None:
    """What is there is read from its beginning, if nothing else is said."""
    options = {SERVERS: "b:1", "subscribe": "s", **more}
    of_kafka = job({"format": "kafka", "options": options})
    found = of_kafka.settings(of_kafka.STREAMS[0], of_kafka.arguments(["--trigger", trigger]))
    assert found == {**options, **({"startingOffsets": begins} if begins else {})}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {SERVERS: "b:1", "topic": "s"},
        {SERVERS: "b:1"},
        {"subscribe": "s"},
        {SERVERS: "b:1", "subscribe": "s", "assign": "{}"},
    ],
)
def test_topics_that_are_nowhere(options: dict[str, str]) -> None:
    of_kafka = job({"format": "kafka", "options": options})
    with pytest.raises(of_kafka.JobError, match=r"S cannot be read: its source is kafka and needs the option"):
        of_kafka.check_endpoints(of_kafka.arguments([]))


def test_who_should_have_answered() -> None:
    of_kafka = job(
        {"format": "kafka", "options": {SERVERS: "b:1", "subscribe": "s"}},
        {"format": "kafka", "options": {SERVERS: "c:1", "Topic": "out"}},
    )
    options = of_kafka.arguments([])
    error = RuntimeError("Caused by: org.apache.kafka: no")
    assert of_kafka.with_servers("no", error, options) == "no (Kafka's servers are b:1)"
    assert of_kafka.with_servers("no", RuntimeError("no"), options) == "no"
    assert of_kafka.in_words(of_kafka.SINK, options) == "Kafka's topic out at c:1"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_package_that_is_not_there(spark: Any, tmp_path: Path) -> None:
    """Spark's message leads to a guide; ours to the option that brings the package."""
    import pyspark

    of_kafka = job({"format": "kafka", "options": {SERVERS: "b:1", "subscribe": "s"}})
    options = of_kafka.arguments(["--checkpoint", str(tmp_path / "c"), "--output", str(tmp_path / "o")])
    needed = f"spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
    with pytest.raises(of_kafka.JobError, match=f"S cannot be read: Spark has no kafka .*: {needed}"):
        of_kafka.run(spark, options, lambda event: None)
