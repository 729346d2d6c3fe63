"""Whether the partial matches of a table that agree in its key have a best one.

The sources of a table fall into components that no condition between them links, so that a match of one goes with every
match of another. A component that limits what is to come by one extremum, or by several in the same way, has a best
match, and all best ones together are the table's best.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.connected import components, related
from streambound.analyzer.query import Attribute, Kind
from streambound.criteria.extremum import Extremum
from streambound.criteria.tables import SynopsisTable

Part = frozenset[tuple[Attribute, Fraction, bool]]


def _has_best(facts: Facts, table: SynopsisTable, fixed: frozenset[str]) -> bool:
    """Whether that is so, the tuples of some sources given: each component has one part in extrema at most."""
    rest = [source for source in (*table.streams, *table.relations) if source not in fixed]
    return all(
        len({part for extremum in table.extrema if (part := _part_of(facts, extremum, component))}) <= 1
        for component in _linked(facts, table, rest, fixed)
    )


def _part_of(facts: Facts, extremum: Extremum, component: frozenset[str]) -> Part:
    """A component's part in an extremum, empty if it has none; two that are equal order its matches in the same way."""
    sums = [
        (facts.alike(a)[0], n + facts.difference(a, facts.alike(a)[0])) for a, n in extremum.of if a.source in component
    ]
    least = min((offset for _, offset in sums), default=Fraction(0))
    return frozenset((attribute, offset - least, extremum.greatest) for attribute, offset in sums)


def fixed_for_best(facts: Facts, table: SynopsisTable) -> tuple[str, ...] | None:
    """The sources whose tuples to count one by one, so that there is a best match for each; None when none are enough.

    Relations and finite streams link components through values that no key holds; so do
    streams that a window forgets, and all streams until a missing one ends.
    """
    finite = tuple(stream for stream in table.streams if stream in facts.finite_streams)
    others = (stream for stream in table.streams if stream not in finite)
    passing = tuple(stream for stream in others if table.deadline is not None or stream in expiring(table))
    relations = table.relations
    ways = ((), relations, (*relations, *finite), (*relations, *finite, *passing))
    return next((fixed for fixed in ways if _has_best(facts, table, frozenset(fixed))), None)


def expiring(table: SynopsisTable) -> set[str]:
    """The streams whose timestamps are kept exactly, until they are too old."""
    return {age.stream for age in table.ages if age.expires is not None}


def _linked(
    facts: Facts, table: SynopsisTable, sources: Collection[str], fixed: Collection[str]
) -> list[frozenset[str]]:
    """The components of some sources of a table, those ``fixed`` being given, without those that link nothing.

    A condition between values that the key holds as they are, or that equal those of a given tuple, links nothing:
    matches with one key agree in it. Neither does a source that only time relates to others, and no extremum depends
    on, if of two of its tuples the older one, or the newer one, will do for whatever goes with either.
    """
    exact = {*table.exact, *(attribute for attribute in facts.closure.nodes if attribute.source in fixed)}
    parts = {attribute.source for extremum in table.extrema for attribute, _ in extremum.of}
    joined = _joined(facts, exact)
    timed = [s for s in sources if s not in parts and not any(s in link for link in joined if link <= {*sources})]
    older, newer = _interchangeable(facts, sources, timed)
    rest = [source for source in sources if source not in older | newer]
    links = related(rest, lambda x, y: frozenset((x, y)) in joined or _timed(facts, x, y))
    return [frozenset(part) for part in components(rest, links)]


def _joined(facts: Facts, exact: Collection[Attribute]) -> set[frozenset[str]]:
    """The pairs of sources with a condition between them that a key with some values does not decide."""
    pairs = {(join.attribute, join.other) for join in facts.joins}
    pairs |= {(atom.attributes[0], atom.attributes[1]) for atom in facts.unequal}
    return {
        frozenset((x.source, y.source))
        for x, y in pairs
        if not all(any(other in exact for other in facts.alike(attribute)) for attribute in (x, y))
    }


def _interchangeable(facts: Facts, sources: Collection[str], timed: Collection[str]) -> tuple[set[str], set[str]]:
    """The sources whose oldest tuple goes with all that any other goes with, and those whose newest does.

    ``x.ts <= y.ts + c`` holds for the older of two tuples of ``x`` if it does for either, and for the newer one of
    ``y``: the least, or greatest, of solutions of such constraints is a solution.
    """
    older = _closed({x: {y for y in sources if _lags(facts, y, x)} for x in timed})
    newer = _closed({x: {y for y in sources if _lags(facts, x, y)} for x in timed if x not in older})
    return older, newer


def _closed(needed: dict[str, set[str]]) -> set[str]:
    """The greatest set of which each member needs members only."""
    found = set(needed)
    while wrong := {x for x in found if not needed[x] <= found}:
        found -= wrong
    return found


def _timed(facts: Facts, x: str, y: str) -> bool:
    """Whether the timestamps of two sources are related."""
    return _lags(facts, x, y) or _lags(facts, y, x)


def _lags(facts: Facts, x: str, y: str) -> bool:
    """Whether the timestamp of one stream exceeds that of another one by a constant at most."""
    streams = all(facts.branch.source(source).kind is not Kind.RELATION for source in (x, y))
    return streams and x != y and facts.lag(x, y) is not None
