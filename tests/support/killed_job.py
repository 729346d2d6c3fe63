"""Run a job that is killed (kill -9, with its Spark) at a point of its own choice: `JOB POINT BATCH ARGUMENTS…`."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from streambound.synopsis_exec.simulate import load_kernel


def die() -> None:
    """Kill this process and Spark's, which is in the same group."""
    os.killpg(0, signal.SIGKILL)


def before(owner: Any, name: str, fatal: int, batch_of: Any) -> None:
    """Die instead of calling a function with that batch."""
    original = getattr(owner, name)

    def call(*arguments: Any) -> Any:
        if batch_of(arguments) == fatal:
            die()
        return original(*arguments)

    setattr(owner, name, call)


def after(owner: Any, name: str, fatal: int, batch_of: Any) -> None:
    """Die when a function has returned for that batch."""
    original = getattr(owner, name)

    def call(*arguments: Any) -> Any:
        original(*arguments)
        if batch_of(arguments) == fatal:
            die()

    setattr(owner, name, call)


def when_committed(job: Any, fatal: int) -> None:
    """Die when Spark has committed a batch that the job is still folding."""
    original = job.Checkpoint.save

    def save(self: Any, batch: int, state: Any) -> None:
        if batch == fatal:
            begun = time.monotonic()
            while f"{batch}" not in self.files.names("spark/commits"):
                assert time.monotonic() - begun < 60, "Spark waits for the state"
                time.sleep(0.01)
            die()
        original(self, batch, state)

    job.Checkpoint.save = save


def amid_results(job: Any, fatal: int) -> None:
    """Die when some results of a batch are written and flushed, and others are not."""
    original, running, job.PIECE = job.write_piece, {"batch": -1}, 1
    fold = job.Job.fold

    def note(self: Any, frame: Any, batch: int) -> None:
        running["batch"] = batch
        fold(self, frame, batch)

    def write(file: Any, *arguments: Any) -> Any:
        written = original(file, *arguments)
        if running["batch"] == fatal:
            file.flush()
            die()
        return written

    job.Job.fold, job.write_piece = note, write


def amid_ranges(job: Any, fatal: int) -> None:
    """Die when the executors have written the results of a batch, and its report is not counted yet."""
    original = job.written

    def written(found: Any, path: str) -> Any:
        reports = original(found, path)
        if path.endswith(f"{fatal:09d}.jsonl"):
            die()
        return reports

    job.written = written


def amid_sink(job: Any, fatal: int) -> None:
    """Die when the catalog's function has written half a batch."""
    original = job.Sinks.called

    def called(self: Any, call: Any, rows: Any, batch: int) -> None:
        original(self, call, rows.limit(1) if batch == fatal else rows, batch)
        if batch == fatal:
            die()

    job.Sinks.called = called


def main() -> int:
    """Prepare the death and run the job."""
    file, point, batch, *arguments = sys.argv[1:]
    job: Any = load_kernel(Path(file).read_text(encoding="utf-8"))
    fatal = int(batch)
    match point:
        case "before the state is saved":
            before(job.Checkpoint, "save", fatal, lambda a: a[1])
        case "when the state is saved":
            after(job.Checkpoint, "save", fatal, lambda a: a[1])
        case "when it is begun":
            after(job.Checkpoint, "note", fatal, lambda a: a[1])
        case "when Spark has committed":
            when_committed(job, fatal)
        case "amid the results":
            amid_results(job, fatal)
        case "amid the ranges":
            amid_ranges(job, fatal)
        case "amid the sink":
            amid_sink(job, fatal)
        case "after the last batch is handed over":
            after(job.Job, "hand_over", fatal, lambda a: a[1])
        case "never":
            pass
        case _:
            raise ValueError(point)
    status: int = job.main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
