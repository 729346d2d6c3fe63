"""`compile --check`: a job is out of date exactly when another one would be compiled, and the cause is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streambound.analyzer.version import __version__
from streambound.synopsis_exec.job_file import job_text
from streambound.synopsis_exec.stale import causes, difference
from streambound_runtime.spec import JobSpec
from support.jobs import compiled_of

DECLARED: dict[str, Any] = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}}}
SQL = "SELECT S.a FROM S WHERE S.a > 0"


def job(sql: str = SQL, **more: Any) -> JobSpec:
    body = {**DECLARED["streams"]["S"], **{name: value for name, value in more.items() if name != "top"}}
    return compiled_of(sql, {"streams": {"S": body}, **more.get("top", {})}).job


TEXT = compiled_of(SQL, DECLARED).text


def test_the_same_job_is_up_to_date_whatever_else_its_file_says() -> None:
    assert causes(TEXT, job()) == causes("# of ours\n" + TEXT + "\n# of yours\n", job()) == []


@pytest.mark.parametrize(
    "new",
    [
        job(max_per_timestamp=2),
        job(on_violation="stop"),
        job(lateness=3),
        job(source={"format": "csv", "path": "x"}),
        job(top={"counters": "decimal"}),
        job(top={"sinks": {"q": {"format": "noop"}}}),
        job(top={"sinks": {"q": {"format": "noop", "quarantine": {"format": "json", "path": "x"}}}}),
    ],
)
def test_everything_that_the_catalog_says_of_the_query_counts(new: JobSpec) -> None:
    assert causes(TEXT, new) == ["the catalog changed"]
    assert difference(TEXT, new, "job.py")


def test_what_the_catalog_says_of_others_does_not_count() -> None:
    other = {"timestamp": "t", "columns": {"t": "bigint"}}
    catalog = {"streams": {**DECLARED["streams"], "Other": other}, "sinks": {"another": {"format": "noop"}}}
    assert causes(TEXT, compiled_of(SQL, catalog).job) == []


def test_causes_are_told_apart() -> None:
    new = job("SELECT S.a FROM S WHERE S.a > 1")
    assert causes(TEXT, new) == ["the query changed"]
    by_hand = ["it was changed by hand, or another build of streambound wrote it"]
    assert causes(TEXT.replace("bound=0", "bound=1"), job()) == by_hand
    assert causes("", new) == causes("# print()\n", new) == ["it is no job that streambound wrote"]
    assert causes(TEXT, replace(job("SELECT S.a AS b FROM S WHERE S.a > 0"), runtime="9.9")) == [
        "the query changed",
        f"streambound {__version__} wrote it, this is 9.9",
    ]


def test_a_job_of_a_version_that_wrote_otherwise_names_it() -> None:
    other = TEXT.replace(__version__, "0.0.9").replace("Job(", "Job(9, ", 1)
    assert causes(other, job()) == [f"streambound 0.0.9 wrote it, this is {__version__}"]


def test_a_long_difference_is_cut() -> None:
    compiled = compiled_of(
        "SELECT S.a FROM S, S AS T, S AS U WHERE S.ts = T.ts AND U.ts < S.ts AND U.a IN (1, 2)", DECLARED
    )
    lines = difference("", compiled.job, "job.py")
    assert lines[0] == "--- job.py"
    assert len(lines) == 41 and lines[-1].startswith("... and ")
    assert job_text(compiled.job, compiled.plan) == compiled.text
