"""How many LTO queries a branch stands for, without deriving them where possible.

Streams that no condition relates are ordered independently of each other, so that their numbers multiply. A stream
whose attributes are related only to constants is counted in closed form: each attribute falls on a constant or into a
gap between two, and ``m`` attributes in a gap of ``g`` integers have ``Σ_b≤g b!·S(m, b)`` orders (``S``: Stirling
numbers of the second kind). What is left is enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, islice, pairwise, product
from math import comb, inf, prod

from analyzer.closure import Closure, Sort, close
from analyzer.difference_bounds import DifferenceBounds, Edge
from analyzer.query import Attribute, Branch, Comparison, Op
from preprocess.derive_lto import Chain, chains, ordered

ENUMERATED = 256
"""Up to how many orders are enumerated for streams that have no closed form."""

_MOST_STATES = 100
_Place = tuple[float, frozenset[int]]
"""How many integers a place has, and the groups of attributes that may take one of them."""


def count_lto(branch: Branch, limit: int = ENUMERATED) -> int | None:
    """The number of LTO queries of a branch; None when related streams have more than ``limit`` orders."""
    closure = close(branch)
    if not closure.satisfiable:
        return 0
    total = 1
    for component in _components(branch, closure, chains(branch, closure)):
        counted = _count(branch, closure, component, limit)
        if counted is None:
            return None
        total *= counted
    return total


def _components(branch: Branch, closure: Closure, wanted: tuple[Chain, ...]) -> list[tuple[Chain, ...]]:
    """Chains that some condition relates, otherwise than through constants, together."""
    components: list[tuple[Chain, ...]] = []
    for chain in wanted:
        related = [c for c in components if any(_related(branch, closure, chain, other) for other in c)]
        merged = (*(other for c in related for other in c), chain)
        components = [*(c for c in components if c not in related), merged]
    return components


def _related(branch: Branch, closure: Closure, first: Chain, second: Chain) -> bool:
    return any(_pair_related(branch, closure, x, y) for x, y in product(first.attributes, second.attributes))


def _pair_related(branch: Branch, closure: Closure, x: Attribute, y: Attribute) -> bool:
    matrix, i = closure.node(x)
    j = closure.nodes[y][1]
    if any(matrix.finite(p, q) and not matrix.implied_through(p, 0, q) for p, q in ((i, j), (j, i))):
        return True
    return any(set(atom.attributes) == {x, y} for atom in _unequal(branch))


def _unequal(branch: Branch) -> list[Comparison]:
    return [atom for atom in branch.atoms if isinstance(atom, Comparison) and atom.op is Op.NE]


def _count(branch: Branch, closure: Closure, component: tuple[Chain, ...], limit: int) -> int | None:
    members = {attribute for chain in component for attribute in chain.attributes}
    if all(members.isdisjoint(a.attributes) or members.issuperset(a.attributes) for a in _unequal(branch)):
        closure = _projected(closure, component)
        counted = _closed_form(branch, closure, component[0]) if len(component) == 1 else None
        if counted is not None:
            return counted
    found = len(list(islice(ordered(branch, closure, component), limit + 1)))
    return found if found <= limit else None


def _projected(closure: Closure, component: tuple[Chain, ...]) -> Closure:
    """The closure of a component's attributes alone: smaller, and so faster to tighten."""
    matrix = closure.bounds[Sort.DISCRETE]
    old = [0, *(closure.nodes[attribute][1] for chain in component for attribute in chain.attributes)]
    edges: list[Edge] = [
        (i, j, bound, False)
        for i, x in enumerate(old)
        for j, y in enumerate(old)
        if i != j and (bound := matrix.bound(x, y)) is not None
    ]
    kept = {node: i for i, node in enumerate(old)}
    nodes: dict[Attribute, tuple[Sort, int]] = {
        attribute: (sort, kept[node])
        for attribute, (sort, node) in closure.nodes.items()
        if sort is Sort.DISCRETE and node in kept
    }
    bounds = {**closure.bounds, Sort.DISCRETE: DifferenceBounds(len(old), edges)}
    return Closure(nodes, bounds, closure.strings, closure.null, closure.compared, True)


# --- closed form ----------------------------------------------------------------------------------------------


def _closed_form(branch: Branch, closure: Closure, chain: Chain) -> int | None:
    """The number of orders of a chain whose attributes are related only to constants; None where that is not so."""
    if any(_pair_related(branch, closure, x, y) for x, y in combinations(chain.attributes, 2)):
        return None
    allowed = [_allowed(branch, closure, chain, attribute) for attribute in chain.attributes]
    if any(places is None for places in allowed):
        return None
    groups = Counter(places for places in allowed if places is not None)
    if prod(size + 1 for size in groups.values()) > _MOST_STATES:
        return None
    keys = tuple(map(frozenset, groups))
    places = tuple(
        (width, frozenset(g for g, key in enumerate(keys) if place in key))
        for place, (_, _, width) in enumerate(_places(chain))
    )
    return _arrangements(places, tuple(groups.values()))


def _places(chain: Chain) -> Iterator[tuple[float, float, float]]:
    """The constants and the gaps around them, in order: least and greatest integer, and how many."""
    ends = (-inf, *chain.constants, inf)
    for below, above in pairwise(ends):
        yield below + 1, above - 1, max(above - below - 1, 0)
        if above != inf:
            yield above, above, 1


def _allowed(branch: Branch, closure: Closure, chain: Chain, attribute: Attribute) -> tuple[int, ...] | None:
    """The places an attribute may take; None when a bound cuts through a gap."""
    low, high = closure.interval(attribute)
    least, greatest = -inf if low is None else int(low), inf if high is None else int(high)
    excluded = {atom.offset for atom in _unequal(branch) if atom.left == attribute and atom.right is None}
    found = []
    for place, (first, last, width) in enumerate(_places(chain)):
        if width == 0 or last < least or first > greatest or (first == last and first in excluded):
            continue
        if first < least or last > greatest:
            return None
        found.append(place)
    return tuple(found)


def _arrangements(places: tuple[_Place, ...], waiting: tuple[int, ...]) -> int:
    """The ways to spread groups of attributes (``waiting`` of each) over the places, and to order each place."""
    ways = Counter({waiting: 1})
    for width, groups in places:
        before, ways = ways, Counter()
        for left, number in before.items():
            choices = [range(count + 1) if group in groups else range(1) for group, count in enumerate(left)]
            for taken in product(*choices):
                orders = prod(map(comb, left, taken)) * weak_orders(sum(taken), width)
                ways[tuple(a - b for a, b in zip(left, taken, strict=True))] += number * orders
    return ways[(0,) * len(waiting)]


@lru_cache(maxsize=1024)
def weak_orders(elements: int, width: float) -> int:
    """The total preorders of some elements with at most ``width`` classes.

    >>> [weak_orders(3, width) for width in (1, 2, 3)]
    [1, 7, 13]
    """
    if elements == 0:
        return 1
    if width <= 0:
        return 0
    return sum(comb(elements, first) * weak_orders(elements - first, width - 1) for first in range(1, elements + 1))
