"""A statement with SEQ blocks as a job: `job.py` with the blocks' plans as one literal, and the runtime beside it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from streambound.analyzer.catalog import Catalog, DeclaredTable, OnViolation
from streambound.analyzer.endpoints import Target
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.declared_table import declared_domain
from streambound.synopsis_exec.emit import Lines
from streambound.synopsis_exec.job_file import JOB, RUNTIME
from streambound.synopsis_exec.stale import MOST_LINES
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.plan_text import rewriting_text
from streambound.temporal.statement import SeqStatement
from streambound_runtime import promises, spec
from streambound_runtime.periods import job as periods
from streambound_runtime.periods import plan
from streambound_runtime.text import printed
from streambound_runtime.tp import plan as lineages
from streambound_runtime.zipped import zipped

MODULES = {"periods.job": periods, "periods.plan": plan, "promises": promises, "spec": spec, "tp.plan": lineages}
CLASSES = {
    name: module
    for module, found in MODULES.items()
    for name, value in vars(found).items()
    if isinstance(value, type) and value.__module__ == f"streambound_runtime.{module}"
}
"""The classes that a job's literal is made of, and the module that each is in."""


@dataclass(frozen=True, slots=True)
class CompiledPeriodJob:
    """A statement with SEQ blocks, and its job as the runtime runs it."""

    statement: SeqStatement
    job: periods.PeriodJob

    @property
    def name(self) -> str:
        """The statement's."""
        return self.job.name

    @property
    def text(self) -> str:
        """What `job.py` is."""
        return _text(self)

    def causes(self, text: str) -> list[str]:
        """Why a file is not what would be written; empty where it is."""
        return [] if text == self.text else ["the query, the catalog or the version of streambound changed"]

    def difference(self, text: str, file: str) -> list[str]:
        """The lines that differ, from the file's to what would be written, the first of them."""
        found = difflib.unified_diff(text.splitlines(), self.text.splitlines(), file, "compiled now", n=1, lineterm="")
        return list(found)[:MOST_LINES]

    def write(self, folder: Path) -> Path:
        """Write `job.py`, and the runtime beside it, into a directory, which is made if it is not there."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RUNTIME).write_bytes(zipped())
        (folder / JOB).write_text(self.text, encoding="utf-8")
        return folder / JOB


def compiled_periods(statement: SeqStatement, catalog: Catalog) -> CompiledPeriodJob:
    """The job of a statement with SEQ blocks."""
    random = {table.name for block in statement.blocks if isinstance(block, LineageBlock) for table in block.tables}
    relations = tuple(period_relation(table, catalog, table.name in random) for table in statement.tables)
    sink = catalog.sink(statement.statement.name)
    results = None
    if sink is not None and (sink.call or sink.target is not None):
        results = spec.SinkSpec(call=sink.call) if sink.call or sink.target is None else _target(sink.target)
    quarantine = _target(sink.quarantine) if sink is not None and sink.quarantine is not None else None
    blocks = tuple(block.query for block in statement.blocks)
    made = periods.PeriodJob(
        statement.statement.name,
        __version__,
        relations,
        blocks,
        statement.outer,
        statement.ordered,
        results,
        quarantine,
    )
    return CompiledPeriodJob(statement, made)


def period_relation(table: DeclaredTable, catalog: Catalog, random: bool = False) -> periods.PeriodRelation:
    """A relation as the runtime reads it, with all its columns; ``random``: its rows have lineages."""
    columns = tuple(spec.TableColumn(one.name, one.type.name, declared_domain(one.domain)) for one in table.columns)
    found = table.source
    source = spec.SourceSpec(found.format, found.path, found.options, found.payload, found.metadata) if found else None
    needs = tuple(column.name for column in columns)
    stops = table.on_violation is OnViolation.STOP
    relation = spec.Relation(table.name, columns, needs, source, table.rows, stops)
    if table.period is None:
        return periods.PeriodRelation(relation)
    low, high = catalog.domain_of(table.period.kind)
    bounds = (table.period.begin, table.period.end)
    own = (table.period.key or "", table.period.probability or "") if random else ("", "")
    return periods.PeriodRelation(relation, bounds, table.period.kind.name, low, high, *own)


def _target(target: Target) -> spec.SinkSpec:
    return spec.SinkSpec(target.format, target.path, target.options)


def _text(compiled: CompiledPeriodJob) -> str:
    """`job.py`: the SQL, the rewriting in words, and the job as one literal. The same job gives the same text."""
    lines = Lines()
    lines.comment(f"{compiled.name}: a Spark job that evaluates SQL at every point of time.")
    lines.add("#")
    for line in compiled.statement.statement.sql.split("\n"):
        lines.comment(f"    {line}")
    lines.add("#")
    for line in rewriting_text(compiled.statement).split("\n"):
        lines.comment(f"  {line}")
    lines.add("#")
    lines.comment(f"Generated by streambound {__version__}; change the query and compile again rather than this file.")
    lines.comment(f"It needs streambound_runtime {__version__}: {RUNTIME} beside it or in --py-files, or installed.")
    lines.add("", "import sys", "from pathlib import Path", "")
    lines.add(f'sys.path.insert(0, str(Path(__file__).with_name("{RUNTIME}")))', "")
    literal = printed(compiled.job)
    lines.add("from streambound_runtime.periods.main import main")
    used = {name: module for name, module in CLASSES.items() if re.search(rf"\b{name}\(", literal)}
    for module in sorted({*used.values()}):
        lines.call(f"from streambound_runtime.{module} import (", sorted(n for n in used if used[n] == module), ")")
    lines.add("", *f"JOB = {literal}".split("\n"), "")
    lines.add('if __name__ == "__main__":', "    sys.exit(main(JOB))")
    return lines.text
