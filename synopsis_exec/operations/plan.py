"""The plan of a statement that the rules by demand and facts have decided."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.statement import Statement
from streambound.criteria.dataflow.decision import JudgedOperators
from streambound.criteria.dataflow.final import takes_back
from streambound.criteria.dataflow.reported import reported_states
from streambound.criteria.dataflow.state import DecidedBlock, Operation
from streambound.criteria.judged import CircuitBound
from streambound.criteria.unlimited import unlimited
from streambound.synopsis_exec.circuit_plan import PlannedCircuit, plan_of
from streambound.synopsis_exec.from_operations import JobOperators, Maker, NotMade
from streambound.synopsis_exec.kept_results import ADDED, refused
from streambound.synopsis_exec.operations.groups import rows_of_groups
from streambound.synopsis_exec.operations.joins import rows_of_join
from streambound.synopsis_exec.operations.recursion import rows_of_recursion
from streambound.synopsis_exec.operations.sets import rows_of_set
from streambound.synopsis_exec.operations.windows import rows_of_windows

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
    return plan_of(made, columns, bound, statement, judgement.clocks, ADDED, retracts, final)


def _with_tables(operation: Operation) -> Operation:
    """An operation whose blocks all have tables: those that nothing bounds hold all matches, and no best values."""
    rows = operation.rows
    if rows is not None and rows.sizes is None:
        rows = DecidedBlock(rows.read, unlimited(rows.read.split, repeats=True))
    return replace(operation, rows=rows, inputs=tuple(map(_with_tables, operation.inputs)))
