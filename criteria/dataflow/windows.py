"""The rules of functions over windows of rows, and of buckets of time.

Rows that are open are kept, and of those that are closed the ones that later rows look at: some of each partition, if
rows come in the window's order; those of a length of time; the first ones, if a rank above says how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.closing import closings
from streambound.criteria.dataflow.counting import different, least, open_rows, unsettled, until_key_ends
from streambound.criteria.dataflow.demand import Demand
from streambound.criteria.dataflow.state import (
    Entry,
    Operation,
    OperatorState,
    Reason,
    Retention,
    StateCount,
    Undecided,
    without_rule,
)
from streambound.criteria.dataflow.syntax import scalar_of_column
from streambound.criteria.dataflow.view import OperatorView, Places, place_of
from streambound.criteria.size import Number, Size, product, total

RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_TIED = ("RANK", "DENSE_RANK")
_BESIDE = ("LAG", "LEAD")
_FRAMED = ("COUNT", "SUM", "MIN", "MAX", "AVG", "FIRST_VALUE", "LAST_VALUE")


@dataclass(frozen=True, slots=True)
class WindowReach:
    """How far functions look: so many rows before and after, or so much of the order's values. None: to the end."""

    before: int | None
    after: int | None
    unit: nodes.Unit = nodes.Unit.ROWS


def over(tree: nodes.Over, demand: Demand, context: RuleContext) -> Operation:
    """Functions over windows: what each window keeps of the rows."""
    refused = [words for call in tree.calls if (words := _refused(call)) is not None]
    if refused:
        return Operation(tree, demand=demand, undecided=tuple(refused))
    given = context.views.of(tree.input)
    windows: dict[object, list[Limited]] = {}
    for place, call in enumerate(tree.calls, len(given.schema)):
        limits = demand.most if call.function in RANKS else demand.ago
        windows.setdefault((call.partition, call.order), []).append((call, limits.get(place)))
    shown = _shown(tree, demand, given)
    own = [one for call in tree.calls for one in (*call.partition, *(key.value for key in call.order))]
    states = [_window(tree, calls, given, shown, context) for several in windows.values() for calls in _alike(several)]
    below = context.below(tree.input, Demand(shown | given.read_by(*own)))
    return Operation(tree, tuple(states), (below,), demand)


Limited = tuple[nodes.WindowCall, int | None]
"""A function, and the greatest rank that matters, or how long ago the time at most that it gives of a row before."""


def _alike(calls: Sequence[Limited]) -> list[list[Limited]]:
    """Functions over one window by the rows that they need: a limited rank also limits those that look back."""
    limited = [one for one in calls if one[0].function in RANKS and one[1] is not None]
    reaches = [_reach_of(call) for call, _ in calls]
    if limited and all(one.after == 0 and one.unit is nodes.Unit.ROWS for one in reaches):
        return [[min(limited, key=lambda one: one[1] or 0)]]
    rest = [one for one in calls if one not in limited]
    within = [one for one in rest if _is_within_range(one[0])]
    return [several for several in (limited, within, [one for one in rest if one not in within]) if several]


def _is_within_range(call: nodes.WindowCall) -> bool:
    """Whether a function is of the rows of a length of time."""
    reach = _reach_of(call)
    return reach.unit is nodes.Unit.RANGE and reach.before is not None


def _shown(tree: nodes.Over, demand: Demand, given: OperatorView) -> Places:
    """The columns that rows are told apart by: all, as they break ties, but for functions that are alike for these."""
    return demand.every & given.every if all(call.function in _TIED for call in tree.calls) else given.every


def _refused(call: nodes.WindowCall) -> Undecided | None:
    if call.distinct or call.filter is not None or call.ignore_nulls:
        return Undecided(call, "DISTINCT, FILTER or IGNORE NULLS over a window")
    if call.function not in (*RANKS, *_BESIDE, *_FRAMED):
        return Undecided(call, f"the window function {call.function}")
    if call.function not in _BESIDE and len(call.arguments) > 1:
        return Undecided(call, f"{call.function} of several arguments over a window")
    return None


def _window(
    tree: nodes.Over, calls: Sequence[Limited], given: OperatorView, shown: Places, context: RuleContext
) -> OperatorState:
    """What functions over the same window keep."""
    call = calls[0][0]
    partition = _columns(tree, call.partition, context)
    numbers = [n for one, n in calls if n is not None and one.function in RANKS]
    kept = _all(tree, call, given, context)
    if numbers:
        kept += _first(tree, call, max(numbers), given, shown, partition, context)
    else:
        kept += _near([one for one, _ in calls], given, partition) + _recent(calls, given)
    count = least(kept)
    places = tuple(sorted(given.read_by(*call.partition)))
    blame = None if count is not None else next((p for p in places if given.columns[p].values.size is None), None)
    words = "" if count is not None else "rows of each partition are kept"
    return OperatorState(tree, "rows", "OVER", places, Entry.ROW, count, blame, words)


def _recent(calls: Sequence[Limited], given: OperatorView) -> list[StateCount]:
    """LAG of which only rows matter whose own row before is so near in time: others are as good as absent."""
    offsets = [_reach_of(call).before for call, _ in calls]
    limits = [
        most for call, most in calls if most is not None and _reach_of(call).before == max(n or 0 for n in offsets)
    ]
    if not limits or None in offsets or any(call.function != "LAG" for call, _ in calls):
        return []
    size = open_rows(given, max(0, min(limits)))
    return [] if size is None else [StateCount(size, Reason.OPEN, Retention.TIME)]


def _columns(tree: nodes.Over, scalars: Sequence[nodes.Scalar], context: RuleContext) -> OperatorView:
    """Some expressions over the rows, as a view."""
    items = tuple(nodes.Named(f"c{n}", one, alias=True) for n, one in enumerate(scalars))
    return context.views.of(nodes.Project(tree.input, items, syntax=tree.syntax))


def _columns_of(given: OperatorView, places: Places) -> list[nodes.Scalar]:
    return [scalar_of_column(given.schema[place]) for place in sorted(places)]


def _all(tree: nodes.Over, call: nodes.WindowCall, given: OperatorView, context: RuleContext) -> list[StateCount]:
    """All rows: as many as there are, or, where partitions close, those of open ones."""
    found = [] if given.rows is None else [StateCount(given.rows, Reason.ROWS)]
    whole = _columns(tree, [*map(scalar_of_column, given.schema), *call.partition], context)
    width = len(given.schema)
    count = different(whole, whole.every, range(width, len(whole.schema)))
    return found if count is None else [*found, count]


def _first(
    tree: nodes.Over,
    call: nodes.WindowCall,
    number: int,
    given: OperatorView,
    shown: Places,
    partition: OperatorView,
    context: RuleContext,
) -> list[StateCount]:
    """The first rows of each partition: of closed rows only these can be among the first, with all of their rank.

    Rows of one rank differ in columns that are ``shown``, and in each key of the rows.
    """
    still, each = _open(given), _partitions(partition, len(call.partition))
    if still is None:
        return []
    found = [each]
    if call.function in _TIED:
        same = {place_of(parsed(one), given) for one in (*call.partition, *(key.value for key in call.order))}
        ways = [[*call.partition, *_columns_of(given, one - same)] for one in (shown, *given.keys)]
        found = [_partitions(_columns(tree, items, context), len(call.partition)) for items in ways]
        first = place_of(parsed(call.order[0].value), given) if call.order else None
        ties = open_rows(given, 1) if first is not None and given.columns[first].newest else None
        if ties is not None and each is not None:
            found.append(replace(each, size=product([each.size, ties])))
    return [replace(one, size=total([still, product([Number(number), one.size])])) for one in found if one is not None]


def _near(calls: Sequence[nodes.WindowCall], given: OperatorView, partition: OperatorView) -> list[StateCount]:
    """Rows near others, and one running value, where no row comes before a closed one any more."""
    call, reaches = calls[0], [_reach_of(call) for call in calls]
    if not call.order or call.order[0].descending or any(one.after is None for one in reaches):
        return []
    place = place_of(parsed(call.order[0].value), given)
    newest = place is not None and given.columns[place].newest and given.change <= ViewKind.APPEND_ONLY
    if not newest and not any(one.place == place for one in closings(given)):
        return []
    ranges = [one for one in reaches if one.unit is nodes.Unit.RANGE and (one.before, one.after) != (None, 0)]
    sizes: list[Size | None] = [Number(0) if newest or place is None else _size(different(given, given.every, [place]))]
    if ranges:
        if not newest or len(call.order) > 1:
            return []
        sizes.append(open_rows(given, max(one.before or 0 for one in ranges) + max(one.after or 0 for one in ranges)))
    rows = [one for one in reaches if one.unit is nodes.Unit.ROWS]
    running = any(one.before is None for one in reaches)
    number = (
        running + max((one.before or 0 for one in rows), default=0) + max((one.after or 0 for one in rows), default=0)
    )
    each = _partitions(partition, len(call.partition)) if number else StateCount(Number(0), Reason.VALUES)
    known = [size for size in sizes if size is not None]
    if each is None or len(known) < len(sizes):
        return []
    size = total([*known, product([Number(number), each.size])])
    if ranges and not number:
        return [StateCount(size, Reason.OPEN, Retention.TIME)]
    return [replace(each, size=size)]


def _open(given: OperatorView) -> Size | None:
    """The rows that may still change."""
    return Number(0) if given.change <= ViewKind.APPEND_ONLY else _size(unsettled(given, given.every))


def _partitions(partition: OperatorView, width: int) -> StateCount | None:
    """How many partitions there are, which go when one of their own columns says so; the first ones are theirs."""
    return (
        until_key_ends(partition, partition.every, range(width))
        if partition.schema
        else StateCount(Number(1), Reason.ROWS)
    )


def _size(count: StateCount | None) -> Size | None:
    return None if count is None else count.size


def _reach_of(call: nodes.WindowCall) -> WindowReach:
    if call.function in RANKS:
        return WindowReach(None, 0)
    if call.function in _BESIDE:
        offset = whole_number(parsed(call.arguments[1])) if len(call.arguments) > 1 else (1, None)
        number = None if offset is None else offset[0]
        return WindowReach(number, 0) if call.function == "LAG" else WindowReach(0, number)
    if call.frame is None:
        return WindowReach(None, None)
    start, end = call.frame.start, call.frame.end
    before = 0 if start.side is nodes.Side.CURRENT else start.distance
    after = 0 if end.side is nodes.Side.CURRENT else end.distance
    before = -before if start.side is nodes.Side.FOLLOWING and before is not None else before
    after = -after if end.side is nodes.Side.PRECEDING and after is not None else after
    return WindowReach(
        None if before is None else max(0, before), None if after is None else max(0, after), call.frame.unit
    )


def bucket(tree: nodes.Bucket, demand: Demand, context: RuleContext) -> Operation:
    """Buckets of time: they need the time, and remember nothing. Sessions are kept by the groups that are of them."""
    if tree.kind is nodes.BucketKind.SESSION:
        return without_rule(tree, "sessions that no groups are of")
    given = context.views.of(tree.input)
    own = replace(demand, columns=demand.columns & given.every)
    if any(not factor <= given.every for factor in demand.factors):
        own = Demand(demand.every & given.every, once=demand.once)
    below = context.below(tree.input, own.reading(given.read_by(tree.time, *tree.keys)))
    return Operation(tree, inputs=(below,), demand=demand)
