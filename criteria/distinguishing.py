"""Whether a witness tells all subsets of its elements apart, by the probes' results (docs/theory-witnesses.md).

Checked by a brute-force evaluation (`criteria.results`); `recheck.oracle.prove` does it again, by batch SQL over
all prefixes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from streambound.analyzer.query import Query
from streambound.analyzer.work import spend
from streambound.criteria.results import TooMany, results
from streambound.criteria.witness import Witness

_AROUND = 20
"""Elements on each side of one that is executed, where all have too many matches."""


def distinguishes(query: Query, witness: Witness) -> bool:
    """Whether every subset of the elements can be told from the probes' outputs, on the whole split query.

    Either element ``k``'s result is new on probe ``k`` iff ``k`` is in the subset (or iff it is not). Or, for a bag,
    the number of these results grows with ``k`` and otherwise depends only on elements before ``k`` (or after it), so
    that the subset is found element by element. Or it is linear, a number for each element before ``k``, for ``k``, and
    for each after it. Raises TooMuchWork.
    """
    try:
        found = [_result_tags(query, witness, k) for k in range(witness.size)]
    except TooMany:
        return False
    spend((sum(len(new) + len(old) for new, old in found) << witness.size) / 4)
    if _exact(query.distinct, found, present=True) or _exact(query.distinct, found, present=False):
        return True
    if query.distinct:
        return False
    return _triangular(found, upwards=True) or _triangular(found, upwards=False) or _linear(found)


def tells_element(query: Query, witness: Witness, element: int, probes: Sequence[int]) -> bool:
    """Whether some probe gets other results after all elements than after all but one, all counted from 0.

    Of the elements around it, where all of them would have too many matches. Raises TooMuchWork.
    """
    several = [range(witness.size), range(max(0, element - _AROUND), min(witness.size, element + _AROUND))]
    for elements in several:
        try:
            return any(_differs_without(query, witness, element, elements, probe) for probe in probes)
        except TooMany:
            continue
    return False


def _differs_without(query: Query, witness: Witness, element: int, elements: Sequence[int], probe: int) -> bool:
    sent = 1 << witness.size
    found = list(results(query, [*witness.prefix(elements), *witness.probes[probe]]))
    new = []
    for left in (0, 1 << element):
        there = [one for one in found if not one.tags & left]
        before = {one.values for one in there if query.distinct and not one.tags & sent}
        added = Counter(one.values for one in there if one.tags & sent and one.values not in before)
        new.append(Counter(set(added)) if query.distinct else added)
    return new[0] != new[1]


Tags = tuple[list[int], list[int]]
"""The elements (as bits) of each way to get element k's result on probe k: with the probe, and in the prefix."""


def _result_tags(query: Query, witness: Witness, k: int) -> Tags:
    probe = 1 << witness.size
    rows = [*witness.prefix(range(witness.size)), *witness.probes[k]]
    same = [r.tags for r in results(query, rows) if r.values == witness.expected[k]]
    return [tags & ~probe for tags in same if tags & probe], [tags for tags in same if not tags & probe]


def _exact(distinct: bool, found: list[Tags], present: bool) -> bool:
    subsets = range(1 << len(found))
    return all(
        _new(distinct, tags, subset) is (bool(subset >> k & 1) is present)
        for k, tags in enumerate(found)
        for subset in subsets
    )


def _new(distinct: bool, tags: Tags, subset: int) -> bool:
    """Whether the result is new on the probe after the prefix of a subset."""
    on_probe, in_prefix = (any(mask & ~subset == 0 for mask in masks) for masks in tags)
    return on_probe and not (distinct and in_prefix)


def _triangular(found: list[Tags], upwards: bool) -> bool:
    for k, (new, _) in enumerate(found):
        others = ~((1 << (k + 1)) - 1) if upwards else (1 << k) - 1
        if any(mask & others for mask in new) or not any(mask >> k & 1 for mask in new):
            return False
    return True


def _linear(found: list[Tags]) -> bool:
    """Whether each way on probe k takes one element at most, and what it gets is a sum that determines the elements."""
    size = len(found)
    if size < 2 or any(mask.bit_count() > 1 for new, _ in found for mask in new):
        return False
    ways = [[new.count(1 << j) for j in range(size)] for new, _ in found]
    own = {ways[k][k] for k in range(size)}
    before = {ways[k][j] for k in range(size) for j in range(k)}
    after = {ways[k][j] for k in range(size) for j in range(k + 1, size)}
    return len(own) == len(before) == len(after) == 1 and sums_differ(*before, *own, *after)


def sums_differ(before: int, own: int, after: int) -> bool:
    """Whether subsets of any number of elements differ in some sum, where element k counts ``own`` in the k-th sum.

    Each element before it counts ``before``, each after it ``after``. From sum k to sum k + 1 element k makes a
    difference of ``before - own``, element k + 1 one of ``own - after``. Unless one of the two is 0, or they cancel
    each other, that leaves one subset, or two that alternate, which the first sum tells apart. If one is 0, all
    elements but the first (or last) are known, which counts ``own``. If they cancel each other, all but k count the
    same in sum k, and all sums together say how many elements there are.

    >>> sums_differ(0, 1, 1), sums_differ(1, 0, 1), sums_differ(0, 0, 1)
    (True, True, False)
    """
    return not before == own == after and (own > 0 or before == after or 0 not in (before, after))
