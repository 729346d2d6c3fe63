"""Difference constraints ``x − y ≤ c`` and what follows from them: shortest paths, by Bellman and Ford's algorithm."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction

Node = Hashable
Edge = tuple[Node, Node, Fraction | int, bool]
"""``(x, y, c, strict)``: ``x − y ≤ c``, or ``< c``."""
Bound = tuple[Fraction | int, int]
"""``(c, 0)`` is ``≤ c``, ``(c, −1)`` is ``< c``; the lesser bound is the stronger one."""


class ContradictionError(Exception):
    """The constraints have no solution."""


class Distances:
    """What follows from some difference constraints. Raises ContradictionError when it meets a negative cycle."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._edges: dict[Node, dict[Node, Bound]] = {}
        for x, y, c, strict in edges:
            to, bound = self._edges.setdefault(x, {}), (c, -int(strict))
            to[y] = min(bound, to.get(y, bound))
        self._known: dict[Node, dict[Node, Bound]] = {}

    def bound(self, x: Node, y: Node) -> Bound | None:
        """The strongest bound on ``x − y`` that follows; None when there is none."""
        if x not in self._known:
            self._known[x] = self._from(x)
        return self._known[x].get(y)

    def implies(self, x: Node, y: Node, c: Fraction | int, strict: bool = False) -> bool:
        """Whether ``x − y ≤ c`` follows (``< c`` when strict)."""
        bound = self.bound(x, y)
        return bound is not None and bound <= (c, -int(strict))

    def fixed(self, x: Node, y: Node) -> Fraction | int | None:
        """The one value of ``x − y``; None when there are several."""
        above, below = self.bound(x, y), self.bound(y, x)
        return above[0] if above and below and above[0] == -below[0] else None

    def _from(self, start: Node) -> dict[Node, Bound]:
        """The bounds on ``start − y`` for every y: rounds of relaxation until nothing changes."""
        found: dict[Node, Bound] = {start: (0, 0)}
        changed: dict[Node, None] = {start: None}
        rounds = 0
        while changed:
            rounds += 1
            if rounds > len(self._edges) + 2 or found[start] < (0, 0):
                raise ContradictionError
            nodes, changed = changed, {}
            for x in nodes:
                c, strict = found[x]
                for y, (more, too) in self._edges.get(x, {}).items():
                    bound = (c + more, min(strict, too))
                    if y not in found or bound < found[y]:
                        found[y] = bound
                        changed[y] = None
        return found
