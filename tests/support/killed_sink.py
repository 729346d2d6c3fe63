"""Run a job without Spark that is killed (kill -9) at a point of a batch: `FOLDER JOB POINT BATCH`.

Its table has nothing of the batch, or all of it, of which the checkpoint knows nothing yet.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from streambound.synopsis_exec.job_file import job_in
from streambound_runtime.driver import Driver
from streambound_runtime.table_sinks import TableSink
from support.embedded import run_here

POINTS = ("before the commit", "after the commit")


def main() -> None:
    """Prepare the death and run the job."""
    folder, file, point, batch = sys.argv[1:]
    job = job_in(Path(file).read_text(encoding="utf-8"))
    assert job is not None
    owner: Any = TableSink if point == POINTS[0] else Driver
    name = "_apply" if point == POINTS[0] else "hand_over"
    original, left = getattr(owner, name), [int(batch)]

    def call(*arguments: Any) -> None:
        original(*arguments)
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, call)
    run_here(job, Path(folder))


if __name__ == "__main__":
    main()
