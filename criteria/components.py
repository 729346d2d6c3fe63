"""Whether the partial matches of a table that agree in its key have a best one.

The sources of a table fall into components that no condition between them links, so that a match of one goes with every
match of another. A component that limits what is to come by one extremum has a best match, and all best ones together
are the table's best.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.boundedness import Facts
from analyzer.query import Comparison, Kind, Op
from criteria.tables import Table


def has_best(facts: Facts, table: Table, fixed: frozenset[str]) -> bool:
    """Whether that is so, the tuples of some sources given: each component has a part in one extremum at most."""
    rest = [source for source in (*table.streams, *table.relations) if source not in fixed]
    return all(
        sum(any(attribute.source in component for attribute, _ in extremum.of) for extremum in table.extrema) <= 1
        for component in _components(facts, rest)
    )


def fixed_for_best(facts: Facts, table: Table) -> tuple[str, ...] | None:
    """The sources whose tuples to count one by one, so that there is a best match for each; None when none are enough.

    Relations and finite streams link components through values that no key holds; so do
    streams that a window forgets, and all streams until a missing one ends.
    """
    finite = tuple(stream for stream in table.streams if stream in facts.finite_streams)
    others = (stream for stream in table.streams if stream not in finite)
    passing = tuple(stream for stream in others if table.deadline is not None or stream in expiring(table))
    relations = table.relations
    ways = ((), relations, (*relations, *finite), (*relations, *finite, *passing))
    return next((fixed for fixed in ways if has_best(facts, table, frozenset(fixed))), None)


def expiring(table: Table) -> set[str]:
    """The streams whose timestamps are kept exactly, until they are too old."""
    return {age.stream for age in table.ages if age.expires is not None}


def _components(facts: Facts, sources: list[str]) -> Iterator[frozenset[str]]:
    links = {frozenset((join.attribute.source, join.other.source)) for join in facts.joins}
    links |= {frozenset(a.source for a in c.attributes) for c in facts.branch.atoms if _unequal(c)}
    rest = list(sources)
    while rest:
        reached, frontier = {rest[0]}, {rest[0]}
        while frontier:
            frontier = {
                y
                for x in frontier
                for y in rest
                if y not in reached and (frozenset((x, y)) in links or _timed(facts, x, y))
            }
            reached |= frontier
        rest = [source for source in rest if source not in reached]
        yield frozenset(reached)


def _unequal(condition: object) -> bool:
    return isinstance(condition, Comparison) and condition.op is Op.NE


def _timed(facts: Facts, x: str, y: str) -> bool:
    """Whether the timestamps of two sources are related."""
    streams = all(facts.branch.source(source).kind is not Kind.RELATION for source in (x, y))
    return streams and (facts.lag(x, y) is not None or facts.lag(y, x) is not None)
