"""Where `verify` runs jobs and batch queries over the same rows: one Spark, and a directory for what comes and goes."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.recheck.oracle.spark_batch import BatchComparison, BatchStatement, batch_session, compare, differs
from streambound.synopsis_exec.here import quiet, run_here
from streambound.synopsis_exec.job_file import CompiledJob
from streambound.synopsis_exec.kernel_output import kernel_output
from streambound.synopsis_exec.micro_batches import write_batches
from streambound.synopsis_exec.pace import crowded
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.recorded import Row, read_rows
from streambound_runtime.quarantine import name_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Item = tuple[str, int, bytes]
"""A row: its stream or relation, its micro-batch, and its line of JSON."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A job over some rows: how many of each stream and relation, in how many micro-batches, which it could not use
    by reason, and what batch SQL says to its output.
    """

    rows: dict[str, int]
    batches: int
    quarantined: dict[str, int]
    comparison: BatchComparison


@dataclass(frozen=True)
class Bench:
    """A job and its file, and the statement that it was made from."""

    spark: SparkSession
    compiled: CompiledJob
    statement: BatchStatement
    folder: Path
    on_step: Callable[[str], None] = lambda step: None
    """Hears what is done next, in words."""

    @property
    def plan(self) -> Plan:
        """The job's plan."""
        return self.compiled.plan

    @staticmethod
    @contextmanager
    def open(
        compiled: CompiledJob, statement: BatchStatement, on_step: Callable[[str], None] = lambda step: None
    ) -> Iterator[Bench]:
        """Start Spark where it does not run yet; the directory goes at the end."""
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        with tempfile.TemporaryDirectory(prefix="streambound-verify-") as directory:
            folder = Path(directory)
            compiled.write(folder)
            with quiet(folder / "spark.log"):
                spark = batch_session()
            yield Bench(spark, compiled, statement, folder, on_step)

    def run(self, items: Sequence[Item]) -> Trial:
        """Run the job on some rows, and compare its output."""
        with self._place() as place:
            self.on_step(f"running the job over {len(items):,} rows")
            batches, summary = self._job(place, items)
            self.on_step("running the SQL over the same rows, and comparing")
            found = compare(self.spark, self.statement, place / "used", place / "out.jsonl")
        return Trial(summary["rows"], batches, summary["quarantined"], found)

    def job_differs(self, items: Sequence[Item]) -> bool:
        """Whether the job's output over some rows differs from batch SQL."""
        with self._place() as place:
            self._job(place, items)
            return differs(self.spark, self.statement, place / "used", place / "out.jsonl")

    def kernel_differs(self, items: Sequence[Item]) -> bool:
        """Whether the output of the job's kernel alone differs from batch SQL; it takes no account of micro-batches.

        Of what Spark computes of rows the kernel alone knows nothing.
        """
        if any(item.derived for item in self.plan.inputs):
            return False
        good: dict[str, list[Row]] = {item.name: [] for item in self.plan.inputs}
        used = []
        for item, row in good_rows(self.plan.inputs, items):
            good[item[0]].append(row)
            used.append(item)
        with self._place() as place:
            self._write_used(place, used)
            (place / "out.jsonl").write_text(kernel_output(self.plan, self.compiled.job, good), encoding="utf-8")
            return differs(self.spark, self.statement, place / "used", place / "out.jsonl")

    @contextmanager
    def _place(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self.folder) as directory:
            yield Path(directory)

    def _job(self, place: Path, items: Sequence[Item]) -> tuple[int, Mapping[str, Any]]:
        """Run the job; write the rows that it could use; the number of micro-batches, and the job's summary."""
        relations = {item.name: [line for name, _, line in items if name == item.name] for item in self.plan.relations}
        batches = write_batches(place / "in", relations, _pieces([s.name for s in self.plan.streams], items))
        names = {"input": "in", "output": "out.jsonl", "quarantine": "bad.jsonl", "checkpoint": "checkpoint"}
        options = [part for option, name in names.items() for part in (f"--{option}", str(place / name))]
        summary = run_here(self.folder / "job.py", [*options, "--files-per-batch", "1"], self.folder / "spark.log")[-1]
        self._write_used(place, usable(self.plan.inputs, items, place / "bad.jsonl"))
        return batches, summary

    def _write_used(self, place: Path, items: Sequence[Item]) -> None:
        for table in self.plan.inputs:
            write_batches(place / "used", {table.name: [line for name, _, line in items if name == table.name]}, {})


def _pieces(streams: Sequence[str], items: Sequence[Item]) -> dict[str, list[list[bytes]]]:
    """The streams' lines by micro-batch, side by side; one in which no stream has rows is left out."""
    numbers = sorted({number for name, number, _ in items if name in streams}) or [0]
    pieces: dict[str, list[list[bytes]]] = {name: [[] for _ in numbers] for name in streams}
    for name, number, line in items:
        if name in streams:
            pieces[name][numbers.index(number)].append(line)
    return pieces


def good_rows(inputs: Sequence[Input], items: Sequence[Item]) -> list[tuple[Item, Row]]:
    """The lines that are good rows, in their order."""
    lines = {table.name: [line for name, _, line in items if name == table.name] for table in inputs}
    rows = {table.name: iter(read_rows(table, lines[table.name])) for table in inputs}
    return [(item, row) for item in items if isinstance(row := next(rows[item[0]]), dict)]


def usable(inputs: Sequence[Input], items: Sequence[Item], quarantine: Path) -> list[Item]:
    """The rows that a job has to use: good ones but for those in its quarantine with a reason that may be true.

    A row alone says whether it is good; not what Spark says of expressions, nor whether it is late or one too many. No
    row is late in the orders in which it arrives here (`arriving`), but among punctuations, whose recorded order stays;
    and too many are only where there are more than `max_per_timestamp` or `max_rate` allows. Of equal lines as many are
    left out as are in quarantine.
    """
    known = {item.name: item for item in inputs}
    good = good_rows(inputs, items)
    moments = {stream.name: Counter[int]() for stream in inputs}
    for item, row in good:
        moments[item[0]][row.get(str(known[item[0]].timestamp), 0)] += 1
    crowds = {name: crowded(known[name], counts) for name, counts in moments.items()}
    lines = quarantine.read_text(encoding="utf-8").splitlines() if quarantine.exists() else []
    rows = [row for row in map(json.loads, lines) if row["row"] is not None]
    bad = Counter((name_of(row), _comparable(row["row"]), _kind(row["reason"])) for row in rows)
    kept = []
    for item, row in good:
        stream = known[item[0]]
        reason = ""
        key = item[0], _comparable(item[2].decode("utf-8", "replace"))
        if stream.derived and bad[*key, "expression"]:
            reason = "expression"
        elif stream.arrival.mark is not None and bad[*key, "late"]:
            reason = "late"
        elif bad[*key, "too many"] and row.get(str(stream.timestamp)) in crowds[item[0]]:
            reason = "too many"
        if reason:
            bad[*key, reason] -= 1
        else:
            kept.append(item)
    return kept


def _kind(reason: str) -> str:
    """Which of the reasons that a row alone cannot show; empty for the others."""
    late = ("late", "beyond-lateness", "after-punctuation", "after-idle")
    told = {"max-per-timestamp": "too many", "max-rate": "too many", "expression": "expression"}
    return "late" if reason in late else told.get(reason, "")


def _comparable(text: str) -> str:
    """A line as Java and Python both decode it: they differ in how many signs stand for broken bytes."""
    return re.sub("\ufffd+", "\ufffd", text)
