"""Does memory stay constant? A job over a stream that fits its query, and Spark's own operators over the same rows.

Each runs in a process of its own, on Spark with a Java heap of its own, over the same files in the same micro-batches;
after each batch the entries (or the rows of Spark's state), the Java heap in use and the resident memory are
noted. What comes out
in the end is compared with the statement as batch SQL, where Spark's own operators are to return it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from statistics import fmean

from msgspec import Struct, structs

from streambound.analyzer.errors import StreamboundError, UsageError
from streambound.analyzer.job_reports import BatchReport, ErrorReport, SummaryReport
from streambound.criteria.certificate import state_bytes
from streambound.criteria.size import Size
from streambound.recheck.oracle.spark_batch import BatchStatement, batch_session
from streambound.recheck.oracle.spark_results import ResultCounts, rows_counts, run_counts
from streambound.synopsis_exec import memory_processes
from streambound.synopsis_exec.feeds import Feed
from streambound.synopsis_exec.in_process import quiet
from streambound.synopsis_exec.job_file import CompiledJob
from streambound.synopsis_exec.memory_processes import Load, Native, Sample, kept, samples_of
from streambound.synopsis_exec.native_run import NativeRun, run_operators
from streambound.synopsis_exec.plan_ir import JobPlan, Plan
from streambound.synopsis_exec.recorded_streams import rows_in, write_feed
from streambound.synopsis_exec.runner import check_spark, failure
from streambound.synopsis_exec.stream_sizes import CountedRows, sizes
from streambound_runtime.scratch import scratch_folder

FLAT = 1.05
"""The second half may have this factor more entries than the first half: random streams have more by chance."""
MANY = 100
"""So many batches have a mean: a rare peak of random streams hardly changes it."""


class Curve(StrEnum):
    """How the number of entries developed while the tuples were read."""

    OVER = "over M"
    """There were more than M, or more bytes, or the job stopped for that reason."""
    FULL = "at M"
    """There were M, and never more."""
    FLAT = "flat"
    """There were fewer than M, and no more in the second half than in the first: at most, or of many batches on
    average."""
    GROWING = "growing"
    """There were fewer than M, and more in the second half: what comes then was not measured."""
    EMPTY = "empty"
    """There were none, though there can be some."""


class Measurement(Struct, frozen=True):
    """The result of a measurement.

    ``limit`` is M for the generated streams, in entries, ``limit_bytes`` in bytes (None: strings may be of any length):
    both may depend on the streams' rates and on relations. ``in_order`` are streams of which the job was told that rows
    come in order, as they did, though the catalog promises nothing of rows. ``compared`` are the job's results in the
    end against the statement as batch SQL, or ``uncompared`` says why they cannot be;
    ``beyond_joins`` says that Spark's own operators ran the statement, not its stream-stream join.
    """

    query: str
    stream: str
    tuples: int
    heap: str
    limit: int
    formula: str
    limit_bytes: int | None
    rows: dict[str, int]
    quarantined: int
    results: int
    samples: tuple[Sample, ...]
    stopped: str
    native: Native | None
    in_order: tuple[str, ...] = ()
    compared: ResultCounts | None = None
    uncompared: str = ""
    beyond_joins: bool = False

    @property
    def peak(self) -> int:
        """The most entries."""
        return max((sample.peak or 0 for sample in self.samples), default=0)

    @property
    def bytes(self) -> int:
        """The most bytes of the tables after a batch."""
        return max((sample.bytes or 0 for sample in self.samples), default=0)

    @property
    def within(self) -> bool:
        """Whether there never were more entries than M, nor more bytes of tables than these can take."""
        small = self.limit_bytes is None or self.bytes <= self.limit_bytes
        return self.peak <= self.limit and small and not self.stopped

    @property
    def curve(self) -> Curve:
        """How the number of entries developed over all tuples."""
        if not self.within:
            return Curve.OVER
        if self.peak == self.limit:
            return Curve.FULL
        if self.peak == 0:
            return Curve.EMPTY
        last = self.samples[-1].tuples
        before, quarter, after = (
            [sample.peak or 0 for sample in self.samples if low * last < sample.tuples <= high * last]
            for low, high in ((0, 0.5), (0.25, 0.5), (0.5, 1))
        )
        if self.peak <= max(before, default=0) * FLAT:
            return Curve.FLAT
        many = len(self.samples) >= MANY
        return Curve.FLAT if many and fmean(after) <= fmean(quarter) * FLAT else Curve.GROWING

    @property
    def constant(self) -> bool:
        """Whether the entries were seen to grow no more: they reached M, or were flat over the second half."""
        return self.curve in (Curve.FULL, Curve.FLAT)

    @property
    def right(self) -> bool:
        """Whether the job's results are those of batch SQL, where they were compared."""
        return self.compared is None or self.compared.missing == self.compared.wrong == 0


def measure(
    compiled: CompiledJob,
    beside: BatchStatement | None,
    feed: Feed,
    stream: str,
    load: Load,
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
    in_order: tuple[str, ...] = (),
    on_spark: bool = True,
) -> Measurement:
    """Write the streams, run the job, then Spark's own operators; ``on_rows`` hears of each stage's rows.

    Unless it is ``on_spark`` the job runs without Spark, and nothing beside it. ``beside`` is the statement that Spark
    is to run, if any, whose results are compared unless it only joins. Raises what a run raises, except that a job
    which breaks its bound is a measurement, too.
    """
    if on_spark:
        check_spark()
    else:
        beside = None
    plan = compiled.plan
    with scratch_folder("memory-") as folder:
        counted = CountedRows(plan)
        rows = write_feed(
            folder, plan, replace(feed, rows=counted.pass_on(feed.rows)), load.tuples, load.batches,
            lambda rows: on_rows("writing", rows),
        )  # fmt: skip
        entries, in_bytes = plan.bound.entries, state_bytes(plan.bound) if isinstance(plan, Plan) else None
        limit = _number(plan, entries, feed, counted)
        limit_bytes = None if in_bytes is None else _number(plan, in_bytes, feed, counted)
        samples, summary, stopped, told = _job(folder, compiled, load, on_spark, lambda rows: on_rows("job", rows))
        if (limit := told if limit is None else limit) is None:
            raise _no_number(plan.name, entries)
        joined, run = _joined(plan), None
        if beside is not None and load.native_tuples:
            run = run_operators(
                folder, beside, plan.inputs, load, counted, lambda rows: on_rows("native", rows), joined
            )
        native, results, unknown = None if run is None else run.native, None, ""
        if beside is not None and joined is None and summary is not None:
            try:
                results, others = compared(beside, folder, plan.final, run)
            except StreamboundError as error:
                unknown = error.message
            else:
                native = None if native is None else structs.replace(native, compared=others)
    return Measurement(
        plan.name, stream, load.tuples, load.heap, limit, entries.text, limit_bytes, rows,
        sum(summary.quarantined.values()) if summary else 0, summary.results if summary else 0, samples, stopped,
        native, in_order, results, unknown, beside is not None and joined is None,
    )  # fmt: skip


def _joined(plan: JobPlan) -> int | None:
    """How many streams a plan joins; None where it is more than that, or drops duplicates of one stream."""
    if not isinstance(plan, Plan):
        return None
    most = max((len(branch.branch.streams) for branch in plan.branches), default=0)
    return None if plan.distinct and most < 2 else most


def _number(plan: JobPlan, size: Size, feed: Feed, counted: CountedRows) -> int | None:
    """A size's value for some streams; None where it is of relations that Spark computes of others."""
    known = sizes(plan, size, feed.relations, counted.rates, counted.brought)
    return size.at(known) if size.symbols <= known.keys() else None


def _no_number(query: str, entries: Size) -> UsageError:
    what = f"M = {entries.text} of {query} is of what Spark computes of relations and of the streams' rates, together"
    return UsageError(what, remedy="declare max_per_timestamp of the streams, or what is computed as a relation")


def _job(
    folder: Path, compiled: CompiledJob, load: Load, on_spark: bool, on_rows: Callable[[int], None]
) -> tuple[tuple[Sample, ...], SummaryReport | None, str, int | None]:
    """The job's samples and summary; the reason where it stopped because its bound was broken; M as it says."""
    compiled.write(folder)
    options = {"input": "in", "output": "out.jsonl", "quarantine": "bad.jsonl", "checkpoint": "checkpoint"}
    parts = [part for option, name in options.items() for part in (f"--{option}", str(folder / name))]
    parts += ["--files-per-batch", "1"]
    request = {"what": "job" if on_spark else "embedded job", "job": str(folder / "job.py"), "options": parts}
    log = folder / "job.log"
    status, events = memory_processes.watch(folder, request, load.heap, log, None, on_rows)
    last = events[-1].report if events else None
    told = next((event.report.limit for event in events if isinstance(event.report, BatchReport)), None)
    if isinstance(last, ErrorReport) and last.error == "limit":
        return samples_of(events), None, last.message, told
    if status != 0 or not isinstance(last, SummaryReport):
        raise failure(last, status, kept(log))
    return samples_of(events), last, "", told


def compared(
    statement: BatchStatement, folder: Path, final: bool, run: NativeRun | None
) -> tuple[ResultCounts, ResultCounts | None]:
    """The job's results and those of Spark's own operators, if these read all that they were given.

    ``folder`` is where the job ran; ``final`` says that it returns final results. Raises StreamboundError for what
    Spark refuses as a batch query.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with quiet(folder / "compared.log"):
        spark = batch_session()
    job = run_counts(spark, statement, rows_in(folder), folder / "out.jsonl", final)
    if run is None or run.output is None or run.native.ended != "done":
        return job, None
    more = None if run.native.complete else run.closed
    return job, rows_counts(spark, statement, run.rows, run.output, more)
