"""The set criterion (docs/theory-sets.md), sufficient; a violation of (3) alone is reported as unknown.

Bounded if (1) every projected attribute of an infinite stream is bounded (where a time in the select list tells when a
result is too old to come again: of a remembered stream); (2) every equality join with a stream in
``later(S)`` is on a bounded attribute; (3) in every LTO refinement, in every realisable set D of streams and every
connected component of D, the harmful joins of remembered streams with streams outside D involve at most one attribute
class in one direction: then one maximum or minimum per key suffices.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations

from msgspec import Struct

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.connected import components
from streambound.analyzer.query import Attribute, Output, TimeValue
from streambound.criteria.bag import harmful_join, projections
from streambound.criteria.order_search import Reference, survive_together
from streambound.criteria.projected_time import limited
from streambound.criteria.violation import Violation
from streambound.criteria.wording import bound_help, listed


def set_violations(facts: Facts, stamped: bool = False) -> tuple[Violation, ...]:
    """The violated clauses of the set criterion for one branch; ``stamped``: a time says when results are forgotten."""
    return (*(_waiting(facts) if stamped else _projections(facts)), *_equalities(facts), *_extrema(facts))


def _waiting(facts: Facts) -> Iterator[Violation]:
    """(1) where results are forgotten: every projected attribute of a remembered stream is bounded."""
    for stream in facts.infinite:
        if facts.later[stream]:
            yield from projections(facts, stream, "(1)")


def _projections(facts: Facts) -> Iterator[Violation]:
    """(1) Every projected attribute of an infinite stream is bounded, and no time of one is projected."""
    times = ((output, output.value) for output in facts.branch.outputs if isinstance(output.value, TimeValue))
    for output, time in times:
        yield from _times(facts, output, time)
    shown = ((output, attribute) for output in facts.branch.outputs for attribute in output.attributes)
    for output, attribute in shown:
        if attribute.source in facts.infinite and not facts.bounded(attribute):
            message = (
                f"nothing bounds {attribute}, which is shown: DISTINCT must remember every value it has ever returned"
            )
            help = bound_help(facts, attribute)
            yield Violation(
                "(1)", attribute.source, attribute.column, message, output.span, Code.UNBOUNDED_PROJECTION, help
            )


def _times(facts: Facts, output: Output, value: TimeValue) -> Iterator[Violation]:
    """A time in the select list that does not say when a result is too old to come again.

    A distance with finitely many values is remembered as any attribute of this kind, but must not wait for streams.
    """
    for time in value.attributes:
        if time.source in facts.infinite and (facts.later[time.source] or not limited(facts, value)):
            message = f"{time} is in the select list: DISTINCT must remember every value it has ever returned"
            help = f"select {time} itself, in every branch, where all other streams have a window on {time.source}"
            yield Violation("(1)", time.source, time.column, message, output.span, Code.UNBOUNDED_PROJECTION, help)
            return


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
    realisable = _Realisable(facts)
    blamed: set[tuple[Attribute, bool]] = set()
    for first, second in combinations(harmful_references(facts), 2):
        if (first.own, first.maximum) == (second.own, second.maximum) or (
            second.own,
            second.maximum,
        ) in blamed:
            continue
        if realisable.meet(first, second) and survive_together(facts, first, second) is not False:
            blamed.add((second.own, second.maximum))
            yield _several(facts, first, second)


class _Realisable(Struct, frozen=True, dict=True):
    """Which streams can be in one component of a realisable set."""

    facts: Facts

    def meet(self, first: Reference, second: Reference) -> bool:
        """Whether both kept attributes can be in one component of a realisable set that lacks both partners.

        The largest such set decides: components only grow with the set.
        """
        outside = frozenset(ref.lesser.source if ref.maximum else ref.greater.source for ref in (first, second))
        if outside not in self._components:
            self._components[outside] = self._without(outside)
        return second.own.source in self._components[outside].get(first.own.source, ())

    @cached_property
    def _components(self) -> dict[frozenset[str], dict[str, frozenset[str]]]:
        return {}

    def _without(self, outside: frozenset[str]) -> dict[str, frozenset[str]]:
        """The component of every stream in the largest realisable set without some streams."""
        inside = set(self.facts.infinite).difference(outside, *(self._newer[partner] for partner in outside))
        parts = components(inside, self._linked.__getitem__)
        return {stream: part for part in map(frozenset, parts) for stream in part}

    @cached_property
    def _newer(self) -> dict[str, set[str]]:
        """For every stream those that it is never newer than, in a result."""
        infinite = self.facts.infinite
        return {s: {t for t in infinite if self.facts.never_newer(s, t)} for s in infinite}

    @cached_property
    def _linked(self) -> dict[str, set[str]]:
        """Streams with related timestamps or joined attributes."""
        facts = self.facts
        return {
            s: {
                t
                for t in facts.infinite
                if s != t
                and (facts.lag(s, t) is not None or facts.lag(t, s) is not None or frozenset((s, t)) in facts.joined)
            }
            for s in facts.infinite
        }


def _several(facts: Facts, first: Reference, second: Reference) -> Violation:
    kept = listed(f"the {'greatest' if r.maximum else 'least'} {r.own}" for r in (first, second))
    message = f"{kept} would both have to be kept for every key, and their best combinations can be unboundedly many"
    if first.own == second.own:
        message = f"{kept} would both have to be kept for every key, and no value of it makes another one superfluous"
    bounded = " or ".join(dict.fromkeys((str(first.own), str(second.own))))
    help = f"bound {bounded}, or drop one of the two inequalities"
    span = facts.span_of(second.own, second.limited)
    return Violation("(3)", second.own.source, second.own.column, message, span, Code.SEVERAL_EXTREMA, help)
