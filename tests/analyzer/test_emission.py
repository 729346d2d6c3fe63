"""What a comment before a query says of the results that are printed."""

from __future__ import annotations

import pytest

from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from streambound.gate.directives import directives
from support.cases import catalog, lowered


def test_each_statement_has_its_own_mode() -> None:
    sql = (
        "-- streambound: emit final\nSELECT a FROM S;\n-- name: b\n-- Streambound: EMIT Changes\nSELECT a FROM S;\n"
        "SELECT b FROM S"
    )
    found = [statement.emit for statement in split_statements(SourceText("q.sql", sql))]
    assert [one.mode if one else None for one in found] == ["final", "changes", None]
    assert found[0] is not None
    assert (found[0].at.line, found[0].at.column, found[0].at.end_column) == (1, 22, 27)
    assert list(directives(SourceText("q.sql", sql))) == [], "it is no suppression"


@pytest.mark.parametrize(
    ("clause", "mode"), [("EMIT CHANGES", "changes"), ("emit final", "final"), ("EMIT ON WINDOW CLOSE", "final")]
)
@pytest.mark.parametrize("around", ["{}", "CREATE MATERIALIZED VIEW v AS {}", "INSERT INTO v {}"])
def test_a_clause_at_the_end_of_a_query_says_the_mode(clause: str, mode: str, around: str) -> None:
    sql = around.format(f"SELECT a FROM S {clause}")
    (statement,) = split_statements(SourceText("q.sql", sql))
    assert statement.emit is not None and statement.emit.mode == mode
    assert statement.sql == "SELECT a FROM S" and sql[statement.emit.at.start : statement.emit.at.end] == clause


def test_a_comment_before_a_query_is_told_rather_than_its_clause() -> None:
    sql = "-- streambound: emit changes\nSELECT a FROM S EMIT ON WINDOW CLOSE"
    (statement,) = split_statements(SourceText("q.sql", sql))
    assert statement.emit is not None and statement.emit.mode == "changes"


FOLLOWED = "emit is followed by changes, final, upsert, fragments or parts, and nothing else"
OUTSIDE = "is outside the query language so far: results are printed as changes"
LEFT_OUT = "leave it out"


@pytest.mark.parametrize(
    ("comment", "message", "help"),
    [
        ("emit finl", FOLLOWED, "did you mean final?"),
        ("emit", FOLLOWED, ""),
        ("emit final now", FOLLOWED, "did you mean final?"),
        ("emit fragments", f"emit fragments {OUTSIDE}", LEFT_OUT),
        ("emit parts", f"emit parts {OUTSIDE}", LEFT_OUT),
    ],
)
def test_a_mode_that_a_query_cannot_have(comment: str, message: str, help: str) -> None:
    ((_, result),) = lowered(f"-- streambound: {comment}\nSELECT a FROM S")
    (found,) = result.diagnostics
    assert (found.code, found.message, found.help, found.span.line) == ("SB110", message, help, 1)


def test_no_query_is_judged_as_if_it_asked_for_something_else() -> None:
    sql = "-- streambound: emit final\nSELECT a, COUNT(*) AS n FROM S WHERE a BETWEEN 1 AND 3 GROUP BY a"
    (item,) = check_source(SourceText("q.sql", sql), catalog())
    assert item.verdict is Verdict.UNSUPPORTED
    assert [found.span.line for found in item.diagnostics] == [2], "at the operator"


def test_what_is_unbounded_is_so_in_any_mode() -> None:
    sql = "SELECT a, COUNT(*) AS n FROM S GROUP BY a"
    for mode in ("", "-- streambound: emit final\n", "-- streambound: emit changes\n"):
        (item,) = check_source(SourceText("q.sql", mode + sql), catalog())
        assert item.verdict is Verdict.UNBOUNDED, mode


def test_changes_are_what_every_query_prints_and_joins_never_change_them() -> None:
    for mode in ("changes", "final"):
        ((_, result),) = lowered(f"-- streambound: emit {mode}\nSELECT a FROM S")
        assert result.query is not None
