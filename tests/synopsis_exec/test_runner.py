"""The runner against stand-ins for the generated job: whatever happens in it becomes one clear message."""

from __future__ import annotations

import json
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import asdict

from streambound.analyzer.errors import InputError, RuntimeLimitError, StreamboundError, UsageError
from streambound.analyzer.job_reports import BatchReport, JobReport, StepReport, SummaryReport
from streambound.synopsis_exec import runner
from streambound.synopsis_exec.java import JavaError
from streambound.synopsis_exec.job_file import CompiledJob
from support.full_disk import full_disk
from support.jobs import FIGURE2, figure2

SUMMARY = (
    '{"summary": "q", "rows": {"S": 2}, "quarantined": {"late": 1}, "results": 3, "peak": 4, "limit": 5, '
    '"waited_for": {}}'
)
Run = Callable[..., runner.RunSummary]


class Script:
    """A text that stands for a compiled job."""

    def __init__(self, text: str) -> None:
        self.text = text

    def write(self, folder: Path) -> Path:
        (folder / "job.py").write_text(self.text, encoding="utf-8")
        return folder / "job.py"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a text as if it were a job, with Java and pyspark taken for granted."""
    monkeypatch.setattr(runner, "check_spark", lambda why: None)

    def call(text: str, **more: Any) -> runner.RunSummary:
        return runner.run_query(
            cast(CompiledJob, Script(text)),
            None,
            tmp_path / "out.jsonl",
            tmp_path / "bad.jsonl",
            engine="spark",
            **more,
        )

    return call


def test_reports_and_summary(run: Run, tmp_path: Path) -> None:
    seen: list[JobReport] = []
    batches = [BatchReport(n, 2, 1, 3, 4, 40, 5, 1, 0, 1, {"T": "promises nothing yet"}) for n in (0, 1)]
    torn = ('{"batch": "no number"}', '["batch"]', '{"batch": 0', '{"other": 1}')
    lines = ("noise", *torn, '{"doing": "x"}', *(json.dumps(asdict(batch)) for batch in batches), SUMMARY)
    text = "\n".join(f"print({line!r}, flush=True)" for line in lines)
    summary = run(text, on_report=seen.append)
    assert seen == [StepReport("x"), *batches, SummaryReport("q", {"S": 2}, {"late": 1}, 3, 4, 5, {})]
    assert list(summary.batches) == batches
    assert (summary.rows, summary.quarantined, summary.results) == ({"S": 2}, {"late": 1}, 3)
    assert (summary.peak, summary.limit) == (4, 5)
    assert (summary.output, summary.quarantine) == (tmp_path / "out.jsonl", tmp_path / "bad.jsonl")


def test_options_reach_the_job(run: Run, tmp_path: Path) -> None:
    text = f"import sys\nprint(' '.join(sys.argv[1:]), file=sys.stderr)\nprint('{SUMMARY}')\nsys.exit(7)"
    with pytest.raises(StreamboundError) as caught:
        run(text, checkpoint=tmp_path / "check", base=tmp_path, multiplicity="rows")
    log = Path(caught.value.remedy.removeprefix("its full log is ")).read_text()
    for option in (
        "--report json",
        "--multiplicity rows",
        f"--output {tmp_path}/out.jsonl",
        f"--checkpoint {tmp_path}/check",
        "--base",
    ):
        assert option in log
    assert "--input" not in log


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [
        ("limit", RuntimeLimitError, 1),
        ("overflow", RuntimeLimitError, 1),
        ("input", InputError, 3),
        ("rows", RuntimeLimitError, 1),
        ("usage", UsageError, 2),
        ("state", UsageError, 2),
        ("contract", RuntimeLimitError, 1),
        ("output", InputError, 3),
        ("spark", InputError, 3),
    ],
)
def test_failures_that_the_job_explains(run: Run, kind: str, error: type[StreamboundError], status: int) -> None:
    text = f"""import sys\nprint('{{"error": "{kind}", "message": "because"}}')\nsys.exit({status})"""
    with pytest.raises(error, match="because") as caught:
        run(text)
    assert caught.value.exit_status == status


def test_other_failures_name_the_last_meaningful_line_and_the_log(run: Run) -> None:
    with pytest.raises(StreamboundError) as caught:
        run("def f():\n    raise ValueError('no disk')\nf()")
    assert caught.value.message == "the Spark job ended with status 1: ValueError: no disk"
    assert "Traceback" in Path(caught.value.remedy.removeprefix("its full log is ")).read_text()
    assert caught.value.exit_status == 4


def test_a_job_without_a_summary_has_failed(run: Run) -> None:
    with pytest.raises(StreamboundError, match="ended with status 0"):
        run("print('fine')")


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where temporary directories are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


MAKES_FILES = "import tempfile, sys; open(tempfile.mkdtemp() + '/state', 'w').write('x')\n"


def test_a_run_leaves_nothing_temporary(run: Run, temporary: Path) -> None:
    """What the job itself makes is there, too."""
    run(f"{MAKES_FILES}print('{SUMMARY}')")
    assert not [*temporary.iterdir()]
    with pytest.raises(UsageError):
        run(f"""{MAKES_FILES}print('{{"error": "usage", "message": "because"}}'); sys.exit(2)""")
    assert not [*temporary.iterdir()]


def test_a_failure_that_nobody_foresaw_leaves_the_job_and_its_log(run: Run, temporary: Path) -> None:
    with pytest.raises(StreamboundError) as caught:
        run(f"{MAKES_FILES}sys.exit(9)")
    (folder,) = temporary.iterdir()
    assert {file.name for file in folder.iterdir()} == {"job.py", "spark.log"}
    assert caught.value.remedy == f"its full log is {folder / 'spark.log'}"


ENDS_SLOWLY = """
import subprocess, sys
slow = '''
import signal, sys, time
def end(*_):
    time.sleep(1)
    open(sys.argv[1], "w").write("ended")
    sys.exit()
signal.signal(signal.SIGTERM, end)
print('{{"doing": "x"}}', flush=True)
time.sleep(60)
'''
subprocess.run([sys.executable, "-c", slow, {file!r}])
"""
"""As Spark's Java does: it ends some time after it is asked to, and not because the job has ended."""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_leaves_nothing_running_and_nothing_temporary(
    run: Run, temporary: Path, how: signal.Signals
) -> None:
    ended = temporary.parent / "ended"
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        run(ENDS_SLOWLY.format(file=str(ended)), on_report=lambda report: signal.raise_signal(how))
    assert ended.read_text() == "ended"
    assert not [*temporary.iterdir()]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_no_room_for_temporary_files_names_their_directory(run: Run, temporary: Path) -> None:
    with full_disk(), pytest.raises(InputError, match="cannot write: File too large") as caught:
        run(f"print('{SUMMARY}')")
    assert caught.value.file.startswith(str(temporary))
    assert "TMPDIR" in caught.value.remedy
    assert not [*temporary.iterdir()]


@pytest.mark.parametrize(
    ("files", "message", "remedy"),
    [
        (None, "no such input directory", "--input DIR"),
        ({}, "no input for S: neither S.jsonl nor a directory S", "the directory holds nothing"),
        ({"S.jsonl": b"", "T.jsonl": b""}, "no input for U", "the directory holds S.jsonl, T.jsonl"),
        ({"S.jsonl": b"\0\1", "T.jsonl": b"", "U.jsonl": b""}, "the file is binary", "one JSON object a line"),
    ],
)  # fmt: skip
def test_unusable_input(tmp_path: Path, files: dict[str, bytes] | None, message: str, remedy: str) -> None:
    folder = tmp_path / "in"
    if files is not None:
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        runner.check_input(figure2().job, folder)
    assert message in caught.value.message
    assert remedy in caught.value.remedy
    assert str(folder) in caught.value.file


@pytest.mark.parametrize("first", [b'{"A": "\0"}\n', b'\xef\xbb\xbf {"A": 1}\n\0\n'])
def test_a_file_of_json_with_a_bad_row_is_not_binary(tmp_path: Path, first: bytes) -> None:
    for name in ("S", "T", "U"):
        (tmp_path / f"{name}.jsonl").write_bytes(first)
    runner.check_input(figure2().job, tmp_path)


def test_a_file_as_input_directory(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("")
    with pytest.raises(InputError, match="must be a directory"):
        runner.check_input(figure2().job, tmp_path / "in")


def test_usable_input() -> None:
    runner.check_input(figure2().job, FIGURE2 / "data")


def test_no_java_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing() -> None:
        raise JavaError("Spark needs Java 17 or later", "install it")

    monkeypatch.setattr(runner, "require_java", missing)
    with pytest.raises(UsageError, match="Java 17") as caught:
        runner.run_query(
            cast(CompiledJob, Script("raise SystemExit")), FIGURE2 / "data", tmp_path / "out", engine="spark"
        )
    assert caught.value.remedy == "install it"


def test_no_pyspark_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs pyspark") as caught:
        runner.run_query(
            cast(CompiledJob, Script("raise SystemExit")), FIGURE2 / "data", tmp_path / "out", engine="spark"
        )
    assert "streambound[spark]" in caught.value.remedy


def test_results_that_cannot_be_written_are_said_before_anything_runs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").mkdir()
    with pytest.raises(UsageError, match="this is a directory"):
        run("raise SystemExit(9)")
    (tmp_path / "out.jsonl").rmdir()
    (tmp_path / "file").write_text("")
    for missing in ("file", "mistyped"):
        with pytest.raises(UsageError, match=f"there is no directory .*{missing}"):
            runner.run_query(
                cast(CompiledJob, Script("raise SystemExit(9)")), None, tmp_path / missing / "out.jsonl", engine="spark"
            )
    assert not (tmp_path / "mistyped").exists()
