"""The test bench of `verify`: runs a job over given rows in its own directory, in this process or on one Spark."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.analyzer.job_reports import SummaryReport
from streambound.analyzer.json_models import parsed
from streambound.criteria.periods.parts import JudgedConditions
from streambound.recheck.oracle.spark_batch import BatchComparison, BatchStatement, batch_session, compare
from streambound.recheck.oracle.spark_lineages import compare_lineages
from streambound.recheck.oracle.spark_prefixes import compare_final, compare_prefixes
from streambound.recheck.oracle.spark_snapshots import compare_snapshots
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.ended_rows import counting, is_punctuation
from streambound.synopsis_exec.in_process import quiet, run_in_process
from streambound.synopsis_exec.job_file import CompiledJob
from streambound.synopsis_exec.micro_batches import write_batches
from streambound.synopsis_exec.pace import crowded
from streambound.synopsis_exec.period_rows import allowed, judging
from streambound.synopsis_exec.plan_ir import Input, JobPlan
from streambound.synopsis_exec.recorded import Row, read_rows
from streambound.synopsis_exec.runner import run_embedded
from streambound_runtime.decoding.row_text import MOST_SHOWN
from streambound_runtime.scratch import scratch_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TRIALS_HERE, _TRIALS_ON_SPARK = 120, 25
Item = tuple[str, int, bytes]
"""A row: its stream or relation, its micro-batch, and its line of JSON."""


class Trial(Struct, frozen=True):
    """A job over some rows: how many of each stream and relation, in how many micro-batches, which it could not use
    by reason, and what batch SQL says to its output.
    """

    rows: dict[str, int]
    batches: int
    quarantined: dict[str, int]
    comparison: BatchComparison


Compare = Callable[[Path, Path], BatchComparison]
"""Compares the statement over the rows that a job could use, a directory for each table, with the job's output."""
RunJob = Callable[[Mapping[str, str]], SummaryReport]
"""Runs a job with these options."""


class Bench(Struct, frozen=True):
    """A job, what runs it, and what its output is compared with; ``most_trials`` is how often for a smaller input."""

    compiled: CompiledJob
    folder: Path
    run_job: RunJob
    compare: Compare
    most_trials: int
    on_step: Callable[[str], None] = lambda step: None
    """Hears what is done next, in words."""

    @property
    def plan(self) -> JobPlan:
        """The job's plan."""
        return self.compiled.plan

    def run(self, items: Sequence[Item]) -> Trial:
        """Run the job on some rows, and compare its output."""
        with tempfile.TemporaryDirectory(dir=self.folder) as directory:
            place = Path(directory)
            self.on_step(f"running the job over {len(items):,} rows")
            batches, summary = self._job(place, items)
            self.on_step("running the SQL over the same rows, and comparing")
            found = self.compare(place / "used", place / "out.jsonl")
        return Trial(summary.rows, batches, summary.quarantined, found)

    def differs(self, items: Sequence[Item]) -> bool:
        """Whether the job's output over some rows is not what the statement says."""
        return not self.run(items).comparison.equal

    def _job(self, place: Path, items: Sequence[Item]) -> tuple[int, SummaryReport]:
        """Run the job; write the rows that it could use; the number of micro-batches, and the job's summary."""
        relations = {item.name: [line for name, _, line in items if name == item.name] for item in self.plan.relations}
        batches = write_batches(place / "in", relations, _in_batches([s.name for s in self.plan.streams], items))
        names = {"input": "in", "output": "out.jsonl", "quarantine": "bad.jsonl", "checkpoint": "checkpoint"}
        summary = self.run_job({option: str(place / name) for option, name in names.items()})
        self._write_used(place, usable(self.plan.inputs, items, place / "bad.jsonl", self.plan.judged))
        return batches, summary

    def _write_used(self, place: Path, items: Sequence[Item]) -> None:
        for table in self.plan.inputs:
            write_batches(place / "used", {table.name: [line for name, _, line in items if name == table.name]}, {})


@contextmanager
def here(compiled: CompiledJob, compare: Compare, on_step: Callable[[str], None]) -> Iterator[Bench]:
    """Jobs run in this process, and the reference evaluator says what they have to print."""

    def run(options: Mapping[str, str]) -> SummaryReport:
        return run_embedded(compiled, {**options, "files_per_batch": 1})[1]

    with scratch_folder("verify-") as folder:
        yield Bench(compiled, folder, run, compare, _TRIALS_HERE, on_step)


@contextmanager
def on_spark(compiled: CompiledJob, statement: BatchStatement, on_step: Callable[[str], None]) -> Iterator[Bench]:
    """Jobs run on Spark, which is started where it does not run yet, and so does the statement, as batch queries."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with scratch_folder("verify-") as folder:
        job, log = compiled.write(folder), folder / "spark.log"
        with quiet(log):
            spark = batch_session()

        def run(options: Mapping[str, str]) -> SummaryReport:
            given = [part for option, value in options.items() for part in (f"--{option}", value)]
            return run_in_process(job, [*given, "--files-per-batch", "1"], log)

        def compared(used: Path, output: Path) -> BatchComparison:
            return _on_spark(compiled.plan, statement)(spark, statement, used, output)

        yield Bench(compiled, folder, run, compared, _TRIALS_ON_SPARK, on_step)


def _on_spark(
    plan: JobPlan, statement: BatchStatement
) -> Callable[[SparkSession, BatchStatement, Path, Path], BatchComparison]:
    """The function that compares the output of a job of such a plan with batch queries."""
    if statement.snapshots is not None:
        return compare_lineages if statement.snapshots.lineages else compare_snapshots
    if not isinstance(plan, PlannedCircuit):
        return compare
    return compare_final if plan.final else compare_prefixes


class Quarantined(Struct, frozen=True):
    """A row that a job has quarantined: of which stream or relation, why, and its text, if it has one."""

    reason: str
    row: str | None
    stream: str = ""
    relation: str = ""

    @property
    def name(self) -> str:
        """Of which stream or relation it is."""
        return self.stream or self.relation


def _in_batches(streams: Sequence[str], items: Sequence[Item]) -> dict[str, list[list[bytes]]]:
    """The streams' lines by micro-batch, side by side; one in which no stream has rows is left out."""
    numbers = sorted({number for name, number, _ in items if name in streams}) or [0]
    batches: dict[str, list[list[bytes]]] = {name: [[] for _ in numbers] for name in streams}
    for name, number, line in items:
        if name in streams:
            batches[name][numbers.index(number)].append(line)
    return batches


def good_rows(inputs: Sequence[Input], items: Sequence[Item]) -> list[tuple[Item, Row]]:
    """The lines that are good rows, in their order."""
    lines = {table.name: [line for name, _, line in items if name == table.name] for table in inputs}
    rows = {table.name: iter(read_rows(table, lines[table.name])) for table in inputs}
    return [(item, row) for item in items if isinstance(row := next(rows[item[0]]), dict)]


def usable(
    inputs: Sequence[Input],
    items: Sequence[Item],
    quarantine: Path,
    judged: Mapping[str, JudgedConditions] = MappingProxyType({}),
) -> list[Item]:
    """The rows that a job has to use: good ones but for those in its quarantine with a reason that may be true.

    A row alone says whether it is good; not what Spark says of expressions, nor whether it is late or one too many. No
    row is late in the orders in which it arrives here (`arriving`), but among punctuations, whose recorded order stays;
    and too many are only where there are more than `max_per_timestamp` or `max_rate` allows. Of equal lines as many are
    left out as are in quarantine. Punctuations are no rows, and which rows come after them is told without it; so is
    which rows have bad periods, by themselves or, where they are ``judged``, beside others.
    """
    known = {item.name: item for item in inputs}
    good = good_rows(inputs, items)
    moments = {stream.name: Counter[int]() for stream in inputs}
    for item, row in good:
        if is_punctuation(known[item[0]], row):
            continue
        moments[item[0]][row.get(str(known[item[0]].timestamp), 0)] += 1
    crowds = {name: crowded(known[name], counts) for name, counts in moments.items()}
    lines = filter(None, quarantine.read_text(encoding="utf-8").split("\n") if quarantine.exists() else ())
    rows = [parsed(line, str(quarantine)).read(Quarantined, "not a quarantined row", closed=False) for line in lines]
    bad = Counter((row.name, _comparable(row.row), _kind(row.reason)) for row in rows if row.row is not None)
    kept: list[tuple[Item, Row]] = []
    for item, row in good:
        stream = known[item[0]]
        if is_punctuation(stream, row):
            kept.append((item, row))
            continue
        reason = ""
        key = item[0], _comparable(item[2].decode("utf-8", "replace")[:MOST_SHOWN])
        if stream.derived and bad[*key, "expression"]:
            reason = "expression"
        elif stream.arrival.mark is not None and bad[*key, "late"]:
            reason = "late"
        elif bad[*key, "too many"] and row.get(str(stream.timestamp)) in crowds[item[0]]:
            reason = "too many"
        if reason:
            bad[*key, reason] -= 1
        else:
            kept.append((item, row))
    left, relations = set[int](), dict[str, list[Row]]()
    counted = [(item, row) for item, _, row in counting(inputs, [(item, item[0], row) for item, row in kept])]
    for table in sorted(inputs, key=lambda table: table.timestamp is not None):
        mine = [pair for pair in counted if pair[0][0] == table.name]
        if table.period is not None:
            beside = judging(judged.get(table.name, ()), relations)
            mine = allowed(table.period, mine, table.timestamp is not None, beside)
        if table.timestamp is None:
            relations[table.name] = [row for _, row in mine]
        left.update(id(item) for item, _ in mine)
    return [item for item, _ in kept if id(item) in left]


def _kind(reason: str) -> str:
    """Which of the reasons that a row alone cannot show; empty for the others."""
    late = ("late", "beyond-lateness", "after-punctuation", "after-idle")
    told = {"max-per-timestamp": "too many", "max-rate": "too many", "expression": "expression"}
    return "late" if reason in late else told.get(reason, "")


def _comparable(text: str) -> str:
    """A line as Java and Python both decode it: they differ in how many signs stand for broken bytes."""
    return re.sub("\ufffd+", "\ufffd", text)
