"""Run a job that is killed (kill -9, with its Spark) at a point of its own choice: `JOB POINT BATCH ARGUMENTS…`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from streambound.synopsis_exec.job_file import job_in
from streambound_runtime import results
from streambound_runtime.driver import Driver
from streambound_runtime.main import main as run
from streambound_runtime.sinks import Sinks


def die() -> None:
    """Kill this process and Spark's, which is in the same group."""
    os.killpg(0, signal.SIGKILL)


def after(owner: Any, name: str, fatal: int, batch_of: Any) -> None:
    """Die when a function has returned for that batch."""
    original = getattr(owner, name)

    def call(*arguments: Any) -> Any:
        original(*arguments)
        if batch_of(arguments) == fatal:
            die()

    setattr(owner, name, call)


def amid_results(fatal: int) -> None:
    """Die when some results of a batch are written and flushed, and others are not."""
    original, running, results._PIECE = results._write_some, {"batch": -1}, 1
    fold = Driver.fold

    def note(self: Any, arrived: Any, batch: int) -> None:
        running["batch"] = batch
        fold(self, arrived, batch)

    def write(file: Any, *arguments: Any) -> Any:
        written = original(file, *arguments)
        if running["batch"] == fatal:
            file.flush()
            die()
        return written

    Driver.fold, results._write_some = note, write  # type: ignore[method-assign]


def amid_sink(fatal: int) -> None:
    """Die when the catalog's function has written half a batch."""
    original = Sinks._called

    def called(self: Any, call: Any, rows: Any, batch: int) -> None:
        original(self, call, rows.limit(1) if batch == fatal else rows, batch)
        if batch == fatal:
            die()

    Sinks._called = called  # type: ignore[method-assign]


def main() -> int:
    """Prepare the death and run the job."""
    file, point, batch, *arguments = sys.argv[1:]
    job = job_in(Path(file).read_text(encoding="utf-8"))
    assert job is not None
    fatal = int(batch)
    match point:
        case "amid the results":
            amid_results(fatal)
        case "amid the sink":
            amid_sink(fatal)
        case "after a batch is handed over":
            after(Driver, "hand_over", fatal, lambda a: a[1])
        case "after the state is saved":
            after(Driver, "save", fatal, lambda a: a[1])
        case "never":
            pass
        case _:
            raise ValueError(point)
    return run(job, arguments)


if __name__ == "__main__":
    sys.exit(main())
