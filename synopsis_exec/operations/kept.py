"""How many entries the states of a job's operators have at most, by what was judged of their operations."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.criteria.dataflow.state import Combinations, Operation
from streambound.criteria.size import Size
from streambound.synopsis_exec.synopsis_plan import as_formula
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.plan import EngineOperator, StateBound, states_of
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.operators import formula


def bounds_of(
    operator: EngineOperator, operation: Operation, known: dict[str, formula.Formula]
) -> Iterator[StateBound]:
    """What is said of the tables of an operator that was made of an operation; a block's are said with its plan."""
    if isinstance(operator, SqlStreamJoin):
        yield from _of_streams(operator, operation, known)
        return
    if isinstance(operator, SqlJoinTree):
        counts = (state.count.why for state in operation.states if state.count is not None)
        sizes = (one.size for why in counts if isinstance(why, Combinations) for one in why.sources)
        for table, size in zip(operator.states, sizes, strict=True):
            yield _bound(operator, table.name, size, operation.states[0].proposition, known)
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
    for name in names:
        state = by_name.get(name)
        if state is not None and state.size is not None:
            yield _bound(operator, name, state.size, state.proposition, known)


def _bound(
    operator: EngineOperator, table: str, size: Size, proposition: str, known: dict[str, formula.Formula]
) -> StateBound:
    words = f"at most {size.text}, by {proposition}"
    return StateBound(operator.name, table, as_formula(size, known), words)


def _of_streams(join: SqlStreamJoin, operation: Operation, known: dict[str, formula.Formula]) -> Iterator[StateBound]:
    """The rows of both sides of a join of two streams, as many as the inner join's tables have."""
    sizes = operation.rows.sizes if operation.rows is not None else None
    tables = {} if sizes is None else {one.table: one.size for one in sizes.tables}
    for name, side in (("left", join.left), ("right", join.right)):
        size = None if side.table is None else tables.get(side.table.name)
        if size is not None:
            yield _bound(join, name, size, operation.states[0].proposition, known)
