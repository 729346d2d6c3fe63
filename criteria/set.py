"""The set criterion (theory §4), sufficient; a violation of (3) alone is reported as unknown.

Bounded if (1) every projected attribute of an infinite stream is bounded; (2) every equality join with a stream in
``later(S)`` is on a bounded attribute; (3) in every LTO refinement, in every realisable set D of streams and every
connected component of D, the harmful joins of remembered streams with streams outside D involve at most one attribute
class in one direction: then one maximum or minimum per key suffices.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from analyzer.boundedness import Facts
from analyzer.query import Attribute
from criteria.bag import harmful_join
from criteria.order_search import Reference, survive_together
from criteria.violation import Violation
from criteria.wording import bound_help, listed


def set_violations(facts: Facts) -> tuple[Violation, ...]:
    """The violated clauses of the set criterion for one branch."""
    return (*_projections(facts), *_equalities(facts), *_extrema(facts))


def _projections(facts: Facts) -> Iterator[Violation]:
    """(1) Every projected attribute of an infinite stream is bounded."""
    for output in facts.branch.outputs:
        attribute = output.value
        if isinstance(attribute, Attribute) and attribute.source in facts.infinite and not facts.bounded(attribute):
            message = f"{attribute} is projected and unbounded: DISTINCT must remember every value it has ever returned"
            help = bound_help(facts, attribute)
            yield Violation("(1)", attribute.source, attribute.column, message, output.span, "SB201", help)


def _equalities(facts: Facts) -> Iterator[Violation]:
    """(2) Every equality join with a later stream is on a bounded attribute."""
    seen: set[tuple[Attribute, Attribute]] = set()
    for stream in facts.infinite:
        for own, join in facts.joins_of(stream, facts.later[stream]):
            other = join.other if own == join.attribute else join.attribute
            if join.equality and (own, other) not in seen and not facts.bounded(own):
                seen.add((own, other))
                yield harmful_join(facts, own, other, join, "(2)")


def harmful_references(facts: Facts) -> tuple[Reference, ...]:
    """The inequality joins of remembered streams with later ones that are not harmless, by the attribute kept."""
    return tuple(
        Reference(join.attribute, join.other, own)
        for stream in facts.infinite
        for own, join in facts.joins_of(stream, facts.later[stream])
        if not join.equality and not facts.harmless(own, join)
    )


def _extrema(facts: Facts) -> Iterator[Violation]:
    """(3) At most one attribute class in one direction, per component of every realisable set."""
    blamed: set[tuple[Attribute, bool]] = set()
    for first, second in combinations(harmful_references(facts), 2):
        if (first.own, first.maximum) == (second.own, second.maximum) or (
            second.own,
            second.maximum,
        ) in blamed:
            continue
        if _meet(facts, first, second) and survive_together(facts, first, second):
            blamed.add((second.own, second.maximum))
            yield _several(facts, first, second)


def _meet(facts: Facts, first: Reference, second: Reference) -> bool:
    """Whether both kept attributes can be in one component of a realisable set that lacks both partners.

    The largest such set decides: components only grow with the set.
    """
    outside = {ref.lesser.source if ref.maximum else ref.greater.source for ref in (first, second)}
    inside = [
        stream
        for stream in facts.infinite
        if stream not in outside and not any(_forced_within(facts, partner, stream) for partner in outside)
    ]
    if first.own.source not in inside or second.own.source not in inside:
        return False
    return second.own.source in _component(facts, first.own.source, inside)


def _forced_within(facts: Facts, older: str, newer: str) -> bool:
    """Whether a tuple of ``older`` is never newer than the one of ``newer`` it joins."""
    lag = facts.lag(older, newer)
    return lag is not None and lag <= 0


def _component(facts: Facts, start: str, inside: list[str]) -> set[str]:
    """Streams connected to ``start`` inside a set by related timestamps or by a join of their attributes."""
    joined = {frozenset((join.attribute.source, join.other.source)) for join in facts.joins}
    reached, frontier = {start}, [start]
    while frontier:
        here = frontier.pop()
        for other in inside:
            related = facts.lag(here, other) is not None or facts.lag(other, here) is not None
            if other not in reached and (related or frozenset((here, other)) in joined):
                reached.add(other)
                frontier.append(other)
    return reached


def _several(facts: Facts, first: Reference, second: Reference) -> Violation:
    kept = listed(f"the {'greatest' if r.maximum else 'least'} {r.own}" for r in (first, second))
    other = second.lesser if second.maximum else second.greater
    message = f"{kept} would both have to be kept for every key, and their best combinations can be unboundedly many"
    help = f"bound {first.own} or {second.own}, or drop one of the two inequalities"
    span = facts.span_of(second.own, other)
    return Violation("(3)", second.own.source, second.own.column, message, span, "SB204", help)
