"""The conjunction of punctuations."""

from __future__ import annotations

from collections.abc import Iterable

from streambound.punctuation.match import Punctuation
from streambound.punctuation.pattern import combine_pattern, is_empty_pattern


def combine(one: Punctuation, other: Punctuation) -> Punctuation:
    """What both say: ``match(d, one) ∧ match(d, other)  <=>  match(d, both)``, attribute by attribute.

    (Page "Functions": combine. In "Propagation Invariants" it is called CombinePunct.)
    """
    return tuple(combine_pattern(first, second) for first, second in zip(one, other, strict=True))


def is_empty(punctuation: Punctuation) -> bool:
    """Whether no row can match, so that the punctuation says nothing."""
    return any(is_empty_pattern(pattern) for pattern in punctuation)


def combine_sets(one: Iterable[Punctuation], other: Iterable[Punctuation]) -> tuple[Punctuation, ...]:
    """Each of one set with each of the other, without those that say nothing."""
    others = tuple(other)
    found = (combine(first, second) for first in one for second in others)
    return tuple(dict.fromkeys(punctuation for punctuation in found if not is_empty(punctuation)))
