"""Functions over windows of rows as the engine has them: one operator for each window, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.window_functions import number_of, operands, window_function, window_type
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import VOID
from streambound.analyzer.types import DataType, Family
from streambound.criteria.dataflow.state import Operation, OperatorState
from streambound.synopsis_exec.from_operations import JobOperators, OperationRows, time_bucket
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.tables import engine_type
from streambound_runtime.operators.circuit_plan import OverValue


def rows_of_windows(operation: Operation, tree: nodes.Over, job: JobOperators) -> OperationRows:
    """Each row with the functions' values."""
    rows, width = job.rows(operation.inputs[0]), len(job.views.of(tree.input).schema)
    for state in operation.states:
        rows = _window(state, rows, tree, width, job)
    return rows


def _window(
    state: OperatorState, rows: OperationRows, tree: nodes.Over, width: int, job: JobOperators
) -> OperationRows:
    """The rows with the values of functions over one window."""
    window, view = state.window, job.views.of(tree.input)
    assert window is not None, "what is bounded keeps some rows"
    call, calls = window.calls[0], window.calls
    own, plain = len(rows.columns), [f"`{column.name}`" for column in rows.columns]
    texts = [job.text(one, view, rows) for one in call.partition]
    texts += [job.text(key.value, view, rows) for key in call.order]
    given = list[str]()
    values = list[tuple[int | None, int | None, int | None]]()
    for one in calls:
        value = default = where = None
        of = operands(one)
        if of:
            value = own + len(texts) + len(given)
            given.append(job.text(of[0], view, rows))
        if len(of) > 1:
            default = own + len(texts) + len(given)
            given.append(job.text(of[1], view, rows))
        if one.filter is not None:
            where = own + len(texts) + len(given)
            case = exp.Case(ifs=[exp.If(this=one.filter.syntax.copy(), true=exp.Literal.number(1))])
            given.append(job.text(case, view, rows))
        values.append((value, default, where))
    mapped = job.made_of(rows, [*plain, *texts, *given], ())
    partition = tuple(range(own, own + len(call.partition)))
    first = own + len(partition)
    order = tuple((first + n, key.descending, key.nulls_first) for n, key in enumerate(call.order))
    found = tuple(_value(one, *places, mapped.columns) for one, places in zip(calls, values, strict=True))
    kinds = tuple(_kind(one, place, mapped.columns) for one, (place, _, _) in zip(calls, values, strict=True))
    closing = None if state.count is None else state.count.closing
    bucket = None
    if closing is not None:
        place = closing.place - width + own if closing.place >= width else rows.places.index(closing.place)
        bucket = time_bucket(closing, place)
    below, types = job.made[mapped.operator], tuple(engine_type(kind.name) for kind in kinds)
    ending = _ending(state, tree, rows, own, job)
    windows = (job.named("over"), below.name, below.types, own, partition, order, found, types, bucket, *ending)
    operator = SqlRunning(*windows) if window.asked is None else SqlOver(*windows, window.asked)
    places = tuple(width + next(n for n, one in enumerate(tree.calls) if one is call) for call in calls)
    columns = (*rows.columns, *(Column("", kind) for kind in kinds))
    return job.added(operator, (*rows.places, *places), columns)


def _ending(
    state: OperatorState, tree: nodes.Over, rows: OperationRows, own: int, job: JobOperators
) -> tuple[tuple[int, ...], str]:
    """The places of a key by which rows go, and the operator of those that are over."""
    if job.key is not None:
        return job.places_of_key(tree.input, rows), job.over(job.key)[0]
    held = None if state.count is None else state.count.held
    return ((), "") if held is None else (tuple(own + place for place in held.places), job.over(held.key)[0])


def _value(
    call: nodes.WindowCall, value: int | None, default: int | None, where: int | None, columns: Sequence[Column]
) -> OverValue:
    kind = _kind(call, value, columns)
    argument = None if value is None else columns[value].type
    if default is not None and columns[default].type == VOID:
        default = None  # which is NULL
    frame = None if call.frame is None else _frame(call.frame)
    offset = 0 if window_function(call).number is None else number_of(call)
    places = (argument.scale or 0) if argument is not None and argument.family is Family.DECIMAL else 0
    return OverValue(call.function.lower(), kind.name, value, default, offset, frame, places, call.distinct, where)


def _frame(frame: nodes.Frame) -> tuple[bool, int | None, int | None]:
    ends = []
    for one in (frame.start, frame.end):
        distance = 0 if one.side is nodes.Side.CURRENT else one.distance
        ends.append(-distance if distance is not None and one.side is nodes.Side.PRECEDING else distance)
    return frame.unit is nodes.Unit.ROWS, ends[0], ends[1]


def _kind(call: nodes.WindowCall, value: int | None, columns: Sequence[Column]) -> DataType:
    kind = window_type(call, None if value is None else columns[value].type)
    assert kind is not None, "functions over windows have types"
    return kind
