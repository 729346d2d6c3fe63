"""`spark-submit` runs a generated job as it is: on this machine, then on a cluster, where it goes on."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from streambound.synopsis_exec.job_file import RUNTIME
from support.jobs import FIGURE2, batches, figure2, read
from support.quick_java import QUICKLY
from support.submitting import environment, program, spark_submit

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECONDS = 300
"""Until a process is taken to hang."""


def submit(folder: Path, master: str, *more: str, settings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Submit the job; its summary."""
    command = spark_submit(master, *settings)
    files = {"input": str(folder / "in"), "checkpoint": f"file:{folder}/checkpoint", "output": str(folder / "output")}
    options = [part for name, value in files.items() for part in (f"--{name}", value)]
    command += ["--py-files", str(folder / RUNTIME), str(folder / "job.py"), *options, "--report", "json", *more]
    done = subprocess.run(
        command, env=environment(folder), capture_output=True, text=True, timeout=SECONDS, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A master and a worker of a standalone cluster; the address of the master."""
    processes: list[subprocess.Popen[str]] = []

    def start(role: str, *arguments: str) -> str:
        log = folder / f"{role}.log"
        command = [program("spark-class"), f"org.apache.spark.deploy.{role.lower()}.{role}", *arguments]
        with log.open("w", encoding="utf-8") as out:
            processes.append(subprocess.Popen(command, env=environment(folder), stdout=out, stderr=out, text=True))
        return str(log)

    def said(log: str, pattern: str) -> str:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and all(process.poll() is None for process in processes):
            if found := re.search(pattern, Path(log).read_text(encoding="utf-8", errors="replace")):
                return found[1]
            time.sleep(0.2)
        raise AssertionError(Path(log).read_text(encoding="utf-8", errors="replace")[-3000:])

    try:
        log = start("Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master = said(log, r"Starting Spark master at (spark://\S+)")
        log = start("Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g", master)
        said(log, r"(Successfully registered with master)")
        yield master
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def bring(folder: Path, parts: str) -> None:
    """Some parts of figure 2's streams."""
    for file in sorted((folder / "all").glob(f"*/part-[{parts}].jsonl")):
        (folder / "in" / file.parent.name).mkdir(parents=True, exist_ok=True)
        file.rename(folder / "in" / file.parent.name / file.name)


def test_a_submitted_job_goes_on_on_a_cluster(tmp_path: Path) -> None:
    """The same file and checkpoint: the first two batches with local[2], the last one with a master and a worker."""
    figure2().write(tmp_path)
    batches(tmp_path / "all")
    bring(tmp_path, "01")
    summary = submit(tmp_path, "local[2]", "--trigger", "available")
    assert summary["rows"] == {"S": 2, "T": 4, "U": 2}
    assert read(tmp_path / "output") != read(FIGURE2 / "expected.jsonl")
    bring(tmp_path, "2")
    with cluster(tmp_path) as master:
        java = f"spark.executor.extraJavaOptions={QUICKLY}"
        settings = ("spark.executor.memory=512m", "spark.driver.host=127.0.0.1", java)
        summary = submit(tmp_path, master, settings=settings)
    assert "Launching executor app-" in (tmp_path / "Master.log").read_text()
    assert summary["rows"] == {"S": 4, "T": 5, "U": 3}
    assert read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")
