"""A statement that the judge that decides calls unbounded, proved by the states of the other one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import some_statements
from streambound.analyzer.work import STATEMENT, TooMuchWork, at_most, begin
from streambound.criteria.check import check_statement
from streambound.criteria.dataflow.findings import findings
from streambound.criteria.dataflow.judge import judge
from streambound.criteria.dataflow.witness import UnboundedProof, prove
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witnesses.witness import SchemeWitness

_NOTES = ("SB208", "SB211")
Place = tuple[str, str]
"""A code, and the text that it stands at."""


@dataclass(frozen=True)
class ComparedProof:
    """How a statement is proved: "joins", by a "plan" or a "scheme"; "none", or "bounded" where it is not judged so.

    With the steps of work of both judges with their searches, and the places of their diagnostics.
    """

    how: str
    steps: float
    old_how: str
    old_steps: float
    places: frozenset[Place]
    old_places: frozenset[Place]


def compared_proofs(sql: str, catalog: Catalog) -> Iterator[ComparedProof]:
    """The statements of a text that the judge that decides calls unbounded."""
    for statement in some_statements(SourceText("q.sql", sql), None, catalog.models):
        with at_most(2 * STATEMENT) as old:
            checked = check_statement(statement, catalog)
        if checked.verdict is not Verdict.UNBOUNDED or checked.period_witness is not None:
            continue
        scheme = isinstance(checked.circuit_witness, SchemeWitness)
        old_how = "scheme" if scheme else "joins" if checked.circuit_witness is None else "plan"
        told = [one for one in checked.diagnostics if one.code not in _NOTES]
        places = frozenset((str(one.code), _text(statement, one.span.start, one.span.end)) for one in told)
        yield _proved(statement, catalog, old_how, old.steps, places)


def _proved(
    statement: Statement, catalog: Catalog, old_how: str, old_steps: float, old_places: frozenset[Place]
) -> ComparedProof:
    begin()
    how, places = "none", frozenset[Place]()
    try:
        with at_most(STATEMENT) as new:
            judgement = judge(statement, catalog)
            if judgement is not None and judgement.entries is not None:
                how = "bounded"
            elif judgement is not None:
                how = how_proved(prove(statement, catalog, judgement))
    except TooMuchWork:
        how = "none"
    if judgement is not None:
        told = findings(judgement)
        places = frozenset((str(one.code), _text(statement, one.span.start, one.span.end)) for one in told)
    return ComparedProof(how, new.steps, old_how, old_steps, places, old_places)


def how_proved(proof: UnboundedProof) -> str:
    """By what a statement is proved to be unbounded."""
    if proof.statement is None:
        return "joins" if proof.block is not None else "none"
    return "scheme" if isinstance(proof.statement, SchemeWitness) else "plan"


def _text(statement: Statement, start: int, end: int) -> str:
    return statement.source.text[start:end]
