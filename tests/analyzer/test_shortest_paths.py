"""The two ways to find shortest paths against each other and against a third: minima over all walks, edge by edge."""

from __future__ import annotations

import random
from itertools import product
from math import inf

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streambound.analyzer import shortest_paths as module
from streambound.analyzer.dense_paths import dense_paths, integers
from streambound.analyzer.difference_bounds import DifferenceBounds
from streambound.analyzer.shortest_paths import Edges, Rows, TooManySteps, eliminated, shortest_paths
from support.profiles import examples

NODES = 5
LARGEST = 2**63
nodes = st.integers(0, NODES - 1)
small = st.integers(-3, 6)
near_limits = st.builds(
    lambda limit, sign, near: sign * limit + near,
    st.sampled_from([2**28, 2**29, 2**30, 2**31, 2**60, 2**61, 2**62, LARGEST, 2**64, 10**30]),
    st.sampled_from([-1, 1]),
    st.integers(-3, 3),
)


def systems(lengths: st.SearchStrategy[int]) -> st.SearchStrategy[dict[tuple[int, int], int]]:
    return st.dictionaries(st.tuples(nodes, nodes), lengths, max_size=12)


def walked(size: int, edges: Edges) -> Rows | None:
    """Shortest walks of at most 0, 1, 2, … edges; None when they get shorter with more than ``size`` edges still."""
    best = {(x, y): 0 if x == y else inf for x, y in product(range(size), repeat=2)}
    for _ in range(size + 1):
        before = dict(best)
        for start, ((x, y), length) in product(range(size), edges.items()):
            best[start, y] = min(best[start, y], before[start, x] + length)
    return [[best[x, y] for y in range(size)] for x in range(size)] if best == before else None


@examples(200)
@given(systems(small | near_limits))
@example({(0, 0): -1})
@example({(0, 1): LARGEST - 1, (1, 2): LARGEST, (2, 0): -2 * LARGEST + 1})
@example({(0, 1): LARGEST - 1, (1, 2): LARGEST, (2, 0): -2 * LARGEST})
@example({(0, 1): 2**60, (1, 0): -(2**60)})
@example({(0, 1): -(2**28), (1, 2): -(2**27), (2, 0): 2**29})
def test_both_ways_find_the_shortest_walks(edges: Edges) -> None:
    expected = walked(NODES, edges)
    assert eliminated(NODES, edges) == expected
    assert shortest_paths(NODES, edges) == expected
    kind = integers(edges)
    if kind is not None:
        found = dense_paths(NODES, edges, kind)
        assert found == expected
        assert found is None or {type(length) for row in found for length in row} <= {int, float}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_STEPS", -1)
        assert shortest_paths(NODES, edges) == expected


@pytest.mark.parametrize("bits", [32, 64])
def test_the_type_holds_the_longest_path_and_nothing_longer(bits: int) -> None:
    longest = (2 ** (bits - 2) - 2) // 2
    for sign in (-1, 1):
        edges = {(0, 1): sign * (longest - 5), (1, 2): sign * 5}
        kind = integers(edges)
        assert kind is not None and kind.itemsize * 8 == bits
        assert dense_paths(4, edges, kind) == walked(4, edges)
        wider = integers({**edges, (2, 3): sign})
        assert wider is None or wider.itemsize * 8 > bits


@pytest.mark.parametrize("density", [0.02, 0.2, 0.9])
@pytest.mark.parametrize("slack", [(0, 0), (0, 40), (-1, 1)])
def test_both_ways_agree_on_large_systems(density: float, slack: tuple[int, int]) -> None:
    rng, size = random.Random(f"{density} {slack}"), 90
    height = [rng.randint(-(10**6), 10**6) for _ in range(size)]
    edges = {
        (x, y): height[x] - height[y] + rng.randint(*slack)
        for x, y in product(range(size), repeat=2)
        if x != y and rng.random() < density
    }
    kind = integers(edges)
    assert kind is not None
    found = dense_paths(size, edges, kind)
    assert eliminated(size, edges) == found
    assert found is not None if slack[0] == 0 else found is None
    with pytest.raises(TooManySteps):
        eliminated(size, edges, 10)


# --- what the joins are made of ---------------------------------------------------------------------------------

EDGES = st.lists(st.tuples(nodes, nodes, st.integers(-1, 2) | near_limits, st.booleans()), max_size=9)


@pytest.mark.parametrize("most_steps", [10**6, -1])
@pytest.mark.parametrize("dense", [False, True])
@examples(150)
@given(EDGES)
@example([(1, 2, 0, False), (2, 1, 0, False), (2, 3, -1, False), (3, 4, 0, True), (1, 4, 5, False)])
def test_links_and_covers_are_those_of_all_pairs(
    most_steps: int, dense: bool, edges: list[tuple[int, int, int, bool]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_STEPS", most_steps)
        matrix = DifferenceBounds(NODES, edges, dense)
    closed = Walked(edges, dense)
    assert matrix.satisfiable == closed.satisfiable
    if not closed.satisfiable:
        return
    everything = list(product(range(NODES), repeat=2))
    assert all(matrix.limit(x, y) == closed.limit(x, y) for x, y in everything)
    assert {x: set(c) for c in matrix.classes for x in c} == {x: closed.equals(x) for x in range(NODES)}
    linked = {(x, y) for first, second in matrix.links() for x, y in product(first, second)}
    assert linked == {(x, y) for x, y in everything if closed.linked(x, y)}
    for x, y in everything:
        if y not in closed.equals(x):
            assert matrix.redundant(x, y) == closed.redundant(x, y)
    assert set(matrix.covers()) == {(x, y) for x, y in everything if closed.covers(x, y)}
    rest = matrix.restricted((0, 3, 1))
    assert all(rest.limit(i, j) == closed.limit(x, y) for i, x in enumerate((0, 3, 1)) for j, y in enumerate((0, 3, 1)))


class Walked:
    """The definitions, on pairs of a length and (over a dense order) the number of strict steps, made negative."""

    def __init__(self, edges: list[tuple[int, int, int, bool]], dense: bool) -> None:
        self.dense = dense
        scale = NODES + 2 if dense else 1
        lengths: dict[tuple[int, int], int] = {}
        for x, y, c, strict in edges:
            lengths[x, y] = min(lengths.get((x, y), c * scale - strict), c * scale - strict)
        self.scale, self.rows = scale, walked(NODES, lengths)
        self.satisfiable = self.rows is not None

    def limit(self, x: int, y: int) -> tuple[int, bool] | None:
        length = self.rows[x][y]
        if length == inf:
            return None
        whole = -(-length // self.scale)
        return int(whole), length != whole * self.scale

    def equals(self, x: int) -> set[int]:
        return {y for y in range(NODES) if self.rows[x][y] + self.rows[y][x] == 0}

    def through(self, x: int, middle: int, y: int) -> bool:
        """Whether the two bounds together are at least as tight as the one, strict or not."""
        one, two, whole = self.limit(x, middle), self.limit(middle, y), self.limit(x, y)
        if one is None or two is None or whole is None:
            return False
        return (one[0] + two[0], not (one[1] or two[1])) <= (whole[0], not whole[1])

    def redundant(self, x: int, y: int) -> bool:
        others = set(range(NODES)) - self.equals(x) - self.equals(y)
        return any(self.through(x, middle, y) for middle in others)

    def linked(self, x: int, y: int) -> bool:
        apart = y not in self.equals(x) and 0 not in self.equals(x) | self.equals(y)
        return apart and self.limit(x, y) is not None and not self.redundant(x, y)

    def less(self, x: int, y: int) -> bool:
        return self.rows[x][y] < 0

    def covers(self, x: int, y: int) -> bool:
        between = any(self.less(x, e) and self.less(e, y) for e in range(1, NODES))
        return 0 not in (x, y) and self.less(x, y) and not between
