"""A checkpoint of another job is refused with the one part that differs, both sides of it, and the way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.jobs import kernel

SQL = "SELECT S.a, R.b FROM S, R WHERE S.a = R.a AND S.a BETWEEN 0 AND 3"
ROWS = {"R": [{"a": 1, "b": 2}, {"a": 2, "b": 2}]}


def catalog(**changed: Any) -> dict[str, Any]:
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "domain": {"a": [0, 9]}, **changed}
    return {"streams": {"S": stream}, "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}}}}


def claim(folder: Path, sql: str = SQL, rows: Any = None, where: str = "in", **changed: Any) -> bool:
    """Take a directory for a job; changed upper-case names are the job's constants, others the stream's keys."""
    constants = {name: value for name, value in changed.items() if name.isupper()}
    job = kernel(sql, catalog(**{name: value for name, value in changed.items() if not name.isupper()}))
    for name, value in constants.items():
        setattr(job, name, {**getattr(job, name), **value} if isinstance(value, dict) else value)
    options = job.arguments(["--input", where, "--checkpoint", str(folder)])
    return bool(job.Checkpoint(job.LocalFiles(str(folder))).claim(options, rows or ROWS))


COLUMNS = {"a": "bigint", "ts": "bigint", "c": "string"}
DIFFERENT = {
    "format": ({"FORMAT": 4, "VERSION": "0.9"}, "saved by streambound 0.1.0 in layout 3, and this job "
               r"\(streambound 0.9\) has layout 4; run it with that version"),
    "query": ({"sql": SQL.replace("3", "4")}, r"it was changed since \(sha256 \w{12}\), and this job is of q "
              r"\(sha256 \w{12}\); run the job that it belongs to"),
    "another query": ({"sql": SQL.replace("3", "4"), "QUERY": "other"}, r"it is of the query q \(sha256 \w{12}\), "
                      r"and this job is of other \(sha256 \w{12}\)"),
    "a column": ({"columns": COLUMNS}, "the catalog declared columns of S as `a` BIGINT, `ts` BIGINT, and now as "
                 "`a` BIGINT, `ts` BIGINT, `c` STRING; declare it as before"),
    "lateness": ({"lateness": 7}, "the catalog declared lateness of S as 0, and now as 7"),
    "a domain": ({"domain": {"a": [0, 8]}}, r"the catalog declared contract of S as "
                 r"{'[^']*a is outside its domain': '[^']*> 9[^']*'}, and now as {'[^']*': '[^']*> 8[^']*'}; "),
    "the catalog in a way that has no words": ({"SAVED": {"catalog": "x"}}, r"otherwise \(sha256 \w{12} before, x now"),
    "tables": ({"SAVED": {"tables": "x"}, "VERSION": "0.9"}, r"streambound 0.1.0 kept other tables for this query than "
               r"streambound 0.9 does \(sha256 \w{12} there, x here\); run it with that version"),
    "sources": ({"where": "there"}, r"S was read from /\S*/in, and is now read from /\S*/there; read it from there"),
    "more rows": ({"rows": {"R": ROWS["R"] * 2}}, "the relation R had 2 good rows, and now has 4; put those rows back"),
    "other rows": ({"rows": {"R": [{"a": 1, "b": 1}] * 2}}, "the relation R had 2 good rows, and now has others"),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "says"), DIFFERENT.values(), ids=DIFFERENT)
def test_the_part_that_differs_is_named_and_no_other(tmp_path: Path, changed: Any, says: str) -> None:
    assert claim(tmp_path / "state") is True
    with pytest.raises(Exception, match=says) as caught:
        claim(tmp_path / "state", **changed)
    error: Any = caught.value
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
    plain = {name: saved[name] for name in ("format", "query", "catalog", "tables", "sources", "relations")}
    file.write_text(json.dumps(plain))
    assert claim(tmp_path) is False
    for changed, says in (
        ({"FORMAT": 4}, "an earlier version of streambound in layout 3"),
        ({"sql": SQL.replace("3", "4")}, "it is of the query another query|of another query"),
        ({"lateness": 7}, "otherwise \\(sha256 \\w{12} before"),
        ({"SAVED": {"tables": "x"}}, "an earlier version of streambound kept other tables"),
        ({"where": "there"}, "its streams and relations were read from somewhere else"),
        ({"rows": {"R": []}, }, "its relations had other rows"),
    ):  # fmt: skip
        with pytest.raises(Exception, match=says):
            claim(tmp_path, **changed)


def test_nothing_of_the_environment_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "secret")
    source = {"format": "parquet", "path": "/data/${env:PLACE}/s", "options": {"topic": "${env:PLACE}"}}
    job = kernel("SELECT S.a FROM S", catalog(source=source))
    options = job.arguments(["--checkpoint", str(tmp_path)])
    job.Checkpoint(job.LocalFiles(str(tmp_path))).claim(options, {})
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
    with pytest.raises(Exception, match=says) as caught:
        claim(tmp_path)
    assert caught.value.status == status  # type: ignore[attr-defined]
    assert not (tmp_path / "job.json").exists()


def test_a_directory_with_hidden_files_alone_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".gitkeep").write_text("")
    assert claim(tmp_path) is True
