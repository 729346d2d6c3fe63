"""The verdict's ground for a statement beyond select-project-join: what it remembers, or why no rule speaks of it."""

from __future__ import annotations

import re

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.checked_types import check_types
from streambound.analyzer.algebra.verify import check_names
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.lower import Lowered
from streambound.analyzer.operators_outside import (
    IN_EXPRESSION,
    IN_WINDOW,
    NOT_EXISTS,
    aggregate_refused,
    subquery_word,
)
from streambound.analyzer.statement import Statement
from streambound.criteria.dataflow.judge import Judgement, judge_lowered
from streambound.criteria.dataflow.reported import reported_states
from streambound.criteria.dataflow.state import Undecided
from streambound.criteria.judged import Judged

_WAYS_OUT: dict[type, str] = {
    nodes.Aggregate: "group by a window of time, GROUP BY k, window(ts, '1 hour'), or aggregate the job's output "
    "downstream",
    nodes.Join: "join within a window of time, T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR, in one condition of ANDs",
    nodes.Over: "take it over a window of time, as OVER (PARTITION BY window(ts, '1 hour') …), or over rows in order "
    "of time",
    nodes.Bucket: "group by it: GROUP BY window(ts, '1 hour')",
    nodes.Except: "write NOT EXISTS with a window of time",
    nodes.Intersect: "write EXISTS with a window of time",
    nodes.Union: "select the same columns, of the same types, on both sides",
    nodes.Fixpoint: "write a UNION of what it starts with and one step, of columns as they are",
    nodes.Filter: "compute what the condition compares in a subquery, and name it there",
    nodes.Project: "compute the column in a subquery, and name it there",
}
"""What to do instead of an operator whose rule has no better words."""


class JudgedOperators(Judged, frozen=True, kw_only=True):
    """The report on a statement's operators, with their judgement."""

    judgement: Judgement

    @property
    def are_apart(self) -> bool:
        """Whether there is a block whose streams' rows are kept apart."""
        return any(one.is_apart for one in self.judgement.operation.every())


def decided_operators(
    statement: Statement, lowered: Lowered, catalog: Catalog, joining: bool = False
) -> JudgedOperators | Diagnostic | None:
    """The states of a statement; None where the front end explains better why there are none.

    A diagnostic for a meaningless statement, such as a sum of strings, or an operator without a rule.
    """
    if lowered.tree is None or lowered.positions is None:
        return None
    try:
        check_names(lowered.tree, catalog, lowered.positions)
        check_types(lowered.tree, catalog, lowered.positions)
    except Finding as finding:
        return finding.diagnostic
    judgement = judge_lowered(statement, lowered, catalog, joining)
    if judgement is None:
        return None
    if judgement.outside:
        return _refusal(judgement.outside[0], lowered.positions)
    return of_judgement(judgement)


def of_judgement(judgement: Judgement) -> JudgedOperators:
    """The report on a judgement whose operators all have a rule."""
    if judgement.entries is not None:
        return JudgedOperators(reported_states(judgement), clocks=judgement.clocks, judgement=judgement)
    from streambound.criteria.dataflow.findings import violations

    return JudgedOperators(violations=violations(judgement), clocks=judgement.clocks, judgement=judgement)


def _refusal(one: Undecided, positions: Positions) -> Diagnostic | None:
    """The diagnostic of an operator that cannot be decided; None if it has no place in the SQL."""
    operator = one.operator
    if one.finding is not None:
        return one.finding
    if isinstance(operator, nodes.Apply):
        return _of_subquery(operator, positions)
    if isinstance(operator, nodes.AggregateCall) and not one.words:
        return aggregate_refused(operator, positions).diagnostic
    return _told(operator, one.words, one.help, positions)


def _told(
    operator: nodes.Tree | nodes.AggregateCall | nodes.WindowCall, words: str, help: str, positions: Positions
) -> Diagnostic | None:
    if operator.syntax is None or not words:
        return None
    place = getattr(operator, "at", None) or positions.of(operator.syntax)
    message = f"this is outside the query language so far: {words}"
    help = help or _WAYS_OUT.get(type(operator), "")
    return Diagnostic(Code.UNSUPPORTED, message, positions.source.file, place, help)


def _of_subquery(tree: nodes.Tree, positions: Positions) -> Diagnostic | None:
    """Why a subquery is no value that is decided; those that are have become joins before."""
    asked = list[nodes.Apply]()
    while isinstance(tree, nodes.Apply):
        asked.append(tree)
        tree = tree.input
    negated = [one for one in asked if one.at and re.search(r"\bNOT\s+IN\b", positions.text(one.at), re.I)]
    if negated and len(asked) > 1:
        return _told(negated[0], "NOT IN beside another subquery below OR", NOT_EXISTS, positions)
    if asked[0].kind is nodes.ApplyKind.SCALAR:
        return _told(asked[0], "a value that a subquery over a stream has for each row", IN_WINDOW, positions)
    words = f"{subquery_word(asked[0].syntax)} over streams inside an expression"
    return _told(asked[0], words, IN_EXPRESSION, positions)
