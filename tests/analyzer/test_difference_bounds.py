"""Difference-bound matrices against enumeration of all solutions in a box that is wide enough to tell.

With three variables and constants of at most 2 a finite bound is at most 6, and a system without one has a solution
with a difference of 7 among values from -12 to 12. Dense systems are enumerated on a grid of quarters of their unit.
"""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streambound.analyzer.difference_bounds import DifferenceBounds, Edge

VARIABLES = 3
PAIRS = list(permutations(range(VARIABLES + 1), 2))


class Box:
    """All assignments of the variables to a range of integers; node 0 is 0."""

    def __init__(self, reach: int, step: int = 1) -> None:
        self.step = step
        values = np.arange(-reach * step, reach * step + 1, dtype=np.int32)
        grids = np.meshgrid(*[values] * VARIABLES, indexing="ij")
        self.values = [np.zeros_like(grids[0]), *grids]

    def solutions(self, edges: list[Edge]) -> list[np.ndarray]:
        mask = np.ones_like(self.values[0], dtype=bool)
        for x, y, c, strict in edges:
            difference, limit = self.values[x] - self.values[y], int(Fraction(c) * self.step)
            mask &= difference < limit if strict else difference <= limit
        return [value[mask] for value in self.values]


WHOLE = Box(12)
DENSE = Box(7, step=4)

nodes = st.integers(0, VARIABLES)


def edges_of(constants: st.SearchStrategy[int]) -> st.SearchStrategy[list[Edge]]:
    return st.lists(st.tuples(nodes, nodes, constants, st.booleans()), max_size=6)


WHOLE_EDGES = edges_of(st.integers(-1, 2))
DENSE_EDGES = edges_of(st.integers(-1, 1))


@settings(max_examples=150, deadline=None)
@given(WHOLE_EDGES)
@example([(1, 1, 0, True)])
@example([(1, 2, -1, False), (2, 1, 0, False)])
def test_bounds_over_integers(edges: list[Edge]) -> None:
    matrix, values = DifferenceBounds(VARIABLES + 1, edges), WHOLE.solutions(edges)
    assert matrix.satisfiable == bool(values[0].size)
    if not matrix.satisfiable:
        return
    for x, y in PAIRS:
        differences = values[x] - values[y]
        greatest = int(differences.max())
        assert matrix.bound(x, y) == (greatest if greatest < 7 else None)
        assert matrix.finite(x, y) == (greatest < 7)
        assert matrix.limit(x, y) == ((greatest, False) if greatest < 7 else None)
        assert matrix.equal(x, y) == (differences.min() == greatest)
        for c in range(-3, 4):
            assert matrix.implies(x, y, c) == bool((differences <= c).all())
            assert matrix.implies(x, y, c, strict=True) == bool((differences < c).all())
            assert matrix.admits(x, y, c) == bool((differences <= c).any())


@settings(max_examples=80, deadline=None)
@given(DENSE_EDGES)
@example([(1, 1, 0, True)])
@example([(1, 2, 0, True), (2, 3, 0, True), (3, 0, 0, True), (0, 1, 0, False)])
def test_bounds_over_a_dense_order(edges: list[Edge]) -> None:
    matrix, values = DifferenceBounds(VARIABLES + 1, edges, dense=True), DENSE.solutions(edges)
    assert matrix.satisfiable == bool(values[0].size)
    if not matrix.satisfiable:
        return
    for x, y in PAIRS:
        greatest = Fraction(int((values[x] - values[y]).max()), DENSE.step)
        limit = matrix.limit(x, y)
        assert (limit is None) == (greatest > 3)
        if limit is not None:
            value, strict = limit
            # A strict bound is missed by a grid step at most for each of the three steps of a path.
            assert (value - Fraction(VARIABLES, DENSE.step) <= greatest < value) if strict else greatest == value
            assert matrix.implies(x, y, value, strict) and matrix.implies(x, y, value)
            assert not matrix.implies(x, y, value - 1)
            assert matrix.implies(x, y, value, strict=True) == strict


def bounds(matrix: DifferenceBounds) -> list[tuple[Fraction, bool] | None]:
    return [matrix.limit(x, y) for x, y in PAIRS]


@pytest.mark.parametrize("dense", [False, True])
@settings(max_examples=150, deadline=None)
@given(WHOLE_EDGES, st.lists(st.tuples(nodes, nodes, st.integers(-2, 2), st.booleans()), min_size=1, max_size=3))
def test_tightening_equals_rebuilding(dense: bool, edges: list[Edge], more: list[Edge]) -> None:
    matrix = DifferenceBounds(VARIABLES + 1, edges, dense)
    for edge in more:
        before = bounds(matrix) if matrix.satisfiable else []
        tighter = matrix.tightened(*edge)
        assert not matrix.satisfiable or bounds(matrix) == before, "a matrix must not change"
        matrix, edges = tighter, [*edges, edge]
        rebuilt = DifferenceBounds(VARIABLES + 1, edges, dense)
        assert matrix.satisfiable == rebuilt.satisfiable
        if rebuilt.satisfiable:
            assert bounds(matrix) == bounds(rebuilt)


@pytest.mark.parametrize("dense", [False, True])
@settings(max_examples=150, deadline=None)
@given(WHOLE_EDGES)
@example([(1, 2, -1, False), (2, 3, -1, False)])
@example([(1, 2, 0, False), (2, 1, 0, False), (2, 3, 0, False)])
def test_what_is_not_redundant_says_it_all(dense: bool, edges: list[Edge]) -> None:
    matrix = DifferenceBounds(VARIABLES + 1, edges, dense)
    if not matrix.satisfiable:
        return
    finite = [(x, y, *limit) for x, y in PAIRS if (limit := matrix.limit(x, y)) is not None]
    kept: list[Edge] = [edge for edge in finite if not matrix.redundant(edge[0], edge[1])]
    again = DifferenceBounds(VARIABLES + 1, kept, dense)
    assert bounds(again) == bounds(matrix)


def test_a_redundant_bound_is_found() -> None:
    chain = DifferenceBounds(4, [(1, 2, -1, False), (2, 3, -1, False)])
    assert chain.redundant(1, 3) and not chain.redundant(1, 2) and not chain.redundant(2, 3)
    tighter = DifferenceBounds(4, [(1, 2, -1, False), (2, 3, -1, False), (1, 3, -5, False)])
    assert not tighter.redundant(1, 3)
    assert chain.implied_through(1, 2, 3) and not tighter.implied_through(1, 2, 3)


def test_fractions_keep_their_value() -> None:
    matrix = DifferenceBounds(3, [(1, 2, Fraction(1, 3), True), (2, 0, Fraction(5, 2), False)], dense=True)
    assert matrix.limit(1, 0) == (Fraction(17, 6), True)
    assert matrix.represents(Fraction(1, 6)) and not matrix.represents(Fraction(1, 4))


@pytest.mark.parametrize("size", [2, 60])
def test_many_strict_steps_are_still_less_than_a_unit(size: int) -> None:
    chain: list[Edge] = [(i + 1, i, 0, True) for i in range(size - 1)]
    matrix = DifferenceBounds(size, chain, dense=True)
    assert matrix.limit(size - 1, 0) == (0, True)
    assert matrix.admits(0, size - 1, 1, strict=True)
    assert not matrix.admits(0, size - 1, 0)
