"""Do partial matches with one key have a best one, so that a set query need keep no other?

The sources of a table fall into components that nothing links: a match of one goes with every match of another. Where
a component has a part in one extremum only, its matches are ordered by that part; the best ones of all components
together are a match, and no extremum of another match is better.
"""

from __future__ import annotations

from collections.abc import Iterator

from recheck.claims import Table
from recheck.conditions import Conditions


def without_best(conditions: Conditions, table: Table, fixed: frozenset[str]) -> Iterator[str]:
    """The components that two extrema depend on, where the tuples of some sources are given."""
    for component in _components(conditions, [s for s in (*table.streams, *table.relations) if s not in fixed]):
        parts = [e for e in table.extrema if any(attribute.source in component for attribute, _ in e.of)]
        if len(parts) > 1:
            yield f"{', '.join(sorted(component))} may have several best matches, with {len(parts)} extrema"


def _components(conditions: Conditions, sources: list[str]) -> Iterator[frozenset[str]]:
    rest, links = list(sources), conditions.links
    while rest:
        reached, frontier = {rest[0]}, {rest[0]}
        while frontier:
            frontier = {y for x in frontier for y in rest if y not in reached and frozenset((x, y)) in links}
            reached |= frontier
        rest = [source for source in rest if source not in reached]
        yield frozenset(reached)
