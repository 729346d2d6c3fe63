"""Runs `measuring` in a process with a Java heap of its own, and reads what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streambound.synopsis_exec.memory_samples import Event, event_of, samples_of


@dataclass(frozen=True, slots=True)
class Load:
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
    """Run `measuring` on a request, at most so long; its exit status and its reports. All else goes to the log."""
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
