"""Whether two references survive together in some LTO refinement (Theorem 2 C3; set criterion (3)).

A *reference* is a strict or weak constraint ``lesser − greater ≤ bound`` between two streams that an evaluation has to
check on unbounded values. A refinement totally orders each stream's attributes and the constants (paper, Definition
6). Both references survive in it when neither becomes redundant. Only attributes on the same side of all constants
can lie between the two ends, so only those are ordered, depth first, pruning as soon as a reference dies.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from msgspec import Struct

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Closure, Sort
from streambound.analyzer.query import Attribute

MOST_STEPS = 5_000


class Reference(Struct, frozen=True):
    """``lesser − greater ≤ bound``, kept because of ``own`` (one of the two); ``maximum`` if ``own`` is the greater."""

    lesser: Attribute
    greater: Attribute
    own: Attribute

    @property
    def maximum(self) -> bool:
        """Whether the greatest value of ``own`` would be the one to keep."""
        return self.own == self.greater

    @property
    def limited(self) -> Attribute:
        """The attribute that is not ``own``: the one that the reference limits."""
        return self.lesser if self.maximum else self.greater


def survive_together(facts: Facts, first: Reference, second: Reference) -> bool | None:
    """Whether some LTO refinement keeps both references, as different classes or in different directions.

    None where the search is cut off after `MOST_STEPS`.
    """
    closure = facts.closure
    if first.own != second.own and first.maximum == second.maximum and closure.equal(first.own, second.own):
        return False
    ends = closure.restricted((first.lesser, first.greater, second.lesser, second.greater))
    ways = list(_ways(facts, ends, first, second))
    if not ways or any(_jointly_tight(ends, way, first, second) for way in ways):
        return bool(ways)
    between = _attributes_between(facts, first, second)
    pairs, wide = _undecided(facts, between), closure.restricted(between)
    cut_off = False
    for way in _ways(facts, wide, first, second):
        found = _refine(wide, way, (first, second), pairs, MOST_STEPS)
        if found:
            return True
        cut_off = cut_off or found is None
    return None if cut_off else False


def _ways(facts: Facts, closure: Closure, first: Reference, second: Reference) -> Iterator[Closure]:
    """The ways in which both references can stay alive, be unbounded, and count as two."""
    for sides in product(_sides(facts, first), _sides(facts, second)):
        placed = closure
        for reference, high in zip((first, second), sides, strict=True):
            placed = _place(facts, placed, reference, high)
        if placed.satisfiable:
            for distinct in _kept_apart(placed, first, second):
                if _alive(closure, distinct, first) and _alive(closure, distinct, second):
                    yield distinct


def _sides(facts: Facts, reference: Reference) -> list[bool | None]:
    """Where a reference can be unbounded: True beyond the greatest constant, False below the least, None anywhere.

    Over a dense type unboundedly many values lie between two constants, too.
    """
    if facts.closure.sort(reference.own) in (Sort.DENSE, Sort.STRING):
        return [] if facts.bounded(reference.own) else [None]
    sides: list[bool | None] = []
    matrix, lesser = facts.closure.node(reference.lesser)
    greater = facts.closure.nodes[reference.greater][1]
    if not matrix.finite(lesser, 0) and (not facts.bounded_above(reference.own)):
        sides.append(True)
    if not matrix.finite(0, greater) and (not facts.bounded_below(reference.own)):
        sides.append(False)
    return sides


def _place(facts: Facts, closure: Closure, reference: Reference, high: bool | None) -> Closure:
    """Put both ends of a reference beyond all constants, on one side."""
    extremes = None if high is None else facts.extreme_constants(reference.own)
    if extremes is None:
        return closure
    for attribute in (reference.lesser, reference.greater):
        if high:
            closure = closure.with_greater(attribute, True, extremes[1])
        else:
            closure = closure.with_less(attribute, None, True, extremes[0])
    return closure


def _kept_apart(closure: Closure, first: Reference, second: Reference) -> Iterator[Closure]:
    """The ways in which the two references count as two: other directions, or attributes that differ."""
    if first.maximum != second.maximum:
        yield closure
        return
    if closure.sort(first.own) is not closure.sort(second.own):
        yield closure
        return
    for less, more in ((first.own, second.own), (second.own, first.own)):
        ordered = closure.with_less(less, more, strict=True)
        if ordered.satisfiable:
            yield ordered


def _alive(original: Closure, refined: Closure, reference: Reference) -> bool:
    """A reference dies when its bound gets tighter than the query states: something then lies between."""
    before, x, y = original.pair(reference.lesser, reference.greater) or (None, 0, 0)
    after = refined.pair(reference.lesser, reference.greater)
    return before is not None and after is not None and after[0].limit(x, y) == before.limit(x, y)


def _jointly_tight(original: Closure, refined: Closure, first: Reference, second: Reference) -> bool:
    """Whether one solution meets both bounds exactly: then its order is a refinement that keeps both."""
    for reference in (first, second):
        pair = original.pair(reference.lesser, reference.greater)
        limit = pair[0].limit(pair[1], pair[2]) if pair else None
        if limit is None:
            return False
        value, strict = limit
        if not strict:
            refined = refined.with_less(reference.greater, reference.lesser, False, -value)
    return refined.satisfiable


def _attributes_between(facts: Facts, first: Reference, second: Reference) -> tuple[Attribute, ...]:
    """The attributes that can lie between the ends of a reference, and those ends."""
    ends = (first.lesser, first.greater, second.lesser, second.greater)
    return tuple(a for a in facts.closure.nodes if any(_related(facts.closure, a, end) for end in ends))


def _undecided(facts: Facts, between: tuple[Attribute, ...]) -> list[tuple[Attribute, Attribute]]:
    """Pairs of one stream's attributes whose order can put something between the ends of a reference."""
    pairs = combinations(between, 2)
    return [(x, y) for x, y in pairs if _same_stream(facts, x, y) and facts.closure.sort(x) is facts.closure.sort(y)]


def _same_stream(facts: Facts, x: Attribute, y: Attribute) -> bool:
    group = next((group for group in facts.branch.merged if x.source in group), (x.source,))
    return y.source in group


def _related(closure: Closure, x: Attribute, y: Attribute) -> bool:
    if x.source == y.source:
        return closure.sort(x) is closure.sort(y)
    pair = closure.pair(x, y)
    return pair is not None and (pair[0].finite(pair[1], pair[2]) or pair[0].finite(pair[2], pair[1]))


def _refine(
    original: Closure,
    closure: Closure,
    references: tuple[Reference, Reference],
    pairs: list[tuple[Attribute, Attribute]],
    steps: int,
) -> bool | None:
    """Depth-first search for a total order of every pair in which both references stay alive; None where cut off.

    Without recursion, as there are hundreds of pairs where streams have many attributes.
    """
    untried = [iter([(closure, 0)])]
    while untried:
        if (option := next(untried[-1], None)) is None:
            untried.pop()
            continue
        steps -= 1
        if steps < 0:
            return None
        closure, first = option
        place = next((place for place in range(first, len(pairs)) if not _ordered(closure, *pairs[place])), None)
        if place is None:
            return True
        untried.append(_orders(original, closure, references, pairs, place))
    return False


def _orders(
    original: Closure,
    closure: Closure,
    references: tuple[Reference, Reference],
    pairs: list[tuple[Attribute, Attribute]],
    place: int,
) -> Iterator[tuple[Closure, int]]:
    """What holds for each order of a pair that keeps both references alive, with the place of the next pair."""
    x, y = pairs[place]
    equal = closure.with_less(x, y, strict=False).with_less(y, x, strict=False)
    for option in (closure.with_less(x, y, strict=True), closure.with_less(y, x, strict=True), equal):
        if option.satisfiable and all(_alive(original, option, reference) for reference in references):
            yield option, place + 1


def _ordered(closure: Closure, x: Attribute, y: Attribute) -> bool:
    pair = closure.pair(x, y)
    return (
        pair is None
        or closure.implies_less(x, y)
        or closure.implies_less(y, x)
        or (pair[0].implies(pair[1], pair[2], 0) and pair[0].implies(pair[2], pair[1], 0))
    )
