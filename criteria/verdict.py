"""The one function that takes a query to its verdict (docs/theory.md), with the paper's theorems beside it.

*Bounded* when the criterion holds, *unbounded* when a witness is found, *unknown* otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.query import Branch, Computed, Query
from streambound.analyzer.work import by_identity
from streambound.criteria.bag import bag_violations
from streambound.criteria.bound import QueryBound, has_bound, least_bound
from streambound.criteria.projected_time import Stamp, stamp
from streambound.criteria.set import set_violations
from streambound.criteria.violation import CriterionResult, Violation, also, by_cause, cause_of
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.wording import listed
from streambound.preprocess.pipeline import Derivation, derive

if TYPE_CHECKING:
    from streambound.criteria.witness import Witness
    from streambound.criteria.witness_search import WitnessSearch
    from streambound.criteria.witnesses.witness import CircuitWitness

Found = tuple[Branch, tuple[Violation, ...]]
"""A disjoint branch and its violations."""

_SMALL = 2
_UNPROVED = (Code.UNION_UNKNOWN, Code.SELF_JOIN_UNKNOWN, Code.NO_WITNESS)


class Decision(Struct, frozen=True, dict=True):
    """A query's verdict, why, and everything derived on the way.

    ``deciding`` is the criterion that decides (`bag` or `set`); ``diagnostics`` are for the user, most specific first;
    ``witness`` is there iff the query is unbounded: a small one, whose plan builds witnesses of any size.
    """

    query: Query
    derivation: Derivation
    verdict: Verdict
    deciding: CriterionResult
    diagnostics: tuple[Diagnostic, ...]
    witness: Witness | None = None

    @property
    def criteria(self) -> tuple[CriterionResult, ...]:
        """The deciding criterion, and the paper's beside it. Computed on demand."""
        return (self.deciding, *_papers(self.derivation.split))

    @cached_property
    def bound(self) -> QueryBound | None:
        """M of a bounded query; None for any other, or with too many tables. Computed on demand."""
        return least_bound(self.derivation) if self.verdict is Verdict.BOUNDED else None


def decide(query: Query, proving: bool = True) -> Decision:
    """Preprocess a query, apply the deciding criterion, and give the verdict.

    Unless it is ``proving``, no witness is searched for, and what has none is unknown.
    """
    derivation = derive(query)
    split = derivation.split
    found = _violated(split)
    violations = tuple(dict.fromkeys(one for branch, mine in found for one in _of_cause(branch, mine)))
    deciding = CriterionResult(query.projection, not violations, violations)
    search = _search(split, found) if violations and proving else None
    witness = search.witness if search else None
    diagnostics = [*(_diagnostic(query, said, _papers(split)) for said in by_cause(violations)), *derivation.warnings]
    if search and witness is None and (reason := _unproved(query, found, search.given_up)) is not None:
        diagnostics.insert(0, reason)
    verdict = Verdict.BOUNDED if not violations else Verdict.UNKNOWN if witness is None else Verdict.UNBOUNDED
    return Decision(query, derivation, verdict, deciding, tuple(diagnostics), witness)


@by_identity
def _papers(split: Query) -> tuple[CriterionResult, ...]:
    """What the paper's criteria say, as far as they speak of a split query."""
    from streambound.criteria.theorem1 import theorem1
    from streambound.criteria.theorem2 import theorem2

    return tuple(result for criterion in (theorem1, theorem2) if (result := criterion(split)) is not None)


def _violated(split: Query) -> tuple[Found, ...]:
    stamped = stamp(split)
    return tuple((branch, branch_violations(branch, split.distinct, stamped)) for branch in split.branches)


def proved(decision: Decision, witness: CircuitWitness) -> Decision:
    """An unknown query that a witness was found of otherwise: it is unbounded."""
    told = tuple(found for found in decision.diagnostics if found.code not in _UNPROVED)
    return replace(decision, verdict=Verdict.UNBOUNDED, diagnostics=told, witness=witness.of_size(_SMALL))


def search_longer(decision: Decision, longer: int) -> WitnessSearch:
    """Search for a witness again, ``longer`` times as long."""
    split = decision.derivation.split
    return _search(split, _violated(split), longer)


def _search(split: Query, found: tuple[Found, ...], longer: int = 1) -> WitnessSearch:
    """For a witness of the branches that violate the criterion; a check of bounded queries never imports the search."""
    from streambound.criteria.witness_search import find_witness

    return find_witness(split, tuple(branch for branch, mine in found if mine), longer)


def branch_violations(branch: Branch, distinct: bool, stamped: Stamp | None = None) -> tuple[Violation, ...]:
    """The violated clauses of the deciding criterion for one branch of a split query; ``stamped`` is that query's.

    (3) says when tables of extrema are finite; where it does not, but each of them has a bound, nothing is violated.
    """
    facts = Facts.of(branch)
    if not distinct:
        return bag_violations(facts)
    violations = set_violations(facts, stamped is not None)
    only_extrema = bool(violations) and all(violation.condition == "(3)" for violation in violations)
    return () if only_extrema and has_bound(branch, stamped) else violations


def _unproved(query: Query, found: tuple[Found, ...], given_up: bool) -> Diagnostic | None:
    """Why the violations are there and no witness is: the query may still be bounded."""
    violations = [violation for _, mine in found for violation in mine]
    at = violations[0].span
    branches = [branch for branch, _ in found]
    help = ""
    if len({branch.statement for branch in branches}) > 1:
        code, message = (
            Code.UNION_UNKNOWN,
            "a branch of this union needs unbounded memory; whether the whole union does is not known",
        )
        help = "make every branch bounded, or register the branches as queries of their own"
    elif (repeated := _repeated_stream(branches)) is not None:
        code = Code.SELF_JOIN_UNKNOWN
        message = f"{repeated} is used twice and was analysed as two streams, so the rejection is not proved"
    elif given_up or any(violation.code is not Code.SEVERAL_EXTREMA for violation in violations):
        code = Code.NO_WITNESS
        message = "no input was found that needs unbounded memory, so the query may be bounded; no plan for it is known"
        if names := _expressions(branches):
            message = (
                f"no input was found that needs unbounded memory, since not every value of {names} is known to occur"
            )
            help = "whether it is bounded depends on what these expressions give: bound them, or select their columns"
        if computed := dict.fromkeys(s.alias for b in query.branches for s in b.sources if s.query):
            message = (
                f"no input was found that needs unbounded memory, since the rows of {listed(computed)} are computed"
            )
            help = "of what these rows can be is known as much as the query bounds: no more, and no less"
    else:
        return None
    if given_up:
        message += "; the search for such an input was given up before its end"
        help = "; ".join(filter(None, (help, "`streambound witness --longer 10` searches ten times as long")))
    return Diagnostic(code, message, query.file, at, help)


def _expressions(branches: list[Branch]) -> str:
    """The expressions whose values a witness would have to be chosen for; empty where there are none."""
    derived = (column.name for branch in branches for source in branch.sources for column in source.derived)
    computed = (output.name for branch in branches for output in branch.outputs if isinstance(output.value, Computed))
    names = dict.fromkeys((*derived, *computed))
    return listed(names) if names else ""


def _repeated_stream(branches: list[Branch]) -> str | None:
    for branch in branches:
        tables = [source.table for source in branch.streams]
        for table in tables:
            if tables.count(table) > 1:
                return table
    return None


def _of_cause(branch: Branch, violations: tuple[Violation, ...]) -> Iterator[Violation]:
    """The violations of a SELECT by what grows: the rows that wait, and what the query has returned."""
    for one in violations:
        yield replace(one, cause=cause_of(one, str(branch.statement)))


def _diagnostic(query: Query, said: list[Violation], papers: tuple[CriterionResult, ...]) -> Diagnostic:
    first = said[0]
    assert first.code is not None, "only the paper's theorems report without one"
    clauses = ", ".join(dict.fromkeys(violation.condition for violation in said))
    condition = f"{query.projection} criterion {clauses}"
    culprits = {(violation.stream, violation.attribute) for violation in said}
    for paper in papers:
        broken = dict.fromkeys(v.condition for v in paper.violations if (v.stream, v.attribute) in culprits)
        if broken:
            condition += f"; {paper.name.replace('-', ' ').capitalize()} {', '.join(broken)}"
    related = (*_declaration(query, first), *also(said, query.file))
    return Diagnostic(first.code, first.message, query.file, first.span, first.help, condition, related)


def _declaration(query: Query, violation: Violation) -> tuple[Related, ...]:
    """Where the catalog declares the culprit, and what the declaration leaves open."""
    for source in (source for branch in query.branches for source in branch.sources):
        if source.alias == violation.stream and violation.attribute is not None:
            column = source.column(violation.attribute)
            if column.at is None:
                return ()
            if column.expression:
                return (Related.at(column.at, f"{source.table}.{column.name} is computed of what is declared here"),)
            declared = f"{source.table}.{column.name} is declared here as {column.type.name}"
            if column.domain is None:
                return (Related.at(column.at, f"{declared}, without a domain"),)
            leaves_open = f"this range leaves infinitely many values to a {column.type.name}"
            ranged = column.domain_at is not None and not column.domain.values
            domain = (Related.at(column.domain_at, leaves_open),) if ranged and column.domain_at else ()
            return (Related.at(column.at, declared), *domain)
    return ()
