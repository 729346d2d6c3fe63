"""A checkpoint of another job is refused with the one part that differs, both sides of it, and the way out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streambound.synopsis_exec.simulate import relation_tables
from streambound_runtime.checkpoint import owner
from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.checkpoint.store import LocalStore
from streambound_runtime.errors import JobError
from streambound_runtime.settings import Settings
from support.jobs import job_of

SQL = "SELECT S.a, R.b FROM S, R WHERE S.a = R.a AND S.a BETWEEN 0 AND 3"
ROWS = {"R": [{"a": 1, "b": 2}, {"a": 2, "b": 2}]}


def catalog(**changed: Any) -> dict[str, Any]:
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "domain": {"a": [0, 9]}, **changed}
    return {"streams": {"S": stream}, "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}}}}


SAVED = ("query", "catalog", "tables")


def claim(folder: Path, sql: str = SQL, rows: Any = None, where: str = "in", **changed: Any) -> bool:
    """Take a directory for a job; changed upper-case names are the job's own, others the stream's keys."""
    job = job_of(sql, catalog(**{name: value for name, value in changed.items() if not name.isupper()}))
    of_job = {name.lower(): value for name, value in changed.items() if name.isupper()}
    saved = replace(job.saved, **{name: of_job.pop(name) for name in SAVED if name in of_job})
    before, owner.FORMAT = owner.FORMAT, of_job.pop("format", owner.FORMAT)
    try:
        checkpoint, new = Checkpoint(LocalStore(str(folder))), list[bool]()
        settings = Settings(input=where)
        checkpoint.claim(
            replace(job, saved=saved, **of_job), settings, relation_tables(rows or ROWS), lambda: new.append(True)
        )
        return bool(new)
    finally:
        owner.FORMAT = before


COLUMNS = {"a": "bigint", "ts": "bigint", "c": "string"}
DIFFERENT = {
    "format": ({"FORMAT": 4, "RUNTIME": "0.9"}, "saved by streambound 0.2.0 in layout 5, and this job "
               r"\(streambound 0.9\) has layout 4; run it with that version"),
    "an earlier format": ({"FORMAT": 6, "RUNTIME": "0.9"}, "saved by streambound 0.2.0 in layout 5, and this job "
                          r"\(streambound 0.9\) has layout 6; run it with streambound 0.1, or"),
    "query": ({"sql": SQL.replace("3", "4")}, r"it was changed since \(sha256 \w{12}\), and this job is of q "
              r"\(sha256 \w{12}\); run the job that it belongs to"),
    "another query": ({"sql": SQL.replace("3", "4"), "NAME": "other"}, r"it is of the query q \(sha256 \w{12}\), "
                      r"and this job is of other \(sha256 \w{12}\)"),
    "a column": ({"columns": COLUMNS}, "the catalog declared columns of S as {'c': None}, and now as "
                 "{'c': 'string'}; declare it as before"),
    "lateness": ({"lateness": 7}, "the catalog declared lateness of S as 0, and now as 7"),
    "a domain": ({"domain": {"a": [0, 8]}}, r"the catalog declared domain of S as {'a': 'Domain\(0, 9\)'}, and now as "
                 r"{'a': 'Domain\(0, 8\)'}; declare it as before"),
    "no domain": ({"domain": {}}, r"domain of S as {'a': 'Domain\(0, 9\)'}, and now as {'a': None}"),
    "partitions": ({"partitions": {"column": "a", "values": [1, 2]}},
                   r"partitions of S as None, and now as Partitions\('a', values=\(1, 2\)\)"),
    "a rate": ({"max_per_timestamp": 7}, "max_per_timestamp of S as None, and now as 7"),
    "the catalog in a way that has no words": ({"CATALOG": "x"}, r"otherwise \(sha256 \w{12} before, x now"),
    "tables": ({"TABLES": "x", "RUNTIME": "0.9"}, r"streambound 0.2.0 kept other tables for this query than "
               r"streambound 0.9 does \(sha256 \w{12} there, x here\); run it with that version"),
    "sources": ({"where": "there"}, r"S was read from /\S*/in, and is now read from /\S*/there; read it from there"),
    "more rows": ({"rows": {"R": ROWS["R"] * 2}}, "the relation R had 2 good rows, and now has 4; put those rows back"),
    "other rows": ({"rows": {"R": [{"a": 1, "b": 1}] * 2}}, "the relation R had 2 good rows, and now has others"),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "says"), DIFFERENT.values(), ids=DIFFERENT)
def test_the_part_that_differs_is_named_and_no_other(tmp_path: Path, changed: Any, says: str) -> None:
    assert claim(tmp_path / "state") is True
    with pytest.raises(JobError, match=says) as caught:
        claim(tmp_path / "state", **changed)
    error = caught.value
    assert (error.kind, error.status) == ("state", 2)
    message = str(error)
    assert message.startswith(f"the checkpoint {tmp_path / 'state'} cannot be continued: ")
    assert message.endswith(", or give this job a new directory: it then reads its sources from their start")
    words = {"layout", "it is of the query", "changed since", "catalog", "tables", "read from", "good rows"}
    assert sum(word in message for word in words) == 1
    assert claim(tmp_path / "state") is False


def test_a_checkpoint_of_an_earlier_layout_has_no_checksum_and_is_told_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps({"format": 4, "query": "x"}))
    with pytest.raises(JobError, match="saved by an earlier version of streambound in layout 4") as caught:
        claim(tmp_path)
    assert caught.value.status == 2


@pytest.mark.parametrize(
    ("was", "now"), [("bigint", "int"), ('"rows": {"R": [2', '"rows": {"R": [3'), ("checksum", "sum")]
)
def test_a_changed_job_json_is_damaged_whatever_was_changed(tmp_path: Path, was: str, now: str) -> None:
    claim(tmp_path)
    (tmp_path / "state").mkdir()
    file = tmp_path / "job.json"
    assert was in file.read_text()
    file.write_text(file.read_text().replace(was, now))
    with pytest.raises(JobError, match=r"the checkpoint is damaged: .*job\.json is missing or was changed") as caught:
        claim(tmp_path)
    assert caught.value.status == 3


def test_what_refuses_a_new_job_refuses_it_again(tmp_path: Path) -> None:
    """A sink with the batches of another run: the second start is as the first."""
    job = job_of(SQL, catalog())

    def refuse() -> None:
        raise JobError("usage", "batches of another run", 2)

    for _ in range(2):
        with pytest.raises(JobError, match="batches of another run"):
            Checkpoint(LocalStore(str(tmp_path))).claim(job, Settings(input="in"), relation_tables(ROWS), refuse)


def test_nothing_of_the_environment_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "secret")
    source = {"format": "parquet", "path": "/data/${env:PLACE}/s", "options": {"topic": "${env:PLACE}"}}
    job = job_of("SELECT S.a FROM S", catalog(source=source))
    Checkpoint(LocalStore(str(tmp_path))).claim(job, Settings(), {})
    assert "/data/${env:PLACE}/s" in (tmp_path / "job.json").read_text()
    assert "secret" not in (tmp_path / "job.json").read_text()


@pytest.mark.parametrize(
    ("names", "status", "says"),
    [
        (("notes.txt",), 2, "is no checkpoint of a job: it holds notes.txt; give --checkpoint a directory that is new"),
        (
            ("offsets", "commits", "metadata", "sources"),
            2,
            "is no checkpoint of a job: it holds commits, metadata, off",
        ),
        (("state", "spark"), 3, "the checkpoint is damaged: .*job.json is missing"),
        (("fingerprint", "state"), 2, "an earlier version of streambound in layout 1"),
    ],
)
def test_a_directory_that_is_no_checkpoint_is_not_taken(
    tmp_path: Path, names: tuple[str, ...], status: int, says: str
) -> None:
    for name in names:
        (tmp_path / name).write_text("")
    with pytest.raises(JobError, match=says) as caught:
        claim(tmp_path)
    assert caught.value.status == status
    assert not (tmp_path / "job.json").exists()


def test_a_directory_with_hidden_files_alone_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".gitkeep").write_text("")
    assert claim(tmp_path) is True
