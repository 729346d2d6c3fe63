"""What Spark, its Python workers and the system say of a failure, in a line with the file and the reason."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streambound_runtime.errors import JobError
from streambound_runtime.failures import failure_of, in_one_line, of_full_disk, stopped
from streambound_runtime.session import check_workers

PYTHON = "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
FRAMES = '  File "/x/y.py", line 7, in f\n    open(path)\n'
JAVA = "\n\n\tat org.apache.spark.api.python.Runner.handle(Runner.scala:1)\n\t... 3 more\n\nDriver stacktrace:\n"
STREAM = "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: "
TASK = "Job aborted due to stage failure: Task 0 failed 1 times: org.apache.spark.api.python.PythonException: "
MISSING = "FileNotFoundError: [Errno 2] No such file or directory: '/data/a.jsonl'"


@pytest.mark.parametrize(
    "around", [("", ""), (STREAM, JAVA), (TASK, JAVA), (STREAM + TASK, "\nJVM stacktrace:\nx.y: z")]
)
@pytest.mark.parametrize(
    ("told", "said"),
    [
        (MISSING, "No such file or directory: '/data/a.jsonl'"),
        ("ValueError: no such value", "ValueError: no such value"),
        ("pyarrow.lib.ArrowInvalid: no magic bytes\nin footer", "ArrowInvalid: no magic bytes in footer"),
        ("KeyError", "KeyError"),
        ("streambound_runtime.errors.JobError: /data/a.parquet: OSError: broken", "/data/a.parquet: OSError: broken"),
    ],
)
def test_a_worker_says_why_it_failed(told: str, said: str, around: tuple[str, str]) -> None:
    text = f"{around[0]}{PYTHON}{FRAMES}{told}{around[1]}"
    assert in_one_line(RuntimeError(text)) == f"a Python worker failed: {said}"


def test_of_several_exceptions_the_last_one_is_told() -> None:
    chain = f"{MISSING}\n\nThe above exception was the direct cause of the following exception:\n\n"
    text = (
        f"{PYTHON}{FRAMES}{chain}Traceback (most recent call last):\n{FRAMES}streambound_runtime.errors.JobError: a: b"
    )
    assert in_one_line(RuntimeError(text)) == "a Python worker failed: a: b"


def test_a_worker_that_is_killed_is_told() -> None:
    text = f"{TASK}a.SparkException: Python worker exited unexpectedly (crashed).{JAVA}Caused by: java.io.EOFException"
    assert in_one_line(RuntimeError(text)) == "a Python worker was ended from outside, as when memory runs out"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_wherever_it_is_met(number: int) -> None:
    full = "no space is left on the device"
    said = os.strerror(number)
    of_java = f"An error occurred.\n: a.B: Job aborted.\n\tat e.f(g)\nCaused by: j.IOException: {said}\n\tat h.i(j)"
    of_python = f"{STREAM}{PYTHON}{FRAMES}OSError: [Errno {number}] {said}: '/tmp/x'"
    for text in (of_java, of_python, f"[A_B] cannot write: {said}"):
        assert in_one_line(RuntimeError(text)) == full
        error = stopped(in_one_line(RuntimeError(text)))
        assert (error.kind, error.status) == ("output", 3)
        assert str(error) == f"Spark stopped the job: {full} of the checkpoint, of the results or of TMPDIR"
    found = of_full_disk(OSError(number, said, "/out/x"))
    assert (found.kind, str(found)) == (
        "output",
        f"cannot write /out/x: {full} of the checkpoint, of the results or of TMPDIR",
    )


def test_other_failures_stay_what_they_are() -> None:
    with pytest.raises(PermissionError):
        of_full_disk(PermissionError(errno.EACCES, "no"))
    error = stopped("no such column")
    assert (error.kind, str(error)) == ("spark", "Spark stopped the job: no such column")
    assert failure_of(ValueError()) == "ValueError" and failure_of(JobError("input", "x", 3)) == "x"


# --- the workers' Python ----------------------------------------------------------------------------------------------


def session(program: str, master: str = "local[2]") -> Any:
    conf = SimpleNamespace(get=lambda name, default=None: master if name == "spark.master" else default)
    return SimpleNamespace(conf=conf, sparkContext=SimpleNamespace(pythonExec=program))


def python(folder: Path, body: str) -> str:
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return str(program)


VERSION = f"{sys.version_info[0]} {sys.version_info[1]}"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"echo {VERSION} pyarrow", "has no pyarrow"),
        (f"echo {VERSION} numpy pyarrow", "has no numpy and no pyarrow"),
        ("echo 2 7", f"is Python 2.7, and this is {VERSION.replace(' ', '.')}"),
        ("exit 3", "is no Python that can be started"),
    ],
)
def test_workers_without_what_they_need_are_told_before_anything_starts(tmp_path: Path, body: str, why: str) -> None:
    program = python(tmp_path, body)
    with pytest.raises(JobError) as failed:
        check_workers(session(program))
    remedy = f"set PYSPARK_PYTHON={sys.executable} before Spark starts, or install what is missing"
    assert str(failed.value) == f"Spark's workers run {program}, which {why}: {remedy}"
    assert failed.value.status == 2


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(JobError, match=r"which cannot be started .No such file or directory.: set PYSPARK_PYTHON="):
        check_workers(session("/no/python"))


def test_a_python_is_asked_what_it_has(tmp_path: Path) -> None:
    without = python(tmp_path, f'exec {sys.executable} -I -S "$@"')
    with pytest.raises(JobError, match="has no numpy and no pyarrow"):
        check_workers(session(without))


def test_workers_that_are_fine_or_elsewhere_are_not_refused(tmp_path: Path) -> None:
    check_workers(session(sys.executable))
    check_workers(session(python(tmp_path, f'exec {sys.executable} "$@"')))
    check_workers(session("/no/python", "yarn"))
    check_workers(SimpleNamespace(conf=session("x").conf))  # type: ignore[arg-type]
