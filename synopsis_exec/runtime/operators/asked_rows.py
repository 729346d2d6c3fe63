"""Which rows of a partition functions over windows may still ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AskedRows:
    """The rows of a partition that functions need: by default all.

    Else the ``first`` n in its order, or those up to that rank, the ``last`` n, or those ``within`` a length of
    time. Where rows close in turn, with a bucket of the order, only closed rows count.
    """

    first: int | None = None
    last: int | None = None
    within: int | None = None
