"""PySpark programs as tutorials have them (`tests/data/pyspark_jobs`): what is said of each, and what Spark says."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

import pytest

import streambound
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.errors import UsageError
from streambound.analyzer.spans import SourceText
from streambound.criteria.vocabulary import Verdict
from streambound.gate.spark_frames import program_outcomes
from streambound.importing.frames import spark_program
from streambound.importing.frames.plan_sql import sql_of
from streambound.reports.outcome import Outcome
from support.profiles import MORE
from support.running_jobs import run_job
from support.spark_explained import explained_class

JOBS = sorted((Path(__file__).resolve().parent.parent / "data" / "pyspark_jobs").glob("*.py"))


def class_of(outcome: Outcome) -> str:
    reading = outcome.engine
    assert reading is not None, outcome.diagnostics
    if reading.refusals:
        return "refused"
    return "unread" if reading.unread else reading.kept.value if reading.kept is not None else "none"


def expected(job: Path) -> list[str]:
    line = next(one for one in job.read_text(encoding="utf-8").splitlines() if one.startswith("# spark: "))
    return line.removeprefix("# spark: ").split(", ")


@pytest.fixture
def explained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Spark says of each query that a program would start."""
    said: list[str] = []
    query_of = spark_program.query_of

    def asked(frame: Any, mode: str = "append", line: int | None = None, name: str = "") -> spark_program.FrameQuery:
        said.append(explained_class(frame, mode))
        return query_of(frame, mode, line, name)

    monkeypatch.setattr(spark_program, "query_of", asked)
    return said


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.stem)
def test_a_job_is_read_as_spark_would_run_it(job: Path, spark: Any, explained: list[str]) -> None:
    """The model's class is what the job's comment and what Spark's own plan say; findings are at lines that made it."""
    source = SourceText(job.name, job.read_text(encoding="utf-8"))
    outcomes = program_outcomes(source, None)
    assert [class_of(one) for one in outcomes] == expected(job), [one.diagnostics for one in outcomes]
    assert all(one in ("unread", own) for one, own in zip(expected(job), explained, strict=True)), explained
    starts = {node.lineno for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.Call)}
    ends = {node.end_lineno for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.Call)}
    for outcome in outcomes:
        for found in outcome.diagnostics:
            assert found.span.line in starts | ends, found


SAMPLE = sorted(random.Random(41).sample(JOBS, 12))
"""`tests/support/running_jobs.py` runs all of them."""


@pytest.mark.parametrize("job", JOBS if MORE > 1 else SAMPLE, ids=lambda job: job.stem)
def test_a_run_does_what_is_said(job: Path, spark: Any, tmp_path: Path) -> None:
    """What a query keeps over some days of rows grows, or does not, as the findings have it; or Spark refuses it."""
    text = job.read_text(encoding="utf-8")
    outcomes = program_outcomes(SourceText(job.name, text), None)
    for outcome, run in zip(outcomes, run_job(spark, text, tmp_path), strict=True):
        codes = {one.code for one in outcome.diagnostics}
        if (said := class_of(outcome)) != "unread":
            assert run.kept.partition(" ")[0] == said
        assert ("SB223" in codes, "SB222" in codes) == (run.kept == "grows", run.kept.startswith("refused"))


def test_at_least_four_fifths_of_the_jobs_are_read() -> None:
    said = [one for job in JOBS for one in expected(job)]
    assert len(JOBS) >= 40 and said.count("unread") <= len(said) / 5


# --- beside the jobs --------------------------------------------------------------------------------------------------

HEAD = "from pyspark.sql import SparkSession, functions as F\nspark = SparkSession.builder.master('spark://far:7077').getOrCreate()\n"
ORDERS = "o = spark.readStream.schema('id bigint, shop int, at timestamp').json('/in/orders')\n"
COUNT = "o.withWatermark('at', '10 minutes').groupBy(F.window('at', '5 minutes'), 'shop').count().writeStream.start()\n"
CATALOG = """[streams.Orders]
timestamp = "at"
columns = { id = "bigint", shop = "int", at = "timestamp" }
domain.shop = [1, 5]
max_rate = { rows = 60, per = "1 minute" }
"""


def outcomes_of(program: str, catalog: str = "") -> list[Outcome]:
    return program_outcomes(SourceText("job.py", HEAD + program), parse_catalog(catalog) if catalog else None)


def test_a_table_that_is_not_here_has_the_columns_of_the_catalog(spark: Any) -> None:
    program = "spark.readStream.table('lake.Orders').groupBy('shop').count().writeStream.outputMode('update').start()\n"
    catalog = '[streams.orders]\ntimestamp = "ts"\ncolumns = { shop = "int", ts = "timestamp" }\ndomain.shop = [1, 9]\n'
    (outcome,) = outcomes_of(program, catalog)
    assert outcome.bound is not None and outcome.bound.entries == 10
    (broken,) = outcomes_of(program, catalog.replace("orders", "others"))
    assert "cannot be found" in broken.diagnostics[0].message


def test_the_catalog_says_more_of_a_stream_of_that_name(spark: Any) -> None:
    (outcome,) = outcomes_of(ORDERS + COUNT, CATALOG)
    assert outcome.verdict is Verdict.BOUNDED and outcome.bound is not None and outcome.bound.entries is not None
    (state,) = outcome.engine.states if outcome.engine is not None else ()
    assert state.rows == 15 and state.formula == "about 3 windows × 5 keys"


def test_what_was_computed_below_the_watermark_has_no_domain(spark: Any) -> None:
    """Its name is that of a column of the source, its values are others."""
    (outcome,) = outcomes_of(ORDERS + "o = o.withColumn('shop', o.shop + o.id)\n" + COUNT, CATALOG)
    (state,) = outcome.engine.states if outcome.engine is not None else ()
    assert "5 keys" not in state.formula


def test_sources_that_are_read_in_another_way_are_others(spark: Any) -> None:
    """What a name does not tell apart its options do, and watermarks their delays."""
    socket = "spark.readStream.format('socket').option('host', 'h').option('port', {}).load()"
    rate = "spark.readStream.format('rate').load().withWatermark('timestamp', '{} minutes')"
    for read, column in ((socket, "value"), (rate, "timestamp")):
        for first, second in ((1, 2), (3, 3)):
            join = f"{read.format(first)}.alias('a').join({read.format(second)}.alias('b'), '{column}')"
            program = spark_program.run("job.py", f"{HEAD}{join}.select('{column}').writeStream.start()\n", {})
            (query,) = program.queries
            assert len({one.name for one in sql_of(query.plan).sources}) == len({first, second}), query.plan


def test_a_program_that_fails_is_an_error_at_its_line(spark: Any) -> None:
    counted, failed = outcomes_of(ORDERS + COUNT + "o.select('nobody')\n")
    assert counted.verdict is Verdict.BOUNDED and failed.verdict is Verdict.ERROR
    (finding,) = failed.diagnostics
    assert "nobody" in finding.message and finding.span.line == 5


@pytest.mark.parametrize("program", ["", "spark.range(3).count()\n", "import sys\nsys.exit(1)\n"])
def test_a_program_without_a_query_is_an_error(spark: Any, program: str) -> None:
    (outcome,) = outcomes_of(program)
    assert outcome.verdict is Verdict.ERROR and "no streaming query" in outcome.diagnostics[0].message


def test_pyspark_is_as_it_was_after_a_program(spark: Any) -> None:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    before = DataStreamWriter.start, DataFrame.select, SparkSession.stop
    outcomes_of(ORDERS + COUNT + "spark.stop()\nraise ValueError\n")
    assert (DataStreamWriter.start, DataFrame.select, SparkSession.stop) == before
    assert spark.range(3).count() == 3 and not spark.streams.active


def test_a_frame_is_checked_at_places_of_its_sql(spark: Any) -> None:
    frame = spark.readStream.format("rate").load().dropDuplicates(["value"])
    (result,) = streambound.check(frame, output_mode="update")
    assert result.verdict == "unbounded" and result.outcome.source.text.startswith("SELECT /*+ DROP_DUPLICATES */")
    with pytest.raises(UsageError, match="no output mode"):
        streambound.check(frame, output_mode="mine")


def test_the_watermark_policy_that_was_not_measured_is_said(spark: Any) -> None:
    spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", "max")
    try:
        (outcome,) = outcomes_of(ORDERS + COUNT)
    finally:
        spark.conf.unset("spark.sql.streaming.multipleWatermarkPolicy")
    assert outcome.engine is not None and "multipleWatermarkPolicy" in outcome.engine.unread


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("o.withWatermark('at', '1 minute').withWatermark('at', '2 minutes')", "withWatermark twice"),
        ("o.join(o2, 'id').withWatermark('at', '1 minute')", "withWatermark above a join"),
        ("o.rollup('id', 'shop').count()", "rollup"),
        ("o.join(o2, F.udf('boolean')(lambda a, b: True)(o.id, o2.n))", "function"),
    ],
)
def test_what_is_not_read_is_named(spark: Any, query: str, words: str) -> None:
    second = "o2 = spark.readStream.schema('id bigint, n int').json('/in/others')\n"
    (outcome,) = outcomes_of(f"{ORDERS}{second}{query}.writeStream.outputMode('update').start()\n")
    assert outcome.verdict is Verdict.UNKNOWN
    assert words in outcome.diagnostics[0].message and outcome.diagnostics[0].span.line == 5
