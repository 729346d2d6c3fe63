"""Processes that share the work and die: a check never passes, never hangs, and leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from streambound.gate import tasks
from support.catalog_texts import BOUNDED
from support.catalog_texts import TWO_STREAMS as CATALOG

FILES = 12
LIMIT = 60
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked there, with what a test put in")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text('queries = ["*.sql"]\n' + CATALOG, encoding="utf-8")
    for number in range(FILES):
        text = f"-- {'long ' * (tasks.WORTHWHILE // FILES // 5)}\n{BOUNDED}"
        (tmp_path / f"q{number:02}.sql").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("file", ["q00.sql", f"q{FILES - 1:02}.sql"])
@pytest.mark.parametrize("command", [("check",), ("baseline", "create")])
def test_a_worker_that_is_killed_fails_the_run(
    project: Path, monkeypatch: pytest.MonkeyPatch, file: str, command: tuple[str, ...]
) -> None:
    judge = tasks.result

    def killed(task: tasks.Task, workspace: tasks.Sources) -> list[object]:
        if task.source.file == file:
            os.kill(os.getpid(), signal.SIGKILL)
        return judge(task, workspace)

    assert CliRunner().invoke(cli.main, ["check", "--no-cache", "-j", "2"]).exit_code == 0
    monkeypatch.setattr(tasks, "result", killed)
    monkeypatch.setattr(tasks, "processors", lambda: 2)
    result = CliRunner().invoke(cli.main, list(command))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("streambound: error: a process that judged queries was ended from outside\n")
    assert "-j 1" in result.stderr
    assert not (project / "streambound-baseline.json").exists()


@pytest.mark.parametrize("error", [OSError(11, "Resource temporarily unavailable"), NotImplementedError("sem_open")])
def test_where_no_process_can_be_started_all_is_done_here(
    project: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def none(*_: object) -> None:
        raise error

    command = ["check", "--no-cache", "--format", "json", "-j"]
    expected = CliRunner().invoke(cli.main, [*command, "2"]).stdout
    monkeypatch.setattr(tasks, "_pool", none)
    result = CliRunner().invoke(cli.main, [*command, "2"])
    assert (result.exit_code, result.stdout) == (0, expected)


def test_workers_that_die_at_once_fail_the_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_keep", lambda _: os.kill(os.getpid(), signal.SIGKILL))
    result = CliRunner().invoke(cli.main, ["check", "--no-cache", "-j", "2"])
    assert (result.exit_code, result.stdout) == (2, "")


SLOW = """
import sys, time
from streambound.gate import tasks
def slow(task, workspace):
    print("judging", __import__("os").getpid(), flush=True)
    time.sleep(1000)
tasks.result = slow
from streambound import cli
cli.main(["check", "--no-cache", "-j", "3"])
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_check_that_started_them(project: Path, how: signal.Signals) -> None:
    script = project / "slow.py"
    script.write_text(SLOW, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as check:
        assert check.stdout is not None
        workers = [int(check.stdout.readline().split()[1]) for _ in range(3)]
        check.send_signal(how)
        check.wait(LIMIT)
        assert check.returncode == -how
    until = time.monotonic() + LIMIT
    while any(alive(worker) for worker in workers):
        assert time.monotonic() < until, "a worker outlived its check"
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return False
