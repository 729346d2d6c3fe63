"""A statement with SEQ blocks as a job: `job.py` with the blocks' plans as one literal, and the runtime beside it.

Over streams it is a plan of the engine; so it is over relations alone, of which there is one slice of time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from msgspec import structs

from streambound.analyzer.catalog import Catalog, DeclaredTable, OnViolation
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.statement import Statement
from streambound.analyzer.symbols import symbol
from streambound.analyzer.version import __version__
from streambound.criteria.judged import CircuitBound, Judged
from streambound.criteria.periods.decide import judged_periods
from streambound.criteria.periods.parts import PeriodPart
from streambound.synopsis_exec.circuit_plan import PlannedCircuit, known_sizes, plan_of
from streambound.synopsis_exec.declared_table import declared_domain, sink_specs, source_spec
from streambound.synopsis_exec.job_file import CompiledJob, compiled, script, write_job
from streambound.synopsis_exec.made_operators import MadeOperators, engine_types, names_of
from streambound.synopsis_exec.period_contracts import contracts_of_block, judged_by
from streambound.synopsis_exec.plan import relation_input
from streambound.synopsis_exec.synopsis_plan import as_formula
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.plan_text import rewriting_text
from streambound.temporal.statement import SeqStatement
from streambound_runtime import spec
from streambound_runtime.engine.plan import NativeNode
from streambound_runtime.operators import circuit_plan, formula
from streambound_runtime.operators.period_plan import SliceLineage
from streambound_runtime.periods import job as periods


def make_period_plan(judged: Judged, statement: Statement, catalog: Catalog, final: bool = False) -> PlannedCircuit:
    """The plan of a bounded block, which reads relations, and of whose streams contracts hold.

    Raises NotExecutableError.
    """
    part = judged.periods
    assert part is not None, "what was refused has no plan"
    added = () if isinstance(part.query, SliceLineage) else ("_mult",)  # rows with lineages are there once
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
    """The job of a statement that runs without Spark, all of time at once; or why there is none, in words."""
    if statement.outer or len(statement.blocks) > 1:
        return "Spark runs the SQL around its SEQ blocks"
    at_once = structs.replace(
        statement, statement=structs.replace(statement.statement, emit=None)
    )  # there is one slice of time
    found = judged_periods(at_once, catalog)
    if isinstance(found, Diagnostic):
        return found.message.replace("evaluates over streams", "evaluates without it")
    if found.judged.violations:
        return found.judged.violations[0].message
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


@dataclass(frozen=True)
class CompiledPeriodJob:
    """A statement with SEQ blocks, and its job as Spark runs it."""

    statement: SeqStatement
    job: periods.PeriodJob
    catalog: Catalog

    @property
    def name(self) -> str:
        """The statement's."""
        return self.job.name

    @property
    def text(self) -> str:
        """`job.py`: the SQL, the rewriting in words, and the job as one literal."""
        sentences = (f"  {line}" for line in rewriting_text(self.statement).split("\n"))
        title = f"{self.name}: a Spark job that evaluates SQL at every point of time."
        return script(title, self.statement.statement.sql, sentences, self.job, "periods.main")

    @cached_property
    def in_process(self) -> CompiledJob | str:
        """The same job as it runs without Spark; or why there is none, in words."""
        return job_in_process(self.statement, self.catalog)

    def write(self, folder: Path) -> Path:
        """Write `job.py`, and the runtime beside it, into a directory, which is made if it is not there."""
        return write_job(folder, self.text)


def compiled_periods(statement: SeqStatement, catalog: Catalog) -> CompiledPeriodJob:
    """The job of a statement with SEQ blocks."""
    random = {table.name for block in statement.blocks if isinstance(block, LineageBlock) for table in block.tables}
    relations = tuple(period_relation(table, catalog, table.name in random) for table in statement.tables)
    blocks = tuple(block.query for block in statement.blocks)
    made = periods.PeriodJob(
        statement.statement.name,
        __version__,
        relations,
        blocks,
        statement.outer,
        statement.ordered,
        *sink_specs(catalog.sink(statement.statement.name)),
        catalog.quarantine,
    )
    return CompiledPeriodJob(statement, made, catalog)


def period_relation(table: DeclaredTable, catalog: Catalog, random: bool = False) -> periods.PeriodRelation:
    """A relation as the runtime reads it, with all its columns; ``random``: its rows have lineages."""
    columns = tuple(spec.TableColumn(one.name, one.type.name, declared_domain(one.domain)) for one in table.columns)
    needs = tuple(column.name for column in columns)
    stops = table.on_violation is OnViolation.STOP
    relation = spec.Relation(table.name, columns, needs, source_spec(table.source), table.rows, stops)
    if table.period is None:
        return periods.PeriodRelation(relation)
    low, high = catalog.domain_of(table.period.kind)
    bounds = (table.period.begin, table.period.end)
    own = (table.period.key or "", table.period.probability or "") if random else ("", "")
    return periods.PeriodRelation(relation, bounds, table.period.kind.name, low, high, *own)
