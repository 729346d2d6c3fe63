"""The names of the sources of rows: ``q.S`` is the scan with the alias S in the subquery q.

Subqueries without a name may have the same ones on both sides of a join; there the right side's get a mark, ``q.S'``,
so that no promise about one is read as one about the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from streambound.analyzer.algebra.nodes import ONE_SIDED, Alias, AsOf, Filter, Join, Scan, Tree, named_inputs


def sources_of(tree: Tree) -> frozenset[str]:
    """The sources of a tree's rows."""
    match tree:
        case Scan(alias=alias):
            return frozenset((alias,))
        case Alias(input, alias):
            return frozenset(f"{alias}.{name}" for name in sources_of(input))
        case Join(kind=kind, left=left, right=right):
            mine = sources_of(left)
            return mine if kind in ONE_SIDED else mine.union(apart(mine, sources_of(right)).values())
    return frozenset[str]().union(*map(sources_of, named_inputs(tree).values()))


def apart(taken: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """New names for those that are taken.

    >>> apart(["S", "S'"], ["S", "T"])
    {'S': "S''", 'T': 'T'}
    """
    known, found = set(taken), dict[str, str]()
    for name in sorted(names):
        fresh = name
        while fresh in known:
            fresh += "'"
        known.add(fresh)
        found[name] = fresh
    return found


def version_of(tree: Tree) -> AsOf | None:
    """The relation as of a time that a side of a join is, with conditions above it."""
    while isinstance(tree, Filter) or (isinstance(tree, Alias) and not tree.columns):
        tree = tree.input
    return tree if isinstance(tree, AsOf) else None
