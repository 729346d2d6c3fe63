"""Output that nobody reads, that is full or closed: every command ends quietly, and never as if it had been read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streambound import cli

ROOT = Path(__file__).resolve().parent.parent
FIGURE2 = ROOT / "examples" / "figure2"
SPARK = {"run", "verify", "memory", "demo"}
"""Commands that would start Spark before they print; their help is printed as theirs is."""
PRINTED = [
    ["check", "figure2_distinct.sql"],
    *(["check", "figure2.sql", "--format", form] for form in ("json", "html")),
    ["check", "figure2_distinct.sql", "--diff", "--unsafe"],
    ["check", "figure2.sql", "--watch"],
    ["baseline", "create", "figure2_distinct.sql"],
    ["config", "show"],
    ["explain", "SB201"],
    ["explain", "figure2.sql", "--emit", "graph", "--format", "svg"],
    ["compile", "figure2.sql"],
    ["run", "--help"],
    ["--version"],
]
"""Commands that differ in how they print."""
FEW = [PRINTED[0], PRINTED[1], PRINTED[8], PRINTED[-1]]
"""Text, a document, a drawing, and what `click` prints: for what is full, or closed at the beginning."""
COMMANDS = [
    *PRINTED,
    ["baseline", "check", "--baseline", "known.json", "figure2_distinct.sql"],
    ["catalog", "import", "orders.json"],
    ["catalog", "measure", "."],
    ["watch", "figure2.sql", "progress.jsonl"],
    ["recheck", "report.json"],
    ["witness", "figure2_distinct.sql"],
    ["completion", "bash"],
    *([command, "--help"] for command in (*sorted(SPARK - {"run"}), "lsp")),
    ["--help"],
]
FAILS = {("check", "figure2_distinct.sql")}
"""What has a status of its own, which a reader who has seen enough does not change."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("streams.toml", "figure2.sql", "figure2_distinct.sql"):
        (tmp_path / name).write_bytes((FIGURE2 / name).read_bytes())
    schema = {"type": "struct", "fields": [{"name": "a", "type": "long", "nullable": True, "metadata": {}}]}
    (tmp_path / "orders.json").write_text(json.dumps(schema), encoding="utf-8")
    (tmp_path / "S.jsonl").write_text('{"A": 1, "I": 2}\n', encoding="utf-8")
    (tmp_path / "progress.jsonl").write_text("{}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def prepared(project: Path, arguments: list[str]) -> list[str]:
    """The command line, after what it needs has been written."""
    if "report.json" in arguments:
        report = streambound("check", "figure2.sql", "--format", "json", stdout=subprocess.PIPE).stdout
        (project / "report.json").write_bytes(report)
    if "known.json" in arguments:
        streambound("baseline", "create", "--baseline", "known.json", "figure2_distinct.sql", stdout=subprocess.PIPE)
    return arguments


def streambound(*arguments: str, stdout: int) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "streambound", *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)


def test_every_command_is_here() -> None:
    tried = {arguments[0] for arguments in COMMANDS if not arguments[-1].startswith("--")}
    assert {command.name for command in cli.COMMANDS} == tried | SPARK | {"lsp"}


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_who_has_gone_is_met_quietly(project: Path, arguments: list[str]) -> None:
    command = prepared(project, arguments)
    read, write = os.pipe()
    os.close(read)
    done = streambound(*command, stdout=write)
    os.close(write)
    said = [line for line in done.stderr.decode().splitlines() if not line.startswith("streambound: against")]
    assert said == []
    assert done.returncode == (1 if tuple(arguments) in FAILS else 141)


@pytest.mark.parametrize("arguments", FEW, ids=" ".join)
def test_a_full_device_is_an_error_that_says_so(project: Path, arguments: list[str]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("wb") as output:
        done = streambound(*arguments, stdout=output.fileno())
    assert done.returncode == 3
    assert done.stderr.decode() == "streambound: error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("arguments", FEW, ids=" ".join)
def test_no_output_at_all_is_an_error_that_says_so(project: Path, arguments: list[str]) -> None:
    done = shell(arguments, ">&-")
    assert done.returncode == 3
    assert b"streambound: error: standard output is closed\n" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", FEW, ids=" ".join)
def test_messages_that_cannot_be_written_change_nothing(project: Path, arguments: list[str]) -> None:
    expected = streambound(*arguments, stdout=subprocess.PIPE)
    done = shell(arguments, "2>&-")
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)


def test_what_goes_to_files_needs_no_standard_output(project: Path) -> None:
    done = shell(["check", "figure2.sql", "-o", "json:out.json", "-o", "junit:out.xml"], ">&-")
    assert done.returncode == 0, done.stderr
    assert json.loads((project / "out.json").read_text())["summary"]["bounded"] == 1
    assert shell(["compile", "figure2.sql", "-o", "job"], ">&-").returncode == 0


def test_files_are_written_although_nobody_reads_the_rest(project: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = streambound("check", "figure2.sql", "-o", "text", "-o", "json:out.json", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    assert (project / "out.json").is_file()


def shell(arguments: list[str], redirection: str) -> subprocess.CompletedProcess[bytes]:
    command = f'"{sys.executable}" -m streambound "$@" {redirection}'
    return subprocess.run(
        ["bash", "-c", command, "streambound", *arguments], capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
