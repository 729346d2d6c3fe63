"""A checkpoint of another job is refused with the one part that differs, both sides of it, and the way out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

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
        checkpoint = Checkpoint(LocalStore(str(folder)))
        return checkpoint.claim(replace(job, saved=saved, **of_job), Settings(input=where), rows or ROWS)
    finally:
        owner.FORMAT = before


COLUMNS = {"a": "bigint", "ts": "bigint", "c": "string"}
DIFFERENT = {
    "format": ({"FORMAT": 3, "RUNTIME": "0.9"}, "saved by streambound 0.1.0 in layout 4, and this job "
               r"\(streambound 0.9\) has layout 3; run it with that version"),
    "an earlier format": ({"FORMAT": 5, "RUNTIME": "0.9"}, "saved by streambound 0.1.0 in layout 4, and this job "
                          r"\(streambound 0.9\) has layout 5; run it with streambound 0.1, or"),
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
    "tables": ({"TABLES": "x", "RUNTIME": "0.9"}, r"streambound 0.1.0 kept other tables for this query than "
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


def test_a_checkpoint_that_says_nothing_in_words_is_told_apart_by_its_hashes(tmp_path: Path) -> None:
    """As the last release wrote it."""
    claim(tmp_path)
    file = tmp_path / "job.json"
    saved = json.loads(file.read_text())
    plain = {
        name: saved[name] for name in ("format", "query", "catalog", "tables", "placement", "sources", "relations")
    }
    file.write_text(json.dumps(plain))
    assert claim(tmp_path) is False
    for changed, says in (
        ({"FORMAT": 5}, "an earlier version of streambound in layout 4"),
        ({"sql": SQL.replace("3", "4")}, "it is of the query another query|of another query"),
        ({"lateness": 7}, "otherwise \\(sha256 \\w{12} before"),
        ({"TABLES": "x"}, "an earlier version of streambound kept other tables"),
        ({"where": "there"}, "its streams and relations were read from somewhere else"),
        ({"rows": {"R": []}, }, "its relations had other rows"),
    ):  # fmt: skip
        with pytest.raises(JobError, match=says):
            claim(tmp_path, **changed)


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
