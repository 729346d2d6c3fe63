"""The plan of a SEQ block over streams of rows with periods, or over relations, of which there is one slice of time."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.statement import Statement
from streambound.analyzer.symbols import symbol
from streambound.criteria.judged import CircuitBound, Judged
from streambound.criteria.periods.decide import judged_periods
from streambound.criteria.periods.parts import PeriodPart
from streambound.synopsis_exec.circuit_plan import PlannedCircuit, known_sizes, plan_of
from streambound.synopsis_exec.job_file import CompiledJob, compiled
from streambound.synopsis_exec.made_operators import MadeOperators, engine_types, names_of
from streambound.synopsis_exec.period_contracts import contracts_of_block, judged_by
from streambound.synopsis_exec.plan import relation_input
from streambound.synopsis_exec.synopsis_plan import as_formula
from streambound.temporal.statement import SeqStatement
from streambound_runtime.engine.plan import NativeNode
from streambound_runtime.operators import circuit_plan, formula
from streambound_runtime.operators.epochs.plan import EpochLineage


def make_period_plan(judged: Judged, statement: Statement, catalog: Catalog, final: bool = False) -> PlannedCircuit:
    """The plan of a bounded block, which reads relations, and of whose streams contracts hold.

    Raises NotExecutableError.
    """
    part = judged.periods
    assert part is not None, "what was refused has no plan"
    added = () if isinstance(part.query, EpochLineage) else ("_mult",)  # rows with lineages are there once
    bound = CircuitBound(judged.states if part.streams else ())  # of relations alone nothing waits for more rows
    retracts = judged.retracts and not final
    plan = plan_of(_operators(part, catalog), part.columns, bound, statement, judged.clocks, added, retracts, final)
    inputs = (*plan.inputs, *(relation_input(*read) for read in part.relations))
    contracts = contracts_of_block(part, catalog)
    known = known_sizes(plan.blocks) | {symbol("rows", t.name): formula.RowCount(t.name) for t, _ in part.relations}
    return replace(
        plan,
        inputs=tuple(judged_by(item, contracts.get(item.name)) for item in inputs),
        circuit=replace(plan.circuit, bound=as_formula(plan.bound.entries, known)),
        judged=dict(part.judged),
        empty=bool(judged.empty),
    )


def job_in_process(statement: SeqStatement, catalog: Catalog) -> CompiledJob | str:
    """The job of a statement over relations alone that runs without Spark; or why there is none, in words."""
    if statement.outer or len(statement.blocks) > 1:
        return "Spark runs the SQL around its SEQ blocks"
    at_once = replace(statement, statement=replace(statement.statement, emit=None))  # there is one slice of time
    found = judged_periods(at_once, catalog)
    if isinstance(found, Diagnostic):
        return found.message.replace("evaluates over streams", "evaluates without it")
    try:
        return compiled(make_period_plan(found.judged, statement.statement, catalog), None)
    except NotExecutableError as error:
        return error.message


def _operators(part: PeriodPart, catalog: Catalog) -> MadeOperators:
    """The operators of a block's streams, and the one above them."""
    made = MadeOperators(catalog)
    for block in part.blocks:
        made.made[block.name] = made.block(block)
    names = tuple(block.name for block in part.blocks)
    node = circuit_plan.PeriodNode(part.name, names, part.query, names_of(part.columns))
    made.made[part.name] = NativeNode(node, engine_types(part.columns), True)
    return made
