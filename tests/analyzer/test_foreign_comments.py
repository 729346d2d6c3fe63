"""Comments that Spark reads otherwise than the parser are errors, where they are; all others are comments."""

from __future__ import annotations

import re
from typing import Any

import pytest

from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements

CONTINUED = "this comment ends with a backslash"
TEMPLATE = "this is a comment of a template"
REFUSED = [
    ("SELECT a FROM S -- x \\\nWHERE a = 1", CONTINUED, 21),
    ("SELECT a FROM S --\\\nWHERE a = 1", CONTINUED, 18),
    ("SELECT a FROM S -- x \\\\\nWHERE a = 1", CONTINUED, 22),
    ("-- name: x \\\nSELECT a FROM S", CONTINUED, 11),
    ("SELECT a FROM S -- ; \\\n;", CONTINUED, 21),
    ("SELECT '--', a FROM S -- ' \\\n", CONTINUED, 27),
    ("SELECT a {# WHERE #} FROM S", TEMPLATE, 9),
    ("SELECT a FROM S {# ' #}", TEMPLATE, 16),
    ("-- x\r{# y #} SELECT a FROM S", TEMPLATE, 5),
]
ACCEPTED = [
    "SELECT a FROM S -- x \\\r\nWHERE a = 1",
    "SELECT a FROM S -- x \\\rWHERE a = 1",
    "SELECT a FROM S -- x\rWHERE a = 1",
    "SELECT a FROM S /* x \\\n {# y #} */ WHERE a = 1",
    "SELECT a FROM S -- {# y #}\nWHERE a = 1",
    "SELECT a FROM S WHERE b = '\\\n{#'",
    "SELECT a FROM S WHERE a = 1 -- \\",
]


@pytest.mark.parametrize(("sql", "message", "at"), REFUSED)
def test_what_spark_reads_otherwise_is_an_error(sql: str, message: str, at: int) -> None:
    (found,) = split_statements(SourceText("q.sql", sql))
    assert found.tree is None
    (wrong,) = found.diagnostics
    assert (wrong.code, wrong.span.start) == ("SB001", at)
    assert message in wrong.message


@pytest.mark.parametrize("sql", ACCEPTED)
def test_what_spark_reads_alike_is_read(sql: str) -> None:
    (found,) = split_statements(SourceText("q.sql", sql))
    assert found.tree is not None and found.diagnostics == ()


def test_only_the_statement_around_it_is_refused() -> None:
    found = split_statements(SourceText("q.sql", "SELECT 1 AS a; -- x \\\nSELECT 2 AS b;\nSELECT 3 AS c"))
    assert [statement.tree is None for statement in found] == [False, True, False]
    (alone,) = split_statements(found[0].source, [1])
    assert (alone.name, alone.diagnostics) == (found[1].name, found[1].diagnostics)


def test_spark_reads_them_so(spark: Any) -> None:
    """What is refused is refused by Spark, or another query for it than without the next line; the others are not."""
    parser = spark._jsparkSession.sessionState().sqlParser()

    def plan_of(sql: str) -> str | None:
        try:
            return str(parser.parsePlan(sql).toString())
        except Exception:
            return None

    for sql, message, _ in REFUSED:
        plan, alone = plan_of(sql), plan_of(re.sub(r"\\+\n", "\n", sql))
        if message == TEMPLATE:
            assert plan is None, sql
        elif "WHERE" in sql:
            assert plan is not None and alone is not None, sql
            assert "Filter" in alone and "Filter" not in plan, sql
    for sql in ACCEPTED:
        plan = plan_of(sql)
        assert plan is not None and ("Filter" in plan) == ("WHERE" in sql), sql
