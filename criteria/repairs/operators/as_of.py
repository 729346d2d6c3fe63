"""``JOIN R  ->  JOIN R FOR SYSTEM_TIME AS OF S.ts``: a relation as it was then, whatever becomes of it."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.catalog import Kind
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.spots import Spot
from streambound.criteria.repairs.steps import Change, ReadAsOf

WEIGHT = 10


def past_relations(rejected: RejectedTree) -> Iterator[Change]:
    """Each relation that changes, as of the time of a stream before it in the same FROM."""
    for scope in rejected.scopes:
        for number, item in enumerate(scope.items):
            spot = Spot.of(item.node)
            if item.table.changes is None or spot is None or item.side not in ("", "LEFT"):
                continue
            for stream in scope.items[:number]:
                if stream.table.kind is Kind.STREAM:
                    title = f"read {item.alias} as of {stream.alias}'s time"
                    note = f"later changes of {item.table.name} no longer correct what was printed"
                    yield Change(("as of",), (title,), WEIGHT, (ReadAsOf(spot, stream.written_time),), (note,))
