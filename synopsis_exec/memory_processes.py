"""Runs `measuring` in a process with a Java heap of its own, and reads what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from streambound.analyzer.job_reports import JobReport, object_of, report_of
from streambound.analyzer.json_models import structured
from streambound.recheck.oracle.spark_results import ResultCounts


class Sample(Struct, frozen=True):
    """Memory after a micro-batch. ``tuples`` have been read so far, in ``seconds``; sizes are in bytes.

    ``entries`` and ``peak``, the most within the batch, are the job's entries, ``bytes`` what their
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


class NativeState(Struct, frozen=True):
    """The state of the process that runs Spark's own operators: why Spark refuses the query, or how it ended."""

    refused: str = ""
    keyed: str = ""
    complete: str = ""
    dropped: int = 0
    ended: bool = False
    stopped: bool = False


class Event(Struct, frozen=True):
    """A line of the measuring process (`measuring`): a job's report, a sample after a batch, Spark's own query."""

    report: JobReport | None
    sample: Sample | None
    native: NativeState


class Native(Struct, frozen=True):
    """Spark's own join, or operators: samples, and how they ended.

    ``refused`` is Spark's reason not to run the query at all; ``keyed`` its reason to run it only with a constant key;
    ``complete`` its reason to run it only in complete mode, which returns the whole result after each batch;
    ``dropped`` are the rows that it has left out since they came later than the watermark; ``results`` are what has
    been returned in the end against the statement as batch SQL;
    ``ended``: ``done``, ``stopped`` (its time was up), ``out of memory``, or ``failed`` with a ``reason``.
    """

    samples: tuple[Sample, ...] = ()
    ended: str = ""
    refused: str = ""
    keyed: str = ""
    reason: str = ""
    complete: str = ""
    dropped: int = 0
    compared: ResultCounts | None = None


def event_of(line: str) -> Event | None:
    """A line of the measuring process; None for what Spark or a library prints."""
    value = object_of(line)
    if not value:
        return None
    sample = structured(value, Sample, closed=False) if "heap" in value else None
    return Event(report_of(line), sample, structured(value, NativeState, closed=False))


def samples_of(events: Sequence[Event]) -> tuple[Sample, ...]:
    """The samples among some lines."""
    return tuple(event.sample for event in events if event.sample is not None)


class Load(Struct, frozen=True):
    """How much is measured: tuples, micro-batches, and the Java heap, as in ``512m``.

    ``native_tuples`` bounds the rows of Spark's own operators (0: leave them out), ``native_seconds`` their time.
    """

    tuples: int
    batches: int
    heap: str
    native_tuples: int
    native_seconds: int


def watch(
    folder: Path, request: Mapping[str, Any], heap: str, log: Path, seconds: int | None, on_rows: Callable[[int], None]
) -> tuple[int, list[Event]]:
    """Run `measuring` on a request, at most ``seconds``; its exit status and its reports. All else goes to the log."""
    file = folder / f"{request['what']}.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "streambound.synopsis_exec.measuring", str(file)]
    events: list[Event] = []
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8", env=environment(heap)
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
    return max((sample.tuples for sample in samples_of(events)), default=0)


def environment(heap: str) -> dict[str, str]:
    """A Java heap of its own; a process whose heap is full ends, instead of collecting garbage for ever."""
    submit = f'--driver-memory {heap} --driver-java-options "-XX:+ExitOnOutOfMemoryError" pyspark-shell'
    return {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": submit,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore",
    }


def kept(log: Path) -> Path:
    """A copy of a log that outlives the measurement."""
    handle, name = tempfile.mkstemp(prefix="streambound-memory-", suffix=".log")
    with os.fdopen(handle, "wb") as file:
        file.write(log.read_bytes())
    return Path(name)
