"""Spark's own operators of a statement, its stream-stream join among them, over a job's input.

They run in a process with the same heap as the job, over the same files in the same micro-batches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from streambound.analyzer.calendar_text import MICROSECONDS
from streambound.analyzer.catalog import Kind
from streambound.analyzer.types import Family
from streambound.recheck.oracle.spark_batch import BatchStatement
from streambound.synopsis_exec import memory_processes
from streambound.synopsis_exec.memory_processes import Event, Load, Native, samples_of
from streambound.synopsis_exec.native_operators import native_operators
from streambound.synopsis_exec.plan_ir import Input
from streambound.synopsis_exec.recorded_streams import line_writer, rows_in
from streambound.synopsis_exec.runner import last_meaningful_line
from streambound.synopsis_exec.stream_sizes import CountedRows

_OUT_OF_MEMORY = ("OutOfMemoryError", "GC overhead limit")
GRACE = 120
"""Seconds beyond its time after which Spark's own query is killed: a full heap keeps it from stopping itself."""
_CLOSINGS = 3
"""Batches at the end that only say that time has gone on: each operator above another hears of it a batch later."""
_LONG = 10**8
"""Seconds from the last row to a closing one: longer than a query waits."""


@dataclass(frozen=True, slots=True)
class NativeRun:
    """Spark's own operators: what was measured, the rows they read, and what they returned.

    ``rows`` has the tables' rows, ``closed`` those and the rows that ended time; ``output`` is None where results were
    not kept.
    """

    native: Native
    rows: Path
    closed: Path
    output: Path | None


def run_operators(
    folder: Path,
    statement: BatchStatement,
    inputs: Sequence[Input],
    load: Load,
    counted: CountedRows,
    on_rows: Callable[[int], None],
    joined: int | None = None,
) -> NativeRun:
    """Spark's operators of a statement over rows that were ``counted``.

    The results of one that only joins, as many streams as are ``joined``, are not kept: there may be ever so many.
    """
    place = _Place(folder, load)
    if joined is not None and joined < 2:
        return place.refused("the query reads one stream, so that there is nothing to join")
    changing = [item.name for item in inputs if item.kind is Kind.RELATION and item.timestamp is not None]
    if changing:
        return place.refused(
            f"Spark has no such operator: a row of {changing[0]} that is replaced or deleted takes back what it made, "
            "and its streams only ever add rows"
        )
    found = native_operators(statement.tree, statement.catalog, inputs, joined is not None)
    if found.refused:
        return place.refused(found.refused)
    request = {"views": [asdict(view) for view in found.views], "sql": found.sql, "distinct": found.distinct}
    place.link("native-in")
    if joined is not None:
        return place.run({**request, "keyed": found.keyed}, on_rows, None)
    request |= {
        "columns": len(statement.columns),
        "output": str(place.output),
        "closing": {item.name: _closing(item, counted) for item in inputs if item.timestamp is not None},
    }
    place.link("native-rows")
    return place.run(request, on_rows, place.output)


def _closing(item: Input, counted: CountedRows) -> list[list[str]]:
    """A stream's last rows again, late enough that all before is over, and once more.

    They must be rows that the query uses: Spark may drop others before it reads their time.
    """
    moment = next(c.type for c in item.declared if c.name == item.timestamp).family is Family.TIMESTAMP
    line, step = line_writer(item), _LONG * (MICROSECONDS if moment else 1)
    times = [counted.latest + step * number for number in range(1, _CLOSINGS + 1)]
    return [[line({**row, str(item.timestamp): time}) for row in counted.last_rows[item.name]] for time in times]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where Spark's own operators read and write."""

    folder: Path
    load: Load

    @property
    def batches(self) -> int:
        """How many of the micro-batches they read."""
        return max(1, self.load.batches * self.load.native_tuples // self.load.tuples)

    @property
    def output(self) -> Path:
        """Where they write results."""
        return self.folder / "native-out"

    def refused(self, why: str) -> NativeRun:
        """There is nothing to run."""
        return self._result(Native(refused=why), None)

    def link(self, name: str) -> None:
        """The first micro-batches of the input once more, without copying them."""
        for file in rows_in(self.folder).glob("*/part-*.jsonl"):
            if int(file.stem.removeprefix("part-")) < self.batches:
                target = self.folder / name / file.parent.name / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, target)

    def run(self, request: Mapping[str, Any], on_rows: Callable[[int], None], output: Path | None) -> NativeRun:
        """Run a request until its input ends or its time is up."""
        load, log = self.load, self.folder / "native.log"
        whole = {
            **request,
            "what": "native",
            "input": str(self.folder / "native-in"),
            "checkpoint": str(self.folder / "native"),
            "seconds": load.native_seconds,
            "tuples": [load.tuples * (number + 1) // load.batches for number in range(self.batches)],
        }
        time = load.native_seconds + GRACE
        status, events = memory_processes.watch(self.folder, whole, load.heap, log, time, on_rows)
        keyed = _last(event.native.keyed for event in events)
        complete = _last(event.native.complete for event in events)
        refused, samples = _last(event.native.refused for event in events), samples_of(events)
        if refused and not samples and not _exhausted(log):
            return self._result(Native(refused=refused, keyed=keyed, complete=complete), None)
        ended, reason = _ended(status, events, log)
        dropped = sum(event.native.dropped for event in events)
        return self._result(
            Native(samples, ended, keyed=keyed, reason=reason, complete=complete, dropped=dropped), output
        )

    def _result(self, native: Native, output: Path | None) -> NativeRun:
        return NativeRun(native, self.folder / "native-rows", self.folder / "native-in", output)


def _ended(status: int, events: Sequence[Event], log: Path) -> tuple[str, str]:
    """How Spark's own query ended, and the reason where it failed."""
    if any(event.native.ended for event in events):
        return "done", ""
    if any(event.native.stopped for event in events):
        return "stopped", ""
    if _exhausted(log) or any(word in event.native.refused for event in events for word in _OUT_OF_MEMORY):
        return "out of memory", ""
    if status < 0:
        return "stopped", ""
    reason = next((event.native.refused for event in events if event.native.refused), "")
    return "failed", reason or last_meaningful_line(log.read_text(encoding="utf-8", errors="replace"))


def _exhausted(log: Path) -> bool:
    text = log.read_text(encoding="utf-8", errors="replace")
    return any(word in text for word in _OUT_OF_MEMORY)


def _last(texts: Iterable[str]) -> str:
    """The last text that is not empty."""
    return next(filter(None, reversed([*texts])), "")
