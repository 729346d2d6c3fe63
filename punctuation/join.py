"""Equality join: pairs of a left and a right row that agree on pairs of attributes; NULL equals nothing.

(Tucker et al., TKDE 15(3), 2003.) An unbounded stateful operator: without punctuations it remembers both inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from streambound.punctuation.combine import is_empty
from streambound.punctuation.match import Punctuation, Row, match
from streambound.punctuation.pattern import Wildcard, combine_pattern

On = Sequence[tuple[int, int]]
"""Left attribute and right attribute, for each equality; none at all for the Cartesian product."""


def join_pass(on: On, left: Sequence[Row], right: Sequence[Row]) -> tuple[Row, ...]:
    """Left attributes followed by right ones, for all pairs that have arrived: the join does not block."""
    return tuple(
        one + other for one in left for other in right if all(one[i] is not None and one[i] == other[j] for i, j in on)
    )


def join_keep(
    on: On,
    left: Sequence[Row],
    left_punctuations: Sequence[Punctuation],
    right: Sequence[Row],
    right_punctuations: Sequence[Punctuation],
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The rows of each side that rows to come on the other side can still join.

    A left row is done when a right punctuation that is a wildcard outside the joined attributes matches its values
    there: no right row with these values will come. Its results with rows that are here are out.
    """
    back = [(j, i) for i, j in on]
    return _open(on, left, right_punctuations), _open(back, right, left_punctuations)


def _open(on: On, rows: Sequence[Row], opposite: Sequence[Punctuation]) -> tuple[Row, ...]:
    joined = [other for _, other in on]
    ends = [
        tuple(punctuation[place] for place in joined)
        for punctuation in opposite
        if all(isinstance(pattern, Wildcard) for n, pattern in enumerate(punctuation) if n not in joined)
    ]
    return tuple(row for row in rows if not any(match(tuple(row[mine] for mine, _ in on), end) for end in ends))


def join_propagation(
    on: On, left_punctuations: Sequence[Punctuation], right_punctuations: Sequence[Punctuation]
) -> tuple[Punctuation, ...]:
    """``{p1 ⋈ p2 | p1 ∈ Ps1, p2 ∈ Ps2}``: both patterns side by side, combined where attributes are equal.

    A new result has a new row, on the left or on the right, and that row cannot match its side's pattern.
    """
    found = (_joined(on, one, other) for one, other in product(left_punctuations, right_punctuations))
    return tuple(dict.fromkeys(punctuation for punctuation in found if not is_empty(punctuation)))


def _joined(on: On, left: Punctuation, right: Punctuation) -> Punctuation:
    patterns = [*left, *right]
    for one, other in on:
        both = combine_pattern(patterns[one], patterns[len(left) + other])
        patterns[one] = patterns[len(left) + other] = both
    return tuple(patterns)
