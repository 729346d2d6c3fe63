"""Which rows a punctuation, or a set of them, describes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambound.punctuation.pattern import Pattern, match_pattern

Row = tuple[Any, ...]
Punctuation = tuple[Pattern, ...]


def match(row: Row, punctuation: Punctuation) -> bool:
    """Whether each value matches the pattern of its attribute ("Functions": match)."""
    return all(match_pattern(value, pattern) for value, pattern in zip(row, punctuation, strict=True))


def set_match(row: Row, punctuations: Iterable[Punctuation]) -> bool:
    """Whether a row matches some punctuation ("Pass Invariants": SetMatch)."""
    return any(match(row, punctuation) for punctuation in punctuations)
