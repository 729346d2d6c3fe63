"""The registry of the kinds of change: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from criteria.repairs.bounds import bounds
from criteria.repairs.columns import columns
from criteria.repairs.domains import domains
from criteria.repairs.duplicates import duplicates
from criteria.repairs.rejected import Rejected
from criteria.repairs.relations import relations
from criteria.repairs.steps import Change
from criteria.repairs.timestamps import orders, simultaneous, windows

CHANGES: tuple[Callable[[Rejected], Iterator[Change]], ...] = (
    bounds,
    domains,
    duplicates,
    windows,
    relations,
    orders,
    columns,
    simultaneous,
)


def candidates(rejected: Rejected, most: int) -> tuple[Change, ...]:
    """Single changes worth trying, at most so many of a kind, those that change least first.

    Two ways to say one change count once.
    """
    found = (change for kind in CHANGES for change in islice(kind(rejected), most))
    distinct: dict[object, Change] = {}
    for change in found:
        distinct.setdefault(frozenset(change.steps), change)
    return tuple(sorted(distinct.values(), key=lambda change: (change.weight, len(change.steps))))
