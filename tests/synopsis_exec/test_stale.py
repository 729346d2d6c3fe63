"""`compile --check`: a job file is out of date exactly when its text differs, and the cause is named."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.version import __version__
from streambound.synopsis_exec import codegen
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.stale import causes, difference
from support.product import decided

DECLARED: dict[str, Any] = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}}}
SQL = "SELECT S.a FROM S WHERE S.a > 0"


def text(sql: str = SQL, **more: Any) -> str:
    body = {**DECLARED["streams"]["S"], **{name: value for name, value in more.items() if name != "top"}}
    catalog = {"streams": {"S": body}, **more.get("top", {})}
    return job_text(make_plan(decided(sql, catalog), catalog_from_mapping(catalog)))


def test_the_same_job_is_up_to_date() -> None:
    assert causes(text(), text()) == []


@pytest.mark.parametrize(
    "new",
    [
        text(max_per_timestamp=2),
        text(on_violation="stop"),
        text(source={"format": "csv", "path": "x"}),
        text(top={"counters": "decimal"}),
        text(top={"sinks": {"q": {"format": "noop"}}}),
    ],
)
def test_everything_that_the_catalog_says_of_the_query_counts(new: str) -> None:
    assert causes(text(), new) == ["the catalog changed"]
    assert difference(text(), new, "job.py")


def test_what_the_catalog_says_of_others_does_not_count() -> None:
    other = {"timestamp": "t", "columns": {"t": "bigint"}}
    catalog = {"streams": {**DECLARED["streams"], "Other": other}, "sinks": {"another": {"format": "noop"}}}
    assert causes(text(), job_text(make_plan(decided(SQL, catalog), catalog_from_mapping(catalog)))) == []


def test_causes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    old = text()
    assert causes(text("SELECT S.a FROM S WHERE S.a > 1"), old) == ["the query changed"]
    assert causes(old + "\n", old) == ["its code was changed by hand"]
    assert causes(old.replace("constant memory", "much memory"), old) == ["its header was changed by hand"]
    assert causes("", old) == causes("# print()\n", old) == ["it is no job that streambound wrote"]
    assert causes(old.replace("# code    sha256", "# code"), old) == ["it is no job that streambound wrote"]
    monkeypatch.setattr(codegen, "_tool_sha256", lambda: "0" * 64)
    assert causes(old, text()) == [f"another build of streambound {__version__} wrote it"]
    monkeypatch.setattr(codegen, "__version__", "9.9")
    assert causes(old, text("SELECT S.a AS b FROM S WHERE S.a > 0")) == [
        "the query changed",
        f"streambound {__version__} wrote it, this is 9.9",
    ]


def test_a_long_difference_is_cut() -> None:
    lines = difference("", text(), "job.py")
    assert len(lines) == 41
    assert lines[0] == "--- job.py"
    assert lines[-1].startswith("... and ")
