"""What a query hides from a reader, or does to a terminal, is seen instead; marks stay where they belong."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from streambound import cli
from streambound.analyzer.errors import InputError
from streambound.commands.failures import tell
from streambound.commands.saying import Activity, show
from streambound.gate.baseline import baseline_text
from streambound.reports.beside import BaselineEntry
from streambound.reports.visible import visible
from streambound.synopsis_exec.job_file import job_in
from support.catalog_texts import TWO_STREAMS

EVIL = "\x1b[2K\x1b[1A\x08\x00\x7f\x9b1m\u202e\u2066\u200f\u2028\x0b\x0c\u200b\u2060\xad\U000e0041"
"""Erases lines, moves up, turns the direction of writing, has no width."""
SQL = (
    f"INSERT INTO `n{EVIL.replace(chr(0), '')}`\nSELECT /* {EVIL} */ T.b AS `x{EVIL}` FROM S, T WHERE S.ts > T.ts"
).replace("\0", "")
HIDDEN = ("Cc", "Cf", "Zl", "Zp")
COMMANDS = [
    ("check", "q.sql"), ("check", "q.sql", "--format", "github"), ("check", "none\x1b[2K.sql"),
    ("check", "q.sql", "--against", "\x1b[2K"), ("explain", "q.sql"), ("explain", "q.sql", "--emit", "normal-form"),
    ("explain", "q.sql", "--emit", "tables"), ("explain", "\x1b[2K.sql"), ("witness", "q.sql"), ("compile", "q.sql"),
    ("baseline", "check", "q.sql", "--baseline", "\x1b[2K"), ("baseline", "check", "q.sql", "--baseline", "b.json"),
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(TWO_STREAMS, encoding="utf-8")
    (tmp_path / "q.sql").write_bytes(SQL.encode())
    (tmp_path / "b.json").write_text(baseline_text("exact", [BaselineEntry("gone\x1b[2K.sql", "q", "SB201", "x")]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=repr)
def test_nothing_hidden_is_printed(project: Path, command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli.main, list(command))
    assert result.exit_code in (0, 1, 2, 3)
    assert hidden(result.output) == set()


@pytest.mark.parametrize("command", [("check",), ("explain",)])
def test_in_colour_only_colours_and_links_are(project: Path, command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli.main, [*command, "q.sql", "--color"], color=True)
    assert "\x1b[" in result.output
    assert hidden(re.sub(r"\x1b\[[\d;]*m", "", result.output)) == set()
    assert "\x1b[2K" not in result.output and "␛[2K" in result.output


def test_a_name_or_a_path_makes_no_line_of_its_own(project: Path) -> None:
    """GitHub reads commands at the start of lines, and GitLab sections."""
    file = "a\n::stop-commands::x\n.sql"
    (project / file).write_text(
        "SELECT T.b AS `x\n::error::y` FROM S, T WHERE S.ts > T.ts AND `T`.`\n::z` = 1", "utf-8"
    )
    for command in (["check", file], ["check", file, "--format", "github"], ["check", "."]):
        lines = CliRunner().invoke(cli.main, command).stdout.splitlines()
        assert not [line for line in lines if line.startswith(("::stop", "::error::y", "::z"))]


def test_marks_stay_under_what_they_blame(project: Path) -> None:
    lines = CliRunner().invoke(cli.main, ["check", "q.sql", "--no-repairs"]).stdout.splitlines()
    source = next(number for number, line in enumerate(lines) if line.startswith("2 | "))
    start = lines[source + 1].index("^^^")
    assert lines[source][start : start + 3] == "T.b"


@given(st.text(), st.booleans())
def test_a_text_keeps_its_length_but_for_what_is_hidden(text: str, color: bool) -> None:
    found = visible(text, color)
    assert len(found) == len(text)
    assert hidden(visible(text)) <= hidden(text) - set(EVIL)
    assert visible(found, color) == found


def hidden(text: str) -> set[str]:
    """The characters of a text that are not seen, but for tabs and ends of lines."""
    return {character for character in text if unicodedata.category(character) in HIDDEN and character not in "\t\n"}


COMMANDS_TO_CI = "##[error]x ##vso[task.setvariable variable=y]z ##teamcity[t]"


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown", "html"])
def test_no_format_has_commands_for_a_log(project: Path, form: str) -> None:
    sql = f"SELECT T.b AS `{COMMANDS_TO_CI}` FROM S, T WHERE S.ts > T.ts AND T.`{COMMANDS_TO_CI}` = 1\n;SELECT\n::x"
    (project / "q.sql").write_text(sql, "utf-8")
    printed = CliRunner().invoke(cli.main, ["check", "q.sql", "--format", form]).stdout
    assert "[error]x" in printed
    assert not re.search(r"##\w*\[", printed)
    own = ("::error", "::warning", "::notice") if form == "github" else ()
    assert not [line for line in printed.splitlines() if re.match(r" *::(?!:)", line) and not line.startswith(own)]
    if form in ("json", "sarif", "gitlab"):
        assert COMMANDS_TO_CI in json.dumps(json.loads(printed))


@pytest.mark.parametrize("command", [("compile", "q.sql"), ("explain", "q.sql", "--emit", "job"), ("explain", "q.sql")])
def test_what_is_printed_of_a_job_has_none(project: Path, command: tuple[str, ...]) -> None:
    sql = f"SELECT DISTINCT T.k FROM T WHERE T.k = '{COMMANDS_TO_CI}'"
    (project / "q.sql").write_text(sql, "utf-8")
    catalog = '[streams.T]\ntimestamp = "ts"\ncolumns = { k = "string", ts = "bigint" }\n'
    (project / "streams.toml").write_text(catalog, "utf-8")
    result = CliRunner().invoke(cli.main, list(command))
    assert result.exit_code == 0, result.output
    assert not re.search(r"##\w*\[", result.stdout)
    if command[0] == "compile":
        job = job_in(result.stdout)
        assert job is not None and COMMANDS_TO_CI in repr(job)


def test_a_message_is_one_line_whatever_values_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    tell(InputError("the row {'a': 'x\n::error::y\x1b[2K##[group]'} is wrong", remedy="correct it"))
    assert capsys.readouterr().err == (
        "streambound: error: the row {'a': 'x␊::error::y␛[2K⌗#[group]'} is wrong\n  help: correct it\n"
    )


def test_values_of_rows_make_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    show("a row:", "  S {'a': 'x\n::error::y\x1b[2K'}")
    assert capsys.readouterr().out == "a row:\n  S {'a': 'x␊::error::y␛[2K'}\n"
    Activity().say("::error::x")
    assert not capsys.readouterr().err.startswith("::")
