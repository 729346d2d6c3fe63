"""`compile --check`: a job is out of date unless its files are those that would be written, and the cause is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.errors import InputError, UsageError
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.job_file import RUNTIME, files_of_job
from streambound.synopsis_exec.stale import causes, difference, stale
from streambound_runtime.spec import JobSpec
from support.jobs import compiled_of

DECLARED: dict[str, Any] = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}}}
SQL = "SELECT S.a FROM S WHERE S.a > 0"


def job(sql: str = SQL, **more: Any) -> JobSpec:
    body = {**DECLARED["streams"]["S"], **{name: value for name, value in more.items() if name != "top"}}
    return compiled_of(sql, {"streams": {"S": body}, **more.get("top", {})}).job


TEXT = compiled_of(SQL, DECLARED).text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in files_of_job(TEXT).items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_the_same_files_are_up_to_date(folder: Path) -> None:
    assert stale(folder, compiled_of(SQL, DECLARED)) == ([], [])


@pytest.mark.parametrize(
    "more",
    [("# of ours\n", ""), ("", "\n# of yours\n"), ("import os; os.system('true')\n", ""), ("", "\n\n"), ("\r", "")],
)
def test_whatever_else_a_job_says_counts(folder: Path, more: tuple[str, str]) -> None:
    (folder / "job.py").write_bytes((more[0] + TEXT + more[1]).encode())
    why, lines = stale(folder, compiled_of(SQL, DECLARED))
    assert len(why) == 1 and "changed by hand" in why[0]
    assert lines[:2] == [f"--- {folder / 'job.py'}", "+++ compiled now"]


@pytest.mark.parametrize("spoil", [lambda zip: zip + b"x", lambda zip: b"x" + zip, lambda zip: zip[:-1], lambda _: b""])
def test_a_changed_runtime_counts(folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    (folder / RUNTIME).write_bytes(spoil((folder / RUNTIME).read_bytes()))
    changed = f"{RUNTIME} is not the runtime of this streambound: it was changed, or another build wrote it"
    assert stale(folder, compiled_of(SQL, DECLARED)) == ([changed], [])


def test_a_missing_runtime_counts_and_a_missing_job_cannot_be_compared(folder: Path) -> None:
    (folder / RUNTIME).unlink()
    assert stale(folder, compiled_of(SQL, DECLARED)) == ([f"its runtime {RUNTIME} is not beside it"], [])
    (folder / "job.py").unlink()
    with pytest.raises(InputError, match="cannot read the job: No such file"):
        stale(folder, compiled_of(SQL, DECLARED))


def test_a_job_of_another_version_is_refused_with_both(folder: Path) -> None:
    both = f"the job is for streambound_runtime 0.0.9, and this is streambound {__version__}"
    (folder / "job.py").write_text(TEXT.replace(__version__, "0.0.9").replace("Job(", "Job(9, ", 1))
    with pytest.raises(UsageError, match=both):
        stale(folder, compiled_of(SQL, DECLARED))
    (folder / "job.py").write_text(TEXT)
    (folder / "streambound_runtime-0.0.9.zip").write_bytes(b"older")
    with pytest.raises(UsageError, match=both):
        stale(folder, compiled_of(SQL, DECLARED))
    compiled_of(SQL, DECLARED).write(folder)
    assert stale(folder, compiled_of(SQL, DECLARED)) == ([], [])
    assert sorted(file.name for file in folder.iterdir()) == ["job.py", RUNTIME]


@pytest.mark.parametrize(
    "new",
    [
        job(max_per_timestamp=2),
        job(on_violation="stop"),
        job(lateness=3),
        job(source={"format": "csv", "path": "x"}),
        job(top={"counters": "decimal"}),
        job(top={"sinks": {"q": {"format": "noop"}}}),
        job(top={"sinks": {"q": {"format": "noop", "quarantine": {"format": "json", "path": "x"}}}}),
    ],
)
def test_everything_that_the_catalog_says_of_the_query_counts(new: JobSpec) -> None:
    assert causes(TEXT, new) == ["the catalog changed"]


def test_what_the_catalog_says_of_others_does_not_count() -> None:
    other = {"timestamp": "t", "columns": {"t": "bigint"}}
    catalog = {"streams": {**DECLARED["streams"], "Other": other}, "sinks": {"another": {"format": "noop"}}}
    assert compiled_of(SQL, catalog).text == TEXT


def test_causes_are_told_apart() -> None:
    new = job("SELECT S.a FROM S WHERE S.a > 1")
    assert causes(TEXT, new) == ["the query changed"]
    by_hand = ["it was changed by hand, or another build of streambound wrote it"]
    assert causes(TEXT.replace("bound=0", "bound=1"), job()) == by_hand
    assert causes("", new) == causes("# print()\n", new) == ["it is no job that streambound wrote"]
    assert causes(TEXT, job("SELECT S.a AS b FROM S WHERE S.a > 0", lateness=3)) == [
        "the query changed",
        "the catalog changed",
    ]


def test_a_long_difference_is_cut() -> None:
    compiled = compiled_of(
        "SELECT S.a FROM S, S AS T, S AS U WHERE S.ts = T.ts AND U.ts < S.ts AND U.a IN (1, 2)", DECLARED
    )
    lines = difference("", compiled.text, "job.py")
    assert lines[0] == "--- job.py"
    assert len(lines) == 41 and lines[-1].startswith("... and ")
