"""Difference-bound matrices: the closure of constraints ``x − y ≤ c`` (docs/theory-conditions.md).

Node 0 stands for the constant 0. Over integers ``x < y`` is ``x − y ≤ −1``. Over a dense order it is
``x − y ≤ 0`` with a strictness mark; both are one integer here: ``c`` is kept as ``c · scale``, minus 1 when
strict, and ``scale`` exceeds the number of nodes, so that the strict steps of a path can never add up to a
whole unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from math import inf, lcm
from operator import or_

from streambound.analyzer.paths import Row, Rows, Tails
from streambound.analyzer.shortest_paths import shorten, shortest_paths
from streambound.analyzer.work import spend

_STEPS_AT_ONCE = 10
"""Of a loop over a matrix, in the time of a call."""

Edge = tuple[int, int, Fraction | int, bool]
"""``(x, y, c, strict)``: ``x − y ≤ c``, or ``< c`` when strict."""


class DifferenceBounds:
    """The closure of a set of difference constraints over ``size`` nodes.

    ``dense`` says whether values lie between any two others; ``constants`` are those that bounds may be tightened to
    later. ``satisfiable`` is False iff a cycle is negative; the bounds of such a system are those found until then.
    """

    def __init__(
        self, size: int, edges: Sequence[Edge], dense: bool = False, constants: Sequence[Fraction] = ()
    ) -> None:
        self.size = size
        self.dense = dense
        numbers = (*(Fraction(c) for _, _, c, _ in edges), *constants) if dense else ()
        self._unit = lcm(*(number.denominator for number in numbers))
        self._scale = self._unit * (size + 2) if dense else 1
        stated: dict[tuple[int, int], int] = {}
        for x, y, c, strict in edges:
            bound = self._encode(c, strict)
            stated[x, y] = min(stated.get((x, y), bound), bound)
        spend(size * size / _STEPS_AT_ONCE)
        rows = shortest_paths(size, stated)
        self._stated = frozenset(stated)
        self.satisfiable = rows is not None
        self._rows: Rows = [[inf] * size] * size if rows is None else rows
        if dense:
            self._rows = [self._normalised(row) for row in self._rows]

    def _encode(self, c: Fraction | int, strict: bool) -> int:
        return int(c * self._scale) - strict if self.dense else int(c) - strict

    def _normalised(self, row: Row) -> Row:
        """Two strict steps are as strict as one."""
        step = self._scale // self._unit
        return [-(-bound // step) * step - 1 if bound != inf and bound % step else bound for bound in row]

    def bound(self, x: int, y: int) -> int | None:
        """The least ``b`` with ``x − y ≤ b``, encoded; None when there is none."""
        value = self._rows[x][y]
        return None if value == inf else int(value)

    def finite(self, x: int, y: int) -> bool:
        """Whether ``x − y`` has an upper bound."""
        return self._rows[x][y] != inf

    def limit(self, x: int, y: int) -> tuple[Fraction, bool] | None:
        """The least upper bound of ``x − y`` as (value, strict); None when there is none."""
        return self._limit(self._rows[x][y])

    def _limit(self, value: float | int) -> tuple[Fraction, bool] | None:
        if value == inf:
            return None
        if not self.dense:
            return Fraction(value), False
        step = self._scale // self._unit
        ceiling = -(-int(value) // step) * step
        return Fraction(ceiling, self._scale), ceiling != value

    def limits_beside(
        self, x: int, fixed: Mapping[int, Fraction | int]
    ) -> tuple[tuple[Fraction, bool] | None, tuple[Fraction, bool] | None]:
        """The least upper bounds of ``0 − x`` and of ``x − 0`` where some nodes have these values, which it must admit.

        Every path is a shortest one, so that none needs to pass two of these nodes: O(1) for each, and no new closure.
        """
        row, values = self._rows[x], [(0, 0), *((node, self._encode(value, False)) for node, value in fixed.items())]
        low = min(self._rows[node][x] - value for node, value in values)
        high = min(row[node] + value for node, value in values)
        return self._limit(low), self._limit(high)

    def equal(self, x: int, y: int) -> bool:
        """Whether ``x − y`` is one fixed value."""
        return self._rows[x][y] + self._rows[y][x] == 0

    def implied_through(self, x: int, middle: int, y: int) -> bool:
        """Whether the bound on ``x − y`` follows from those on ``x − middle`` and ``middle − y``."""
        return bool(self._rows[x][middle] + self._rows[middle][y] <= self._rows[x][y] < inf)

    def apart_from(self, middle: int, x: int) -> Iterator[int]:
        """The nodes ``y`` such that ``x − y`` has a bound that does not follow through ``middle``."""
        head, tails = self._rows[x][middle], self._rows[middle]
        return (y for y, bound in enumerate(self._rows[x]) if bound < head + tails[y])

    @cached_property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Nodes that differ by a fixed value, together; that of the constant 0 comes first."""
        found, rest = [], list(range(self.size))
        while rest:
            own, row = rest[0], self._rows[rest[0]]
            found.append(tuple(node for node in rest if row[node] + self._rows[node][own] == 0))
            rest = [node for node in rest if row[node] + self._rows[node][own] != 0]
        return tuple(found)

    def redundant(self, x: int, y: int) -> bool:
        """Whether the bound on ``x − y`` follows through a node at no fixed distance from ``x`` or ``y``."""
        row, bound = self._rows[x], self._rows[x][y]
        spend(len(self.classes) / _STEPS_AT_ONCE)
        for members in self.classes:
            middle = members[0]
            if row[middle] + self._rows[middle][y] <= bound < inf and x not in members and y not in members:
                return True
        return False

    def links(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The pairs of classes, other than the constants', between which a bound is not `redundant`.

        A shortest path between two classes that no constraint links directly passes through a third, which makes it
        redundant, so only the others need a look.
        """
        _constants, *others = self.classes
        home = {node: members for members in others for node in members}
        stated = ((home[x], home[y]) for x, y in sorted(self._stated) if x in home and y in home)
        different = dict.fromkeys((first, second) for first, second in stated if first != second)
        return ((first, second) for first, second in different if not self.redundant(first[0], second[0]))

    def covers(self) -> Iterator[tuple[int, int]]:
        """The pairs ``x < y`` of nodes other than 0 without a third strictly between (Definition 8)."""
        greater = [[node for node, bound in enumerate(row) if bound < 0 < node] for row in self._rows]
        sets = [sum(1 << node for node in nodes) for nodes in greater]
        for x in range(1, self.size):
            beyond = reduce(or_, (sets[node] for node in greater[x]), 0)
            yield from ((x, node) for node in greater[x] if not beyond >> node & 1)

    def admits(self, x: int, y: int, c: Fraction | int, strict: bool = False) -> bool:
        """Whether adding ``x − y ≤ c`` keeps a satisfiable system satisfiable."""
        return self._rows[y][x] + self._encode(c, strict) >= 0

    def represents(self, c: Fraction) -> bool:
        """Whether a constant is a multiple of the system's unit, so that it can be compared exactly."""
        return self._unit % c.denominator == 0

    def implies(self, x: int, y: int, c: Fraction | int, strict: bool = False) -> bool:
        """Whether ``x − y ≤ c`` (``< c`` when strict) holds in every solution."""
        return self._rows[x][y] <= self._encode(c, strict)

    def restricted(self, nodes: Sequence[int]) -> DifferenceBounds:
        """The closure of some nodes alone, numbered anew in that order; the first is 0, the constant."""
        rows = [[self._rows[x][y] for y in nodes] for x in nodes]
        stated = [(i, j) for i, row in enumerate(rows) for j, bound in enumerate(row) if i != j and bound != inf]
        return self._with(rows, frozenset(stated))

    def _with(self, rows: Rows, stated: frozenset[tuple[int, int]], satisfiable: bool = True) -> DifferenceBounds:
        result = object.__new__(DifferenceBounds)
        result.size, result.dense, result._unit, result._scale = len(rows), self.dense, self._unit, self._scale
        result._rows, result._stated, result.satisfiable = rows, stated, satisfiable
        return result

    def tightened(self, x: int, y: int, c: Fraction | int, strict: bool = False) -> DifferenceBounds:
        """The closure with one more constraint, in O(n²); its constant is a multiple of the system's unit."""
        added = self._encode(c, strict)
        if not self.satisfiable or added >= self._rows[x][y]:
            return self
        stated = self._stated | {(x, y)}
        if not self.admits(x, y, c, strict):
            return self._with(self._rows, stated, satisfiable=False)
        tails = [(node, length) for node, length in enumerate(self._rows[y]) if length != inf]
        spend((self.size + len(tails)) * self.size / _STEPS_AT_ONCE)
        return self._with([self._relaxed(row, row[x] + added, tails) for row in self._rows], stated)

    def _relaxed(self, row: Row, head: float | int, tails: Tails) -> Row:
        """A row with the paths through a node at distance ``head``; the same one where there are none."""
        if head == inf:
            return row
        relaxed = row.copy()
        shorten(relaxed, head, tails)
        return self._normalised(relaxed) if self.dense else relaxed
