"""The command line of a job, and what is said, with the way out, before Spark starts."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.errors import JobError
from streambound_runtime.settings import Settings, settings_of
from streambound_runtime.spec import JobSpec, SinkSpec
from streambound_runtime.usage import checked
from support.jobs import job_of, write

SINK = SinkSpec("json", "out")


@pytest.fixture(scope="module")
def job() -> JobSpec:
    return job_of("SELECT S.a FROM S", {"streams": {"S": {"timestamp": "ts", "columns": {"a": "int", "ts": "int"}}}})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in" / "S.jsonl", {"a": 1, "ts": 1})
    return tmp_path


def test_what_the_command_line_says(job: JobSpec) -> None:
    assert settings_of(job, []) == Settings()
    text = (
        "--checkpoint c --input i --base b --output o --quarantine q --trigger available --limit 7 --multiplicity rows "
        "--files-per-batch 2 --report json"
    )
    told = Settings("c", "i", "b", "o", "q", "available", 7, "rows", 2, "json")
    assert settings_of(job, text.split()) == told
    assert [Settings(trigger=when).ends for when in ("end", "available", "1 second")] == [True, True, False]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--nothing"], "unrecognized arguments: --nothing"),
        (["--limit", "many"], "argument --limit: invalid int value: 'many'"),
        (["--files-per-batch", "1.5"], "argument --files-per-batch: invalid int value: '1.5'"),
        (["--multiplicity", "both"], "argument --multiplicity: invalid choice: 'both'"),
        (["--report", "xml"], "argument --report: invalid choice: 'xml'"),
        (["--output"], "argument --output: expected one argument"),
    ],
)
def test_what_is_no_command_line(job: JobSpec, argv: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        settings_of(job, argv)
    assert (caught.value.code, says in capsys.readouterr().err) == (2, True)


def test_results_of_a_job_without_a_sink_have_a_file(job: JobSpec, here: Path) -> None:
    assert checked(job, Settings(input="in")).output == "out.jsonl"
    assert checked(job, Settings(input="in", output="o.jsonl")).output == "o.jsonl"
    assert checked(replace(job, sink=SINK), Settings(input="in")).output == ""


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "trigger": ({"trigger": "often"}, "--trigger is end, available or a time such as '10 seconds', not 'often'"),
    "trigger without a number": (
        {"trigger": "seconds"}, "--trigger is end, available or a time such as '10 seconds', not 'seconds'"),
    "files": ({"files_per_batch": 0}, "--files-per-batch is at least 1, not 0"),
    "no end, no sink": (
        {"trigger": "10 seconds"}, "a job without end needs a sink: declare [sinks.q] in the catalog"),
    "output": ({"output": "in"}, "in is a directory; the result must be a file"),
    "quarantine": ({"quarantine": "in"}, "in is a directory; the result must be a file"),
    "no directory": ({"output": "mistyped/o"}, "mistyped/o cannot be written: there is no directory mistyped"),
    "checkpoint": (
        {"checkpoint": "in/S.jsonl"},
        "a checkpoint is a directory, in which Spark and the job keep what a restart needs, and {here}/in/S.jsonl is a "
        "file; name another with --checkpoint DIR"),
    "below a file": (
        {"checkpoint": "in/S.jsonl/c"},
        "a checkpoint is a directory, in which Spark and the job keep what a restart needs, and {here}/in/S.jsonl is a "
        "file; name another with --checkpoint DIR"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_no_run_can_work_with(job: JobSpec, here: Path, what: str) -> None:
    changed, says = WRONG[what]
    with pytest.raises(JobError) as caught:
        checked(job, Settings(**{"input": "in", **changed}))
    assert (str(caught.value), caught.value.kind, caught.value.status) == (says.format(here=here), "usage", 2)


@pytest.mark.parametrize("file", ["output", "quarantine"])
def test_a_job_without_end_writes_no_files(job: JobSpec, here: Path, file: str) -> None:
    endless: dict[str, Any] = {"input": "in", "trigger": "1 minute"}
    checked(replace(job, sink=SINK), Settings(**endless))
    with pytest.raises(JobError, match="are written when the input ends, and it never does") as caught:
        checked(replace(job, sink=SINK), Settings(**(endless | {file: "o"})))
    assert caught.value.status == 2


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"output": "locked/o"}, "locked/o cannot be written: the directory locked is read-only"),
        ({"checkpoint": "locked/c"}, "cannot write the checkpoint: {here}/locked is read-only"),
    ],
)
def test_directories_that_cannot_be_written(
    job: JobSpec, here: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], says: str
) -> None:
    """Whoever runs the tests: the superuser writes everywhere."""
    (here / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")
    with pytest.raises(JobError) as caught:
        checked(job, Settings(input="in", **changed))  # type: ignore[arg-type]
    assert (str(caught.value), caught.value.status) == (says.format(here=here), 2)


def test_input_that_is_not_there(job: JobSpec, here: Path) -> None:
    for settings, says in (
        (Settings(), "S has no source in the catalog; run the job with --input DIR"),
        (Settings(input="no"), "there is no no/S.jsonl, and no directory no/S with .jsonl files"),
    ):
        with pytest.raises(JobError) as caught:
            checked(job, settings)
        assert (str(caught.value), caught.value.kind, caught.value.status) == (says, "input", 3)
    write(here / "in" / "S" / "_hidden.jsonl", {})
    (here / "in" / "S.jsonl").unlink()
    with pytest.raises(JobError, match=r"Spark ignores in/S/_hidden.jsonl, because its name starts with _"):
        checked(job, Settings(input="in"))


def test_a_checkpoint_may_be_on_another_machine(job: JobSpec, here: Path) -> None:
    settings = Settings(input="in", checkpoint="hdfs://h/c", output="o")
    assert checked(job, settings) == settings
