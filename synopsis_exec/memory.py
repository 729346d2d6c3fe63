"""Does memory stay constant? A job over a stream that fits its query, and Spark's own join over the same rows.

Each runs in a process with a Java heap of its own, over the same files in the same micro-batches; after each batch the
synopsis entries (or the rows of Spark's state), the Java heap in use and the resident memory are noted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from streambound.analyzer.errors import UsageError
from streambound.analyzer.job_reports import BatchReport, ErrorReport, JobReport, SummaryReport, object_of, report_of
from streambound.analyzer.json_models import structured
from streambound.analyzer.query import Query
from streambound.analyzer.symbols import symbol
from streambound.criteria.certificate import state_bytes
from streambound.criteria.size import Size
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.feeds import Feed
from streambound.synopsis_exec.job_file import CompiledJob
from streambound.synopsis_exec.native_join import native_join, reads_streams
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.recorded_streams import write_feed
from streambound.synopsis_exec.runner import check_spark, failure, last_meaningful_line

_OUT_OF_MEMORY = ("OutOfMemoryError", "GC overhead limit")
GRACE = 120
"""Seconds beyond its time after which Spark's own join is killed: a full heap keeps it from stopping itself."""

FLAT = 1.05
"""The second half may have so many times the entries of the first half: random streams have more by chance."""


class Curve(StrEnum):
    """What the entries did while the tuples were read."""

    OVER = "over M"
    """There were more than M, or more bytes, or the job stopped for that reason."""
    FULL = "at M"
    """There were M, and never more."""
    FLAT = "flat"
    """There were fewer than M, and no more in the second half than in the first."""
    GROWING = "growing"
    """There were fewer than M, and more in the second half: what comes then was not measured."""
    EMPTY = "empty"
    """There were none, though there can be some."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Memory after a micro-batch. ``tuples`` have been read so far, in ``seconds``; sizes are in bytes.

    ``entries`` and ``peak``, the most within the batch, are the job's synopsis entries, ``bytes`` what their
    tables take in the state that it saves; of Spark's join there are none.
    ``state_rows`` and ``state_bytes`` are what Spark's own metrics (``stateOperators``) say. ``heap`` is what Java uses
    after a collection, ``java`` and ``python`` the resident memory of the processes.
    """

    tuples: int
    seconds: float
    state_rows: int
    state_bytes: int
    heap: int
    java: int
    python: int
    entries: int | None = None
    peak: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class NativeState:
    """What the process that runs Spark's own join says of it: why Spark refuses the query, or how it ended."""

    refused: str = ""
    keyed: str = ""
    ended: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the measuring process (`measuring`): a job's report, a sample after a micro-batch, Spark's join."""

    report: JobReport | None
    sample: Sample | None
    native: NativeState


@dataclass(frozen=True, slots=True)
class Native:
    """Spark's own join: its samples, and how it ended.

    ``refused`` is Spark's reason not to run the query at all; ``keyed`` its reason to run it only with a constant key;
    ``ended``: ``done``, ``stopped`` (its time was up), ``out of memory``, or ``failed`` with a ``reason``.
    """

    samples: tuple[Sample, ...] = ()
    ended: str = ""
    refused: str = ""
    keyed: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured.

    ``limit`` is M for the generated streams, in entries, ``limit_bytes`` in bytes (None: strings may be of any length):
    both may depend on the streams' rates and on relations. ``in_order`` are streams of which the job was told that rows
    come in order, as they did, though the catalog promises nothing of rows.
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

    @property
    def peak(self) -> int:
        """The most synopsis entries."""
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
        """What the entries did over all tuples."""
        if not self.within:
            return Curve.OVER
        if self.peak == self.limit:
            return Curve.FULL
        if self.peak == 0:
            return Curve.EMPTY
        half = [sample.peak or 0 for sample in self.samples if 2 * sample.tuples <= self.samples[-1].tuples]
        return Curve.FLAT if self.peak <= max(half, default=0) * FLAT else Curve.GROWING

    @property
    def constant(self) -> bool:
        """Whether the entries were seen to grow no more: they reached M, or were flat over the second half."""
        return self.curve in (Curve.FULL, Curve.FLAT)


@dataclass(frozen=True, slots=True)
class Load:
    """How much is measured: tuples, micro-batches, and the Java heap, as in ``512m``.

    ``native_tuples`` bounds the rows of Spark's join (0: leave it out), ``native_seconds`` its time.
    """

    tuples: int
    batches: int
    heap: str
    native_tuples: int
    native_seconds: int


def measure(
    compiled: CompiledJob,
    query: Query | None,
    feed: Feed,
    stream: str,
    load: Load,
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
    in_order: tuple[str, ...] = (),
) -> Measurement:
    """Write the streams, run the job, then Spark's join of ``query``; ``on_rows`` hears of each stage's rows.

    Raises what a run raises, except that a job which breaks its bound is a measurement, too.
    """
    check_spark()
    plan = compiled.plan
    with tempfile.TemporaryDirectory(prefix="streambound-memory-") as directory:
        folder = Path(directory)
        counted = _Counted(plan)
        rows = write_feed(
            folder / "in", plan, Feed(feed.relations, counted.pass_on(feed.rows)), load.tuples, load.batches,
            lambda rows: on_rows("writing", rows),
        )  # fmt: skip
        entries, in_bytes = plan.bound.entries, state_bytes(plan.bound) if isinstance(plan, Plan) else None
        limit = _number(plan, entries, feed, counted)
        limit_bytes = None if in_bytes is None else _number(plan, in_bytes, feed, counted)
        samples, summary, stopped, told = _job(folder, compiled, load, lambda rows: on_rows("job", rows))
        if (limit := told if limit is None else limit) is None:
            raise _no_number(plan.name, entries)
        native = None
        if load.native_tuples and query is not None:
            native = _native(folder, query, plan.inputs, load, lambda rows: on_rows("native", rows))
    return Measurement(
        plan.name, stream, load.tuples, load.heap, limit, entries.text, limit_bytes, rows,
        sum(summary.quarantined.values()) if summary else 0, summary.results if summary else 0, samples, stopped,
        native, in_order,
    )  # fmt: skip


def _number(plan: Plan | PlannedCircuit, size: Size, feed: Feed, counted: _Counted) -> int | None:
    """A size's value for some streams; None where it is of relations that Spark computes of others."""
    known = sizes(plan, size, feed.relations, counted.rates, counted.brought)
    return size.at(known) if size.symbols <= known.keys() else None


def _no_number(query: str, entries: Size) -> UsageError:
    what = f"M = {entries.text} of {query} is of what Spark computes of relations and of the streams' rates, together"
    return UsageError(what, remedy="declare max_per_timestamp of the streams, or what is computed as a relation")


class _Counted:
    """Counts the tuples of each timestamp while they pass: the rates that M may depend on.

    ``brought`` are two rows of each finite stream: the least and the greatest values that it brings.
    """

    def __init__(self, plan: Plan | PlannedCircuit) -> None:
        self.times = {stream.name: str(stream.timestamp) for stream in plan.streams}
        self.rates = dict.fromkeys(self.times, 0)
        self.ends = plan.ends if isinstance(plan, Plan) else {}
        self.brought: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {name: ({}, {}) for name in self.ends}

    def pass_on(self, rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows as they are; a stream's come in order of time."""
        last: dict[str, int | None] = dict.fromkeys(self.times)
        same: Counter[str] = Counter()
        for name, row in rows:
            now = row[self.times[name]]
            same[name] = same[name] + 1 if now == last[name] else 1
            last[name] = now
            self.rates[name] = max(self.rates[name], same[name])
            if name in self.ends and now <= self.ends[name]:
                for extreme, best in zip(self.brought[name], (min, max), strict=True):
                    extreme |= {k: best(v, extreme.get(k, v)) for k, v in row.items() if isinstance(v, int)}
            yield name, row


Brought = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of relations, or of streams until they end."""


def sizes(
    plan: Plan | PlannedCircuit, size: Size, relations: Brought, rates: Mapping[str, int], streams: Brought
) -> dict[str, int]:
    """The symbols of a size for some streams and relations; where there are no values an extreme is 0.

    ``streams`` are tuples that finite streams brought until their ends, those with extreme values among them.
    """
    known = {symbol("c", name): rate for name, rate in rates.items()}
    known |= {symbol("rate", s.name): s.max_rate.rows for s in plan.streams if s.max_rate is not None}
    known |= {symbol("rows", relation.name): len(relations.get(relation.name, ())) for relation in plan.relations}
    for item in plan.inputs:
        rows = relations.get(item.name, streams.get(item.name, ()))
        for column in (*item.declared, *item.derived):
            values = [row[column.name] for row in rows if isinstance(row.get(column.name), int)]
            known[symbol("min", item.name, column.name)] = min(values, default=0)
            known[symbol("max", item.name, column.name)] = max(values, default=0)
    return {name: number for name, number in known.items() if name in size.symbols}


# --- processes --------------------------------------------------------------------------------------------------------


def _job(
    folder: Path, compiled: CompiledJob, load: Load, on_rows: Callable[[int], None]
) -> tuple[tuple[Sample, ...], SummaryReport | None, str, int | None]:
    """The job's samples and summary; the reason where it stopped because its bound was broken; M as it says."""
    compiled.write(folder)
    options = {"input": "in", "output": "out.jsonl", "quarantine": "bad.jsonl", "checkpoint": "checkpoint"}
    parts = [part for option, name in options.items() for part in (f"--{option}", str(folder / name))]
    parts += ["--files-per-batch", "1"]
    request = {"what": "job", "job": str(folder / "job.py"), "options": parts}
    log = folder / "job.log"
    status, events = _watch(folder, request, load.heap, log, None, on_rows)
    last = events[-1].report if events else None
    told = next((event.report.limit for event in events if isinstance(event.report, BatchReport)), None)
    if isinstance(last, ErrorReport) and last.error == "limit":
        return _samples(events), None, last.message, told
    if status != 0 or not isinstance(last, SummaryReport):
        raise failure(last, status, _kept(log))
    return _samples(events), last, "", told


def _native(folder: Path, query: Query, inputs: Sequence[Input], load: Load, on_rows: Callable[[int], None]) -> Native:
    if reads_streams(query) < 2:
        return Native(refused="the query reads one stream, so that there is nothing to join")
    join = native_join(query, inputs)
    batches = max(1, load.batches * load.native_tuples // load.tuples)
    _link(folder, batches)
    request = {
        "what": "native",
        "input": str(folder / "native-in"),
        "checkpoint": str(folder / "native"),
        "seconds": load.native_seconds,
        "tuples": [load.tuples * (number + 1) // load.batches for number in range(batches)],
        "views": [asdict(view) for view in join.views],
        "sql": join.sql,
        "keyed": join.keyed,
        "distinct": join.distinct,
    }
    log = folder / "native.log"
    status, events = _watch(folder, request, load.heap, log, load.native_seconds + GRACE, on_rows)
    refused, keyed = (_last(getattr(event.native, what) for event in events) for what in ("refused", "keyed"))
    samples = _samples(events)
    if refused and not samples and not _exhausted(log):
        return Native(refused=refused, keyed=keyed)
    ended, reason = _ended(status, events, log)
    return Native(samples, ended, keyed=keyed, reason=reason)


def _link(folder: Path, batches: int) -> None:
    """The first micro-batches of the input once more, for Spark's join, without copying them."""
    for file in (folder / "in").glob("*/part-*.jsonl"):
        if int(file.stem.removeprefix("part-")) < batches:
            target = folder / "native-in" / file.parent.name / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(file, target)


def _ended(status: int, events: Sequence[Event], log: Path) -> tuple[str, str]:
    """How Spark's join ended, and the reason where it failed."""
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


def _samples(events: Sequence[Event]) -> tuple[Sample, ...]:
    return tuple(event.sample for event in events if event.sample is not None)


def _last(texts: Iterable[str]) -> str:
    """The last text that is not empty."""
    return next(filter(None, reversed([*texts])), "")


def _watch(
    folder: Path, request: Mapping[str, Any], heap: str, log: Path, seconds: int | None, on_rows: Callable[[int], None]
) -> tuple[int, list[Event]]:
    """Run `measuring` on a request, at most so long; its exit status and its reports. All else goes to the log."""
    file = folder / f"{request['what']}.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "streambound.synopsis_exec.measuring", str(file)]
    events: list[Event] = []
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8", env=_environment(heap)
        ) as process,
    ):
        timer = threading.Timer(seconds, process.kill) if seconds is not None else None
        if timer is not None:
            timer.start()
        try:
            for line in process.stdout or ():
                event = event_of(line)
                if event is None:
                    errors.write(line)
                    continue
                if event.sample is not None:
                    on_rows(event.sample.tuples - _read(events))
                events.append(event)
            return process.wait(), events
        finally:
            if timer is not None:
                timer.cancel()
            process.terminate()


def _read(events: Sequence[Event]) -> int:
    return max((sample.tuples for sample in _samples(events)), default=0)


def event_of(line: str) -> Event | None:
    """A line of the measuring process; None for what Spark or a library prints."""
    value = object_of(line)
    if not value:
        return None
    sample = structured(value, Sample, closed=False) if "heap" in value else None
    return Event(report_of(line), sample, structured(value, NativeState, closed=False))


def _environment(heap: str) -> dict[str, str]:
    """A Java heap of its own; a process whose heap is full ends, instead of collecting garbage for ever."""
    submit = f'--driver-memory {heap} --driver-java-options "-XX:+ExitOnOutOfMemoryError" pyspark-shell'
    return {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": submit,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore",
    }


def _kept(log: Path) -> Path:
    """A copy of a log that outlives the measurement."""
    handle, name = tempfile.mkstemp(prefix="streambound-memory-", suffix=".log")
    with os.fdopen(handle, "wb") as file:
        file.write(log.read_bytes())
    return Path(name)
