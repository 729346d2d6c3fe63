"""The registry of the kinds of change: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from streambound.criteria.repairs.bounds import bounds
from streambound.criteria.repairs.columns import columns
from streambound.criteria.repairs.domains import domains
from streambound.criteria.repairs.duplicates import duplicates
from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.relations import relations
from streambound.criteria.repairs.steps import Change
from streambound.criteria.repairs.timestamps import orders, simultaneous, windows

R = TypeVar("R")

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
    """Single changes worth trying, at most so many of a kind, the best first."""
    return ranked(CHANGES, rejected, most)


def ranked(kinds: Iterable[Callable[[R], Iterator[Change]]], rejected: R, most: int) -> tuple[Change, ...]:
    """What some kinds of change offer, at most so much of each, the best first.

    Two ways to say one change count once.
    """
    found = (change for kind in kinds for change in islice(kind(rejected), most))
    distinct: dict[object, Change] = {}
    for change in found:
        distinct.setdefault(frozenset(change.steps), change)
    return tuple(sorted(distinct.values(), key=lambda change: (change.weight, len(change.steps))))
