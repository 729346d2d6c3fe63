"""Temporary directories: those of processes that were killed go when the next one begins, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streambound_runtime.scratch import LOCK, clear_left, new_scratch, scratch_folder

WAITS = """
import sys
from streambound_runtime.scratch import new_scratch
scratch = new_scratch("run-")
(scratch.folder / "deep" / "er").mkdir(parents=True)
(scratch.folder / "deep" / "file").write_text("x")
print(scratch.folder, flush=True)
sys.stdin.read()
scratch.remove()
"""
MANY = """
from streambound_runtime.scratch import new_scratch
for number in range(40):
    scratch = new_scratch()
    (scratch.folder / "file").write_text("x")
    assert (scratch.folder / "file").exists()
    scratch.remove() if number % 2 else scratch._give_up()
"""
"""Makes directories, and leaves half of them as one that was killed does."""
Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories are made, here and in other processes."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def start(where: Path) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def begin(program: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        started.append(subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def made_by(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_goes_and_what_a_living_one_uses_stays(where: Path, start: Start) -> None:
    dead, living = start(WAITS), start(WAITS)
    folders = made_by(dead), made_by(living)
    dead.send_signal(signal.SIGKILL)
    dead.wait()
    assert (folders[0] / "deep" / "file").exists()
    mine = new_scratch()
    assert {*where.iterdir()} == {folders[1], mine.folder}
    assert (folders[1] / "deep" / "file").exists()
    living.communicate("")
    assert living.returncode == 0 and {*where.iterdir()} == {mine.folder}
    mine.remove()
    assert not [*where.iterdir()]


def test_nothing_else_is_touched(where: Path) -> None:
    other = where / "other"
    other.mkdir()
    (other / LOCK).touch()
    (where / "streambound-link").symlink_to(other)
    (where / "streambound-memory-x.log").write_text("kept")
    (where / "streambound-unlocked").mkdir()
    (where / "streambound-linked-lock").mkdir()
    (where / "streambound-linked-lock" / LOCK).symlink_to(other / LOCK)
    kept = new_scratch()
    (kept.folder / "spark.log").write_text("an error names it")
    kept.keep()
    before = {*where.rglob("*")}
    clear_left(where)
    assert {*where.rglob("*")} == before


def test_what_belongs_to_others_stays(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = new_scratch()
    left._give_up()
    monkeypatch.setattr(os, "geteuid", lambda: where.stat().st_uid + 1)
    clear_left(where)
    assert left.folder.exists()
    monkeypatch.undo()
    clear_left(where)
    assert not left.folder.exists()


def test_links_in_a_directory_are_not_followed(where: Path) -> None:
    other = where / "other"
    other.mkdir()
    (other / "mine").write_text("x")
    with scratch_folder("run-") as folder:
        (folder / "link").symlink_to(other)
    assert (other / "mine").read_text() == "x" and [*where.iterdir()] == [other]


def test_processes_at_once_take_nothing_from_each_other(where: Path, start: Start) -> None:
    processes = [start(MANY) for _ in range(3)]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0, 0]
    clear_left(where)
    assert not [*where.iterdir()]


def test_a_job_that_outlives_the_command_keeps_its_directory(where: Path) -> None:
    scratch = new_scratch("run-")
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=pipe, text=True, pass_fds=scratch.shared)
    scratch._give_up()
    clear_left(where)
    assert scratch.folder.exists()
    child.communicate("\n")
    clear_left(where)
    assert not scratch.folder.exists()


def test_a_process_has_one_directory_until_it_ends(where: Path) -> None:
    program = "from streambound_runtime.scratch import process_folder as f; assert f() is f(); print(f())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    assert folder.parent == where and not folder.exists()
