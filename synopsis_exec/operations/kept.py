"""How many entries the states of a job's operators have at most, by what was judged of their operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streambound.criteria.dataflow.state import Operation, OperatorState
from streambound.synopsis_exec.synopsis_plan import as_formula
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.plan import EngineOperator, StateBound, states_of
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.operators import formula


def bounds_of(
    operator: EngineOperator, operation: Operation, known: Mapping[str, formula.Formula]
) -> Iterator[StateBound]:
    """What is said of the tables of an operator that was made of an operation; a block's are said with its plan."""
    if isinstance(operator, SqlStreamJoin):
        yield from _of_streams(operator, operation, known)
        return
    if isinstance(operator, SqlBlock):
        return
    names = [table.name for table in states_of(operator)]
    told = [state for state in operation.states if state.what != "table" and state.count is not None]
    values = [state for state in told if state.what == "values"]
    by_name = {state.what: state for state in told if state.what != "values"}
    numbered = [name for name in names if name.removeprefix("values").isdecimal()]
    if len(values) == len(numbered):
        by_name |= dict(zip(numbered, values, strict=True))
    if len(names) == len(told) == 1:
        by_name = {names[0]: told[0]}
    yield from (_bound(operator, name, by_name[name], known) for name in names if name in by_name)


def _bound(
    operator: EngineOperator, name: str, state: OperatorState, known: Mapping[str, formula.Formula]
) -> StateBound:
    assert state.count is not None, "what is bounded has a number"
    words = f"at most {state.count.size.text}, by {state.proposition}"
    return StateBound(operator.name, name, as_formula(state.count.size, dict(known)), words)


def _of_streams(
    join: SqlStreamJoin, operation: Operation, known: Mapping[str, formula.Formula]
) -> Iterator[StateBound]:
    """The rows of both sides of a join of two streams, as many as the inner join's tables have."""
    sizes = operation.rows.sizes if operation.rows is not None else None
    tables = {} if sizes is None else {one.table: one.size for one in sizes.tables}
    proposition = operation.states[0].proposition if operation.states else ""
    for name, side in (("left", join.left), ("right", join.right)):
        size = None if side.table is None else tables.get(side.table.name)
        if size is not None:
            yield StateBound(join.name, name, as_formula(size, dict(known)), f"at most {size.text}, by {proposition}")
