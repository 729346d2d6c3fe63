"""Duplicate elimination: each row once, when it first comes.

(Tucker et al., TKDE 15(3), 2003.) An unbounded stateful operator: without punctuations it remembers every row.
"""

from __future__ import annotations

from collections.abc import Sequence

from streambound.punctuation.match import Punctuation, Row, set_match


def duplicate_elimination_pass(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Each row once, in the order of first arrival: duplicate elimination does not block."""
    return tuple(dict.fromkeys(rows))


def duplicate_elimination_keep(rows: Sequence[Row], punctuations: Sequence[Punctuation]) -> tuple[Row, ...]:
    """``{t ∈ Ts | ¬SetMatch(t, Ps)}``: a row that cannot come again need not be recognised."""
    return tuple(row for row in dict.fromkeys(rows) if not set_match(row, punctuations))


def duplicate_elimination_propagation(punctuations: Sequence[Punctuation]) -> tuple[Punctuation, ...]:
    """``Ps``: each output row is an input row that has just come."""
    return tuple(punctuations)
