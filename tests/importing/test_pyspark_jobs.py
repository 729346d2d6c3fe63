"""PySpark programs as tutorials have them (`tests/data/pyspark_jobs`): what is said of each, and what Spark says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.spans import SourceText
from streambound.gate.spark_frames import program_outcomes
from streambound.importing.frames import spark_program
from streambound.reports.outcome import Outcome
from support.spark_explained import explained_class

JOBS = sorted((Path(__file__).resolve().parent.parent / "data" / "pyspark_jobs").glob("*.py"))

pytestmark = pytest.mark.spark


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


def test_at_least_four_fifths_of_the_jobs_are_read() -> None:
    said = [one for job in JOBS for one in expected(job)]
    assert len(JOBS) >= 40 and said.count("unread") <= len(said) / 5
