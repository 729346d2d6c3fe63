"""What docs/gate.md shows is true: its suppressions, and the commands of each section in a project of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from support.program import ROOT
from support.transcripts import Block, blocks_in, follow

PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
SECTIONS = {text.split("\n")[0]: blocks_in(text) for text in re.split(r"^## ", PAGE, flags=re.M)[1:]}
STREAMS = """
[streams.orders]
timestamp = "ts"
columns = { customer = "bigint", amount = "bigint", ts = "bigint" }
[streams.alerts]
timestamp = "ts"
columns = { customer = "bigint", level = "bigint", ts = "bigint" }
"""
LEVELS = "SELECT a.level FROM orders AS o JOIN alerts AS a ON a.ts < o.ts\n"
FILES = {
    "streams.toml": f'queries = ["queries/*.sql"]{STREAMS}',
    "queries/large.sql": "SELECT customer FROM orders WHERE amount > 100\n",
    "queries/levels.sql": LEVELS,
}
COMMIT = "git init -q -b main && git add -A && git commit -qm all && git update-ref refs/remotes/origin/main HEAD"


def blocks(section: str, language: str) -> list[Block]:
    return [block for block in SECTIONS[section] if block.language == language]


@pytest.mark.parametrize("block", blocks("Suppressions", "sql"))
def test_the_suppressions_are_read_and_let_the_query_pass(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(STREAMS)
    (tmp_path / "q.sql").write_text(block.text)
    result = CliRunner().invoke(cli.main, ["check", "q.sql", "--fail-on", "warning"])
    assert result.exit_code == 0, result.output
    assert "unbounded, suppressed" in result.output


def test_the_commands_in_ci(tmp_path: Path) -> None:
    assert follow(SECTIONS["In CI"], tmp_path, FILES) == 1
    assert all((tmp_path / "project" / name).is_file() for name in ("streambound.sarif", "report.html"))


def test_the_settings(tmp_path: Path) -> None:
    (settings,) = blocks("Settings", "toml")
    files = FILES | {"streams.toml": settings.text + STREAMS}
    assert follow(SECTIONS["Settings"], tmp_path, files) == 2


def test_the_baseline(tmp_path: Path) -> None:
    assert follow(SECTIONS["A baseline"], tmp_path, FILES) == 4


def test_the_comparison_with_a_commit(tmp_path: Path) -> None:
    files = FILES | {"streams.toml": FILES["streams.toml"] + "domain.level = [1, 5]\n"}
    assert follow(SECTIONS["Against another state in git"], tmp_path, files, COMMIT) == 2


def test_no_command_is_left_out() -> None:
    followed = {"In CI", "Settings", "A baseline", "Against another state in git"}
    assert {name for name, found in SECTIONS.items() if any(block.commands for block in found)} == followed
    assert blocks("Suppressions", "sql")
