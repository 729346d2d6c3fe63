"""``GROUP BY S.a  ->  GROUP BY S.a, window(S.ts, '1 hour')``: groups that are over when their time is."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.types import Family
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.spots import Spot
from streambound.criteria.repairs.steps import AddGroupKey, Change

WEIGHT = 35
_NAME = "bucket"
_NOTE = "there is a result for each length of time; how long it is is an example: choose yours"


def time_buckets(rejected: RejectedTree) -> Iterator[Change]:
    """A bucket of the time of a stream that a GROUP BY reads, as one more of its keys."""
    for scope in rejected.scopes:
        group, spot = scope.select.args.get("group"), Spot.of(scope.select)
        if spot is None or group is None or not group.expressions:
            continue
        for item in scope.items:
            time = item.table.column(item.time.column)
            if time is None or item.table.timestamp is None or _grouped(group, item.time.column):
                continue
            if time.type.family is Family.TIMESTAMP:
                call = f"window({item.written_time}, '1 hour')"
                step = AddGroupKey(spot, call, f"{call}.start", f"{_NAME}_start")
            else:
                step = AddGroupKey(spot, f"{item.written_time} DIV 10", f"{item.written_time} DIV 10", _NAME)
            yield Change(("bucket",), (f"group by lengths of {item.alias}'s time, too",), WEIGHT, (step,), (_NOTE,))


def _grouped(group: exp.Group, time: str) -> bool:
    return any(column.name.lower() == time.lower() for column in group.find_all(exp.Column))
