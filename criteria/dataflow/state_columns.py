"""What columns the states of a judged statement have in a job, and so how many bytes they take when it saves them.

An entry has the columns that its operator reads of its input, and numbers of 128 bits: of rows, of partners, sums.
Exact sums of doubles are texts (`streambound_runtime.engine.exact_sums`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, GroupKeeps, computed_of
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.sources import version_of
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.value_sets import ANYTHING, ValueSet
from streambound.analyzer.algebra.window_functions import operands
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.closure import used_attributes
from streambound.analyzer.constants import VOID
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import DataType, Family
from streambound.criteria.bound import TableBound
from streambound.criteria.dataflow.aggregates import Valued, valued
from streambound.criteria.dataflow.blocks import NEWEST, RuleContext
from streambound.criteria.dataflow.each_key import with_one_key
from streambound.criteria.dataflow.joins import with_partners
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.state import Entry, Operation, OperatorState
from streambound.criteria.dataflow.view import OperatorView, place_of
from streambound.criteria.entry_bytes import (
    LARGE,
    NULL,
    NUMBER,
    attribute_bytes,
    entry_bytes,
    of_any_length,
    text_bytes,
    type_bytes,
    value_bytes,
)
from streambound.criteria.size import Number, Size, product, total

_DIGITS_OF_64_BITS = 18
_EXACT = 600
"""The hexadecimal digits of a sum of doubles, from the least bit of the smallest to the greatest of the largest."""


class StateColumn(Struct, frozen=True):
    """A column of a state, as SQL calls it, and the most bytes of a value; None for a string of any length."""

    name: str
    bytes: int | None


Columns = tuple[StateColumn, ...]
_COUNTER = StateColumn("number", 16)
_TIME = _PLAIN_COUNTER = StateColumn("time", NUMBER)
"""Tables of rows of relations, of recursions and of keys have numbers of 64 bits, as no result has more duplicates."""


def state_bytes(judgement: Judgement) -> Size | StateColumn:
    """The most bytes of all states of a bounded statement; or the column because of which there is no such number."""
    sizes = list[Size]()
    for state, columns in state_columns(judgement):
        if state.size is None or state.size == Number(0):
            continue
        known = [one.bytes + NULL for one in columns if one.bytes is not None]
        if len(known) < len(columns):
            return next(one for one in columns if one.bytes is None)
        sizes.append(product([state.size, Number(sum(known))]))
    return total([Number(0), *sizes])


def state_columns(judgement: Judgement) -> Iterator[tuple[OperatorState, Columns]]:
    """The states of a statement, those of lower operators first, each with the columns of its entries."""
    yield from _below(judgement.operation, judgement.context, set())
    tables, views = judgement.context.catalog.tables, judgement.context.views
    ending = _widest(_of_key(one, judgement.context) for table in tables for one in table.ending)
    for state in judgement.keys:
        yield state, (*(_of_places(views.of(state.operator), state.key) if state.key else ending), _PLAIN_COUNTER)


def _below(
    operation: Operation, context: RuleContext, read: set[str], sums: Columns = ()
) -> Iterator[tuple[OperatorState, Columns]]:
    """The states of an operation and of all below; of a relation that is read several times once."""
    tree = operation.tree
    if operation.each_key is not None:
        key = operation.each_key.key
        own = _below(operation.each_key.operation, with_one_key(context, key), set())
        more = _of_key(key, context)
        yield from ((state, (*one, *more)) for state, (_, one) in zip(operation.states, own, strict=True))
        return
    for number, one in enumerate(operation.inputs):
        inside = context
        if isinstance(tree, nodes.Fixpoint) and number == 1:
            inside = replace(context, views=context.views.inside(tree))
        yield from _below(one, inside, read, _sums(operation, context) if number == 0 else ())
    if isinstance(tree, nodes.Scan):
        if tree.table in read:
            return
        read.add(tree.table)
    yield from zip(operation.states, _of_states(operation, context, sums), strict=True)


def _of_states(operation: Operation, context: RuleContext, sums: Columns) -> Iterator[Columns]:
    """The columns of each state of an operation; a block's tables have ``sums``, too."""
    tree, tables = operation.tree, _tables(operation)
    static = (one for one in operation.leaves() if is_static(one.tree, context.catalog))
    for state in operation.states:
        if state.reads_apart:
            yield _widest(_of_sources(operation, context))
        elif state.what == "table":
            of_sides = (_COUNTER, _TIME) if isinstance(tree, nodes.Join) else ()
            yield (*next(tables), _COUNTER, *sums, *of_sides)
        elif state.what == "relation" and isinstance(tree, nodes.Join):
            leaf = next(static)
            yield (*_of_places(context.views.of(leaf.tree), leaf.demand.columns), _COUNTER)
        else:
            yield _of_operator(state, operation, context)


def _of_operator(state: OperatorState, operation: Operation, context: RuleContext) -> Columns:
    match operation.tree:
        case nodes.Join() as tree:
            side = int(state.what == "right")
            rows = tree.right if side else tree.left
            version = version_of(rows)
            given = context.views.of(rows if version is None else version.input)
            own = _of_places(given, operation.inputs[side].demand.columns)
            return (*own, *_of_conditions(tree, context), _COUNTER, _COUNTER)
        case nodes.Aggregate() as tree:
            return _of_groups(state, tree, operation, context)
        case nodes.Over() as tree:
            return _of_windows(state, tree, operation, context)
    view = context.views.of(operation.tree)
    of_sides = (_COUNTER, _COUNTER) if state.what in ("distinct", "rows") else (_PLAIN_COUNTER,)
    return (*_of_places(view, view.every), *of_sides)


# --- columns of rows --------------------------------------------------------------------------------------------------


def _of_places(view: OperatorView, places: Iterable[int]) -> Columns:
    return tuple(_at(view, place) for place in sorted(places))


def _at(view: OperatorView, place: int) -> StateColumn:
    column = view.schema[place]
    name = f"{column.alias}.{column.name}" if column.alias else column.name
    width = _width(column.type, view.columns[place].values)
    return StateColumn(name, text_bytes(column.column) if width is None and column.column is not None else width)


def _of_expression(node: nodes.Scalar | exp.Expr, view: OperatorView) -> StateColumn:
    """What an operator computes of its rows."""
    syntax = node.syntax if isinstance(node, nodes.Scalar) else node
    place = place_of(syntax, view)
    return _at(view, place) if place is not None else StateColumn(
        syntax.sql("spark"), _width(type_of(syntax, view.schema)[0])
    )  # fmt: skip


def _width(kind: DataType | None, values: ValueSet = ANYTHING) -> int | None:
    """The most bytes of a column by its values, or its type; None for a string of any length."""
    if kind is None:
        return None
    if kind == VOID or kind.name.startswith("interval"):
        return NUMBER
    if kind.family is Family.DECIMAL and kind.precision > _DIGITS_OF_64_BITS:
        return LARGE
    if values.listed is not None and kind.family is not Family.FLOAT:
        return max([NUMBER, *(value_bytes(one if isinstance(one, str) else int(one)) for one in values.listed)])
    return type_bytes(kind)


def _widest(several: Iterable[Columns]) -> Columns:
    """Of entries of several kinds those that take most."""

    def size(columns: Columns) -> tuple[bool, int]:
        known = [one.bytes for one in columns if one.bytes is not None]
        return len(known) < len(columns), sum(known) + len(known) * NULL

    return max(several, key=size, default=())


def _of_key(key: StreamKey, context: RuleContext) -> Columns:
    """The columns of a key that punctuations end."""
    stream = context.catalog.table(key.stream)
    columns = (stream.column(name) for name in key.marked) if isinstance(stream, DeclaredTable) else ()
    return tuple(StateColumn(one.name, text_bytes(one) or _width(one.type)) for one in columns if one is not None)


# --- blocks and joins -------------------------------------------------------------------------------------------------


def _tables(operation: Operation) -> Iterator[Columns]:
    """The columns of the tables of a block that are kept, one by one."""
    rows = operation.rows
    for part in rows.sizes.branches if rows is not None and rows.sizes is not None else ():
        every = {source.alias for source in part.branch.streams} - {NEWEST}
        for table in part.tables:
            if rows is None or rows.best is None or {*table.layout.streams} != every:
                yield _of_table(part.facts, table)


def _of_table(facts: Facts, table: TableBound) -> Columns:
    width = entry_bytes(facts, table.layout)
    if width is None:
        return tuple(StateColumn(str(one), None) for one in of_any_length(facts, table.layout))
    kinds = [facts.branch.column(stored.attribute).type for stored in table.layout.key]
    wide = sum(one.family is Family.DECIMAL and one.precision > _DIGITS_OF_64_BITS for one in kinds)
    return (StateColumn(table.table, width + wide * (LARGE - NUMBER)),)


def _of_sources(operation: Operation, context: RuleContext) -> Iterator[Columns]:
    """The columns of rows that are kept apart, of each stream."""
    if operation.rows is None:
        computed = [one for each in operation.every() if isinstance(each.tree, nodes.Join)
                    for one in _of_conditions(with_partners(each.tree), context)]  # fmt: skip
        for leaf in operation.leaves():
            yield (*_of_places(context.views.of(leaf.tree), leaf.demand.columns), *computed, _COUNTER, _TIME)
        return
    for branch in operation.rows.read.split.branches:
        facts, used = Facts.of(branch), used_attributes(branch)
        for source in branch.streams:
            own = (one for one in sorted(used) if one.source == source.alias)
            factors = {name for several in source.factors for name in several}
            kinds = ((name, source.column(name).type) for name in sorted(factors))
            yield (
                *(StateColumn(str(one), attribute_bytes(facts, one)) for one in own),
                *(StateColumn(name, _width(kind)) for name, kind in kinds),
                _COUNTER,
                _TIME,
            )


def _of_conditions(tree: nodes.Join, context: RuleContext) -> Iterator[StateColumn]:
    """What is computed of a side's rows to be compared: operands that are no columns, and conditions of one side."""
    pair = context.views.pairs(tree)
    width = len(context.views.of(tree.left).schema)
    for part in chain.from_iterable(map(_leaves, (*conjuncts(tree.condition), *conjuncts(tree.member)))):
        read = {place >= width for place in pair.read_by(part)}
        compared = [one for one in part.iter_expressions() if pair.read_by(one)]
        if len(read) < 2 or len(compared) < 2:
            yield _TIME  # whether it is true
            continue
        kinds = {None if (kind := type_of(one, pair.schema)[0]) is None else kind.family for one in compared}
        yield from (_of_expression(one, pair) for one in compared if place_of(one, pair) is None)
        yield from (_TIME for _ in compared if len(kinds) > 1)  # as doubles


def _leaves(node: exp.Expr) -> Iterator[exp.Expr]:
    """The comparisons of a condition."""
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or | exp.Not):
        for part in node.iter_expressions():
            yield from _leaves(part)
    else:
        yield node


# --- groups and windows -----------------------------------------------------------------------------------------------


def _sum(kind: DataType | None, factors: int = 1) -> StateColumn:
    """A sum of products with this number of factors: exact for doubles."""
    exact = kind is not None and kind.family is Family.FLOAT
    return StateColumn("sum", NUMBER + _EXACT * max(1, factors)) if exact else _COUNTER


def _sums(operation: Operation, context: RuleContext) -> Columns:
    """The sums that the block below groups has in its entries."""
    tree, sums = operation.tree, operation.sums
    if sums is None or not isinstance(tree, nodes.Aggregate):
        return ()
    given = context.views.of(tree.input)

    def kind(factor: exp.Expr) -> DataType | None:
        return type_of(factor, given.schema)[0]

    found = list[StateColumn]()
    for one in sums.products:
        doubles = [factor for factor in one.factors if (known := kind(factor)) and known.family is Family.FLOAT]
        found.append(_sum(kind(doubles[0]), len(one.factors)) if doubles else _COUNTER)
    return tuple(found)


def _of_groups(state: OperatorState, tree: nodes.Aggregate, operation: Operation, context: RuleContext) -> Columns:
    """A group's key with its sums and best values, or a value of a group."""
    view, given, width = context.views.of(tree), context.views.of(tree.input), len(tree.keys)
    keys = _of_places(view, range(width))
    calls = [call for place, call in enumerate(tree.calls, width) if place in operation.demand.columns]
    read = [(call, valued(call)) for call in calls]
    if state.what == "values":
        value = _of_values(tree.calls[state.key[-1] - width], given)
        bucket = [_widest((one,) for one in _of_places(given, given.every) if one.bytes is not None)] * (
            state.entry is Entry.OPEN_VALUES
        )  # the time when it closes
        return (*keys, *value, *chain.from_iterable(bucket), _COUNTER)
    kept = [call for call, one in read if isinstance(one, Valued) and one.greatest is not None]
    best = [column for call in kept for column in _of_values(call, given)]
    linear = [call for call, one in read if one is None]
    if operation.sums is not None:
        return (*keys, _COUNTER, *_sums(operation, context), *best)
    return (*keys, _COUNTER, *chain.from_iterable(_of_linear(call, given) for call in linear), *best)


def _of_values(call: nodes.AggregateCall, given: OperatorView) -> Columns:
    """The kept value of a row, perhaps with another, selected one and whether that is NULL."""
    values = tuple(_of_expression(one, given) for one in computed_of(call))
    return values if len(values) == 1 else (*values, StateColumn("n", 1))


def _of_linear(call: nodes.AggregateCall, given: OperatorView) -> Iterator[StateColumn]:
    """How many values there are, their sum, and that of their squares."""
    yield _COUNTER
    if call.function != "COUNT":
        kind = type_of(call.arguments[0].syntax, given.schema)[0]
        yield _sum(kind)
        if AGGREGATES[call.function].kept is GroupKeeps.SQUARES:
            yield _sum(kind, 2)


def _of_windows(state: OperatorState, tree: nodes.Over, operation: Operation, context: RuleContext) -> Columns:
    """Rows with what windows are of and what functions are given; or of each partition the values so far."""
    view, given, window = context.views.of(tree), context.views.of(tree.input), state.window
    assert window is not None, "what is bounded keeps some rows"
    calls = window.calls
    values = _of_places(view, range(len(given.schema), len(view.schema)))  # those of windows before are there, too
    partition = [_of_expression(one, given) for one in calls[0].partition]
    order = [_of_expression(key.value, given) for key in calls[0].order]
    read = [_of_expression(one, given) for call in calls for one in operands(call)]
    rows = (*_of_places(given, operation.inputs[0].demand.columns & given.every), *values, *partition, *order, *read,
            _COUNTER)  # fmt: skip
    if window.asked is not None:
        return rows
    return _widest((rows, (*partition, _COUNTER, _COUNTER, *_so_far(calls, given))))


def _so_far(calls: Sequence[nodes.WindowCall], given: OperatorView) -> Iterator[StateColumn]:
    """How many values there are, their sum, and the value so far: a number where there is none."""
    for call in calls:
        of = [_of_expression(one, given) for one in operands(call)[:1]]
        kinds = [type_of(one.syntax, given.schema)[0] for one in operands(call)[:1]]
        yield from (_COUNTER, _sum(kinds[0] if kinds else None), *_widest(((_COUNTER,), tuple(of))))
