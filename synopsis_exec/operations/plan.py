"""The plan of a decided statement, and how many entries each state of its operators has at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.statement import Statement
from streambound.analyzer.symbols import symbol
from streambound.criteria.dataflow.decision import JudgedOperators
from streambound.criteria.dataflow.final import takes_back
from streambound.criteria.dataflow.reported import reported_states
from streambound.criteria.dataflow.state import Combinations, DecidedBlock, Operation
from streambound.criteria.judged import CircuitBound
from streambound.criteria.size import Size
from streambound.criteria.unlimited import unlimited
from streambound.synopsis_exec.circuit_plan import PlannedCircuit, known_sizes, plan_of
from streambound.synopsis_exec.from_operations import JobOperators, Maker, NotMade
from streambound.synopsis_exec.operations.groups import rows_of_groups
from streambound.synopsis_exec.operations.joins import rows_of_join
from streambound.synopsis_exec.operations.recursion import rows_of_recursion
from streambound.synopsis_exec.operations.sets import rows_of_set
from streambound.synopsis_exec.operations.windows import rows_of_windows
from streambound.synopsis_exec.result_columns import ADDED, refused
from streambound.synopsis_exec.synopsis_plan import as_formula
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.plan import EngineOperator, StateBound, states_of
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.operators import formula

MAKERS: dict[type[nodes.Tree], Maker] = {
    nodes.Aggregate: rows_of_groups,
    nodes.Distinct: rows_of_set,
    nodes.Union: rows_of_set,
    nodes.Except: rows_of_set,
    nodes.Intersect: rows_of_set,
    nodes.Join: rows_of_join,
    nodes.Over: rows_of_windows,
    nodes.Fixpoint: rows_of_recursion,
}
"""What makes the operators of each kind of tree that keeps something. To add one: its file, and a line here."""


def plan_of_operators(
    judged: JudgedOperators, statement: Statement, final: bool = False, grows: bool = False
) -> PlannedCircuit:
    """The plan of a bounded statement, or of one that ``grows``, without M; raises NotExecutableError."""
    judgement, states = judged.judgement, judged.states
    if grows:
        judgement = replace(judgement, operation=_with_tables(judgement.operation))
        states = reported_states(judgement)
    try:
        made = JobOperators(judgement, MAKERS, final, grows)
    except NotMade as error:
        what = f"no job is written of this yet: {error}"
        raise refused(statement.name, what, "", statement.source.file, statement.span.line) from error
    view = judgement.context.views.of(judgement.operation.tree)
    columns = tuple(
        replace(column, name=shown.name) for column, shown in zip(made.result.columns, view.schema, strict=True)
    )
    bound = CircuitBound(states, grows)
    retracts = takes_back(judgement) and not final
    plan = plan_of(made, columns, bound, statement, judgement.clocks, ADDED, retracts, final)
    if grows:
        return plan
    known = known_sizes(plan.blocks) | {symbol("rows", name): formula.RowCount(name) for name in made.relations}
    kept = tuple(
        one
        for operator in plan.circuit.operators
        if (operation := made.made_of_operation.get(operator.name)) is not None
        for one in bounds_of(operator, operation, known)
    )
    return replace(plan, circuit=replace(plan.circuit, kept=(*plan.circuit.kept, *kept)))


def _with_tables(operation: Operation) -> Operation:
    """An operation whose blocks all have tables: those that nothing bounds hold all matches, and no best values."""
    rows = operation.rows
    if rows is not None and rows.sizes is None:
        rows = DecidedBlock(rows.read, unlimited(rows.read.split, repeats=True))
    return replace(operation, rows=rows, inputs=tuple(map(_with_tables, operation.inputs)))


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
