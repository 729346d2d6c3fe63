"""The bag criterion (docs/theory-bags.md), exact for one select-project-join query.

Bounded iff for every infinite stream S with ``later(S)`` not empty and every attribute A of S: (i) if A is projected,
it is bounded, and the time of S is not projected; (ii) every non-redundant join of A with a stream in ``later(S)`` is
harmless for A.
"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.boundedness import Facts, JoinConstraint
from streambound.analyzer.codes import Code
from streambound.analyzer.query import Attribute, Output
from streambound.analyzer.work import spend
from streambound.criteria.projected_time import time_violations
from streambound.criteria.violation import Violation
from streambound.criteria.wording import bound_help, listed

_STEPS_A_VIOLATION = 100
"""With its words, and what reports of every kind make of it."""


def bag_violations(facts: Facts) -> tuple[Violation, ...]:
    """The violated clauses of the bag criterion for one branch."""
    found: list[Violation] = []
    for stream in facts.infinite:
        if facts.later[stream]:
            found.extend(projections(facts, stream, "(i)"))
            found.extend(_joins(facts, stream))
    return tuple(found)


def projections(facts: Facts, stream: str, condition: str) -> Iterator[Violation]:
    """(i) Every projected attribute of a remembered stream is bounded, and its time is not projected."""
    for output in facts.branch.outputs:
        for attribute in output.attributes:
            if attribute.source == stream and not facts.bounded(attribute):
                yield _unbounded_projection(facts, output, attribute, condition)
    yield from time_violations(facts, stream, condition)


def _unbounded_projection(facts: Facts, output: Output, attribute: Attribute, condition: str) -> Violation:
    later = listed(facts.later[attribute.source], "or")
    message = (
        f"nothing bounds {attribute}, which is shown, and a row of {attribute.source} may still wait for one "
        f"of {later}: every value must be remembered"
    )
    help = bound_help(facts, attribute)
    return Violation(
        condition, attribute.source, attribute.column, message, output.span, Code.UNBOUNDED_PROJECTION, help
    )


def _joins(facts: Facts, stream: str) -> Iterator[Violation]:
    """(ii) Every non-redundant join with a later stream is harmless."""
    seen: set[tuple[Attribute, Attribute]] = set()
    for own, join in facts.joins_of(stream, facts.later[stream]):
        other = join.other if own == join.attribute else join.attribute
        if (own, other) not in seen and not facts.harmless(own, join):
            seen.add((own, other))
            yield harmful_join(facts, own, other, join, "(ii)")


def harmful_join(facts: Facts, own: Attribute, other: Attribute, join: JoinConstraint, condition: str) -> Violation:
    """A join that needs unboundedly many values of ``own``."""
    spend(_STEPS_A_VIOLATION)
    if join.equality:
        message = (
            f"nothing bounds {own} in {own} = {other}, and a row of {other.source} may come later: "
            f"every value of {own} must be remembered"
        )
        code = Code.UNBOUNDED_EQUALITY
    else:
        message = (
            f"the outcome of the inequality between {own} and {other} depends on unboundedly many values of {own}, "
            f"and a row of {other.source} may come later: they must all be remembered"
        )
        code = Code.UNBOUNDED_JOIN
    span = facts.span_of(own, other)
    return Violation(condition, own.source, own.column, message, span, code, bound_help(facts, own))
