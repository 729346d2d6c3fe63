"""Difference-bound matrices: the closure of constraints ``x − y ≤ c`` (theory §1, "P+").

Node 0 stands for the constant 0. Over integers ``x < y`` is ``x − y ≤ −1``. Over a dense order it is
``x − y ≤ 0`` with a strictness mark; both are one integer here: ``c`` is kept as ``c · scale``, minus 1 when
strict, and ``scale`` exceeds the number of nodes, so that the strict steps of a path can never add up to a
whole unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, lcm

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
        rows: list[list[float | int]] = [[inf] * size for _ in range(size)]
        for node in range(size):
            rows[node][node] = 0
        for x, y, c, strict in edges:
            bound = self._encode(c, strict)
            rows[x][y] = min(rows[x][y], bound)
        self._rows = rows
        self.satisfiable = _close(rows)
        if dense and self.satisfiable:
            self._normalise()

    def _encode(self, c: Fraction | int, strict: bool) -> int:
        return int(Fraction(c) * self._scale) - strict if self.dense else int(c) - strict

    def _normalise(self) -> None:
        """Two strict steps are as strict as one."""
        step = self._scale // self._unit
        for row in self._rows:
            for node, bound in enumerate(row):
                if bound != inf and bound % step:
                    row[node] = -(-bound // step) * step - 1

    def bound(self, x: int, y: int) -> int | None:
        """The least ``b`` with ``x − y ≤ b``, encoded; None when there is none."""
        value = self._rows[x][y]
        return None if value == inf else int(value)

    def finite(self, x: int, y: int) -> bool:
        """Whether ``x − y`` has an upper bound."""
        return self._rows[x][y] != inf

    def limit(self, x: int, y: int) -> tuple[Fraction, bool] | None:
        """The least upper bound of ``x − y`` as (value, strict); None when there is none."""
        value = self.bound(x, y)
        if value is None:
            return None
        if not self.dense:
            return Fraction(value), False
        step = self._scale // self._unit
        ceiling = -(-value // step) * step
        return Fraction(ceiling, self._scale), ceiling != value

    def equal(self, x: int, y: int) -> bool:
        """Whether ``x − y`` is one fixed value."""
        return self._rows[x][y] + self._rows[y][x] == 0

    def implied_through(self, x: int, middle: int, y: int) -> bool:
        """Whether the bound on ``x − y`` follows from those on ``x − middle`` and ``middle − y``."""
        total = self._rows[x][middle] + self._rows[middle][y]
        if total == inf:
            return False
        if self.dense:
            step = self._scale // self._unit
            total = -(-total // step) * step - bool(total % step)
        return bool(total <= self._rows[x][y])

    def redundant(self, x: int, y: int) -> bool:
        """Whether the bound on ``x − y`` follows through a third node that equals neither ``x`` nor ``y``."""
        row, skip_x, skip_y = self._rows[x], x, y
        for middle in range(self.size):
            if middle in (skip_x, skip_y) or row[middle] == inf:
                continue
            if self.implied_through(x, middle, y) and not self.equal(x, middle) and not self.equal(middle, y):
                return True
        return False

    def admits(self, x: int, y: int, c: Fraction | int, strict: bool = False) -> bool:
        """Whether adding ``x − y ≤ c`` keeps a satisfiable system satisfiable."""
        return self._rows[y][x] + self._encode(c, strict) >= 0

    def represents(self, c: Fraction) -> bool:
        """Whether a constant is a multiple of the system's unit, so that it can be compared exactly."""
        return self._unit % c.denominator == 0

    def implies(self, x: int, y: int, c: Fraction | int, strict: bool = False) -> bool:
        """Whether ``x − y ≤ c`` (``< c`` when strict) holds in every solution."""
        return self._rows[x][y] <= self._encode(c, strict)

    def tightened(self, x: int, y: int, c: Fraction | int, strict: bool = False) -> DifferenceBounds:
        """The closure with one more constraint, in O(n²); its constant is a multiple of the system's unit."""
        result = object.__new__(DifferenceBounds)
        result.size, result.dense, result._unit, result._scale = (
            self.size,
            self.dense,
            self._unit,
            self._scale,
        )
        added = self._encode(c, strict)
        result.satisfiable = self.satisfiable and self.admits(x, y, c, strict)
        if added >= self._rows[x][y] or not result.satisfiable:
            result._rows = self._rows
            return result
        result._rows = [_relaxed(row, row[x] + added, self._rows[y]) for row in self._rows]
        if result.dense:
            result._normalise()
        return result


def _relaxed(row: list[float | int], head: float | int, tail: list[float | int]) -> list[float | int]:
    if head == inf:
        return row[:]
    return [old if old <= (new := head + step) else new for old, step in zip(row, tail, strict=True)]


def _close(rows: list[list[float | int]]) -> bool:
    """Floyd and Warshall's closure in place; False when a cycle is negative."""
    size = len(rows)
    if any(rows[i][i] < 0 for i in range(size)):
        return False
    for k in range(size):
        through = rows[k]
        targets = [(j, step) for j, step in enumerate(through) if step != inf and j != k]
        if not targets:
            continue
        for i in range(size):
            row = rows[i]
            head = row[k]
            if head == inf or i == k:
                continue
            for j, step in targets:
                row[j] = min(row[j], head + step)
        if any(rows[i][i] < 0 for i in range(size)):
            return False
    return True
