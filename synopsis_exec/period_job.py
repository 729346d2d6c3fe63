"""A statement with SEQ blocks as a job: `job.py` with the blocks' plans as one literal, and the runtime beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from streambound.analyzer.catalog import Catalog, DeclaredTable, OnViolation
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.declared_table import declared_domain, sink_specs, source_spec
from streambound.synopsis_exec.job_file import CompiledJob, script, write_job
from streambound.synopsis_exec.period_plan import job_in_process
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.plan_text import rewriting_text
from streambound.temporal.statement import SeqStatement
from streambound_runtime import spec
from streambound_runtime.periods import job as periods


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
