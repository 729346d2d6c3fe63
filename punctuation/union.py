"""Union of bags: rows go through as they come, punctuations hold when all inputs have made them.

The propagation invariant of the page "Propagation Invariants", for any number of inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from streambound.punctuation.combine import combine_sets
from streambound.punctuation.match import Punctuation, Row


def union_pass(*inputs: Sequence[Row]) -> tuple[Row, ...]:
    """All rows: union does not block."""
    return tuple(row for rows in inputs for row in rows)


def union_keep(*inputs: Sequence[Row]) -> tuple[tuple[Row, ...], ...]:
    """No rows; but the punctuations of each input, for `union_propagation`."""
    return tuple(() for _ in inputs)


def union_propagation(*inputs: Sequence[Punctuation]) -> tuple[Punctuation, ...]:
    """``{CombinePunct(p1, …, pn) | pi ∈ Psi}``, without the empty ones: an input may still have what others end."""
    return reduce(combine_sets, inputs[1:], tuple(inputs[0])) if inputs else ()
