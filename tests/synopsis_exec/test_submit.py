"""`spark-submit` runs a generated job as it is: on this machine, where it is killed, then on a cluster.

It goes on there where it was, also when its only executor is killed. That other jobs and placements give the same is
tested without a cluster.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import streambound
from streambound.synopsis_exec import placement
from streambound.synopsis_exec.job_file import RUNTIME
from streambound.synopsis_exec.measuring import running
from streambound_runtime.embedded import run_embedded
from streambound_runtime.settings import settings_of
from streambound_runtime.usage import checked
from support.jobs import read, write
from support.quick_java import QUICKLY
from support.submitting import environment, program, spark_submit

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECONDS = 300
"""Until a process is taken to hang."""
CATALOG = {"streams": {"S": {"timestamp": "ts", "columns": {"k": "bigint", "v": "int", "ts": "bigint"}}}}
GROUPS = "SELECT k, COUNT(*) AS n, SUM(v) AS s, MAX(v) AS v FROM S GROUP BY k HAVING COUNT(*) > 1"


def command(folder: Path, master: str, *settings: str) -> list[str]:
    """How the job is submitted."""
    files = {"input": str(folder / "in"), "checkpoint": f"file:{folder}/checkpoint", "output": str(folder / "output")}
    options = [part for name, value in files.items() for part in (f"--{name}", value)]
    job = ["--py-files", str(folder / RUNTIME), str(folder / "job.py"), *options]
    return [*spark_submit(master, *settings), *job, "--files-per-batch", "1", "--report", "json"]


def killed(folder: Path) -> None:
    """Submit the job on this machine, and kill it, with Spark, after its first batch."""
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command(folder, "local[2]"), env=environment(folder), cwd=folder, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        assert process.stdout is not None
        assert any('"batch": 0' in line for line in process.stdout), (folder / "log").read_text(encoding="utf-8")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, int]]:
    """A master and a worker of a standalone cluster: the address of the master, and the worker's process."""
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
        yield master, processes[-1].pid
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def kill_executors(worker: int) -> int:
    """Kill the executors of a worker, which are its children; how many there were."""
    found = [number for number, process in running().items() if process.parent == worker]
    for number in found:
        os.kill(number, signal.SIGKILL)
    return len(found)


def test_a_submitted_job_in_buckets_that_is_killed_goes_on_on_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same files and checkpoint: the first batch with local[2], the others with a master and a worker.

    After the second batch the executor is killed, of which Spark starts another one.
    """
    monkeypatch.setattr(placement, "BUCKETS", 4)
    dice, made = random.Random(3), streambound.compile(GROUPS, CATALOG, placement="buckets", unbounded=True)
    made.write(tmp_path)
    for part in range(4):
        rows = (
            {"k": dice.choice([*range(12), None]), "v": dice.randrange(7), "ts": 9 * part + n // 7} for n in range(20)
        )
        write(tmp_path / "in" / "S" / f"{part}.jsonl", *rows, "bad", modified=1_600_000_000 + part)
    here = streambound.compile(GROUPS, CATALOG, placement="driver", unbounded=True).compiled.job
    options = [f"--{name}={tmp_path / 'here' / name}" for name in ("output", "quarantine", "checkpoint")]
    (tmp_path / "here").mkdir()
    options += ["--input", str(tmp_path / "in"), "--files-per-batch", "1"]
    run_embedded(here, checked(here, settings_of(here, options)), lambda event: None)
    killed(tmp_path)
    assert not (tmp_path / "output").exists()
    with cluster(tmp_path) as (master, worker), (tmp_path / "log").open("w", encoding="utf-8") as log:
        java = f"spark.executor.extraJavaOptions={QUICKLY}"
        settings = ("spark.executor.memory=512m", "spark.driver.host=127.0.0.1", java)
        process = subprocess.Popen(
            command(tmp_path, master, *settings), env=environment(tmp_path), cwd=tmp_path, text=True,
            stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        assert process.stdout is not None
        assert any('"batch": 1' in line for line in process.stdout), (tmp_path / "log").read_text(encoding="utf-8")
        assert kill_executors(worker) == 1
        told = process.communicate(timeout=SECONDS)[0]
    assert process.returncode == 0, told[-2000:] + (tmp_path / "log").read_text(encoding="utf-8")[-4000:]
    assert (tmp_path / "Master.log").read_text().count("Launching executor app-") == 2
    summary = json.loads(told.splitlines()[-1])
    assert (summary["rows"], summary["quarantined"]) == ({"S": 84}, {"not a JSON object": 4})
    assert read(tmp_path / "output") == read(tmp_path / "here" / "output") != []
    assert (tmp_path / "checkpoint" / "buckets").is_dir()
