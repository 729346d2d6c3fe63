"""Project, Over, Apply: columns of a row, computed of it, of a window of rows around it, or by a subquery."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.expression_facts import facts_of
from streambound.analyzer.algebra.nodes import Apply, ApplyKind, Item, Over, Project, Scalar, Star, WindowCall
from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.rules.operator_input import OperatorInput, passed_on, unless_static, without_now
from streambound.analyzer.algebra.schema import starred_places
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn, meant
from streambound.analyzer.algebra.value_sets import ANYTHING, between
from streambound.analyzer.algebra.view_facts import (
    NOW,
    ROW_BESIDE,
    ColumnFacts,
    TimePromise,
    Times,
    ViewFacts,
    ViewKind,
    added,
    promises,
)
from streambound.analyzer.algebra.window_functions import (
    Gives,
    farthest_ahead,
    is_beside,
    looks_back,
    operands,
    window_function,
)


def projected(tree: Project, given: OperatorInput) -> ViewFacts:
    """Columns of the row and expressions over it."""
    columns = tuple(_columns(tree.items, given))
    return replace(given.facts, keys=_keys(tree.items, given), columns=columns, state=0)


def over(tree: Over, given: OperatorInput, named: Schema) -> ViewFacts:
    """The row with columns that are computed over windows: with a new row they may be others of every row.

    Rows that come in the window's order do not change those before them, if these look back only.
    """
    found = given.facts
    computed = [
        ColumnFacts(
            between(1, None, null=False)
            if window_function(call).gives is Gives.NUMBER
            else between(0, None, null=False)
            if call.function == "COUNT"
            else replace(ANYTHING, null=column.nullable)
        )
        for call, column in zip(tree.calls, named[len(given.schema) :], strict=True)
    ]
    computed = [
        replace(column, times=_of_row_beside(call, number, tree.calls, given))
        for number, (call, column) in enumerate(zip(tree.calls, computed, strict=True))
    ]
    state = 0 if given.is_static else found.rows
    if found.change is ViewKind.APPEND_ONLY and all(_looks_back(call, given) for call in tree.calls):
        return replace(found, columns=(*given.columns, *computed), state=state)
    settled = range(len(given.columns)) if given.is_static else _settled(tree, given)
    columns = [
        column if place in settled else replace(column, times=promises(map(_since, column.times)))
        for place, column in enumerate(given.columns)
    ]
    closes = any(one.closing is not None for one in columns)
    change = unless_static(found, ViewKind.CLOSING if closes else ViewKind.CHANGING)
    return ViewFacts(change, found.keys, found.rows, (*columns, *computed), state).settled


def _since(time: TimePromise) -> TimePromise:
    """What holds when a row is changed later than by itself."""
    return replace(time, low=None) if time.source == NOW else time


def _settled(tree: Over, given: OperatorInput) -> frozenset[int]:
    """The columns whose values still say when rows change: with rows of their partition, or with those before them.

    A row changes with another one of an equal value in a partition's column. If all functions look back by a column
    without NULL, no row comes before those with greater values of it, which are there already.
    """
    partitions = [frozenset(_place(one, given) for one in call.partition) for call in tree.calls]
    orders = [_place(call.order[0].value, given) if looks_back(call) else None for call in tree.calls]
    of_each = [partition | {order} for partition, order in zip(partitions, orders, strict=True)]
    in_all = frozenset.intersection(*partitions)
    found = [place for place in frozenset.intersection(*of_each) if place is not None]
    return frozenset(place for place in found if place in in_all or not given.columns[place].values.null)


def _of_row_beside(call: WindowCall, number: int, calls: Sequence[WindowCall], given: OperatorInput) -> Times:
    """LAG or LEAD of the window's time of arrival is the time of another row, as of a source of its own.

    A row changes for the last time when the farthest row comes that it looks ahead to, whose time it has then.
    """
    of = operands(call) if is_beside(call) else ()
    column = _column(of[0], given) if of else None
    timed = column is not None and column.newest and bool(call.order) and _column(call.order[0].value, given) == column
    if not timed or len(of) > 1:
        return ()
    ahead = [one for one in calls if not _looks_back(one, given)]
    last = given.facts.change is ViewKind.APPEND_ONLY and farthest_ahead(call, ahead)
    return (TimePromise(f"{ROW_BESIDE}{number}", 0, 0), *((TimePromise(NOW, 0, 0),) if last else ()))


def _place(scalar: Scalar, given: OperatorInput) -> int | None:
    """The place of the column that an expression is; None for another one."""
    syntax = scalar.syntax.unnest()
    return meant(syntax, given.schema) if isinstance(syntax, exp.Column) else None


def _column(scalar: Scalar, given: OperatorInput) -> ColumnFacts | None:
    """The facts of the column that an expression is; None for another one."""
    place = _place(scalar, given)
    return None if place is None else given.columns[place]


def _looks_back(call: WindowCall, given: OperatorInput) -> bool:
    """Whether a function is of rows that are no later than its own, where rows come in the order of its window."""
    if not looks_back(call):
        return False
    column = _column(call.order[0].value, given)
    return column is not None and column.newest


def applied(tree: Apply, given: OperatorInput, asked: OperatorInput) -> ViewFacts:
    """The row with what a subquery says of it, which changes as the subquery's rows do."""
    of_subquery = asked.columns[0] if tree.kind is ApplyKind.SCALAR and asked.columns else ColumnFacts(between(0, 1))
    values = of_subquery.values.or_null() if tree.kind is not ApplyKind.EXISTS else of_subquery.values.not_null()
    if asked.is_static:
        return replace(given.facts, columns=(*given.columns, ColumnFacts(values)), state=0)
    columns = (*without_now(given.columns), ColumnFacts(values))
    state = added(*(replace(side.facts, columns=side.columns).different for side in (given, asked)))
    return ViewFacts(ViewKind.CHANGING, given.facts.keys, given.facts.rows, columns, state).settled


def _columns(items: tuple[Item, ...], given: OperatorInput) -> Iterator[ColumnFacts]:
    for item in items:
        if isinstance(item, Star):
            yield from (given.columns[place] for place in starred_places(item, given.schema))
        else:
            yield value(item.value.syntax, given)


def value(node: exp.Expr, given: OperatorInput) -> ColumnFacts:
    """The facts of an expression over a row."""
    found = row_expression(node, given.schema)
    return ColumnFacts() if found is None else facts_of(found, given.columns, given.schema)


def _keys(items: tuple[Item, ...], given: OperatorInput) -> tuple[frozenset[str], ...]:
    """The keys of which all columns are listed."""
    pairs: list[tuple[ViewColumn, ViewColumn]] = []
    for item in items:
        if isinstance(item, Star):
            found = [given.schema[place] for place in starred_places(item, given.schema)]
            pairs += [(column, ViewColumn("", column.name)) for column in found]
            continue
        syntax = item.value.syntax
        place = meant(syntax, given.schema) if isinstance(syntax, exp.Column) else None
        if place is not None:
            pairs.append((given.schema[place], ViewColumn("", item.name)))
    return passed_on(given.facts.keys, pairs)
