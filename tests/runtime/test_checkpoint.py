"""The job's part of a checkpoint: files that are there completely or not at all, states that fit, and claims."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.checkpoint.store import LocalStore, written_atomically
from streambound_runtime.errors import JobError
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec
from support.jobs import job_of
from support.profiles import examples

TABLES = {"table x": pa.table({"a": [1, None]})}
ANEW = "or give this job a new directory: it then reads its sources from their start"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(LocalStore(str(tmp_path / "c")))


# --- the store --------------------------------------------------------------------------------------------------------


def test_files_by_name(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "c d"))
    assert (store.names(), store.names("state"), store.read("state/0")) == ([], [], None)
    assert not store.copy_lines("results/0.jsonl", StringIO())
    store.write("state/0", b"\x00\r\n")
    store.write("state/0", b"new\r\n")
    with store.lines("results/0.jsonl") as file:
        file.write("é\u2028\n")
    found = StringIO("before\n")
    found.seek(0, os.SEEK_END)
    assert store.copy_lines("results/0.jsonl", found) and found.getvalue() == "before\né\u2028\n"
    assert (store.names(), store.names("state"), store.read("state/0")) == (["results", "state"], ["0"], b"new\r\n")
    assert store.read("state") is None, "a directory is no file"
    assert store.where("state/0") == f"{tmp_path}/c d/state/0"


def test_a_directory_may_be_a_uri(tmp_path: Path) -> None:
    """Spark takes what it was given, and this machine opens the same."""
    store = LocalStore(f"file:{tmp_path}/c/")
    store.write("a", b"1")
    assert (store.where("a"), (tmp_path / "c" / "a").read_bytes()) == (f"file:{tmp_path}/c/a", b"1")


@pytest.mark.parametrize("moment", ["while it is written", "when it is flushed", "when it takes its place"])
def test_a_file_is_there_completely_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    store = LocalStore(str(tmp_path))
    store.write("state/0", b"old")
    full = OSError(errno.ENOSPC, "No space left on device")

    def fails(*arguments: Any) -> None:
        raise full

    if moment != "while it is written":
        owner, name = (os, "fsync") if moment == "when it is flushed" else (Path, "replace")
        monkeypatch.setattr(owner, name, fails)
    says = f"cannot write {tmp_path}/state/0: No space left on device"
    with pytest.raises(JobError) as caught, written_atomically(tmp_path / "state" / "0") as file:
        file.write("half")
        if moment == "while it is written":
            raise full
    assert (str(caught.value), caught.value.kind, caught.value.status) == (says, "output", 3)
    monkeypatch.undo()
    assert store.read("state/0") == b"old"
    assert store.names("state") == ["0"], "nothing half written is left"


def test_what_is_half_written_is_not_seen(tmp_path: Path) -> None:
    """As after a power cut, and by who looks meanwhile."""
    store = LocalStore(str(tmp_path))
    store.write("a", b"old")
    with written_atomically(tmp_path / "a") as file:
        file.write("new")
        file.flush()
        assert store.read("a") == b"old"
    assert store.read("a") == b"new"


def test_an_error_of_who_writes_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.write("a", b"old")
    with pytest.raises(KeyError), store.lines("a") as file:
        file.write("half")
        raise KeyError
    assert (store.names(), store.read("a")) == (["a"], b"old")


def test_a_link_stays_and_the_file_that_it_names_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with written_atomically(tmp_path / "link") as file:
        file.write("new")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "file").read_text()) == (True, "new")


def test_what_is_no_file_is_written_as_it_is(tmp_path: Path) -> None:
    """As `/dev/stdout` is, and `/dev/null`, in whose place a file would do harm."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with written_atomically(tmp_path / "pipe") as file:
        file.write("new")
    assert (os.read(reader, 9), (tmp_path / "pipe").is_fifo()) == (b"new", True)
    os.close(reader)


def test_a_file_in_the_way_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(JobError, match=re.escape(f"cannot write {tmp_path}/state/0: ")):
        LocalStore(str(tmp_path)).write("state/0", b"")


# --- states -----------------------------------------------------------------------------------------------------------


def saved(checkpoint: Checkpoint, *batches: int) -> None:
    for batch in batches:
        checkpoint.save(batch, {"n": batch * 10}, TABLES)


def spoil(checkpoint: Checkpoint, place: int) -> None:
    data = checkpoint.store.read(f"state/{place}")
    assert data is not None
    checkpoint.store.write(f"state/{place}", data[:-1] + bytes([data[-1] ^ 1]))


def commit(checkpoint: Checkpoint, batch: int) -> None:
    """What Spark does after a batch."""
    checkpoint.store.write(f"spark/commits/{batch}", b"v1\n{}")


def test_states_after_the_last_two_batches(checkpoint: Checkpoint) -> None:
    assert (checkpoint.committed(), checkpoint.before(0)) == (None, None)
    for batch in range(5):
        saved(checkpoint, batch)
        earlier = checkpoint.committed()  # Spark will give this batch again
        assert (earlier and earlier[0]) == (batch - 1 if batch else None)
        commit(checkpoint, batch)
        found = checkpoint.committed()
        assert found is not None and (found[0], found[1][0]) == (batch, {"batch": batch, "n": batch * 10})
        assert found[1][1]["table x"].equals(TABLES["table x"])
        for given_batch in (batch + 1, batch):  # Spark goes on, or gives the batch again
            state = checkpoint.before(given_batch)
            assert (state and state[0]["n"]) == ((given_batch - 1) * 10 if given_batch else None)
    assert checkpoint.store.names("state") == ["0", "1"]


@examples(30)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=2), st.integers(-1, 5))
def test_what_is_committed(tmp_path_factory: pytest.TempPathFactory, states: list[tuple[int, bool]], last: int) -> None:
    """Whatever is there, whole or damaged: the state is that of Spark's last batch, or an error names what is not."""
    checkpoint = Checkpoint(LocalStore(str(tmp_path_factory.mktemp("c"))))
    there: dict[int, int] = {}
    for number, whole in states:
        saved(checkpoint, number)
        there[number % 2] = number
        if not whole:
            spoil(checkpoint, number % 2)
            del there[number % 2]
    for batch in range(last + 1):
        commit(checkpoint, batch)
    if there and max(there.values()) > last + 1:
        blamed: str | None = "spark/commits"
    elif last >= 0 and there.get(last % 2) != last:
        blamed = f"state/{last % 2}"
    else:
        blamed = None
    if blamed is None:
        found = checkpoint.committed()
        assert (found and (found[0], found[1][0]["batch"])) == ((last, last) if last >= 0 else None)
        return
    with pytest.raises(JobError) as caught:
        checkpoint.committed()
    what = f"the checkpoint is damaged: {checkpoint.store.path}/{blamed} is missing or was changed; restore it, {ANEW}"
    assert (str(caught.value), caught.value.kind, caught.value.status) == (what, "state", 3)


# --- claims -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def job() -> JobSpec:
    return job_of("SELECT S.a FROM S", {"streams": {"S": {"timestamp": "ts", "columns": {"a": "int", "ts": "int"}}}})


def claimed(checkpoint: Checkpoint, job: JobSpec) -> bool:
    """Take a directory for a job; whether it was new."""
    new: list[bool] = []
    checkpoint.claim(job, Settings(input="in"), {}, lambda: new.append(True))
    return bool(new)


def refusal(checkpoint: Checkpoint, job: JobSpec, status: int) -> str:
    before = {name: checkpoint.store.read(name) for name in checkpoint.store.names()}
    with pytest.raises(JobError) as caught:
        checkpoint.claim(job, Settings(input="in"), {})
    assert (caught.value.kind, caught.value.status) == ("state", status)
    assert {name: checkpoint.store.read(name) for name in checkpoint.store.names()} == before, "nothing was changed"
    return str(caught.value)


def test_a_job_takes_a_new_directory_and_finds_it_again(checkpoint: Checkpoint, job: JobSpec) -> None:
    assert claimed(checkpoint, job)
    assert not claimed(checkpoint, job)
    saved(checkpoint, 0)
    assert not claimed(Checkpoint(checkpoint.store), job)


def test_a_directory_of_another_job(checkpoint: Checkpoint, job: JobSpec) -> None:
    checkpoint.claim(job, Settings(input="in"), {})
    other = replace(job, name="other", saved=replace(job.saved, query="f" * 64))
    assert refusal(checkpoint, other, 2) == (
        f"the checkpoint {checkpoint.store.path} cannot be continued: it is of the query q (sha256 "
        f"{job.saved.query[:12]}), and this job is of other (sha256 ffffffffffff); "
        f"run the job that it belongs to, {ANEW}"
    )


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-1],
    "another value": lambda data: b"[]",
    "no text": lambda data: b"\xff" + data,
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_damaged_directory(checkpoint: Checkpoint, job: JobSpec, how: str) -> None:
    checkpoint.claim(job, Settings(input="in"), {})
    saved(checkpoint, 0)
    data = checkpoint.store.read("job.json")
    checkpoint.store.write("job.json", SPOILT[how](data or b""))
    where = checkpoint.store.where("job.json")
    says = f"the checkpoint is damaged: {where} is missing or was changed; restore it, {ANEW}"
    assert refusal(checkpoint, job, 3) == says
    (Path(checkpoint.store.path) / "job.json").unlink()
    assert refusal(checkpoint, job, 3) == says


def test_a_claim_that_a_crash_cut_short_is_made_again(checkpoint: Checkpoint, job: JobSpec) -> None:
    """Nothing but what says whose it is was written, so nothing is lost."""
    checkpoint.store.write("job.json", b"")
    assert claimed(checkpoint, job)


@pytest.mark.parametrize("names", [["notes.txt"], ["a", "b", "c", "d"]])
def test_a_directory_of_something_else(checkpoint: Checkpoint, job: JobSpec, names: list[str]) -> None:
    for name in names:
        checkpoint.store.write(name, b"mine")
    assert refusal(checkpoint, job, 2) == (
        f"{checkpoint.store.path} is no checkpoint of a job: it holds {', '.join(names[:3])}; "
        "give --checkpoint a directory that is new or empty"
    )


def test_hidden_files_are_in_no_ones_way(checkpoint: Checkpoint, job: JobSpec) -> None:
    for name in (".gitkeep", "_SUCCESS"):
        checkpoint.store.write(name, b"")
    assert claimed(checkpoint, job)


# --- what Spark keeps -------------------------------------------------------------------------------------------------


def test_a_directory_that_only_spark_reaches_is_not_looked_at() -> None:
    class Elsewhere:
        path = "hdfs://h/c"

        def read(self, name: str) -> bytes:
            raise AssertionError(name)

    store: Any = Elsewhere()
    assert Checkpoint(store).unreadable() is None
