"""Whether a job prints what batch SQL returns: other micro-batches in every run, and of a difference a small input.

A run brings the streams in another order that the catalog allows, cut at random (`micro_batches`), runs the job, and
compares its output with the statement over the same rows, except bad ones (`bench`): in this process by the reference
evaluator (`recheck.oracle.reference`), or in Spark: joins with the statement and the time of each result
(`recheck.oracle.spark_batch`), SEQ VT with the SQL inside of it at single points of time
(`recheck.oracle.spark_snapshots`), SEQ TP with it in possible worlds (`recheck.oracle.spark_lineages`), other queries
with the statement over prefixes (`recheck.oracle.spark_prefixes`).

Of a difference as few rows are shown as some trials find, by delta debugging: Zeller and Hildebrandt, *Simplifying and
Isolating Failure-Inducing Input*, TSE 28(2), 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from streambound.analyzer.catalog import Kind
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.errors import UsageError
from streambound.analyzer.types import DataType
from streambound.recheck.oracle.reference import StatementReference
from streambound.recheck.oracle.reference_periods import PeriodReference
from streambound.recheck.oracle.spark_batch import BatchStatement, Cell
from streambound.synopsis_exec.bench import Bench, Item, Trial, here, on_spark
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.finite_rows import finite_rows
from streambound.synopsis_exec.job_file import CompiledJob
from streambound.synopsis_exec.matches import never_joins
from streambound.synopsis_exec.micro_batches import BatchedLines, Rows, cut
from streambound.synopsis_exec.plan_ir import JobPlan
from streambound.synopsis_exec.recorded_streams import line_writer
from streambound_runtime.engine.group import SqlGroup

MOST_BATCHES = 6
"""Micro-batches that a stream is cut into."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first timestamp at which job and batch SQL differ over a small input, and that input by table.

    ``timestamp`` is a number, microseconds since 1970 where time is a timestamp. ``minimal`` says that no row can go;
    ``trials`` how often that was tried.
    """

    timestamp: int | None
    cells: tuple[Cell, ...]
    rows: dict[str, list[str]]
    trials: int
    minimal: bool


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of the trials; ``difference`` is None if every timestamp of each is equal.

    ``engine`` has run the job and the statement: "embedded", with the reference evaluator, or "spark".
    ``never`` says that the query's conditions contradict each other, so that no rows ever give a result; ``time``
    is the type of its time.
    """

    query: str
    columns: tuple[str, ...]
    seed: int
    trials: tuple[Trial, ...]
    difference: Difference | None
    never: bool = False
    time: DataType = BIGINT
    engine: str = "embedded"

    @property
    def results(self) -> int:
        """How many results were compared."""
        return sum(trial.comparison.results for trial in self.trials)

    @property
    def proved(self) -> bool:
        """Whether there were results and all were equal, or there can be none and there were none."""
        return self.difference is None and (self.never or self.results > 0)


def verify(
    compiled: CompiledJob,
    statement: BatchStatement | StatementReference | PeriodReference,
    rows: Rows | None,
    seed: int,
    runs: int,
    on_trial: Callable[[Trial], None] = lambda trial: None,
    on_step: Callable[[str], None] = lambda step: None,
) -> Verification:
    """Run a job on recorded rows (or, where None, on generated ones) and compare, until a run differs.

    It runs where the statement does. ``on_step`` hears what is done next, in words. Raises what a run raises,
    StreamboundError where the statement fails, and NotKnown where only Spark knows one of its values.
    """
    plan = compiled.plan
    if compiled.job.functions:
        own = ", ".join(one.name for one in compiled.job.functions)
        raise UsageError(f"{plan.name} calls {own}, a function in Python, which batch SQL does not have")
    trials: list[Trial] = []
    difference = None
    with _bench(compiled, statement, on_step) as bench:
        for number in range(runs):
            random = Random(f"{seed} {number}")
            on_step(f"run {number + 1} of {runs}: {'reading' if rows else 'generating'} rows")
            mine = rows or generated(plan, random.randrange(2**32))
            items = _items(mine, cut(random, plan.streams, mine.streams, MOST_BATCHES))
            trials.append(bench.run(items))
            on_trial(trials[-1])
            if not trials[-1].comparison.equal:
                on_step("looking for fewer rows with the difference")
                difference = smallest(bench, items)
                break
    never, engine = gives_nothing(plan), "spark" if isinstance(statement, BatchStatement) else "embedded"
    return Verification(plan.name, statement.columns, seed, tuple(trials), difference, never, plan.time_type, engine)


def _bench(
    compiled: CompiledJob,
    statement: BatchStatement | StatementReference | PeriodReference,
    on_step: Callable[[str], None],
) -> AbstractContextManager[Bench]:
    if not isinstance(statement, BatchStatement):
        return here(compiled, statement.compare, on_step)
    on_step("starting Spark")
    return on_spark(compiled, statement, on_step)


def gives_nothing(plan: JobPlan) -> bool:
    """Whether no rows ever give a result: none are joined, and what a circuit computes of none has none."""
    joined = not all(map(never_joins, plan.blocks))
    if not isinstance(plan, PlannedCircuit):
        return not joined
    of_none = any(isinstance(one, SqlGroup) and not one.keys for one in plan.circuit.operators)
    given = plan.computed or any(item.kind is Kind.RELATION for item in plan.inputs)
    return plan.empty or not (of_none or given or joined or not plan.circuit.timed)


def generated(plan: JobPlan, seed: int) -> Rows:
    """Rows that fit the query and the catalog, so few that batch SQL can join them all: matches among random rows."""
    relations, rows = finite_rows(plan, seed)
    writers = {item.name: line_writer(item) for item in plan.inputs}
    streams: dict[str, list[bytes]] = {item.name: [] for item in plan.streams}
    for name, row in rows:
        streams[name].append(writers[name](row).rstrip("\n").encode())
    found = {n: [writers[n](row).rstrip("\n").encode() for row in mine] for n, mine in relations.items()}
    return Rows(streams, found)


def _items(rows: Rows, batches: BatchedLines) -> list[Item]:
    """All rows, micro-batch by micro-batch."""
    relations = [(name, 0, line) for name, lines in rows.relations.items() for line in lines]
    streams = [(name, k, line) for name, mine in batches.items() for k, lines in enumerate(mine) for line in lines]
    return relations + sorted(streams, key=lambda item: item[1])


def smallest(bench: Bench, items: Sequence[Item]) -> Difference:
    """A small input whose results differ."""
    left = shrink(items, bench.differs, bench.most_trials)
    comparison = bench.run(left.items).comparison
    assert not comparison.equal, "the job gave another result for the same input"
    rows: dict[str, list[str]] = {item.name: [] for item in bench.plan.inputs}
    for name, _, line in left.items:
        rows[name].append(line.decode("utf-8", "replace"))
    return Difference(comparison.timestamp, comparison.cells, rows, left.trials, left.minimal)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shrunk(Generic[T]):
    """The remaining rows, the number of trials, and whether no more rows can be dropped (else the trials ended)."""

    items: tuple[T, ...]
    trials: int
    minimal: bool


def shrink(items: Sequence[T], differs: Callable[[Sequence[T]], bool], most: int) -> Shrunk[T]:
    """Drop items, large parts first, while ``differs`` holds of the others; with a limit of calls.

    >>> shrink(range(100), lambda some: {7, 42} <= set(some), 100).items
    (7, 42)
    """
    kept, parts, trials = list(items), 2, 0
    while len(kept) >= 2:
        size = -(-len(kept) // parts)
        for start in range(0, len(kept), size):
            if trials == most:
                return Shrunk(tuple(kept), trials, False)
            trials += 1
            rest = kept[:start] + kept[start + size :]
            if differs(rest):
                kept, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(kept), 2 * parts)
    return Shrunk(tuple(kept), trials, True)
