"""Whether a witness tells all subsets of its elements apart, by the results that the probes get (theory §4).

Checked by a brute-force evaluation (`criteria.results`); `recheck.prove` does it again, by batch SQL over all prefixes.
"""

from __future__ import annotations

from analyzer.query import Query
from criteria.results import TooMany, results
from criteria.witness import Witness


def distinguishes(query: Query, witness: Witness) -> bool:
    """Whether every subset of the elements can be told from the probes' outputs, on the whole split query.

    Either element ``k``'s result is new on probe ``k`` iff ``k`` is in the subset (or iff it is not). Or, for a bag,
    the number of these results grows with ``k`` and otherwise depends only on elements before ``k`` (or after it), so
    that the subset is found element by element. Or it is linear, ``d`` for ``k`` and another number ``a`` for each
    other element: all probes together then tell how many elements there are, and each whether its own is one.
    """
    try:
        found = [_result_tags(query, witness, k) for k in range(witness.size)]
    except TooMany:
        return False
    if _exact(query.distinct, found, present=True) or _exact(query.distinct, found, present=False):
        return True
    if query.distinct:
        return False
    return _triangular(found, upwards=True) or _triangular(found, upwards=False) or _linear(found)


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
    size = len(found)
    if size < 2 or any(mask.bit_count() > 1 for new, _ in found for mask in new):
        return False
    own = {new.count(1 << k) for k, (new, _) in enumerate(found)}
    other = {new.count(1 << j) for k, (new, _) in enumerate(found) for j in range(size) if j != k}
    return len(own) == len(other) == 1 and own != other
