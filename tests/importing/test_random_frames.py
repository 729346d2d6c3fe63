"""Random DataFrames: the SQL of a plan means what the plan does, and the model says what Spark's own plan says."""

from __future__ import annotations

from collections import Counter
from typing import Any

from streambound.analyzer.engine_profiles import OutputMode
from streambound.criteria.engines.profile import Phase
from streambound.gate.spark_frames import query_outcome
from streambound.importing.frames.catalyst import SOURCE
from streambound.importing.frames.plan_sql import sql_of
from streambound.importing.frames.spark_program import query_of
from support.choices import Choices
from support.profiles import MORE
from support.random_frames import random_frame
from support.spark_explained import explained_class

RATES = {"a": (40, 13, 17), "b": (30, 11, 19)}


def test_the_sql_of_a_plan_has_its_rows(spark: Any) -> None:
    from pyspark.errors import AnalysisException

    def source(name: str) -> Any:
        rows, keys, seconds = RATES[name]
        frame = spark.range(0, rows, 1, 1).selectExpr(
            f"id % {keys} AS k", "id % 5 AS g", f"timestamp_seconds(id * {seconds}) AS ts"
        )
        frame.createOrReplaceTempView(name)
        return frame.alias(SOURCE + name)

    compared: Counter[str] = Counter()
    for seed in range(8 * MORE):
        try:
            frame, steps = random_frame(Choices.seeded(seed), source, deterministic=True)
        except AnalysisException:  # two columns of one name
            continue
        text = sql_of(query_of(frame).plan).text
        wanted = Counter(map(tuple, frame.collect()))
        assert Counter(map(tuple, spark.sql(text).collect())) == wanted, (steps, text)
        compared.update(steps if wanted else ())
    assert len(compared) >= 6, compared


def test_the_model_says_what_the_plan_says(spark: Any) -> None:
    """But for what Spark notices only when it runs."""
    from pyspark.errors import AnalysisException, PySparkException

    def source(name: str) -> Any:
        rate = spark.readStream.format("rate").load().selectExpr("value AS k", "value % 5 AS g", "timestamp AS ts")
        return rate.withWatermark("ts", "10 minutes") if name == "a" else rate.withWatermark("ts", "5 minutes")

    said: Counter[str] = Counter()
    for seed in range(25 * MORE):
        choices = Choices.seeded(seed)
        mode = choices.pick(tuple(OutputMode))
        try:
            frame, steps = random_frame(choices, source)
        except AnalysisException:
            continue
        reading = query_outcome(query_of(frame, mode), None, None, "q").engine
        assert reading is not None
        if reading.unread or any(one.when is Phase.RUN for one in reading.refusals):
            said["unread" if reading.unread else "run"] += 1
            continue
        try:
            wanted = explained_class(frame, mode)
        except PySparkException:  # refused while it is planned
            wanted = "refused"
        kept = "refused" if reading.refusals else reading.kept.value if reading.kept is not None else "none"
        assert kept == wanted, (steps, mode)
        said[kept] += 1
    assert len(said) >= 4 and said["unread"] + said["run"] <= sum(said.values()) / 5, said
