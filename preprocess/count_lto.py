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
from itertools import islice, pairwise, product
from math import comb, inf, prod

from msgspec.structs import replace

from streambound.analyzer.closure import Closure, Sort, close
from streambound.analyzer.connected import components
from streambound.analyzer.query import Attribute, Branch, Comparison, Op
from streambound.preprocess.derive_lto import Chain, Order, chains, inserted

ENUMERATED = 256
"""Up to how many orders are enumerated for streams that have no closed form."""

_FIRST = 8
_MOST_CELLS = 20_000
"""The work that each of them may take, in cells of matrices: less than a millisecond."""

_MOST_STATES = 100
_Place = tuple[float, frozenset[int]]
"""How many integers a place has, and the groups of attributes that may take one of them."""


def count_lto(branch: Branch, limit: int = ENUMERATED) -> int | None:
    """The number of LTO queries of a branch.

    None when related streams have more than ``limit`` orders, of all their attributes or of some, or are too wide.
    """
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
    home = {attribute: number for number, chain in enumerate(wanted) for attribute in chain.attributes}
    linked: list[set[int]] = [set() for _ in wanted]
    for x, y in _related_pairs(branch, closure, tuple(home)):
        linked[home[x]].add(home[y])
        linked[home[y]].add(home[x])
    parts = components(range(len(wanted)), linked.__getitem__)
    return [tuple(wanted[number] for number in part) for part in parts]


def _related_pairs(
    branch: Branch, closure: Closure, attributes: tuple[Attribute, ...]
) -> Iterator[tuple[Attribute, Attribute]]:
    """The pairs that some condition relates, otherwise than through constants."""
    matrix, named = closure.bounds[Sort.DISCRETE], {closure.nodes[x][1]: x for x in attributes}
    for node, x in named.items():
        yield from ((x, named[other]) for other in matrix.apart_from(0, node) if other != node and other in named)
    for atom in _unequal(branch):
        if atom.right is not None and atom.left != atom.right and {atom.left, atom.right} <= {*attributes}:
            yield atom.left, atom.right


def _unequal(branch: Branch) -> list[Comparison]:
    return [atom for atom in branch.atoms if isinstance(atom, Comparison) and atom.op is Op.NE]


def _count(branch: Branch, closure: Closure, component: tuple[Chain, ...], limit: int) -> int | None:
    members = {attribute for chain in component for attribute in chain.attributes}
    unequal = {a: None for atom in _unequal(branch) for a in atom.attributes if a in closure.nodes}
    outside: tuple[Attribute, ...] = ()
    if any(not members.isdisjoint(a.attributes) and not members.issuperset(a.attributes) for a in _unequal(branch)):
        outside = tuple(a for a in unequal if a not in members and closure.sort(a) is Sort.DISCRETE)
    elif len(component) == 1:
        counted = _closed_form(branch, closure.restricted(members), component[0])
        if counted is not None:
            return counted
    return _enumerated(branch, closure, component, outside, limit)


def _enumerated(
    branch: Branch, closure: Closure, component: tuple[Chain, ...], outside: tuple[Attribute, ...], limit: int
) -> int | None:
    """The number of orders; the first few attributes alone often have too many, which is soon found out."""
    size, number = _FIRST, sum(len(chain.attributes) for chain in component)
    while True:
        part = tuple(_first(component, size))
        ordered = (attribute for chain in part for attribute in chain.attributes)
        counted = _by_levels(branch, closure.restricted((*ordered, *outside)), part, limit)
        if counted is None or size >= number:
            return counted
        size *= 2


def _first(component: tuple[Chain, ...], number: int) -> Iterator[Chain]:
    """The chains cut down to the first attributes of the component."""
    for chain in component:
        if number > 0:
            yield replace(chain, attributes=chain.attributes[:number])
        number -= len(chain.attributes)


def _by_levels(branch: Branch, closure: Closure, component: tuple[Chain, ...], limit: int) -> int | None:
    """The number of orders, one attribute inserted after the other; None when it exceeds the limit on the way."""
    left = limit * _MOST_CELLS // closure.bounds[Sort.DISCRETE].size ** 2
    found: list[tuple[Order, Closure]] = [((), closure)]
    for chain in component:
        found = [(chain.start, narrowed) for _, narrowed in found]
        for attribute in chain.attributes:
            left -= len(found)
            if left < 0:
                return None
            ways = (longer for order, narrowed in found for longer in inserted(branch, narrowed, order, attribute))
            found = list(islice(ways, limit + 1))
            if len(found) > limit:
                return None
    return len(found)


# --- closed form ----------------------------------------------------------------------------------------------


def _closed_form(branch: Branch, closure: Closure, chain: Chain) -> int | None:
    """The number of orders of a chain whose attributes are related only to constants; None where that is not so."""
    if any(_related_pairs(branch, closure, chain.attributes)):
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
