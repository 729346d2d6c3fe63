"""A statement judged twice: by the judge that decides, and by the rules of `criteria.dataflow`."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import some_statements
from streambound.analyzer.work import STATEMENT, TooMuchWork, at_most, begin
from streambound.criteria.check import Checked, check_statement, unproved
from streambound.criteria.dataflow.judge import Judgement, judge
from streambound.criteria.size import Size, fewer
from streambound.criteria.vocabulary import Verdict

_PROOF = STATEMENT / 4
"""Steps of work of a search for a witness; those that are found are found soon."""


class Outcome(Enum):
    """How two judgements of a statement compare."""

    SAME = "same"
    """The same verdict, and the same M if it is bounded."""
    SMALLER = "smaller"
    LARGER = "larger"
    OTHER = "other"
    """Bounded by both, with sizes that cannot be compared."""
    GAINED = "gained"
    """Bounded, where the old judge does not know, or has no rule."""
    LOST = "lost"
    WRONG = "wrong"
    """Bounded, where the old judge executed a witness."""
    FAILED = "failed"


@dataclass(frozen=True)
class Comparison:
    """How two judgements compare, and what they are, in words."""

    outcome: Outcome
    old: str
    new: str


def compared(sql: str, catalog: Catalog) -> Iterator[Comparison]:
    """Both judgements of each statement of a text."""
    for statement in some_statements(SourceText("q.sql", sql), None, catalog.models):
        yield of_statement(statement, catalog)


def of_statement(statement: Statement, catalog: Catalog) -> Comparison:
    """Both judgements of a statement; for a witness the old one searches where the new one says bounded."""
    checked = _without_witness(statement, catalog)
    try:
        found = judge(statement, catalog)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return Comparison(Outcome.FAILED, checked.verdict.value, f"{error!r} at {at.filename}:{at.lineno}")
    if found is not None and found.entries is not None and checked.verdict is not Verdict.BOUNDED:
        checked = check_statement(statement, catalog, _PROOF)
    return Comparison(_outcome(checked, found), _told(checked), _words(found))


def _without_witness(statement: Statement, catalog: Catalog) -> Checked:
    begin()
    try:
        with at_most(STATEMENT):
            return unproved(statement, catalog)
    except TooMuchWork:
        return check_statement(statement, catalog)


def entries(checked: Checked) -> Size | None:
    """M by the old judge; None where it knows of none."""
    bound = checked.circuit_bound or checked.bound
    return bound.entries if bound is not None else None


def _outcome(checked: Checked, found: Judgement | None) -> Outcome:
    mine = None if found is None else found.entries
    if checked.verdict is not Verdict.BOUNDED:
        if mine is None:
            return Outcome.SAME
        return Outcome.WRONG if checked.verdict is Verdict.UNBOUNDED else Outcome.GAINED
    theirs = entries(checked)
    if mine is None or theirs is None:
        return Outcome.LOST if mine is None else Outcome.GAINED
    if mine.value is not None and theirs.value is not None:
        return [Outcome.SMALLER, Outcome.SAME, Outcome.LARGER][
            1 + (mine.value > theirs.value) - (mine.value < theirs.value)
        ]
    if mine == theirs or mine.text == theirs.text:
        return Outcome.SAME
    if fewer(mine, theirs):
        return Outcome.SMALLER
    return Outcome.LARGER if fewer(theirs, mine) else Outcome.OTHER


def _told(checked: Checked) -> str:
    size = entries(checked)
    if size is not None:
        states = checked.circuit_bound.states if checked.circuit_bound else ()
        return f"{size.text} {[f'{one.name}: {one.size.text}' for one in states]}"
    words = checked.diagnostics[0].message[:60] if checked.diagnostics else ""
    return f"{checked.verdict.value} ({words})"


def _words(found: Judgement | None) -> str:
    if found is None:
        return "nothing"
    states = [
        f"{one.what}: {one.size.text if one.size is not None else 'NONE ' + one.words[:70]}" for one in found.states
    ]
    size = found.entries
    return f"{'no bound' if size is None else size.text} {states} {[one.words for one in found.outside]}"
