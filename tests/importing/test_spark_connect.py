"""DataFrames of Spark Connect, whose server nobody asks: there is none."""

from __future__ import annotations

import atexit
import os
from typing import Any

import pytest

import streambound
from streambound.analyzer.errors import UsageError


@pytest.fixture
def remote(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A session of Spark Connect as a notebook has one, with its environment."""
    from pyspark.errors import utils
    from pyspark.sql.connect.session import SparkSession

    monkeypatch.setattr(utils, "is_debugging_enabled", lambda: False)  # the server's setting
    session = SparkSession.builder.remote("sc://localhost:1").create()
    atexit.unregister(session.client._on_exit)
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost:1")
    return session


def checked(frame: Any, mode: str = "append") -> Any:
    (result,) = streambound.check(frame, output_mode=mode)
    return result


def orders(session: Any) -> Any:
    stream = session.readStream.format("parquet").schema("id bigint, shop int, at timestamp").load("/nowhere/orders")
    return stream.withWatermark("at", "10 minutes")


def test_a_frame_is_read_without_its_server(remote: Any) -> None:
    """As the same frame in a session of this machine; of Kafka's source, which is not here, the columns are known."""
    from pyspark.sql.connect import functions as F

    assert not hasattr(orders(remote), "_jdf")
    paid = remote.readStream.format("kafka").option("subscribe", "payments").load()
    paid = paid.selectExpr("CAST(CAST(key AS string) AS bigint) AS order_id", "timestamp AS paid")
    paid = paid.withWatermark("paid", "10 minutes")
    near = F.expr("id = order_id AND abs(unix_timestamp(paid) - unix_timestamp(at)) <= 60")
    result = checked(orders(remote).join(paid, near))
    (finding,) = [one for one in result.outcome.diagnostics if one.code == "SB223"]
    assert result.verdict == "bounded" and "INTERVAL '61' SECOND" in finding.help
    assert " FROM orders AS orders JOIN payments AS payments ON " in result.outcome.source.text
    counted = checked(orders(remote).groupBy(F.window("at", "5 minutes"), "shop").count(), "update")
    assert [str(one.kept) for one in counted.outcome.engine.states] == ["window"]


def test_what_the_server_knows_is_named(remote: Any) -> None:
    with pytest.raises(UsageError, match=r"not read without its server.*on_the_server") as error:
        checked(remote.readStream.table("on_the_server").dropDuplicates(["id"]))
    assert "without .remote()" in str(error.value.remedy)


def test_sessions_of_connect_stay_as_they_are(remote: Any, spark: Any) -> None:
    before = {table.name for table in spark.catalog.listTables()}
    checked(orders(remote))
    assert os.environ["SPARK_REMOTE"] == "sc://localhost:1"
    assert {table.name for table in spark.catalog.listTables()} == before


def test_a_program_with_a_remote_session_runs_here(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from streambound.analyzer.spans import SourceText
    from streambound.gate.spark_frames import program_outcomes

    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost:1")
    text = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.remote('sc://far:15002').getOrCreate()\n"
    text += "spark.readStream.format('rate').load().dropDuplicates(['value']).writeStream.start()\n"
    (outcome,) = program_outcomes(SourceText("job.py", text), None)
    assert [one.code for one in outcome.diagnostics] == ["SB201", "SB223"]
