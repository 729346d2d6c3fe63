"""The rules of functions over windows of rows, and of buckets of time.

Rows that are open are kept, and of those that are closed the ones that later rows look at: some of each partition, if
rows come in the window's order; those of a length of time; the first ones, if a rank above says how many.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.syntax import scalar_of_column
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.algebra.window_functions import (
    WINDOW_FUNCTIONS,
    Looks,
    continues,
    is_beside,
    is_decided,
    is_rank,
    number_of,
    operands,
    window_function,
)
from streambound.analyzer.constants import VOID
from streambound.analyzer.types import DataType, Family
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.closing import closings
from streambound.criteria.dataflow.counting import different, least, open_rows, unsettled, until_key_ends
from streambound.criteria.dataflow.demand import Demand
from streambound.criteria.dataflow.state import (
    Entry,
    Operation,
    OperatorState,
    Retention,
    StateCount,
    Undecided,
    WholeView,
    WindowCount,
    WindowRows,
    smaller,
    without_rule,
)
from streambound.criteria.dataflow.view import OperatorView, Places, place_of
from streambound.criteria.size import Number, product, total
from streambound_runtime.operators.asked_rows import AskedRows

_KNOWN = ", ".join(name for name, one in WINDOW_FUNCTIONS.items() if one.decided)
_AGGREGATED = "aggregate in a subquery, GROUP BY a window of time, and join it"


class WindowReach(Struct, frozen=True):
    """How far functions look: rows before and after, or distances in the order's values. None: to the end."""

    before: int | None
    after: int | None
    unit: nodes.Unit = nodes.Unit.ROWS


def over(tree: nodes.Over, demand: Demand, context: RuleContext) -> Operation:
    """Functions over windows: what each window keeps of the rows."""
    given = context.views.of(tree.input)
    refused = [words for call in tree.calls if (words := _refused(call, given)) is not None]
    if refused:
        return Operation(tree, demand=demand, undecided=tuple(refused))
    windows: dict[object, list[Limited]] = {}
    for place, call in enumerate(tree.calls, len(given.schema)):
        limit = demand.most.get(place) if is_rank(call) else _apart(call, place, demand, given)
        windows.setdefault((call.partition, call.order), []).append((call, limit))
    shown = _shown(tree, demand, given)
    own = [one for call in tree.calls for one in (*call.partition, *(key.value for key in call.order))]
    states = [state for several in windows.values() for state in _of_window(tree, several, given, shown, context)]
    changing = [one for one in states if one.window is not None and _needs_rows_that_stay(one.window)]
    if len(changing) > 1:
        return without_rule(tree, "functions over several windows that look at later rows")
    states.sort(key=_order)
    closing = {one.count.closing.place for one in states if one.count is not None and one.count.closing is not None}
    below = context.below(tree.input, Demand(shown | given.read_by(*own) | (closing & given.every)))
    return Operation(tree, tuple(states), (below,), demand)


Limited = tuple[nodes.WindowCall, int | None]
"""A function, and the greatest rank that matters, or how far away in time the row is at most that LAG or LEAD gives."""


def _apart(call: nodes.WindowCall, place: int, demand: Demand, given: OperatorView) -> int | None:
    """How far the time that LAG or LEAD gives is from its row's at most in rows that matter; None without a limit."""
    if not is_beside(call) or len(operands(call)) != 1 or not call.order:
        return None
    order = place_of(call.order[0].value.syntax, given)
    if order is None or not given.columns[order].newest or place_of(operands(call)[0].syntax, given) != order:
        return None
    return demand.apart.get((order, place) if window_function(call).looks is Looks.BACK else (place, order))


def _needs_rows_that_stay(window: WindowRows) -> bool:
    return window.takes_back and not window.takes_changes


def _order(state: OperatorState) -> int:
    """The windows are looked at one after the other: those that take rows back last, or those that can have that."""
    window = state.window
    return 0 if window is None or not window.takes_back else 2 if window.takes_changes else 1


def _of_window(
    tree: nodes.Over, calls: Sequence[Limited], given: OperatorView, shown: Places, context: RuleContext
) -> list[OperatorState]:
    """The states of functions over one window: those of each function, or all rows."""
    apart = [_window(tree, *several, given, shown, context) for several in _alike(calls)]
    if len(apart) < 2:
        return apart
    every = least(_all(tree, calls[0][0], given, context))
    sizes = [one.size for one in apart if one.size is not None]
    if every is None or (len(sizes) == len(apart) and not smaller(every.size, total(sizes))):
        return apart
    return [_state(tree, tuple(call for call, _ in calls), (every, AskedRows()), given)]


def _alike(calls: Sequence[Limited]) -> list[tuple[list[Limited], tuple[nodes.WindowCall, ...]]]:
    """Functions over one window by the rows that they need, and all that these are enough for.

    A limited rank also limits those that look back.
    """
    limited = [one for one in calls if is_rank(one[0]) and one[1] is not None]
    reaches = [_reach_of(call) for call, _ in calls]
    if limited and all(one.after == 0 and one.unit is nodes.Unit.ROWS for one in reaches):
        first = min(limited, key=lambda one: one[1] or 0)
        return [([first], (first[0], *(call for call, _ in calls if call is not first[0])))]
    rest = [one for one in calls if one not in limited]
    kinds: dict[object, list[Limited]] = {}
    for one in rest:
        reach = _reach_of(one[0])
        kinds.setdefault("so far" if reach.before is None else reach.unit, []).append(one)
    several = [one for one in (limited, *kinds.values()) if one]
    return [(one, tuple(call for call, _ in one)) for one in several]


def _shown(tree: nodes.Over, demand: Demand, given: OperatorView) -> Places:
    """The columns that distinguish rows: all, as they break ties, except where the functions agree on ties."""
    return demand.columns & given.every if all(window_function(call).ties for call in tree.calls) else given.every


def _refused(call: nodes.WindowCall, given: OperatorView) -> Undecided | None:
    if not window_function(call).decided:
        return Undecided(call, f"the window function {call.function}", f"those that are decided are {_KNOWN}")
    given_to, beside = operands(call), is_beside(call)
    if not is_decided(call):
        several = not beside and len(given_to) > 1
        words = "of several arguments" if several else "with DISTINCT, FILTER or IGNORE NULLS"
        return Undecided(call, f"{call.function} {words} over a window", _AGGREGATED)
    if beside and len(given_to) > 1:
        value, default = (type_of(one.syntax, given.schema)[0] for one in given_to)
        if default != VOID and not _fits(default, value):
            help = "cast the default to the type of the value"
            return Undecided(call, f"{call.function} with a default of another type", help)
    return None


def _fits(default: DataType | None, value: DataType | None) -> bool:
    """Whether a default is a value of LAG's type."""
    if default is None or value is None:
        return False
    return default == value or default.family is value.family is Family.INTEGER


Kept = tuple[StateCount, AskedRows | None]
"""How many rows are kept, and which."""


def _window(
    tree: nodes.Over,
    deciding: Sequence[Limited],
    calls: tuple[nodes.WindowCall, ...],
    given: OperatorView,
    shown: Places,
    context: RuleContext,
) -> OperatorState:
    """The state of functions over the same window."""
    call = deciding[0][0]
    partition = _columns(tree, call.partition, context)
    numbers = [n for one, n in deciding if n is not None and is_rank(one)]
    kept: list[Kept] = [(one, AskedRows()) for one in _all(tree, call, given, context)]
    if numbers:
        kept += _first(tree, call, max(numbers), given, shown, partition, context)
    else:
        kept += _near(_reach([one for one, _ in deciding]), call, given, partition) + _recent(deciding, given)
    count = least(one for one, _ in kept)
    return _state(tree, calls, next((one for one in kept if one[0] is count), None), given)


def _state(
    tree: nodes.Over, calls: tuple[nodes.WindowCall, ...], kept: Kept | None, given: OperatorView
) -> OperatorState:
    places = given.read_by(*calls[0].partition)
    words = f"{'rows of each partition' if calls[0].partition else 'all rows'} are kept"
    count, asked = (None, AskedRows()) if kept is None else kept
    return OperatorState.of(
        tree, "rows", "OVER", places, Entry.ROW, count, given, words, window=WindowRows(calls, asked)
    )


def _recent(calls: Sequence[Limited], given: OperatorView) -> list[Kept]:
    """Functions of which only rows matter whose rows beside them are so near in time: others are as good as absent.

    What a function looks at is no further away than the row that a LAG or LEAD with a limit gives.
    """
    reach = _reach([call for call, _ in calls])
    if reach.unit is not nodes.Unit.ROWS or reach.before is None or reach.after is None:
        return []
    within = 0
    for looks, rows in ((Looks.BACK, reach.before), (Looks.AHEAD, reach.after)):
        limits = [(call, most) for call, most in calls if most is not None and window_function(call).looks is looks]
        near = [most for call, most in limits if number_of(call) >= rows]
        if rows and not near:
            return []
        within += max(0, min(near)) if rows else 0
    return _of_late(given, within)


def _of_late(given: OperatorView, within: int) -> list[Kept]:
    """The rows that came within a length of time."""
    rows = open_rows(given, within)
    if rows is None:
        return []
    return [(StateCount(rows.size, Retention.TIME, why=WindowCount(rows)), AskedRows(within=within))]


def _columns(tree: nodes.Over, scalars: Sequence[nodes.Scalar], context: RuleContext) -> OperatorView:
    """Some expressions over the rows, as a view."""
    items = tuple(nodes.Named(f"c{n}", one, alias=True) for n, one in enumerate(scalars))
    return context.views.of(nodes.Project(tree.input, items, syntax=tree.syntax))


def _columns_of(given: OperatorView, places: Places) -> list[nodes.Scalar]:
    return [scalar_of_column(given.schema[place]) for place in sorted(places)]


def _all(tree: nodes.Over, call: nodes.WindowCall, given: OperatorView, context: RuleContext) -> list[StateCount]:
    """All rows: as many as there are, or, where partitions close, those of open ones."""
    found = [] if given.rows is None else [StateCount(given.rows, why=WholeView(given))]
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
) -> list[Kept]:
    """The first rows of each partition: of closed rows only these can be among the first, with all of their rank.

    They go with their partition, or stay when they have closed: an operator has one time by which its rows go. Rows of
    one rank differ in columns that are ``shown``, and in each key of the rows.
    """
    still, each = _open(given), _partitions(partition, len(call.partition), len(given.schema))
    if still is None:
        return []
    found: list[tuple[StateCount | None, StateCount | None]] = [(each, None)]
    if window_function(call).ties:
        same = {place_of(one.syntax, given) for one in (*call.partition, *(key.value for key in call.order))}
        ways = [[*call.partition, *_columns_of(given, one - same)] for one in (shown, *given.keys)]
        alike = [_partitions(_columns(tree, items, context), len(call.partition), len(given.schema)) for items in ways]
        found = [(one, None) for one in alike]
        first = place_of(call.order[0].value.syntax, given) if call.order else None
        ties = open_rows(given, 1) if first is not None and given.columns[first].newest else None
        if ties is not None and each is not None:
            found.append((each, ties))
    counts = [
        replace(_both(still, number, one, ties), closing=still.closing or one.closing)
        for one, ties in found
        if one is not None and (still.closing is None or one.closing is None)
    ]
    return [(one, AskedRows(first=number)) for one in counts]


def _both(rows: StateCount, number: int, each: StateCount, ties: StateCount | None = None) -> StateCount:
    """Some rows, and a number of each partition, which go with it."""
    of_each = each.size if ties is None else product([each.size, ties.size])
    size = total([rows.size, product([Number(number), of_each])])
    return replace(each, size=size, why=WindowCount(rows, number, each, ties))


def _near(reach: WindowReach, call: nodes.WindowCall, given: OperatorView, partition: OperatorView) -> list[Kept]:
    """Rows near others, or one running value, where no row comes before a closed one any more."""
    if not call.order or call.order[0].descending:
        return []
    place = place_of(call.order[0].value.syntax, given)
    if place is None or reach.after is None or (reach.before is None and reach.after):
        return []
    newest = given.columns[place].newest and given.change <= ViewKind.APPEND_ONLY
    closed = [one for one in closings(given) if one.place == place]
    if not newest and not closed:
        return []
    if reach.unit is nodes.Unit.RANGE and reach.before is not None:
        if not newest or len(call.order) > 1:
            return []
        return _of_late(given, reach.before + reach.after)
    number = 1 if reach.before is None else reach.before + reach.after
    each = StateCount(Number(0)) if number == 0 else _partitions(partition, len(call.partition), len(given.schema))
    rows = StateCount(Number(0)) if newest else different(given, given.every, [place])
    if each is None or rows is None or (each.closing is not None and not newest):
        return []  # partitions that close have all of their rows until then
    closing = each.closing if newest else rows.closing or closed[0]
    count = replace(_both(rows, number, each), closing=closing)
    return [(count, None if reach.before is None else AskedRows(last=number))]


def _open(given: OperatorView) -> StateCount | None:
    """The rows that may still change."""
    if given.change <= ViewKind.APPEND_ONLY:
        return StateCount(Number(0))
    return unsettled(given, given.every)


def _partitions(partition: OperatorView, width: int, first: int) -> StateCount | None:
    """How many partitions there are, which go when one of their own columns says so; the first ones are theirs.

    Their columns come after the ``first`` ones, which are the rows'.
    """
    if not partition.schema:
        return StateCount(Number(1))
    found = until_key_ends(partition, partition.every, range(width))
    if found is None or found.closing is None:
        return found
    return replace(found, closing=replace(found.closing, place=found.closing.place + first))


def _reach(calls: Sequence[nodes.WindowCall]) -> WindowReach:
    """How far some functions look that look by the same unit."""
    found = [_reach_of(call) for call in calls]
    before = None if any(one.before is None for one in found) else max(one.before or 0 for one in found)
    after = None if any(one.after is None for one in found) else max(one.after or 0 for one in found)
    return WindowReach(before, after, found[0].unit)


def _reach_of(call: nodes.WindowCall) -> WindowReach:
    match window_function(call).looks:
        case Looks.SO_FAR:
            return WindowReach(None, 0)
        case Looks.BACK:
            return WindowReach(number_of(call), 0)
        case Looks.AHEAD:
            return WindowReach(0, number_of(call))
    if call.frame is None:
        return WindowReach(None, None)
    start, end = call.frame.start, call.frame.end
    before = 0 if start.side is nodes.Side.CURRENT else start.distance
    after = 0 if end.side is nodes.Side.CURRENT else end.distance
    if before is None and not continues(call):
        return WindowReach(None, None, call.frame.unit)
    if before is None and end.side is nodes.Side.PRECEDING and (call.frame.unit, after) != (nodes.Unit.ROWS, 1):
        return WindowReach(None, None, call.frame.unit)  # the value so far is not that of rows further back
    before = -before if start.side is nodes.Side.FOLLOWING and before is not None else before
    after = -after if end.side is nodes.Side.PRECEDING and after is not None else after
    return WindowReach(
        None if before is None else max(0, before), None if after is None else max(0, after), call.frame.unit
    )


def bucket(tree: nodes.Bucket, demand: Demand, context: RuleContext) -> Operation:
    """Buckets of time; sessions are kept by the groups that are of them."""
    if tree.kind is nodes.BucketKind.SESSION:
        return without_rule(tree, "sessions that no groups are of", "add GROUP BY session_window(ts, '5 minutes')")
    return in_buckets(tree, demand, context)


def in_buckets(tree: nodes.Bucket, demand: Demand, context: RuleContext) -> Operation:
    """Rows with their buckets of time: they need the time, and remember nothing."""
    given = context.views.of(tree.input)
    place = place_of(tree.time.syntax, given)
    kind = None if place is None else given.schema[place].type
    if kind is not None and kind.family is Family.DATE:
        return without_rule(tree, "a window of a DATE", "make it of the TIMESTAMP that the date is of")
    own = replace(demand, columns=demand.columns & given.every)
    below = context.below(tree.input, own.reading(given.read_by(tree.time, *tree.keys)))
    return Operation(tree, inputs=(below,), demand=demand)
