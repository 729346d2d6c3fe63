"""M of a query, of the two ways to read ``<>`` between streams the one that remembers less."""

from __future__ import annotations

from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.size import fewer
from streambound.preprocess.pipeline import Derivation


def least_bound(derivation: Derivation, repeats: bool = False) -> QueryBound | None:
    """M of a bounded query; None for more tables than can be counted. A set that ``repeats`` remembers no results.

    Both halves of a ``<>`` have tables; where one table for both takes fewer entries, it is not split for these.
    """
    split, together = derivation.split, derivation.together
    apart = bound(split, repeats)
    combined = bound(together, repeats) if len(together.branches) < len(split.branches) else None
    return combined if combined is not None and (apart is None or fewer(combined.entries, apart.entries)) else apart
