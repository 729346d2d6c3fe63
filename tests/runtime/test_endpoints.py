"""Where sources and sinks are in a run: variables of the environment, the beginning of topics, what failures say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streambound_runtime import main
from streambound_runtime.endpoints import check_endpoints, filled, identity, in_words, options_of, with_servers
from streambound_runtime.errors import JobError
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, SinkSpec, SourceSpec
from support.jobs import job_of

SERVERS = "kafka.bootstrap.servers"
KAFKA = {
    "format": "kafka",
    "metadata": {"a": "partition"},
    "options": {SERVERS: "${env:HOST}:9092", "Subscribe": "${env:TEAM}-s"},
}


def job(source: dict[str, Any], sink: dict[str, Any] | None = None) -> JobSpec:
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "source": source}
    return job_of("SELECT S.a FROM S", {"streams": {"S": stream}, **({"sinks": {"q": sink}} if sink else {})})


def source_of(of_kafka: JobSpec) -> SourceSpec:
    source = of_kafka.streams[0].source
    assert source is not None
    return source


def sink_of(of_kafka: JobSpec) -> SinkSpec:
    assert of_kafka.sink is not None
    return of_kafka.sink


def test_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """In paths and options; the catalog and the job have their names only."""
    monkeypatch.setenv("HOST", "b1")
    monkeypatch.setenv("TEAM", "x")
    of_kafka = job(KAFKA, {"format": "json", "path": "s3a://${env:TEAM}/out"})
    settings = Settings(trigger="1 second")
    stream = of_kafka.streams[0]
    assert options_of(source_of(of_kafka), settings) == {SERVERS: "b1:9092", "Subscribe": "x-s"}
    assert identity(stream, settings) == ["S", "kafka", "", "Subscribe=x-s", "a=partition"]
    assert in_words(sink_of(of_kafka), settings) == "s3a://x/out"
    check_endpoints(of_kafka, settings)
    monkeypatch.delenv("TEAM")
    for empty in (False, True):
        if empty:
            monkeypatch.setenv("TEAM", "")
        with pytest.raises(JobError, match=r"\$\{env:TEAM\}, but no variable TEAM is set") as failure:
            check_endpoints(of_kafka, settings)
        assert failure.value.status == 2


@pytest.mark.parametrize("text", ["${env:MY-VAR}", "a${ENV:PW}b", "${ env: PW}", "${env:PW", "${env}"])
def test_what_is_no_variable(text: str) -> None:
    """It is not taken as it is, for a password say; other texts are."""
    of_kafka = job({**KAFKA, "options": {SERVERS: "b:1", "subscribe": "s", "kafka.sasl.jaas.config": text}})
    with pytest.raises(JobError, match=r"a variable is written \$\{env:NAME\}") as failure:
        check_endpoints(of_kafka, Settings())
    assert failure.value.status == 2
    assert filled("${user} {env} $env") == "${user} {env} $env"


def test_variables_of_a_source_that_is_not_read(tmp_path: Path) -> None:
    """With `--input` the catalog's sources do not matter."""
    of_kafka = job(KAFKA)
    check_endpoints(of_kafka, Settings(input=str(tmp_path)))


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
    found = options_of(source_of(of_kafka), Settings(trigger=trigger))
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
    with pytest.raises(JobError, match=r"S cannot be read: its source is kafka and needs the option"):
        check_endpoints(of_kafka, Settings())


def test_who_should_have_answered() -> None:
    of_kafka = job(
        {"format": "kafka", "options": {SERVERS: "b:1", "subscribe": "s"}},
        {"format": "kafka", "options": {SERVERS: "c:1", "Topic": "out"}},
    )
    settings = Settings()
    error = RuntimeError("Caused by: org.apache.kafka: no")
    assert with_servers("no", error, of_kafka, settings) == "no (Kafka's servers are b:1)"
    assert with_servers("no", RuntimeError("no"), of_kafka, settings) == "no"
    assert in_words(sink_of(of_kafka), settings) == "Kafka's topic out at c:1"


def test_a_package_that_is_not_there(spark: Any, tmp_path: Path) -> None:
    """Spark's message leads to a guide; ours to the option that brings the package."""
    of_kafka = job({"format": "kafka", "options": {SERVERS: "b:1", "subscribe": "s"}})
    settings = Settings(checkpoint=str(tmp_path / "c"), output=str(tmp_path / "o"))
    needed = "spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
    with pytest.raises(JobError, match=f"S cannot be read: Spark has no kafka .*: {needed}"):
        main.run(spark, of_kafka, settings, lambda event: None)
