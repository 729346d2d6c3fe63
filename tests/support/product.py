"""The product from the outside: text and catalog mapping to a decision. Only tests use it, never the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statements import split_statements
from streambound.criteria.check import Checked, check_statement
from streambound.criteria.verdict import Decision, decide
from support.certificates import assert_certified


class NotAnalysed(AssertionError):
    """The statement was reported, not analysed."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(f"{d.code} {d.message}" for d in diagnostics))
        self.diagnostics = diagnostics


def lowered(sql: str, catalog: Mapping[str, Any]) -> Query:
    """One statement's query; raises NotAnalysed with the diagnostics."""
    (statement,) = split_statements(SourceText("q.sql", sql))
    result = lower(statement, catalog_from_mapping(catalog))
    if result.query is None:
        raise NotAnalysed(result.diagnostics)
    return result.query


def decided(sql: str, catalog: Mapping[str, Any]) -> Decision:
    """One statement's decision. Whatever test asks for it: its certificate holds."""
    decision = decide(lowered(sql, catalog))
    assert_certified(decision)
    return decision


def criterion(decision: Decision, name: str) -> bool | None:
    """Whether a criterion holds; None where it was not applied."""
    return next((result.holds for result in decision.criteria if result.name == name), None)


def blamed(decision: Decision, index: int = 0) -> list[tuple[str, str]]:
    """The condition and ``stream.attribute`` of every violation of one criterion."""
    return [(v.condition, f"{v.stream}.{v.attribute}") for v in decision.criteria[index].violations]


def spanned(sql: str, span: Span) -> str:
    """The text of a span."""
    return sql[span.start : span.end]


def parsed(sql: str) -> exp.Expr:
    """The syntax tree of one statement."""
    (statement,) = split_statements(SourceText("q.sql", sql))
    assert statement.tree is not None
    return statement.tree


def checked(sql: str, catalog: Mapping[str, Any]) -> Checked:
    """One statement as `check` and `explain` see it, whatever its verdict."""
    (statement,) = split_statements(SourceText("q.sql", sql))
    return check_statement(statement, catalog_from_mapping(catalog))
