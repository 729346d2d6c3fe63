"""Do partial matches with one key have a best one, so that a set query need keep no other?

The sources of a table fall into components that nothing links but what the key decides: with one key, a match of one
goes with every match of another. Where a component has a part in one extremum only, its matches are ordered by that
part; the best ones of all components together are a match, and no extremum of another match is better.

Of sources that only time relates to others, and no extremum depends on, tuples can be exchanged: where all bounds say
that such a tuple is not too new, the oldest of some will do for all; where all say that it is not too old, the newest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

from streambound.analyzer.query import Attribute
from streambound.recheck.certificates.claims import ClaimedExtremum, ClaimedTable
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.sufficiency import Known

Sum = tuple[Attribute, Fraction]


def without_best(conditions: Conditions, table: ClaimedTable, fixed: frozenset[str]) -> Iterator[str]:
    """The components that two extrema depend on, where the tuples of some sources are given."""
    rest = [source for source in (*table.streams, *table.relations) if source not in fixed]
    for component in _components(conditions, table, rest, fixed):
        parts = [e for e in table.extrema if any(attribute.source in component for attribute, _ in e.of)]
        if any(not _alike(conditions, parts[0], other, component) for other in parts[1:]):
            yield f"{', '.join(sorted(component))} may have several best matches, with {len(parts)} extrema"


def _alike(conditions: Conditions, one: ClaimedExtremum, other: ClaimedExtremum, component: frozenset[str]) -> bool:
    """Whether two extrema order a component's matches in the same way: what it adds to them differs by a constant."""
    mine, others = ([(a, n) for a, n in e.of if a.source in component] for e in (one, other))
    if one.greatest != other.greatest or not mine or not others:
        return False
    shifts = {
        shift for a, n in mine[:1] for b, m in others if (shift := _shift(conditions, (a, n), (b, m))) is not None
    }
    return any(
        all(any(_shift(conditions, x, y) == shift for y in others) for x in mine)
        and all(any(_shift(conditions, x, y) == shift for x in mine) for y in others)
        for shift in shifts
    )


def _shift(conditions: Conditions, one: Sum, other: Sum) -> Fraction | None:
    """The constant by which two sums of an attribute and an offset differ, if they do by one."""
    apart = conditions.equal(other[0], one[0])
    return None if apart is None else Fraction(apart) + other[1] - one[1]


def _components(
    conditions: Conditions, table: ClaimedTable, sources: Collection[str], fixed: Collection[str]
) -> Iterator[frozenset[str]]:
    """The components of some sources of a table, those ``fixed`` being given, without those that can be exchanged."""
    known, depended = Known(conditions, table), {a.source for extremum in table.extrema for a, _ in extremum.of}
    given = [attribute for attribute in conditions.attributes if attribute.source in fixed]

    def decided(attribute: Attribute) -> bool:
        return known.exactly(attribute) or any(conditions.equal(attribute, other) is not None for other in given)

    links: dict[str, set[str]] = {source: set() for source in sources}
    for x, y in conditions.linked:
        times = conditions.branch.is_time(x) and conditions.branch.is_time(y)
        if {x.source, y.source} <= links.keys() and not times and not (decided(x) and decided(y)):
            links[x.source].add(y.source)
            links[y.source].add(x.source)
    free = {s for s in conditions.streams if s in links and not links[s] and s not in depended}
    after = {s: {t for t in links if _bounded(conditions, t, s)} for s in links}
    before = {s: {t for t in links if _bounded(conditions, s, t)} for s in links}
    free -= _exchangeable(free, after)
    free -= _exchangeable(free, before)
    rest = [s for s in sources if s in free or links[s] or s in depended or s not in conditions.streams]
    for source in rest:
        links[source] = {t for t in (*links[source], *after[source], *before[source]) if t in rest}
    while rest:
        reached, frontier = {rest[0]}, {rest[0]}
        while frontier:
            frontier = {y for x in frontier for y in links[x]} - reached
            reached |= frontier
        rest = [source for source in rest if source not in reached]
        yield frozenset(reached)


def _exchangeable(free: set[str], bounding: dict[str, set[str]]) -> set[str]:
    """The sources that only exchangeable sources bound from one side."""
    found = set(free)
    while any(not bounding[source] <= found for source in found):
        found = {source for source in found if bounding[source] <= found}
    return found


def _bounded(conditions: Conditions, x: str, y: str) -> bool:
    """Whether a tuple of the one stream comes later than that of the other by a constant at most."""
    streams = x != y and {x, y} <= {*conditions.streams}
    return streams and conditions.follows.bound(conditions.time(x), conditions.time(y)) is not None
