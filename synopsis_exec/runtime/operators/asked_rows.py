"""Which rows of a partition functions over windows may still ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AskedRows:
    """All rows of a partition, if nothing else is said.

    Else the ``first`` so many in its order, or those up to that rank, the ``last`` so many, or those ``within`` so
    much time. Where rows close in turn, with a bucket of the order, these are of those that have closed.
    """

    first: int | None = None
    last: int | None = None
    within: int | None = None
