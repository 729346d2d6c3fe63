"""Windows: buckets of time, columns that are computed over the ordered rows of a partition, and the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.window_functions import Gives, number_of, operands, window_function, window_type
from streambound.analyzer.constants import INT
from streambound.incremental.operators import BucketsOp, GroupOp, SessionsOfGroup
from streambound.incremental.translation.aggregates import aggregate_of
from streambound.incremental.translation.lists import listed
from streambound.incremental.translation.subqueries import with_subqueries
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import BoundView, NamedColumn, Untranslatable, bind
from streambound.incremental.window_functions import Bounds, FirstOfPartition, OverPartition, RowOrder, WindowOf


def over(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """Each row with a column more for each call: a function of its partition."""
    assert isinstance(tree, nodes.Over)
    view = to.view(tree.input, around)
    syntaxes = [to.scalar(one) for call in tree.calls for one in _scalars(call)]
    view = to.reaching(view, around, syntaxes)
    view, replaced = with_subqueries(to, view, syntaxes, around, to.place(tree))
    width, windows = len(view.columns), dict[object, list[nodes.WindowCall]]()
    for call in tree.calls:
        windows.setdefault((call.partition, call.order), []).append(call)
    for calls in windows.values():  # functions over one window agree on which of equal rows is which
        partition = tuple(bind(to.scalar(one), view, replaced) for one in calls[0].partition)
        order = row_order(to, calls[0].order, view, replaced)
        functions = tuple(_function(to, call, view, replaced) for call in calls)
        keys = (*(view.column(at) for at in range(view.prefix)), *partition)
        named = (NamedColumn("", call.name, of.kind) for call, of in zip(calls, functions, strict=True))
        columns = (*view.columns, *named)
        span = to.span(calls[0].syntax) or to.place(tree)
        node = to.add(GroupOp(keys, OverPartition(order, functions)), (view.node,), columns, span)
        view = replace(view, node=node, columns=columns)
    made = [call for calls in windows.values() for call in calls]
    if made == list(tree.calls):
        return view
    places = [*range(width), *(width + made.index(call) for call in tree.calls)]
    return replace(to.kept(view, places), prefix=view.prefix)


def _scalars(call: nodes.WindowCall) -> list[nodes.Scalar]:
    filters = [call.filter] if call.filter is not None else []
    return [*call.arguments, *call.partition, *filters, *(key.value for key in call.order)]


def row_order(
    to: Translator, order: Sequence[nodes.SortKey], view: BoundView, replaced: dict[int, int] | None = None
) -> tuple[RowOrder, ...]:
    """The expressions of ORDER BY."""
    return tuple(RowOrder(bind(to.scalar(key.value), view, replaced), key.descending, key.nulls_first) for key in order)


def _function(to: Translator, call: nodes.WindowCall, view: BoundView, replaced: dict[int, int]) -> WindowOf:
    """A call over the rows of a partition."""
    text = call.function if not call.arguments else f"{call.function}({', '.join(a.text for a in call.arguments)})"
    if call.ignore_nulls:
        raise Untranslatable("IGNORE NULLS has no circuit", call.syntax)
    name, function, number = call.function.lower(), window_function(call), number_of(call)
    frame = None if call.frame is None else _bounds(call.frame)
    if function.gives in (Gives.NUMBER, Gives.SHARE):
        return WindowOf(name, window_type(call, None) or INT, offset=number, text=text)
    if function.gives is Gives.VALUE:
        value, *more = (bind(to.scalar(one), view, replaced) for one in operands(call))
        if frame is not None and more:
            raise Untranslatable(f"{call.function} of more than a value has no circuit", call.syntax)
        where = None if call.filter is None else bind(to.scalar(call.filter), view, replaced)
        return WindowOf(name, value.kind, value, number, more[0] if more else None, frame=frame, text=text, where=where)
    plain = nodes.AggregateCall(call.name, call.function, call.arguments, filter=call.filter, syntax=call.syntax)
    of = aggregate_of(to, plain, view, replaced)
    return WindowOf(name, of.kind, aggregate=of, frame=frame, text=text, distinct=call.distinct)


def _bounds(frame: nodes.Frame) -> Bounds:
    return Bounds(frame.unit is nodes.Unit.ROWS, _end(frame.start), _end(frame.end))


def _end(end: nodes.FrameEnd) -> Fraction | None:
    """Where a frame begins or ends, from the current row; None: nowhere."""
    if end.side is nodes.Side.CURRENT:
        return Fraction(0)
    if end.distance is None:
        return None
    return Fraction(-end.distance if end.side is nodes.Side.PRECEDING else end.distance)


# --- ORDER BY, LIMIT -------------------------------------------------------------------------------------------------


def order_by(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """ORDER BY without LIMIT: the rows, which have no order in a stream's results."""
    assert isinstance(tree, nodes.OrderBy)
    return to.view(tree.input, around)


def first_rows(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """LIMIT and OFFSET, by ORDER BY and then the order of all columns."""
    assert isinstance(tree, nodes.FirstRows)
    below: nodes.Tree = tree.input
    keys: tuple[nodes.SortKey, ...] = ()
    if isinstance(below, nodes.OrderBy):
        keys = below.keys
        below = below.input
    count = None if tree.count is None else _number(to.scalar(tree.count))
    skipped = 0 if tree.offset is None else _number(to.scalar(tree.offset))
    view, order, width = _ordered(to, below, keys, around)
    groups = tuple(view.column(at) for at in range(view.prefix))
    kept = to.same(GroupOp(groups, FirstOfPartition(order, count, skipped)), view, to.place(tree))
    return kept if width == len(kept.columns) else replace(to.kept(kept, range(width)), prefix=view.prefix)


def _ordered(
    to: Translator, tree: nodes.Tree, keys: Sequence[nodes.SortKey], around: Around
) -> tuple[BoundView, tuple[RowOrder, ...], int]:
    """The rows of a tree, what they are ordered by, and how many of the columns are the tree's.

    ORDER BY may name what is below the projection.
    """
    view = to.view(tree, around)
    try:
        return view, row_order(to, keys, view), len(view.columns)
    except Untranslatable:
        if not isinstance(tree, nodes.Project):
            raise
    below = to.view(tree.input, around)
    wide = listed(to, below, tree.items, around, to.place(tree), [to.scalar(key.value) for key in keys])
    width = len(wide.columns) - len(keys)
    order = tuple(RowOrder(wide.column(width + at), key.descending, key.nulls_first) for at, key in enumerate(keys))
    return wide, order, width


def _number(node: exp.Expr) -> int:
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        raise Untranslatable("a number of rows is wanted here", node)
    return int(node.this)


def bucket(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """Tumbling and hopping windows are a flatmap, which is linear; sessions a function of the rows that share keys."""
    assert isinstance(tree, nodes.Bucket)
    view = to.view(tree.input, around)
    syntaxes = [to.scalar(tree.time), *map(to.scalar, tree.keys)]
    view = to.reaching(view, around, syntaxes)
    view, replaced = with_subqueries(to, view, syntaxes, around, to.place(tree))
    time = bind(to.scalar(tree.time), view, replaced)
    ends = len(tree.columns)
    columns = (*view.columns, *(NamedColumn(tree.alias, name, time.kind) for name in tree.columns))
    if tree.kind is nodes.BucketKind.SESSION:
        keys = (
            *(view.column(at) for at in range(view.prefix)),
            *(bind(to.scalar(k), view, replaced) for k in tree.keys),
        )
        op: BucketsOp | GroupOp = GroupOp(keys, SessionsOfGroup(time, tree.size, ends))
    else:
        op = BucketsOp(time, tree.size, tree.slide or tree.size, tree.offset, ends)
    return replace(view, node=to.add(op, (view.node,), columns, to.place(tree)), columns=columns)
