"""How many entries the states of a job's operators have at most, by what was judged of their operations."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.criteria.dataflow.state import Combinations, Operation
from streambound.criteria.rows_apart import kept_apart
from streambound.criteria.size import Size
from streambound.synopsis_exec.made_operators import MadeOperators
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.synopsis_plan import as_formula
from streambound_runtime.engine.block import SqlBlock, state_name
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.plan import EngineOperator, StateBound, states_of
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.operators import formula


def bounds_of(operator: EngineOperator, made: MadeOperators, known: dict[str, formula.Formula]) -> Iterator[StateBound]:
    """What is said of the tables of an operator: by the plan of a block, or what was judged of its operation."""
    if isinstance(operator, SqlBlock):
        if (plan := made.plans.get(operator.name)) is not None:
            yield from _of_block(operator, plan, known)
        return
    if (operation := made.made_of_operation.get(operator.name)) is None:
        return
    if isinstance(operator, SqlStreamJoin):
        yield from _of_streams(operator, operation, known)
        return
    if isinstance(operator, SqlJoinTree):
        rows, *relations = operation.states
        why = None if rows.count is None else rows.count.why
        streams = iter(why.sources if isinstance(why, Combinations) else ())
        others = iter(relations)
        for table, leaf in zip(operator.states, operation.leaves(), strict=True):
            size = next(others).size if leaf.rows is None else next(streams).size
            if size is not None:
                yield _bound(operator, table.name, size, "E1" if leaf.rows is None else rows.proposition, known)
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


def _of_block(operator: SqlBlock, plan: Plan, known: dict[str, formula.Formula]) -> Iterator[StateBound]:
    """How many entries a block's tables have at most, or how many rows of each stream, where these are kept apart."""
    apart = kept_apart(plan.bound)
    sizes = {one.table: one.size for one in plan.bound.tables} if apart is None else {}
    sizes |= {name: rows.size for name, rows in (apart or {}).items()}
    for number, branch in enumerate(operator.synopsis.branches):
        for place, table in enumerate(branch.tables):
            if (size := sizes.get(table.name)) is not None:
                words = f"at most {size.text} {'entries' if apart is None else 'rows'} of {table.name}, by Lemma 1"
                yield StateBound(operator.name, state_name(number, place), as_formula(size, known), words)
