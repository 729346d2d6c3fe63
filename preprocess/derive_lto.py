"""Preprocessing step 4 (paper): one locally totally ordered (LTO) query per consistent order of every stream.

``S(A, B) with A < 5  ->  A < B < 5 | A = B < 5 | B < A < 5 | A < B = 5 | A < 5 < B``

For every infinite stream (a merged group is one) its discrete attributes that the query mentions, and the constants
that conditions compare with attributes of their type, are totally ordered (paper, Definition 6). The product over the
streams can be astronomical, so it is never built: orders are found one at a time, and an order dies at the first pair
that the closure contradicts. The paper knows no NULL: an attribute that is ordered is not NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.closure import Closure, Sort, close, stated
from streambound.analyzer.query import Attribute, Branch, Comparison, Kind, Op, conjunction
from streambound.analyzer.types import Family

Element = Attribute | int
Order = tuple[tuple[Element, ...], ...]
"""A total preorder: classes of equal elements, least first; constants are encoded in their type's units."""


class Chain(Struct, frozen=True):
    """A set to be ordered: comparable attributes of one stream, and the constants of their type."""

    stream: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    constants: tuple[int, ...]

    @property
    def start(self) -> Order:
        """The order of the constants alone."""
        return tuple((constant,) for constant in self.constants)


def derive_lto(branch: Branch) -> Iterator[Branch]:
    """The LTO queries of a branch whose timestamps are merged and whose finite streams are renamed.

    Lazy; pairwise disjoint; together they hold where the branch does and no ordered attribute is NULL.
    """
    closure = close(branch)
    if not closure.satisfiable:
        return
    for orders, _ in ordered(branch, closure, chains(branch, closure)):
        atoms = (atom for order in orders for atom in order_atoms(order))
        yield replace(branch, where=conjunction((branch.where, *atoms)))


def chains(branch: Branch, closure: Closure) -> tuple[Chain, ...]:
    """The sets of elements that Definition 6 orders, one per infinite stream and type."""
    found = []
    for group in _stream_groups(branch):
        mentioned = [a for a in closure.attributes(Sort.DISCRETE) if a.source in group and a not in closure.null]
        while mentioned:
            kind = branch.column(mentioned[0]).type
            alike = tuple(a for a in mentioned if branch.column(a).type.comparable(kind))
            mentioned = [a for a in mentioned if a not in alike]
            found.append(Chain(group, alike, order_constants(branch, alike[0])))
    return tuple(found)


def _stream_groups(branch: Branch) -> tuple[tuple[str, ...], ...]:
    """The infinite streams' aliases, merged ones together."""
    home = {alias: group for group in branch.merged for alias in group}
    infinite = [source.alias for source in branch.of_kind(Kind.STREAM)]
    return tuple(dict.fromkeys(home.get(alias, (alias,)) for alias in infinite))


def order_constants(branch: Branch, attribute: Attribute) -> tuple[int, ...]:
    """The constants that conditions and domains compare with attributes of the type of one, least first.

    TRUE and FALSE are only where they are written: booleans are bounded without them.
    """
    kind = branch.column(attribute).type
    declared = () if kind.family is Family.BOOLEAN else stated(branch)
    found = {
        atom.offset
        for atom in (*branch.atoms, *declared)
        if isinstance(atom, Comparison)
        and atom.right is None
        and isinstance(atom.offset, int)
        and not branch.is_time(atom.left)
        and branch.column(atom.left).type.comparable(kind)
    }
    return tuple(sorted(found))


def ordered(branch: Branch, closure: Closure, wanted: tuple[Chain, ...]) -> Iterator[tuple[tuple[Order, ...], Closure]]:
    """The consistent combinations of one order per chain, with the closure under each."""
    if not wanted:
        yield (), closure
        return
    for order, narrowed in _orders(branch, closure, wanted[0].start, wanted[0].attributes):
        for others, final in ordered(branch, narrowed, wanted[1:]):
            yield (order, *others), final


def _orders(
    branch: Branch, closure: Closure, order: Order, attributes: tuple[Attribute, ...]
) -> Iterator[tuple[Order, Closure]]:
    """The consistent ways to insert the attributes into an order, one attribute after the other."""
    if not attributes:
        yield order, closure
        return
    for longer, narrowed in inserted(branch, closure, order, attributes[0]):
        yield from _orders(branch, narrowed, longer, attributes[1:])


def inserted(branch: Branch, closure: Closure, order: Order, attribute: Attribute) -> Iterator[tuple[Order, Closure]]:
    """The consistent ways to insert an attribute into an order, with the closure under each."""
    for longer, narrowed in _insertions(closure, order, attribute):
        if not _contradicted(branch, narrowed):
            yield longer, narrowed


def _insertions(closure: Closure, order: Order, attribute: Attribute) -> Iterator[tuple[Order, Closure]]:
    """An attribute in every consistent place of an order: before, in and after each class."""
    for place in range(len(order) + 1):
        between = closure
        if place > 0:
            between = _above(between, attribute, order[place - 1][0])
        if place < len(order) and between.satisfiable:
            between = _below(between, attribute, order[place][0])
        if between.satisfiable:
            yield (*order[:place], (attribute,), *order[place:]), between
        if place < len(order):
            equal = _equal(closure, attribute, order[place][0])
            if equal.satisfiable:
                yield (*order[:place], (*order[place], attribute), *order[place + 1 :]), equal


def _above(closure: Closure, attribute: Attribute, element: Element) -> Closure:
    if isinstance(element, Attribute):
        return closure.with_less(element, attribute, strict=True)
    return closure.with_greater(attribute, True, element)


def _below(closure: Closure, attribute: Attribute, element: Element) -> Closure:
    if isinstance(element, Attribute):
        return closure.with_less(attribute, element, strict=True)
    return closure.with_less(attribute, None, True, element)


def _equal(closure: Closure, attribute: Attribute, element: Element) -> Closure:
    if isinstance(element, Attribute):
        half = closure.with_less(attribute, element, strict=False)
        return half.with_less(element, attribute, strict=False) if half.satisfiable else half
    half = closure.with_less(attribute, None, False, element)
    return half.with_greater(attribute, False, element) if half.satisfiable else half


def _contradicted(branch: Branch, closure: Closure) -> bool:
    """Whether an order has decided that the two sides of some ``<>`` are equal."""
    for atom in branch.atoms:
        if not isinstance(atom, Comparison) or atom.op is not Op.NE or not closure.nodes.keys() >= set(atom.attributes):
            continue
        if closure.sort(atom.left) is Sort.DISCRETE:
            matrix, x = closure.node(atom.left)
            y = closure.nodes[atom.right][1] if atom.right is not None else 0
            if matrix.equal(x, y) and matrix.bound(x, y) == atom.offset:
                return True
    return False


def order_atoms(order: Order) -> Iterator[Comparison]:
    """An order as conditions between neighbours, without spans: ``A < 5 < B  ->  A < 5, B > 5``."""
    for members in order:
        for left, right in pairwise(members):
            yield from _atom(left, Op.EQ, right)
    for below, above in pairwise(order):
        yield from _atom(below[-1], Op.LT, above[0])


def _atom(left: Element, op: Op, right: Element) -> Iterator[Comparison]:
    match left, right:
        case Attribute(), Attribute():
            yield Comparison(left, op, right, 0)
        case Attribute(), int():
            yield Comparison(left, op, None, right)
        case int(), Attribute():
            yield Comparison(right, op.flipped, None, left)
