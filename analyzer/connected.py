"""Connected components, of streams, attributes or conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import TypeVar

from streambound.analyzer.work import spend

_STEPS_AT_ONCE = 8
"""Neighbours that are looked at in the time of a step."""

Node = TypeVar("Node", bound=Hashable)


def components(nodes: Collection[Node], neighbours: Callable[[Node], Iterable[Node]]) -> tuple[tuple[Node, ...], ...]:
    """The components of an undirected graph, in the order of its nodes; neighbours elsewhere don't count."""
    home: dict[Node, int] = {}
    inside = dict.fromkeys(nodes)
    number = 0
    for start in inside:
        if start in home:
            continue
        home[start], open_ends = number, [start]
        while open_ends:
            found_next = tuple(neighbours(open_ends.pop()))
            spend(1 + len(found_next) / _STEPS_AT_ONCE)
            found = dict.fromkeys(other for other in found_next if other in inside and other not in home)
            home.update(dict.fromkeys(found, number))
            open_ends += found
        number += 1
    parts: list[list[Node]] = [[] for _ in range(number)]
    for node in inside:
        parts[home[node]].append(node)
    return tuple(map(tuple, parts))


def related(nodes: Collection[Node], holds: Callable[[Node, Node], bool]) -> Callable[[Node], Iterable[Node]]:
    """The neighbours by a relation, which is asked about every other node; it should be symmetric."""
    return lambda one: [other for other in nodes if other != one and holds(one, other)]
