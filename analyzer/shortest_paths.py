"""All shortest paths between nodes: what the closure of difference constraints is (Roy, Floyd, Warshall).

Nodes are eliminated one after the other, exactly, whatever the size of the integers. The least connected come first
and node 0, the constant that every bound touches, comes last: so a sparse system is cheap however many nodes it has.
A dense one is left to numpy.
"""

from __future__ import annotations

from math import inf

from streambound.analyzer.paths import Edges, Row, Rows, Tails
from streambound.analyzer.work import spend

MOST_STEPS = 1_000_000
"""Steps after which numpy takes over: they take about as long as importing it, so that little is lost either way."""
_STEPS_AT_ONCE, _NUMPY_STEPS_AT_ONCE = 20, 1_000
"""Of an elimination, in the time of a call."""


class TooManySteps(Exception):
    """An elimination would take more steps than it was allowed."""


def shortest_paths(size: int, edges: Edges) -> Rows | None:
    """The shortest paths over nodes ``0 .. size − 1``; None iff a cycle is negative.

    >>> shortest_paths(3, {(0, 1): 5, (1, 2): -2})
    [[0, 5, 3], [inf, 0, -2], [inf, inf, 0]]
    """
    try:
        return eliminated(size, edges, MOST_STEPS)
    except TooManySteps:
        from streambound.analyzer.dense_paths import dense_paths, integers

        spend(size**3 / _NUMPY_STEPS_AT_ONCE)
        kind = integers(edges)
        return eliminated(size, edges) if kind is None else dense_paths(size, edges, kind)


def eliminated(size: int, edges: Edges, most_steps: float = inf) -> Rows | None:
    """The shortest paths, in Python integers; raises TooManySteps."""
    rows: Rows = [[inf] * size for _ in range(size)]
    for (x, y), length in edges.items():
        rows[x][y] = length
    for node in range(size):
        rows[node][node] = min(rows[node][node], 0)
    for middle in _least_connected_first(size, edges):
        tails = [(node, length) for node, length in enumerate(rows[middle]) if length != inf and node != middle]
        heads = [row for row in rows if row[middle] != inf and row is not rows[middle]]
        spend((len(tails) * len(heads) + size) / _STEPS_AT_ONCE)
        most_steps -= len(tails) * len(heads)
        if most_steps < 0:
            raise TooManySteps
        for row in heads:
            shorten(row, row[middle], tails)
        if any(rows[node][node] < 0 for node in range(size)):
            return None
    return rows


def shorten(row: Row, head: float | int, tails: Tails) -> None:
    """Shorten the paths of a row by those through a node at distance ``head``."""
    for node, tail in tails:
        through = head + tail
        if through < row[node]:  # noqa: PLR1730  a call of min() takes twice as long
            row[node] = through


def _least_connected_first(size: int, edges: Edges) -> list[int]:
    entering, leaving = [0] * size, [0] * size
    for x, y in edges:
        leaving[x] += 1
        entering[y] += 1
    return sorted(range(size), key=lambda node: (node == 0, entering[node] * leaving[node]))
