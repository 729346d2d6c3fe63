"""How commands fail: one clear message, the documented exit status, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import BOUNDED, CATALOG, UNBOUNDED, call, run_alone, write

BAD_INPUT = [
    ("missing file", ["check", "nowhere.sql"], 3, "nowhere.sql"),
    ("binary file", ["check", "binary.sql"], 3, "not UTF-8"),
    ("file with a NUL", ["check", "nul.sql"], 3, "binary"),
    ("file without a statement", ["check", "empty.sql"], 3, "no SQL statement"),
    ("syntax error", ["check", "syntax.sql"], 3, "SB001"),
    ("unterminated string", ["check", "string.sql"], 3, "SB001"),
    ("empty directory", ["check", "empty"], 2, "no .sql file"),
    ("unknown stream", ["check", "unknown.sql"], 1, "SB101"),
    ("unknown option", ["check", "--nope"], 2, "--nope"),
    ("missing catalog", ["check", "q.sql", "--catalog", "none.toml"], 2, "none.toml"),
    ("catalog that is not TOML", ["check", "q.sql", "--catalog", "broken.toml"], 2, "not TOML"),
    (
        "unknown key in the catalog",
        ["check", "q.sql", "--catalog", "key.toml"],
        2,
        "key.toml:3:1: unknown key 'colums'",
    ),
    ("nothing registered", ["check"], 2, "registers no queries"),
    ("an empty path", ["check", ""], 2, "an empty path names nothing"),
    ("an empty query", ["explain", ""], 2, "an empty argument names no query"),
    ("an empty standard input", ["check", "-"], 3, "no SQL statement"),
    ("a directory as output", ["run", "q.sql", "--output", "."], 2, ". is a directory"),
    ("results that go nowhere", ["run", "q.sql"], 2, "--output FILE, or declare [sinks.q] in streams.toml"),
    ("a file as checkpoint", ["run", "q.sql", "--checkpoint", "q.sql"], 2, "q.sql is a file: name a directory, which"),
    ("a checkpoint below a file", ["run", "q.sql", "--checkpoint", "q.sql/x"], 2, "q.sql is a file"),
    ("a file to keep the demo in", ["demo", "--keep", "q.sql"], 2, "q.sql is a file"),
    ("an output in no directory", ["run", "q.sql", "--output", "no/o.jsonl"], 2, "there is no directory no"),
    ("a job below a file", ["compile", "q.sql", "-o", "q.sql/job"], 2, "q.sql is a file: name a directory, which"),
    ("a job in a file", ["compile", "q.sql", "-o", "job.py"], 2, "job.py names a file; a job is a directory"),
    ("explaining a missing file", ["explain", "nowhere.sql"], 3, "nowhere.sql"),
    ("explaining an unknown code", ["explain", "SB999"], 2, "no diagnostic code SB999"),
    ("drawing the derivation", ["explain", "q.sql", "--format", "svg"], 2, "--emit graph or --emit tables"),
    (
        "drawing two things",
        ["explain", "q.sql", "--emit", "graph", "--emit", "tables", "-o", "x.svg"],
        2,
        "--emit graph",
    ),
    ("drawing into a missing directory", ["explain", "q.sql", "--emit", "graph", "-o", "no/x.svg"], 3, "cannot write"),
    ("explaining an unknown name", ["explain", "q.sql", "--name", "z"], 2, "no query is called 'z'"),
    ("compiling an unbounded query", ["compile", "unbounded.sql"], 1, "unbounded"),
    ("compiling a query that does not parse", ["compile", "syntax.sql"], 3, "SB001"),
    ("checking no job", ["compile", "q.sql", "--check"], 2, "--check compares with a directory"),
    ("checking a job that is not there", ["compile", "q.sql", "--check", "-o", "job"], 3, "job/job.py: cannot read"),
    ("checking a file", ["compile", "q.sql", "--check", "-o", "q.sql"], 2, "q.sql is a file: name a directory, which"),
    ("checking a file that is no job", ["compile", "q.sql", "--check", "-o", "other"], 1, "it is no job that"),
    ("running without an input directory", ["run", "q.sql", "--input", "nowhere", "--output", "o.jsonl"], 3, "nowhere"),
]


@pytest.mark.parametrize(("arguments", "status", "says"), [c[1:] for c in BAD_INPUT], ids=[c[0] for c in BAD_INPUT])
def test_bad_input_is_one_clear_message(project: Path, arguments: list[str], status: int, says: str) -> None:
    write(project, BOUNDED)
    write(project, UNBOUNDED, "unbounded.sql")
    write(project, "SELEC S.a FROM S", "syntax.sql")
    write(project, "SELECT S.a FROM S WHERE 'x", "string.sql")
    write(project, "-- nothing here\n;", "empty.sql")
    write(project, "SELECT a FROM nope", "unknown.sql")
    (project / "binary.sql").write_bytes(bytes(range(128, 256)))
    (project / "nul.sql").write_bytes(b"SELECT\0")
    (project / "empty").mkdir()
    (project / "other").mkdir()
    (project / "other" / "job.py").write_text(BOUNDED)
    (project / "broken.toml").write_text("[streams")
    (project / "key.toml").write_text('[streams.S]\ntimestamp = "ts"\ncolums = { a = "bigint" }\n')
    result = call(*arguments)
    assert result.exit_code == status, result.output
    assert says in result.output
    assert "Traceback" not in result.output


def test_an_error_in_the_catalog_shows_its_line(project: Path) -> None:
    (project / "streams.toml").write_text(CATALOG + 'rows = { "é" = "漢" } # here\n')
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 2
    assert result.output.splitlines()[:4] == [
        "streambound: error: streams.toml:8:1: unknown key 'rows' in [streams.T]",
        "  |",
        '8 | rows = { "é" = "漢" } # here',
        "  | ^^^^^^^^^^^^^^^^^^^^^",
    ]


def test_an_internal_error_is_reported_without_a_traceback(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("streambound.gate.check_files.repeated_names", broken)
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 4
    assert "internal error: RuntimeError: boom" in result.output
    assert "Traceback" not in result.output


def test_an_interruption_has_a_status_of_its_own(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("streambound.criteria.check.decide", interrupted)
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 130
    assert result.output == "streambound: interrupted\n"


def test_the_parser_prints_nothing_of_its_own(project: Path) -> None:
    write(project, "FETCH x")
    done = run_alone(project, "check", "q.sql")
    assert done.returncode == 1
    assert done.stderr == ""


def test_an_output_that_takes_no_more_is_one_clear_message(project: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    write(project, BOUNDED)
    with full.open("w") as output:
        done = run_alone(project, "check", "q.sql", stdout=output)
    assert done.returncode == 3
    assert done.stderr == "streambound: error: cannot write the output: No space left on device\n"


def test_a_closed_pipe_is_quiet(project: Path) -> None:
    write(project, ";\n".join([UNBOUNDED] * 300))
    command = f"{sys.executable} -m streambound check q.sql | head -1"
    done = subprocess.run(command, shell=True, cwd=project, capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
