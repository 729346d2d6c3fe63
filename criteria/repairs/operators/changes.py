"""The registry of the kinds of change of statements beyond joins: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from streambound.criteria.repairs.changes import ranked
from streambound.criteria.repairs.operators.as_of import past_relations
from streambound.criteria.repairs.operators.buckets import time_buckets
from streambound.criteria.repairs.operators.duplicates import kept_duplicates
from streambound.criteria.repairs.operators.not_in import not_exists
from streambound.criteria.repairs.operators.open_keys import open_keys
from streambound.criteria.repairs.operators.ranges import value_domains, value_ranges
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.times import partner_orders, partner_times
from streambound.criteria.repairs.steps import Change

CHANGES: tuple[Callable[[RejectedTree], Iterator[Change]], ...] = (
    open_keys,
    not_exists,
    past_relations,
    partner_times,
    partner_orders,
    time_buckets,
    kept_duplicates,
    value_ranges,
    value_domains,
)


def candidates(rejected: RejectedTree, most: int) -> tuple[Change, ...]:
    """Single changes worth trying, at most so many of a kind, the best first."""
    return ranked(CHANGES, rejected, most)
