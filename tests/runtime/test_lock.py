"""One run at a time on a checkpoint: who is refused, who takes over, and that a replaced run writes nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.checkpoint import lock as lock_file
from streambound_runtime.checkpoint.lock import RUN, Holder, Lock
from streambound_runtime.checkpoint.store import LocalStore, SparkStore
from streambound_runtime.errors import JobError
from support.fed import Fed
from support.jobs import job_of

SQL = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.a = T.a AND T.a < 5 AND T.a > 0"
HERE = socket.gethostname()


def a_run(**changed: Any) -> bytes:
    run = Holder(id="a", host=HERE, process=1, started="0", user="ada", since="2026-01-31T12:00:00+00:00")
    return json.dumps({**run, **changed}).encode()


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(str(tmp_path / "c"))


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_a_run_takes_a_checkpoint_and_leaves_it(store: LocalStore) -> None:
    for _ in range(2):
        lock = Lock(store)
        lock.take()
        said = json.loads(store.read(RUN) or b"")
        assert (said["host"], said["process"]) == (HERE, os.getpid())
        store.write("state/0", b"mine")
        lock.release()
        assert store.read(RUN) == b""
    assert store.names() == [".run.json.lock", "run.json", "state"]


def test_a_process_that_lives_on_this_host_keeps_it(store: LocalStore, sleeper: subprocess.Popen[bytes]) -> None:
    started = lock_file._start_of(sleeper.pid)
    store.write(RUN, data := a_run(process=sleeper.pid, started=started))
    with pytest.raises(JobError) as caught:
        Lock(store).take()
    assert (caught.value.kind, caught.value.status, store.read(RUN)) == ("state", 2, data)
    assert str(caught.value) == (
        f"the checkpoint {store.path} is in use by process {sleeper.pid} of ada on {HERE}, which runs since "
        "2026-01-31T12:00:00+00:00; end it first, or give this job a checkpoint of its own"
    )
    sleeper.kill()
    while Path(f"/proc/{sleeper.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        pass
    Lock(store).take()  # it is dead, though its parent has not taken note
    assert json.loads(store.read(RUN) or b"")["process"] == os.getpid()


@pytest.mark.parametrize(
    "left",
    [
        a_run(process=os.getppid(), started="0"),  # a later process of the same number
        a_run(process=os.getpid(), started=lock_file._start_of(os.getpid())),  # an earlier run of this one
        b"",
        b"{",
        b'{"host": "elsewhere"}',
    ],
    ids=["a later process", "an earlier run", "nothing", "half a file", "no process"],
)
def test_what_a_run_has_left_that_is_over_is_taken_over(store: LocalStore, left: bytes) -> None:
    store.write(RUN, left)
    (lock := Lock(store)).take()
    lock.check()


def test_where_there_is_no_proc_a_process_lives_if_it_takes_signals(
    monkeypatch: pytest.MonkeyPatch, sleeper: subprocess.Popen[bytes]
) -> None:
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda self: "proc" not in self.parts and exists(self))
    assert lock_file._start_of(sleeper.pid) == ""
    sleeper.kill()
    sleeper.wait()
    assert lock_file._start_of(sleeper.pid) is None


def test_of_another_host_only_people_know_whether_it_is_over(store: LocalStore) -> None:
    store.write(RUN, a_run(host="elsewhere", process=7))
    with pytest.raises(JobError) as caught:
        Lock(store).take()
    assert str(caught.value).endswith(
        "process 7 of ada on elsewhere, which runs since 2026-01-31T12:00:00+00:00; end it first, or give this job a "
        f"checkpoint of its own; if it is over, which cannot be seen from {HERE}, remove {store.path}/run.json: "
        "a run without that writes nothing"
    )
    (store.folder / RUN).unlink()
    Lock(store).take()


def test_a_run_that_is_asked_to_end_leaves_its_checkpoint(store: LocalStore) -> None:
    """A container is asked so before it is stopped, and starts again under another host's name."""
    run = f"""
import time
from streambound_runtime.checkpoint.lock import Lock
from streambound_runtime.checkpoint.store import LocalStore
from streambound_runtime.signals import signals_raised
with signals_raised():
    Lock(LocalStore({store.path!r})).take()
    print(flush=True)
    time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", run], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(JobError, match=f"in use by process {process.pid} of"):
        Lock(store).take()
    process.terminate()
    process.communicate()
    assert (process.returncode, store.read(RUN)) == (143, b"")


def test_a_job_whose_checkpoint_another_run_has_taken_leaves_it_as_it_is(tmp_path: Path) -> None:
    """Neither its state nor its results change, and the other run goes on from what there is."""
    job = job_of(SQL, {"streams": {key: {"timestamp": "ts", "columns": {"a": "int", "ts": "int"}} for key in "ST"}})
    zombie = Fed(job, tmp_path)
    zombie.feed({"S": ['{"a": 1, "ts": 2}'], "T": ['{"a": 1, "ts": 1}', '{"a": 1, "ts": 3}']}, 0)
    other = Fed(job, tmp_path)
    before = {file: file.read_bytes() for file in (tmp_path / "state").rglob("*") if file.is_file()}
    with pytest.raises(JobError, match=r"this run has lost the checkpoint .*; it stops, and has written nothing since"):
        zombie.feed({"S": ['{"a": 1, "ts": 5}'], "T": ['{"a": 1, "ts": 9}']}, 1)
    with pytest.raises(JobError, match="this run has lost the checkpoint"):
        zombie.driver.finish()
    (tmp_path / "state" / "spark" / "offsets" / "1").unlink()  # Spark's own, of a batch that was not committed
    assert {file: file.read_bytes() for file in (tmp_path / "state").rglob("*") if file.is_file()} == before
    assert not (tmp_path / "out.jsonl").exists()
    other.feed({"S": ['{"a": 1, "ts": 4}'], "T": ['{"a": 1, "ts": 4}']}, 1)
    other.driver.finish()
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(row["_ts"], row["_mult"]) for row in rows] == [(2, 1), (4, 2)]


def write(store: LocalStore) -> None:
    store.write("state/0", b"new")


def write_lines(store: LocalStore) -> None:
    with store.lines("state/0") as file:
        file.write("new\n")


@pytest.mark.parametrize("writing", [write, write_lines])
@pytest.mark.parametrize(
    ("lose", "how"),
    [
        (lambda store: (store.folder / RUN).unlink(), "when its run.json was removed"),
        (lambda store: Lock(LocalStore(store.path)).take(), f"to process {os.getpid()} of "),
    ],
    ids=["removed", "taken"],
)
def test_a_run_that_has_lost_its_checkpoint_writes_nothing(
    store: LocalStore, writing: Callable[[LocalStore], None], lose: Callable[[LocalStore], object], how: str
) -> None:
    (lock := Lock(store)).take()
    store.write("state/0", b"old")
    lose(store)
    now = store.read(RUN)
    with pytest.raises(JobError, match=f"this run has lost the checkpoint {store.path} {how}.*; it stops") as caught:
        writing(store)
    assert (caught.value.kind, caught.value.status) == ("state", 3)
    assert (store.names("state"), store.read("state/0")) == (["0"], b"old"), "not even a temporary file"
    lock.release()
    assert store.read(RUN) == now, "it is not its to leave"


def test_of_many_that_start_at_once_one_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread stands for a process of its own."""
    monkeypatch.setattr(lock_file, "_alive", lambda run: True)

    def start(number: int) -> Lock | None:
        lock = Lock(LocalStore(str(tmp_path / "c")))
        try:
            lock.take()
        except JobError as error:
            assert "is in use by process" in str(error)
            return None
        return lock

    with ThreadPoolExecutor(8) as threads:
        locks = [lock for lock in threads.map(start, range(40)) if lock is not None]
    assert len(locks) == 1
    locks[0].check()


def test_where_only_spark_reaches_the_last_run_to_start_goes_on(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked() -> Lock:
        return Lock(SparkStore(spark, f"file:{tmp_path}/c"))

    (first := locked()).take()
    with monkeypatch.context() as patch:
        patch.setattr(lock_file, "_alive", lambda run: True)
        with pytest.raises(JobError, match="is in use by process"):
            locked().take()
    first.store.write("state/0", b"old")
    first.release()
    first.take()
    (second := locked()).take()  # as one that has looked before the first one wrote that it runs
    with pytest.raises(JobError, match="this run has lost the checkpoint"):
        first.store.write("state/0", b"new")
    assert second.store.read("state/0") == b"old"
    second.store.write("state/0", b"new")
    second.release()
    assert second.store.read(RUN) == b""


def test_each_writer_of_a_file_has_a_temporary_file_of_its_own(store: LocalStore) -> None:
    with store.lines("a") as one, store.lines("a") as other:
        one.write("one")
        other.write("other")
        assert len(store.names()) == 2
    assert (store.names(), store.read("a")) == (["a"], b"one"), "the last one to end"
    for place in (".", "state", "buckets/0001", "spark/offsets", "spark/sources/0"):
        file = store.folder / place / ".0.1234.tmp"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    store.clear()
    assert not [*store.folder.rglob("*.tmp")] and store.read("a") == b"one"
