"""Projection to some attributes, with duplicates.

(Tucker et al., TKDE 15(3), 2003.) It remembers nothing. A punctuation survives when it is a wildcard in the attributes
that are dropped: otherwise other rows may still come whose remaining values match.
"""

from __future__ import annotations

from collections.abc import Sequence

from streambound.punctuation.match import Punctuation, Row
from streambound.punctuation.pattern import Wildcard


def project_pass(attributes: Sequence[int], rows: Sequence[Row]) -> tuple[Row, ...]:
    """Each row's attributes: projection does not block."""
    return tuple(tuple(row[place] for place in attributes) for row in rows)


def project_keep(attributes: Sequence[int], rows: Sequence[Row]) -> tuple[Row, ...]:
    """No rows."""
    return ()


def project_propagation(attributes: Sequence[int], punctuations: Sequence[Punctuation]) -> tuple[Punctuation, ...]:
    """``{π_A(p) | p ∈ Ps, p is a wildcard outside A}``."""
    found = (
        tuple(punctuation[place] for place in attributes)
        for punctuation in punctuations
        if all(isinstance(pattern, Wildcard) for n, pattern in enumerate(punctuation) if n not in attributes)
    )
    return tuple(dict.fromkeys(found))
