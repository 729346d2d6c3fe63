"""Up to where punctuations leave no row open: decided cell by cell, between the ends that their patterns name."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from streambound.punctuation.match import Punctuation
from streambound.punctuation.pattern import (
    FIRST,
    LAST,
    ConstantPattern,
    Cut,
    Listed,
    Pattern,
    RangePattern,
    Wildcard,
    above,
    below,
    match_pattern,
)


def spans(pattern: Pattern) -> tuple[tuple[Cut, Cut], ...]:
    """The values of a pattern as intervals between cuts; NULL has no place among them."""
    match pattern:
        case Wildcard():
            return ((FIRST, LAST),)
        case RangePattern():
            return ((pattern.start, pattern.end),)
        case ConstantPattern(value) if value is not None:
            return ((below(value), above(value)),)
        case Listed(values):
            return tuple((below(value), above(value)) for value in values if value is not None)
    return ()


def first_gap(attribute: int, punctuations: Iterable[Punctuation]) -> Cut:
    """The cut of an attribute below which every row matches some punctuation, and above which some row does not.

    LAST when every row matches. The attribute's values lie dense: between 5 and 6 there might be others, so ``[1, 5]``
    and ``[6, 9]`` leave a gap, and ``[1, 5]`` and ``(5, 9]`` do not.
    """
    all_of = tuple(punctuations)
    for cell in _cells(punctuation[attribute] for punctuation in all_of):
        rest = (p[:attribute] + p[attribute + 1 :] for p in all_of if _contains(p[attribute], cell))
        if not _cover_everything(tuple(rest)):
            return cell[0]
    return LAST


def _cover_everything(punctuations: tuple[Punctuation, ...]) -> bool:
    """Whether every row matches some punctuation: split one attribute after the other."""
    if any(all(isinstance(pattern, Wildcard) for pattern in punctuation) for punctuation in punctuations):
        return True
    if not punctuations:
        return False
    attribute = next(
        place for place, patterns in enumerate(zip(*punctuations, strict=True)) if not all(map(_is_wildcard, patterns))
    )
    cells = _cells(punctuation[attribute] for punctuation in punctuations)
    parts = [[p for p in punctuations if _contains(p[attribute], cell)] for cell in cells]
    parts.append([p for p in punctuations if match_pattern(None, p[attribute])])
    wild = (Wildcard(),)
    return all(_cover_everything(tuple(p[:attribute] + wild + p[attribute + 1 :] for p in part)) for part in parts)


def _is_wildcard(pattern: Pattern) -> bool:
    return isinstance(pattern, Wildcard)


def _cells(patterns: Iterable[Pattern]) -> tuple[tuple[Cut, Cut], ...]:
    """All values, divided where some pattern begins or ends, in order."""
    ends = {end for pattern in patterns for span in spans(pattern) for end in span}
    return tuple(pairwise(sorted(ends | {FIRST, LAST})))


def _contains(pattern: Pattern, cell: tuple[Cut, Cut]) -> bool:
    return any(start <= cell[0] and cell[1] <= end for start, end in spans(pattern))
