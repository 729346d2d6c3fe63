"""What docs/gate.md shows is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
CATALOG = """
[streams.orders]
timestamp = "ts"
columns = { customer = "bigint", amount = "bigint", ts = "bigint" }
[streams.alerts]
timestamp = "ts"
columns = { customer = "bigint", level = "bigint", ts = "bigint" }
"""
SQL = re.findall(r"```sql\n(.*?)```", TEXT, re.S)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / target).is_file(), target


@pytest.mark.parametrize("sql", SQL, ids=range(len(SQL)))
def test_the_suppressions_are_read_and_let_the_query_pass(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "q.sql").write_text(sql)
    result = CliRunner().invoke(cli.main, ["check", "q.sql", "--fail-on", "warning"])
    assert result.exit_code == 0, result.output
    assert "unbounded, suppressed" in result.output


def test_there_is_something_to_read() -> None:
    assert SQL
