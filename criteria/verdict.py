"""The one function that takes a query to its verdict (theory §4), with the paper's theorems beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from analyzer.boundedness import Facts
from analyzer.closure import close
from analyzer.diagnostics import Diagnostic, Related
from analyzer.query import Atom, Branch, Query, conjunction
from criteria.bag import bag_violations
from criteria.set import set_violations
from criteria.theorem1 import theorem1
from criteria.theorem2 import theorem2
from criteria.violation import CriterionResult, Violation
from preprocess.pipeline import Derivation, derive


class Verdict(StrEnum):
    """What is known of a statement's memory."""

    BOUNDED = "bounded"
    UNBOUNDED = "unbounded"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


Found = tuple[Branch, tuple[Violation, ...]]
"""A disjoint branch and its violations."""

CRITERIA: tuple[Callable[[Query], CriterionResult | None], ...] = (theorem1, theorem2)
"""The paper's criteria, reported beside the one that decides."""


@dataclass(frozen=True)
class Decision:
    """A query's verdict, why, and everything derived on the way.

    ``criteria`` starts with the deciding one (`bag` or `set`); ``diagnostics`` are for the user, most specific first.
    """

    query: Query
    derivation: Derivation
    verdict: Verdict
    criteria: tuple[CriterionResult, ...]
    diagnostics: tuple[Diagnostic, ...]


def decide(query: Query) -> Decision:
    """Preprocess a query, apply the deciding criterion and the paper's theorem, and give the verdict."""
    derivation = derive(query)
    split = derivation.split
    found = tuple((branch, branch_violations(branch, query.distinct)) for branch in split.branches)
    violations = tuple(dict.fromkeys(violation for _, mine in found for violation in mine))
    deciding = CriterionResult(query.projection, not violations, violations)
    papers = tuple(result for criterion in CRITERIA if (result := criterion(split)) is not None)
    verdict, reason = _verdict(query, found)
    diagnostics = [*(_diagnostic(query, violation, papers) for violation in violations), *derivation.warnings]
    if reason is not None:
        diagnostics.insert(0, reason)
    return Decision(query, derivation, verdict, (deciding, *papers), tuple(diagnostics))


def branch_violations(branch: Branch, distinct: bool) -> tuple[Violation, ...]:
    """The violated clauses of the deciding criterion for one branch of a split query."""
    facts = Facts.of(branch)
    return set_violations(facts) if distinct else bag_violations(facts)


def _verdict(query: Query, found: tuple[Found, ...]) -> tuple[Verdict, Diagnostic | None]:
    """The verdict, and the diagnostic that explains why a violation does not prove *unbounded*."""
    violations = [violation for _, mine in found for violation in mine]
    if not violations:
        return Verdict.BOUNDED, None
    if not any(violation.proved for violation in violations):
        return Verdict.UNKNOWN, None
    at = violations[0].span
    if len({branch.statement for branch, _ in found}) > 1:
        message = "a branch of this union needs unbounded memory; whether the whole union does is not known"
        help = "make every branch bounded, or register the branches as queries of their own"
        return Verdict.UNKNOWN, Diagnostic("SB205", message, query.file, at, help)
    if (repeated := _repeated_stream([branch for branch, _ in found])) is not None:
        message = f"{repeated} is used twice and was analysed as two streams, so the rejection is not proved"
        return Verdict.UNKNOWN, Diagnostic("SB206", message, query.file, at)
    if not proved_for_all(found):
        message = "an alternative of the OR needs unbounded memory alone; another one may make up for it"
        help = "write the alternatives so that a condition on one stream alone tells them apart"
        return Verdict.UNKNOWN, Diagnostic("SB205", message, query.file, at, help)
    return Verdict.UNBOUNDED, None


def proved_for_all(found: tuple[Found, ...]) -> bool:
    """Whether a proved violation of one disjoint branch is one of the whole SELECT.

    A projected value shows in the output, whatever the other branches return. A join's outcome does so only if no
    other branch takes part in the witness: when conditions on a single source exclude it, or when the two branches
    are the ``<`` and the ``>`` of one ``<>``.
    """
    for branch, violations in found:
        others = [other for other, _ in found if other.part != branch.part]
        for violation in violations:
            if violation.proved and (violation.code == "SB201" or all(_apart(branch, other) for other in others)):
                return True
    return False


def _apart(branch: Branch, other: Branch) -> bool:
    """Whether the conditions on some single source contradict each other, so that no tuple of it fits both."""
    return any(
        not close(replace(branch, where=conjunction((*_local(branch, alias), *_local(other, alias))))).satisfiable
        for alias in (source.alias for source in branch.sources)
    )


def _local(branch: Branch, alias: str) -> tuple[Atom, ...]:
    return tuple(atom for atom in branch.atoms if {attribute.source for attribute in atom.attributes} == {alias})


def _repeated_stream(branches: list[Branch]) -> str | None:
    for branch in branches:
        tables = [source.table for source in branch.streams]
        for table in tables:
            if tables.count(table) > 1:
                return table
    return None


def _diagnostic(query: Query, violation: Violation, papers: tuple[CriterionResult, ...]) -> Diagnostic:
    condition = f"{query.projection} criterion {violation.condition}"
    culprit = (violation.stream, violation.attribute)
    for paper in papers:
        same = dict.fromkeys(v.condition for v in paper.violations if (v.stream, v.attribute) == culprit)
        if same:
            condition += f"; {paper.name.replace('-', ' ').capitalize()} {', '.join(same)}"
    related = _declaration(query, violation)
    return Diagnostic(violation.code, violation.message, query.file, violation.span, violation.help, condition, related)


def _declaration(query: Query, violation: Violation) -> tuple[Related, ...]:
    """Where the catalog declares the culprit, and what the declaration leaves open."""
    for source in (source for branch in query.branches for source in branch.sources):
        if source.alias == violation.stream and violation.attribute is not None:
            column = source.column(violation.attribute)
            declared = f"{source.table}.{column.name} is declared here as {column.type.name}"
            domain = "" if column.domain else ", without a domain"
            return (Related(source.file, column.line, declared + domain),) if column.line else ()
    return ()
