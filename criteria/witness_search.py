"""The search for a plan whose witnesses prove that a query is not bounded (docs/theory-witnesses.md).

Each violation of a criterion suggests plans: which attribute takes another value in every element, which streams
complete the matches, what the probe is. A plan counts when the witness that it builds tells all subsets apart, on the
whole query. How many elements have to be tried so that the answer holds for every number of them is `enough`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, islice, permutations, product

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts, JoinConstraint
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Branch, Comparison, Op, Query, conjunction
from streambound.analyzer.work import share, spend
from streambound.criteria.contract import promised_distance
from streambound.criteria.distinguishing import distinguishes
from streambound.criteria.order_search import Reference
from streambound.criteria.projected_time import only_whole_times, time_as_value, waiting_times
from streambound.criteria.set import harmful_references
from streambound.criteria.solution import DifferenceConstraint
from streambound.criteria.witness import Witness, build, fits_at_any_size
from streambound.criteria.witness_plan import Kept, WitnessPlan, reach

MOST_PLANS = 1_728
"""Plans that are tried for one query before it is called *unknown*."""

MOST_FIRST = 144
"""Ideas that are tried in their simplest form before any is tried in others: all that four references suggest."""

MOST_ELEMENTS = 6
"""Elements beyond which no check of all subsets is made."""

MOST_STEPS = 1_000_000
"""Steps of work of all plans together: constraints relaxed, rows made, matches tried and subsets compared."""


class WitnessSearch(Struct, frozen=True):
    """The result of a search for a witness; ``given_up`` if it ended before all plans were tried."""

    witness: Witness | None
    given_up: bool = False


def find_witness(query: Query, violated: tuple[Branch, ...], longer: int = 1) -> WitnessSearch:
    """A small witness for a split query, of a plan that works at any size.

    ``violated`` are the query's branches that violate its criterion, in the order in which they should be tried. A
    longer search has ``longer`` times as many plans and steps.
    """
    if any(source.query for branch in query.branches for source in branch.sources):
        return WitnessSearch(None)  # the rows of a computed relation follow from others
    every = (plan for branch in violated for plan in plans(query, branch))
    with share(MOST_STEPS * longer):
        for plan in islice(every, MOST_PLANS * longer):
            size = enough(query, plan) if _comparable(query, plan) else None
            witness = build(plan, size) if size is not None else None
            if witness is not None and distinguishes(query, witness) and _fits(query, plan):
                return WitnessSearch(witness)
        return WitnessSearch(None, given_up=next(every, None) is not None)
    return WitnessSearch(None, given_up=True)


def enough(query: Query, plan: WitnessPlan) -> int | None:
    """The number of elements that stands for every number; None if it is too large, or nothing can be built.

    Whether a match satisfies the conditions depends only on the order of the elements that its tuples come from, so
    that what goes wrong at any size goes wrong with as many elements as a branch has streams whose tuples differ
    between elements, and one more. One SELECT that uses no stream twice has a proof of its own, but for a frontier, or
    where whole matches are elements.
    """
    if _has_proof(query, plan):
        return 2
    differ = {plan.branch.source(kept.attribute.source).table for kept in plan.kept}
    if _most_uses(query, differ) >= MOST_ELEMENTS or (pair := build(plan, 2)) is None:
        return None
    differ |= {row.table for rows in pair.elements for row in rows}
    differ |= {table for table, n in Counter(row.table for row in pair.always).items() if n > 1}
    most = _most_uses(query, differ) + 1
    return max(most, 3) if most <= MOST_ELEMENTS else None


def _has_proof(query: Query, plan: WitnessPlan) -> bool:
    tables = [source.table for source in plan.branch.streams]
    once = len(query.branches) == 1 and len(set(tables)) == len(tables) and not time_as_value(plan.branch)
    return once and not plan.frontier and not plan.all_differing


def _comparable(query: Query, plan: WitnessPlan) -> bool:
    """Whether results of different elements differ at any size, although they have times.

    Times themselves are told apart by their elements' order, as long as each column has the same time in every branch;
    distances between elements are not, as there are equal ones, so that they need the proof. Where a time is compared
    as a value, the values of elements lie beyond all times before the probes, and probes come when they meet them.
    """
    if not all(map(only_whole_times, query.branches)):
        return False
    times = [value for branch in query.branches for value in branch.time_values]
    if any(value.minus is not None for value in times) and not _has_proof(query, plan):
        return False
    return not times or len({tuple(output.value for output in branch.outputs) for branch in query.branches}) == 1


def _fits(query: Query, plan: WitnessPlan) -> bool:
    """Whether the tuples of a timestamp do not grow with the elements; a proof could send them one after the other."""
    limited = any(s.max_per_timestamp is not None or promised_distance(s) for s in plan.branch.streams)
    return (_has_proof(query, plan) and not limited) or fits_at_any_size(plan)


def _most_uses(query: Query, tables: set[str]) -> int:
    """How often a branch uses some tables, at most."""
    return max(sum(source.table in tables for source in branch.sources) for branch in query.branches)


def plans(query: Query, branch: Branch) -> Iterator[WitnessPlan]:
    """The plans that a branch's violations suggest, the simplest first."""
    drafts = _drafts(query, branch)
    first = []
    for draft in islice(drafts, MOST_FIRST):
        first.append(draft)
        yield next(_variants(draft))
    for draft in first:
        yield from islice(_variants(draft), 1, None)
    for draft in drafts:
        yield from _variants(draft)


def _drafts(query: Query, branch: Branch) -> Iterator[WitnessPlan]:
    """The ideas for plans."""
    facts = Facts.of(branch)
    drafts = _set_drafts(facts) if query.distinct else chain(_bag_drafts(facts), _unequal(query, branch))
    for draft in drafts:
        spend(len(facts.closure.nodes))
        yield replace(draft, reach=reach(query), branches=query.branches)


def _variants(draft: WitnessPlan) -> Iterator[WitnessPlan]:
    """Other solutions of the same idea: smallest values that are not negative, smallest, greatest."""
    either = (False, True) if draft.frontier else (False,)
    for early, backwards, all_differing in product(_earliness(draft), either, (False, True)):
        for greatest, free in ((False, False), (False, True), (True, True)):
            yield replace(
                draft, greatest=greatest, free=free, backwards=backwards, all_differing=all_differing, early=early
            )


def _earliness(draft: WitnessPlan) -> tuple[bool, ...]:
    """Whether tuples that are always there are to come before the constants of time, where there are any."""
    others = set(Facts.of(draft.branch).infinite) - draft.after - {kept.attribute.source for kept in draft.kept}
    return (False, True) if draft.reach.moments and others else (False,)


# --- bags -------------------------------------------------------------------------------------------------------


def _bag_drafts(facts: Facts) -> Iterator[WitnessPlan]:
    for stream in facts.infinite:
        if facts.later[stream]:
            yield from _projected(facts, stream)
            yield from _joined(facts, stream, equalities_only=False)


def _projected(facts: Facts, stream: str) -> Iterator[WitnessPlan]:
    """Bag criterion (i): the values of a projected attribute show in results that a later stream completes."""
    for attribute in (*_unbounded_outputs(facts, stream), *waiting_times(facts, stream)):
        for later, upwards in product(facts.later[stream], _half_lines(facts, attribute)):
            yield WitnessPlan(facts.branch, (Kept(attribute, upwards),), _after(facts, (later,)))


def _joined(facts: Facts, stream: str, equalities_only: bool) -> Iterator[WitnessPlan]:
    """Bag criterion (ii), set criterion (2): a join whose outcome depends on unboundedly many values."""
    for own, join in facts.joins_of(stream, facts.later[stream]):
        if facts.harmless(own, join) or (equalities_only and not join.equality):
            continue
        other = join.other if own == join.attribute else join.attribute
        for upwards in _half_lines(facts, own):
            kept = Kept(own, upwards, tight=(_tight(facts, join),))
            yield WitnessPlan(facts.branch, (kept,), _after(facts, (other.source,)))


def _unequal(query: Query, branch: Branch) -> Iterator[WitnessPlan]:
    """Probe ``k`` equals element ``k``, so that every element counts but ``k``.

    For a ``<>`` that was split, and for ``<`` between two tuples of one stream, which counts a probe on both sides.
    """
    for atom in branch.atoms:
        if isinstance(atom, Comparison) and atom.op in (Op.LT, Op.GT) and _leaves_out(query, branch, atom):
            equal = replace(atom, op=Op.EQ)
            where = conjunction(tuple(equal if other == atom else other for other in branch.atoms))
            facts = Facts.of(replace(branch, where=where))
            spend(len(facts.closure.nodes) ** 2)
            if facts.closure.satisfiable:
                yield from _excluded(facts, equal)


def _leaves_out(query: Query, branch: Branch, atom: Comparison) -> bool:
    """Whether the query keeps everything that an order of two streams' attributes excludes, but equality."""
    if atom.right is None or branch.is_time(atom.left):
        return False
    if branch.source(atom.left.source).table == branch.source(atom.right.source).table:
        return True
    if len(query.branches) == 1:
        return False
    opposite = conjunction(
        tuple(replace(atom, op=atom.op.flipped) if other == atom else other for other in branch.atoms)
    )
    return any(other.where == opposite for other in query.branches if other.statement == branch.statement)


def _excluded(facts: Facts, equal: Comparison) -> Iterator[WitnessPlan]:
    for own, other in permutations(equal.attributes):
        if own.source in facts.infinite and other.source in facts.later[own.source]:
            for upwards in _half_lines(facts, own):
                yield WitnessPlan(facts.branch, (Kept(own, upwards),), _after(facts, (other.source,)))


def _unbounded_outputs(facts: Facts, stream: str) -> Iterator[Attribute]:
    yield from (a for a in facts.branch.projected if a.source == stream and not facts.bounded(a))


def _after(facts: Facts, partners: tuple[str, ...]) -> frozenset[str]:
    """The partners and the streams that can never be much older than they are: they come in the probe."""
    forced = (
        other
        for other in facts.infinite
        if any(other != partner and facts.lag(partner, other) is not None for partner in partners)
    )
    return frozenset((*partners, *forced))


def _half_lines(facts: Facts, attribute: Attribute) -> tuple[bool, ...]:
    """Where an attribute has unboundedly many values: towards plus infinity (True), minus infinity (False)."""
    if attribute not in facts.closure.nodes or facts.closure.sort(attribute) in (Sort.DENSE, Sort.STRING):
        return (True, False)
    return tuple(
        up for up, ended in ((True, facts.bounded_above), (False, facts.bounded_below)) if not ended(attribute)
    )


def _tight(facts: Facts, join: JoinConstraint) -> DifferenceConstraint:
    """``attribute − other`` at its greatest (strict: nearly so, where it is never reached)."""
    pair = facts.closure.pair(join.attribute, join.other)
    limit = pair[0].limit(pair[1], pair[2]) if pair else None
    value, strict = limit or (Fraction(0), False)
    return DifferenceConstraint(join.other, join.attribute, -value, strict)


# --- sets -------------------------------------------------------------------------------------------------------


def _set_drafts(facts: Facts) -> Iterator[WitnessPlan]:
    for stream in facts.infinite:
        for attribute in _unbounded_outputs(facts, stream):
            for upwards in _half_lines(facts, attribute):
                yield WitnessPlan(facts.branch, (Kept(attribute, upwards),), frozenset(), replay=True)
    for stream in facts.infinite:
        if facts.later[stream]:
            yield from _projected(facts, stream) if facts.branch.time_values else ()
            yield from _joined(facts, stream, equalities_only=True)
    yield from _frontiers(facts)


def _frontiers(facts: Facts) -> Iterator[WitnessPlan]:
    """Set criterion (3): two extrema whose best combinations are unboundedly many (docs/theory-paper.md, `pareto`).

    The more useful the one attribute's value in an element, the less useful the other's, so that each element is the
    best for one probe. Where both limit one attribute to come, its value within the limits tells the element.
    """
    references = sorted(harmful_references(facts), key=lambda reference: _place(facts, reference))
    several = (r for r in references if sum(r.limited == other.limited for other in references) > 1)
    for own, limited in dict.fromkeys((r.own, r.limited) for r in several):
        joins = [JoinConstraint(r.lesser, r.greater, False) for r in references if (r.own, r.limited) == (own, limited)]
        after = _after(facts, (limited.source,))
        for join, upwards in product(joins, _half_lines(facts, own)):
            if own.source not in after:
                yield WitnessPlan(
                    facts.branch, (Kept(own, upwards, tight=(_tight(facts, join),)),), after, frontier=True
                )
    for first, second in combinations(references, 2):
        joins = [JoinConstraint(r.lesser, r.greater, False) for r in (first, second)]
        after = _after(facts, (first.limited.source, second.limited.source))
        if {first.own.source, second.own.source} & after:
            continue
        tights = [_tight(facts, join) for join in joins]
        if first.own == second.own:
            for upwards in _half_lines(facts, first.own):
                yield WitnessPlan(facts.branch, (Kept(first.own, upwards, tight=tuple(tights)),), after, frontier=True)
            continue
        same = first.maximum != second.maximum
        sides = product(_half_lines(facts, first.own), _half_lines(facts, second.own), (True, False))
        for (up_first, up_second, rises), levels in product(sides, ((0, 1), (1, 0), (0, 0))):
            if levels == (0, 0) and up_first is up_second and not same:
                continue  # values that meet: whether one is less is no matter of the elements' order alone
            yield WitnessPlan(
                facts.branch,
                (
                    Kept(first.own, up_first, rises, levels[0], (tights[0],)),
                    Kept(second.own, up_second, rises is same, levels[1], (tights[1],)),
                ),
                after,
                frontier=True,
            )


def _place(facts: Facts, reference: Reference) -> tuple[tuple[str, str], ...]:
    """The order in which references are tried: by their tables, so that neither aliases nor FROM change the verdict."""
    ends = (reference.own, reference.lesser, reference.greater)
    return tuple((facts.branch.source(end.source).table, end.column) for end in ends)
