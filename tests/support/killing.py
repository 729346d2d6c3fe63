"""Jobs in processes of their own, which are killed (kill -9, with Spark) at a point or at any moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KILLED_JOB = Path(__file__).with_name("killed_job.py")


def started(folder: Path, point: str, batch: int, *more: str) -> subprocess.Popen[str]:
    """The job in a folder as a process group of its own, which dies at a point of a batch (`killed_job`)."""
    job = [sys.executable, str(KILLED_JOB), str(folder / "job.py"), point, str(batch)]
    options = ["--input", "in", "--base", ".", "--output", "out.jsonl", "--quarantine", "bad.jsonl"]
    options += ["--files-per-batch", "1"]
    command = [*job, *options, "--checkpoint", "checkpoint", "--report", "json", *more]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
