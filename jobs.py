"""The Python API of jobs: what a bounded statement compiles to, a run of it, and what it is compared with.

Commands that compile call the same functions. Spark is imported where something runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.analyzer.codes import Code
from streambound.analyzer.errors import InputError, StreamboundError, UsageError
from streambound.api import catalog_of, statement_of
from streambound.criteria.vocabulary import Verdict

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from streambound.analyzer.catalog import Catalog
    from streambound.analyzer.statement import Statement
    from streambound.criteria.check import Checked
    from streambound.recheck.oracle.reference import StatementReference
    from streambound.recheck.oracle.reference_periods import PeriodReference
    from streambound.recheck.oracle.spark_batch import BatchStatement
    from streambound.synopsis_exec.bench import Trial
    from streambound.synopsis_exec.circuit_plan import PlannedCircuit
    from streambound.synopsis_exec.job_file import CompiledJob
    from streambound.synopsis_exec.period_job import CompiledPeriodJob
    from streambound.synopsis_exec.plan_ir import JobPlan
    from streambound.synopsis_exec.verify import Verification
    from streambound.temporal.statement import SeqStatement
    from streambound_runtime.dataframes import Finished


@dataclass(frozen=True, slots=True)
class Job:
    """The Spark job of a bounded statement, or of one with SEQ blocks over relations."""

    compiled: CompiledJob | CompiledPeriodJob

    @property
    def name(self) -> str:
        """The statement's."""
        return self.compiled.name

    @property
    def text(self) -> str:
        """What `job.py` is."""
        return self.compiled.text

    @property
    def placement(self) -> str:
        """Where its state is: ``driver``, ``buckets``, or ``stateless`` where it has none."""
        from streambound.synopsis_exec.job_file import CompiledJob

        return self.compiled.job.placement.where if isinstance(self.compiled, CompiledJob) else "stateless"

    def write(self, folder: str | Path) -> Path:
        """Write `job.py`, and its runtime beside it, into a directory, which is made if there is none; the file."""
        return self.compiled.write(Path(folder))

    def run(
        self,
        spark: SparkSession | None = None,
        inputs: str | Path | Mapping[str, str | Path | DataFrame] | None = None,
        *,
        base: str | Path = "",
        checkpoint: str | Path = "",
    ) -> Run:
        """Run the job in a session, or without Spark where none is given.

        ``inputs`` are a directory as `streambound run --input` takes it, or a path (of the source's format, else lines
        of JSON) or a DataFrame for each stream and relation; what is not named is read from the catalog's source,
        relative paths from ``base``. Streaming DataFrames start a query; else all there is is read, and the call
        returns when that is done. Without a ``checkpoint`` what a restart needs goes with the result. Raises
        StreamboundError for input that cannot be read and for more entries than the bound says, and UsageError for a
        job that needs Spark and is given none. SEQ blocks over relations run without Spark, or not at all.
        """
        from streambound.synopsis_exec.job_file import CompiledJob
        from streambound.synopsis_exec.runner import in_process
        from streambound.synopsis_exec.running import run

        found = in_process(self.compiled)
        if isinstance(found, str):
            remedy = "streambound.temporal evaluates it in a Spark session"
            raise UsageError(f"{self.name} cannot run without Spark: {found}", remedy=remedy)
        session = spark if isinstance(self.compiled, CompiledJob) else None
        return Run(run(found, session, inputs, str(base), str(checkpoint)))


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of a job has come to; of a streaming one, up to now."""

    finished: Finished

    def rows(self) -> list[dict[str, Any]]:
        """The results in order of `_ts`: the select list, `_ts` and `_mult`, as lines of `run --output` have them."""
        return self.finished.rows()

    def to_arrow(self) -> pa.Table:
        """The results with the types of the select list."""
        return self.finished.to_arrow()

    @property
    def quarantined(self) -> list[dict[str, Any]]:
        """The rows that could not be used, with the reasons."""
        return self.finished.quarantined()

    @property
    def peak_entries(self) -> int:
        """The most entries there were."""
        return int(self.finished.driver.peak)

    @property
    def bound(self) -> int | None:
        """M for these relations; None where no number is known."""
        return self.finished.driver.owner.limit

    @property
    def query(self) -> StreamingQuery | None:
        """The query of a streaming run, to be stopped; None for one that has ended."""
        return self.finished.query


def compile(
    sql: str,
    catalog: Catalog | str | Path | Mapping[str, Any],
    *,
    name: str | None = None,
    placement: str | None = None,
    unbounded: bool = False,
    tick: str = "batch",
) -> Job:
    """The Spark job of a bounded statement, as `streambound compile` writes it.

    ``name`` chooses one of several statements, ``placement`` where its state is. ``unbounded`` gives a statement that
    is not bounded a job, too, without M: for comparisons and tests, since what it remembers may grow for ever. With
    ``tick`` "batch" what is more than joins prints what each micro-batch changes, not each timestamp. Raises
    StreamboundError for a statement that is not bounded otherwise, with its first finding, and for a placement or tick
    that it cannot have.
    """
    known = catalog_of(catalog)
    checked = statement_of(sql, known, name)
    if checked.blocks is not None and checked.circuit is None:
        return Job(compiled_of(known, checked, placement))
    return Job(job_of(known, checked, placement, unbounded, tick))


def verify(
    sql: str,
    catalog: Catalog | str | Path | Mapping[str, Any],
    *,
    name: str | None = None,
    inputs: str | Path | None = None,
    runs: int = 3,
    seed: int = 0,
    engine: str | None = None,
    tick: str = "timestamp",
) -> Verification:
    """Compare a bounded statement's job with the SQL itself over the same rows, as `streambound verify` does.

    ``inputs`` is a directory of recorded streams; without it they are generated. The ``engine`` is "embedded" or
    "spark", which needs Java; by default the first where it can serve. The result is ``proved`` where there were
    results and all were equal, and says ``difference`` with the fewest rows that still have it. With ``tick`` "batch"
    the job prints what each micro-batch changes, as it does by default, and that is compared.
    """
    known = catalog_of(catalog)
    folder = None if inputs is None else Path(inputs)
    return verification(statement_of(sql, known, name), known, folder, seed, runs, engine=engine, tick=tick)


def compiled_of(
    catalog: Catalog, checked: Checked, placement: str | None = None, tick: str = "batch"
) -> CompiledJob | CompiledPeriodJob:
    """The job of a bounded statement, or of one with SEQ blocks; raises as `job_of` does."""
    if checked.blocks is None or checked.circuit is not None:
        return job_of(catalog, checked, placement, tick=tick)
    from streambound.synopsis_exec.period_job import compiled_periods

    _check_table(checked.statement, catalog)
    if placement is not None:
        raise UsageError("a SEQ statement keeps no state, so it has no placement", remedy="leave --placement out")
    return compiled_periods(checked.blocks, catalog)


def job_of(
    catalog: Catalog,
    checked: Checked,
    placement: str | None = None,
    unbounded: bool = False,
    tick: str = "batch",
) -> CompiledJob:
    """The job of a bounded statement, or of any with ``unbounded``.

    Raises NotExecutableError for others, UsageError for another placement or tick.
    What a comment or the catalog accepts passes a check, and is not run for that: the message says so.
    """
    from streambound.gate.reported import acceptance
    from streambound.synopsis_exec.plan import make_plan

    _check_table(checked.statement, catalog)
    if (circuit := planned_circuit(checked, catalog, unbounded)) is not None:
        return _compiled(circuit, checked, catalog, placement, tick)
    try:
        return _compiled(make_plan(decision_of(checked), catalog, unbounded), checked, catalog, placement, "batch")
    except StreamboundError as error:
        if accepted := acceptance(checked, catalog):
            error.message += f"; {accepted.where} allows that in a check ({accepted.reason}), not in a run"
        raise


def _compiled(plan: JobPlan, checked: Checked, catalog: Catalog, placement: str | None, tick: str) -> CompiledJob:
    """The job, which writes punctuations where its sink takes them, or else what the statement asks for."""
    from streambound.criteria.dataflow.decision import JudgedOperators
    from streambound.criteria.dataflow.judge import judge
    from streambound.synopsis_exec.job_file import compiled
    from streambound.synopsis_exec.punctuations_out import compiled_with_punctuations

    statement, sink = checked.statement, catalog.sink(checked.statement.name)
    if sink is None or not sink.punctuations:
        return _emitting(compiled(plan, placement, tick), statement, catalog)
    known = checked.circuit
    judgement = known.judgement if isinstance(known, JudgedOperators) else judge(statement, catalog)
    return compiled_with_punctuations(plan, statement, catalog, judgement, placement, tick)


def _check_table(statement: Statement, catalog: Catalog) -> None:
    """Raise NotExecutableError where a table, whose rows are replaced by a key, would get other results."""
    from streambound.synopsis_exec.kept_results import refused

    sink = catalog.sink(statement.name)
    if sink is not None and sink.target is not None and sink.target.table and not statement.upserts:
        what = f"rows of its sink, the table {sink.target.table}, are replaced by a key"
        remedy = "ask for that: -- streambound: emit upsert"
        raise refused(statement.name, what, remedy, statement.source.file, statement.span.line)


def _emitting(compiled: CompiledJob, statement: Statement, catalog: Catalog) -> CompiledJob:
    """The job, by the result's key where the statement asks for that; raises NotExecutableError for a column `_op`."""
    from streambound.criteria.dataflow.result_key import result_key
    from streambound.synopsis_exec.job_spec import upserting
    from streambound.synopsis_exec.kept_results import check_columns

    if not statement.upserts:
        return compiled
    columns = compiled.plan.columns
    check_columns(statement.name, columns, None, statement.source.file, statement.span.line, added=("_op",))
    key = [columns[place].name for place in result_key(statement, catalog)]
    return replace(compiled, job=upserting(compiled.job, key))


def planned_circuit(checked: Checked, catalog: Catalog, unbounded: bool = False) -> PlannedCircuit | None:
    """The plan of a bounded query beyond joins, or of any with ``unbounded``; None where there is none."""
    from streambound.criteria.dataflow.decision import JudgedOperators
    from streambound.synopsis_exec.operations.plan import plan_of_operators
    from streambound.synopsis_exec.period_job import make_period_plan

    statement, final, bounded = checked.statement, checked.statement.other_mode is not None, checked.verdict.fits
    circuit = checked.circuit if bounded or unbounded else None
    if isinstance(circuit, JudgedOperators):
        return plan_of_operators(circuit, statement, final, grows=not bounded)
    return make_period_plan(circuit, statement, catalog, final) if circuit is not None and bounded else None


def plan_of(checked: Checked, catalog: Catalog) -> JobPlan:
    """The plan of a bounded statement; raises what `decision_of` does, and NotExecutableError."""
    from streambound.synopsis_exec.plan import make_plan

    return planned_circuit(checked, catalog) or make_plan(decision_of(checked), catalog)


def decision_of(checked: Checked) -> Any:
    """How a statement's joins were decided; raises InputError with its first diagnostic where it means nothing.

    A query with operators beyond joins has no such decision: asking for it is wrong usage.
    """
    if checked.blocks is not None and checked.circuit is None:
        remedy = "in Python see streambound.temporal; check, compile, run and explain --emit rewriting take it"
        raise UsageError(f"{checked.statement.name} is a SEQ statement, which reads no stream", remedy=remedy)
    if checked.circuit is not None and checked.verdict is Verdict.BOUNDED:
        remedy = "explain --emit tree, states and verdict show how it is decided, --emit circuit and plan how it runs"
        what = "has operators beyond joins, of which there is no such drawing"
        raise UsageError(f"{checked.statement.name} {what}", remedy=remedy)
    if checked.decision is None:
        first = checked.diagnostics[0]
        file, span = first.file, first.span
        status = InputError(
            f"{first.code} {first.message}", file=file, line=span.line, column=span.column, remedy=first.help
        )
        status.exit_status = 3 if first.code is Code.SYNTAX_ERROR else 1
        raise status
    return checked.decision


def verification(
    checked: Checked,
    catalog: Catalog,
    folder: Path | None,
    seed: int,
    runs: int,
    on_trial: Callable[[Trial], None] = lambda trial: None,
    on_step: Callable[[str], None] = lambda step: None,
    engine: str | None = None,
    tick: str = "timestamp",
) -> Verification:
    """The job of a bounded statement against the statement itself, over recorded rows or generated ones.

    The ``engine`` is "embedded", in this process with the reference evaluator, or "spark", with batch SQL; by default
    the first where it knows all of the statement and of the job. Raises UsageError where it does not.
    """
    if checked.blocks is not None and checked.circuit is None:
        remedy = "what it computes at a point of time is the SQL inside of it, over the rows that are valid then"
        raise UsageError(
            f"{checked.statement.name} reads no stream, and verify compares jobs of streams", remedy=remedy
        )
    from msgspec import structs

    from streambound.analyzer.expressions.function import NotKnown
    from streambound.synopsis_exec.job_file import compiled
    from streambound.synopsis_exec.micro_batches import recorded
    from streambound.synopsis_exec.runner import runs_on_spark
    from streambound.synopsis_exec.verify import verify
    from streambound_runtime.promises import QuarantineLimit

    planned = plan_of(checked, catalog)
    plan = replace(planned, sink=None, quarantine=QuarantineLimit(sys.maxsize))  # what is tried out goes nowhere
    job = compiled(plan, tick=tick)
    rows = recorded(plan, folder) if folder is not None else None
    reference = _reference(checked, catalog, plan, tick == "batch")
    files = {"input": str(folder or ".")}  # rows that are generated are files, too
    if not runs_on_spark(job, files, engine, reference if isinstance(reference, str) else ""):
        assert not isinstance(reference, str), "what it does not know runs on Spark"
        try:
            return verify(job, reference, rows, seed, runs, on_trial, on_step)
        except NotKnown as error:
            runs_on_spark(job, files, engine, f"only Spark knows {error}")
    original = structs.replace(batch_statement(checked, catalog, plan), batches=tick == "batch")
    return verify(job, original, rows, seed, runs, on_trial, on_step)


def _reference(
    checked: Checked, catalog: Catalog, plan: JobPlan, batches: bool
) -> StatementReference | PeriodReference | str:
    """The statement as the reference evaluator takes it, or in words why it does not."""
    from streambound.incremental.translation.views import Untranslatable
    from streambound.recheck.oracle.reference import StatementReference, circuit_of
    from streambound.recheck.oracle.reference_periods import PeriodReference

    try:
        if checked.blocks is not None:
            block = _snapshots(checked.blocks, catalog)
            assert block.snapshots is not None, "a block is evaluated at points of time"
            return PeriodReference.of(block.tree, catalog, block.snapshots)
        return StatementReference(circuit_of(checked.statement, catalog), catalog, plan.final, batches)
    except Untranslatable as error:
        return f"the reference evaluator does not know the query: {error}"


def batch_statement(checked: Checked, catalog: Catalog, plan: JobPlan) -> BatchStatement:
    """The statement as Spark takes it as a batch query; ``plan`` is its plan."""
    from streambound.analyzer.algebra.to_sql import to_sql
    from streambound.analyzer.lower import lower
    from streambound.recheck.oracle.newest_row import with_newest
    from streambound.recheck.oracle.spark_batch import BatchStatement
    from streambound.recheck.oracle.tied_rows import with_ties
    from streambound.recheck.oracle.time_buckets import with_spark_buckets
    from streambound.recheck.oracle.versions import unversioned
    from streambound.temporal.lineage import is_expected

    if checked.blocks is not None:
        if any(is_expected(node) for block in checked.blocks.blocks for node in block.block.query.walk()):
            message = f"{checked.statement.name} has EXPECTED(…), a mean of all worlds, of which there is no batch SQL"
            raise UsageError(message, remedy="compare it without --engine spark")
        return _snapshots(checked.blocks, catalog)
    statement = checked.statement
    assert statement.tree is not None, "a bounded statement has been parsed"
    text, written, lowered = statement.sql, statement.tree, lower(statement, catalog)
    if lowered.tree is not None and any(table.ttl is not None for table in catalog.tables):
        written = to_sql(lowered.tree)
    tree = with_spark_buckets(with_ties(unversioned(with_newest(written, catalog), catalog), catalog), catalog)
    if tree != statement.tree:
        text = tree.sql("spark")
    return BatchStatement(text, tree, catalog, tuple(column.name for column in plan.columns))


def _snapshots(statement: SeqStatement, catalog: Catalog) -> BatchStatement:
    """What is inside of a statement's one SEQ block, and when it is evaluated."""
    from streambound.analyzer.emission import EmitMode
    from streambound.recheck.oracle.lineage_worlds import of_sets
    from streambound.recheck.oracle.spark_batch import BatchStatement, Snapshots
    from streambound.temporal.lineage import LineageBlock

    (block,) = statement.blocks
    emit = statement.statement.emit
    mode = EmitMode.FINAL if emit is None else emit.mode
    whole, summed, tree = mode is EmitMode.FINAL, mode is EmitMode.PARTS, block.block.query
    query, lineages = block.query, isinstance(block, LineageBlock)
    if lineages:
        tree = of_sets(tree)
    line = Snapshots(query.low, query.high, query.as_of, whole, summed, lineages)
    columns = (*query.columns, *(["in a world"] if lineages else []))
    return BatchStatement(tree.sql("spark"), tree, catalog, columns, line)
