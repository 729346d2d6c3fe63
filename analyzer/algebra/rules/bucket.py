"""Bucket: each row with the ends of the buckets of time that it is in."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import Bucket, BucketKind
from streambound.analyzer.algebra.rules.operator_input import OperatorInput, unless_static, without_now
from streambound.analyzer.algebra.rules.select_list import value
from streambound.analyzer.algebra.value_sets import ANYTHING, between
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, Times, ViewFacts, ViewKind, promises


def bucketed(tree: Bucket, given: OperatorInput) -> ViewFacts:
    """The rows of buckets. A row is in one tumbling bucket, and in several hopping ones; a session's ends move.

    A bucket's start is at most its size before the time of a row in it. A session with the time e of its end changes
    only when a row comes before e is over, and then all of its rows do.
    """
    time = value(tree.time.syntax, given)
    found = given.facts
    if tree.kind is BucketKind.SESSION:
        change = unless_static(found, ViewKind.CHANGING)
        columns = (*(given.columns if given.is_static else without_now(given.columns)), *_session(tree, time.times))
        state = 0 if given.is_static else found.rows
        return replace(found, change=change, columns=columns, state=state, latest=None).settled
    many = tree.kind is BucketKind.HOPPING
    most = -(-tree.size // tree.slide) if tree.slide else 1
    rows = None if found.rows is None else found.rows * most
    columns = (*given.columns, *_ends(tree, time))
    return replace(found, keys=() if many else found.keys, rows=rows, columns=columns, state=0)


def _ends(tree: Bucket, time: ColumnFacts) -> list[ColumnFacts]:
    """Start, end and last microsecond of a bucket around a time; of a tumbling one, functions of it."""
    found, (low, high) = [], _starts(tree, time)
    for name, more in zip(("start", "end", "last"), (0, tree.size, tree.size - 1), strict=True):
        times_below = [one.moved(more) for one in time.times if not one.function]
        times_below = [replace(one, low=None if one.low is None else one.low - tree.size + 1) for one in times_below]
        function = f"window(_t, {tree.size}, {tree.offset}).{name}"
        exact = [
            TimePromise(one.source, one.low, one.high, function, tree.size)
            for one in time.times
            if not one.function and tree.kind is BucketKind.TUMBLING
        ]
        values = between(None if low is None else low + more, None if high is None else high + more, null=False)
        found.append(ColumnFacts(values, promises((*times_below, *exact))))
    return found[: len(tree.columns)]


def _starts(tree: Bucket, time: ColumnFacts) -> tuple[int | None, int | None]:
    """The first and the last start of a bucket that has one of the times."""
    (low, high), every = time.values.ends, tree.slide or tree.size
    return (
        ((low - tree.size - tree.offset) // every + 1) * every + tree.offset if isinstance(low, int) else None,
        (high - tree.offset) // every * every + tree.offset if isinstance(high, int) else None,
    )


def _session(tree: Bucket, times: Times) -> list[ColumnFacts]:
    """Of a session's start nothing is known but that it has begun; its end is not over while it changes."""
    now = [one for one in times if one.source == NOW and not one.function]
    found = [[TimePromise(NOW, None, one.high) for one in now]]
    for more in (0, -1):
        found.append(
            [
                TimePromise(
                    NOW,
                    None if one.low is None else one.low + more,
                    None if one.high is None else one.high + tree.size + more,
                )
                for one in now
            ]
        )
    return [ColumnFacts(replace(ANYTHING, null=False), promises(one)) for one in found[: len(tree.columns)]]
