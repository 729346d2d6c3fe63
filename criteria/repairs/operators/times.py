"""``T.ts <= S.ts + 10``, ``T.ts <= S.ts``: when a partner may come, in a join, EXISTS or NOT EXISTS.

A row waits for as long as a partner may come: what is printed of it may change until then.
"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Op
from streambound.criteria.repairs.operators.rejected import RejectedTree, condition
from streambound.criteria.repairs.operators.scopes import FromItem, SelectScope
from streambound.criteria.repairs.patch import shift
from streambound.criteria.repairs.steps import Change
from streambound.criteria.repairs.timestamps import BOTH_WAYS, EXAMPLE, ORDER, WINDOW, width

_ONE_WAY = 2


def partner_times(rejected: RejectedTree) -> Iterator[Change]:
    """A partner comes soon or not at all."""
    for scope, facts, stream, partner in _pairs(rejected):
        first, second = stream.alias, partner.alias
        late, early = facts.lag(second, first) is None, facts.lag(first, second) is None
        high = shift(width(facts, second, first), facts.branch.column(facts.time(second)).type)
        low = shift(-width(facts, first, second), facts.branch.column(facts.time(second)).type)
        if late:
            title = f"let {second} come at most so long after {first}"
            yield from _change(rejected, scope, (stream, partner), "window", title, WINDOW, (Op.LE, high))
        if late and early:
            title = f"let {second} come after {first}, and at most so long"
            yield from _change(rejected, scope, (stream, partner), "window", title, WINDOW + _ONE_WAY, ("", high))
        if late and early and scope.streams.index(partner) < scope.streams.index(stream):
            title = f"let {second} and {first} come at most so long after each other"
            weight = WINDOW + BOTH_WAYS
            yield from _change(rejected, scope, (stream, partner), "window", title, weight, (low, high))


def partner_orders(rejected: RejectedTree) -> Iterator[Change]:
    """A partner never comes later: what is printed of a row is final at once."""
    for scope, facts, stream, partner in _pairs(rejected):
        lead = facts.lag(stream.alias, partner.alias)
        if facts.lag(partner.alias, stream.alias) is None and (lead is None or lead >= 0):
            title = f"let {partner.alias} never come after {stream.alias}"
            yield from _change(rejected, scope, (stream, partner), "order", title, ORDER, (Op.LE, ""))


def _pairs(rejected: RejectedTree) -> Iterator[tuple[SelectScope, Facts, FromItem, FromItem]]:
    """Every two streams of which one SELECT sees both, in both orders, and what is known of them there."""
    for scope in rejected.scopes:
        facts = scope.facts
        if facts is None:
            continue
        streams = scope.streams
        for number, second in enumerate(streams):
            for first in streams[:number]:
                if first in scope.items or second in scope.items:
                    yield scope, facts, second, first
                    yield scope, facts, first, second


def _change(
    rejected: RejectedTree,
    scope: SelectScope,
    pair: tuple[FromItem, FromItem],
    kind: str,
    title: str,
    weight: int,
    ends: tuple[Op | str, str],
) -> Iterator[Change]:
    """``partner.ts <= stream.ts + high``, or ``partner.ts BETWEEN stream.ts + low AND stream.ts + high``."""
    stream, partner = pair[0].written_time, pair[1].written_time
    low, high = ends
    if isinstance(low, Op):
        text = f"{partner} {low.value} {stream}{high}"
    else:
        text = f"{partner} BETWEEN {stream}{low} AND {stream}{high}"
    step = condition(scope, pair, text)
    if step is not None:
        yield Change((kind,), (title,), weight, (step,), (EXAMPLE,) if high else ())
