"""Solutions of a branch's conditions, as points: every attribute as great (or as small) as it can be.

The witness needs tuples, not bounds, so that this solves the stated difference constraints by relaxation (Bellman and
Ford) instead of closing them. Values are exact fractions in encoded units; strings are ranks among the constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm

from msgspec import Struct

from streambound.analyzer.closure import Sort, close, in_order, stated, value_lists
from streambound.analyzer.query import Attribute, Branch, Comparison, Op
from streambound.analyzer.values import Value
from streambound.analyzer.work import cached, spend

Assignment = dict[Attribute, Fraction | None]
"""A value for each attribute that a condition or the select list mentions; None is NULL. Strings are ranks."""

MOST_ATTEMPTS = 40
"""Ways to satisfy ``<>`` and lists of values that are tried."""

VALUES = (Sort.DISCRETE, Sort.DENSE, Sort.STRING)


class DifferenceConstraint(Struct, frozen=True):
    """``x − y <= c`` (``< c`` when strict); ``y`` None is the constant 0."""

    x: Attribute | None
    y: Attribute | None
    c: Fraction
    strict: bool = False


def fixed(x: Attribute, value: Fraction) -> tuple[DifferenceConstraint, DifferenceConstraint]:
    """The constraints that give an attribute a value."""
    return DifferenceConstraint(x, None, value), DifferenceConstraint(None, x, -value)


class ConstraintSystem(Struct, frozen=True, dict=True):
    """A branch's conditions as difference constraints, with what they do not say: ``<>`` and lists of values."""

    branch: Branch
    others: tuple[str, ...] = ()
    """String constants of the rest of the query, which have ranks, too."""

    @cached_property
    def sorts(self) -> dict[Attribute, Sort]:
        """The attributes that have a place in an order, and their sorts."""
        return {attribute: sort for attribute, (sort, _) in close(self.branch).nodes.items()}

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The string constants of conditions and declared lists, in Spark's order; a rank is an index here."""
        offsets = {c.offset for c in self._comparisons if c.right is None and isinstance(c.offset, str)}
        lists = {value for values in self._lists.values() for value in values if isinstance(value, str)}
        return tuple(sorted({*offsets, *lists, *self.others}, key=in_order))

    @cached_property
    def _comparisons(self) -> tuple[Comparison, ...]:
        return tuple(atom for atom in self.branch.atoms if isinstance(atom, Comparison))

    @cached_property
    def _lists(self) -> dict[Attribute, tuple[Value, ...]]:
        return {attribute: values for attribute, values in value_lists(self.branch).items() if attribute in self.sorts}

    @cached_property
    def options(self) -> dict[Attribute, tuple[Fraction, ...]]:
        """The values of attributes that a declared list or an IN leaves."""
        return {a: tuple(self.number(value) for value in values) for a, values in self._lists.items()}

    def number(self, value: Value) -> Fraction:
        """A constant's place in its order: its rank for a string."""
        return Fraction(self.texts.index(value) if isinstance(value, str) else value)

    def offset(self, comparison: Comparison) -> Fraction:
        """The constant of a comparison; 0 between two strings."""
        both_strings = comparison.right is not None and isinstance(comparison.offset, str)
        return Fraction(0) if both_strings else self.number(comparison.offset)

    @cached_property
    def unequal(self) -> tuple[tuple[Attribute, Attribute | None, Fraction], ...]:
        """``x <> y + c``."""
        return tuple((c.left, c.right, self.offset(c)) for c in self._comparisons if c.op is Op.NE)

    @cached_property
    def differences(self) -> dict[Sort, tuple[DifferenceConstraint, ...]]:
        """What the query and the catalog state, by sort."""
        found: dict[Sort, list[DifferenceConstraint]] = {sort: [] for sort in Sort}
        for atom in stated(self.branch):
            found[self.sorts[atom.left]].extend(differences(atom, self.offset(atom)))
        return {sort: tuple(mine) for sort, mine in found.items()}


@cached(64)
def conditions_of(branch: Branch, others: tuple[str, ...] = ()) -> ConstraintSystem:
    """The conditions of a branch, computed once for all plans that are tried on it."""
    return ConstraintSystem(branch, others)


def differences(atom: Comparison, offset: Fraction) -> Iterator[DifferenceConstraint]:
    """``x op y + offset`` as difference constraints; nothing for ``<>``."""
    if atom.op in (Op.LT, Op.LE, Op.EQ):
        yield DifferenceConstraint(atom.left, atom.right, offset, atom.op is Op.LT)
    if atom.op in (Op.GT, Op.GE, Op.EQ):
        yield DifferenceConstraint(atom.right, atom.left, -offset, atom.op is Op.GT)


class _Aim(Struct, frozen=True):
    """Which of the solutions: see `solve`."""

    greatest: bool
    far: Fraction
    epsilon: Fraction | None


def solve(
    conditions: ConstraintSystem,
    extra: Sequence[DifferenceConstraint] = (),
    *,
    greatest: bool = False,
    far: Fraction | int = 0,
    epsilon: Fraction | None = None,
    sorts: Sequence[Sort] = VALUES,
) -> Assignment | None:
    """A solution of the conditions and of ``extra``, with ``<>`` and lists of values; None when none was found.

    Attributes without an upper bound get at most ``far`` (``greatest``), those without a lower one at least ``-far``.
    Where whole numbers do not do, strict comparisons keep values ``epsilon`` apart. Raises TooMuchWork.
    """
    aim, budget = _Aim(greatest, Fraction(far), epsilon), [MOST_ATTEMPTS]
    found: Assignment = {}
    for sort in sorts:
        own = [d for d in extra if conditions.sorts[d.x or d.y] is sort]  # type: ignore[index]
        part = _solve_sort(conditions, sort, own, aim, budget)
        if part is None:
            return None
        found.update(part)
    for attribute in close(conditions.branch).null:
        found[attribute] = None
    return found


def _solve_sort(
    conditions: ConstraintSystem, sort: Sort, extra: list[DifferenceConstraint], aim: _Aim, budget: list[int]
) -> Assignment | None:
    budget[0] -= 1
    if budget[0] < 0:
        return None
    edges = [*conditions.differences[sort], *extra]
    nodes = [attribute for attribute, own in conditions.sorts.items() if own is sort]
    point = _relaxed(nodes, edges, aim, dense=sort in (Sort.DENSE, Sort.STRING))
    if point is None:
        return None
    ways = tuple(_ways_out(conditions, point))
    solved = (_solve_sort(conditions, sort, [*extra, *further], aim, budget) for further in ways)
    return next((other for other in solved if other is not None), None) if ways else point


def _ways_out(conditions: ConstraintSystem, point: Assignment) -> Iterator[tuple[DifferenceConstraint, ...]]:
    """Alternatives that exclude the first ``<>`` or list of values that a point violates; none when it fits."""
    for x, y, c in conditions.unequal:
        if x in point and point[x] == ((point[y] or 0) if y is not None else 0) + c:
            yield (DifferenceConstraint(x, y, c, strict=True),)
            yield (DifferenceConstraint(y, x, -c, strict=True),)
            return
    for attribute, values in conditions.options.items():
        place = point.get(attribute)
        if place is not None and place not in values:
            yield from (fixed(attribute, value) for value in sorted(values, key=lambda v: abs(v - place)))
            return


def _relaxed(
    nodes: Sequence[Attribute], edges: Sequence[DifferenceConstraint], aim: _Aim, dense: bool
) -> Assignment | None:
    """The greatest (or least) point; whole numbers where there is one, since every type holds them exactly."""
    point = _point(nodes, edges, aim, Fraction(1))
    if point is None and dense:
        unit = lcm(*(edge.c.denominator for edge in edges)) if edges else 1
        finest = Fraction(1, unit << (len(nodes) + 2).bit_length())
        point = _point(nodes, edges, aim, finest if aim.epsilon is None else aim.epsilon)
    return point


def _point(
    nodes: Sequence[Attribute], edges: Sequence[DifferenceConstraint], aim: _Aim, epsilon: Fraction
) -> Assignment | None:
    """Relaxation from ``far``; a strict constraint is one with ``epsilon`` less. None for a negative cycle.

    All numbers are counted in their smallest common part, since integers are faster than fractions.
    """
    if epsilon == 1 and any(edge.c.denominator != 1 for edge in edges):
        return None
    greatest = aim.greatest
    parts = lcm(aim.far.denominator, epsilon.denominator, *(edge.c.denominator for edge in edges))
    start, step = int(aim.far * parts), int(epsilon * parts)
    places: dict[Attribute | None, int] = dict.fromkeys(nodes, start if greatest else -start)
    places[None] = 0
    weighted = [(edge.x, edge.y, int(edge.c * parts) - step * edge.strict) for edge in edges]
    for _ in range(len(places) + 1):
        spend((len(places) + len(edges)) / 4)
        changed = False
        for x, y, weight in weighted:
            if greatest and places[x] > places[y] + weight:
                places[x], changed = places[y] + weight, True
            elif not greatest and places[y] < places[x] - weight:
                places[y], changed = places[x] - weight, True
        if places[None] != 0:
            return None
        if not changed:
            return {attribute: Fraction(n, parts) for attribute, n in places.items() if attribute is not None}
    return None


def restricted(point: Mapping[Attribute, Fraction | None], sources: frozenset[str]) -> tuple[DifferenceConstraint, ...]:
    """The constraints that give the attributes of some sources the values they have in a point."""
    return tuple(d for a, value in point.items() if a.source in sources and value is not None for d in fixed(a, value))
