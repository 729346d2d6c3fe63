"""The README's transcripts are what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from streambound.analyzer.arrival import Arrival, Mark, Partitions
from streambound.analyzer.catalog import parse_catalog

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ streambound ((?:check|explain|witness) [^\n]*)\n(.*?)```", README, flags=re.S)


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_transcripts(command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(cli.main, shlex.split(command))
    assert result.output.rstrip() == shown.rstrip()


def test_the_drawing_is_what_explain_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (drawing,) = re.findall(r"```mermaid\n(.*?)```", README, flags=re.S)
    command = ["explain", "examples/figure2/figure2.sql", "--emit", "tables", "--format", "mermaid"]
    assert CliRunner().invoke(cli.main, command).output == drawing


def test_there_are_transcripts() -> None:
    assert len(BLOCKS) >= 2


def test_the_keys_of_order_are_accepted() -> None:
    """The stream of "Order", whose timestamp and columns are declared elsewhere."""
    _, order = re.findall(r"```toml\n(.*?)```", README, flags=re.S)
    declared = 'timestamp = "at"\ncolumns = { shard = "int", kind = "string", at = "timestamp" }\n'
    (stream,) = parse_catalog(order + declared).tables
    assert stream.arrival == Arrival(10_000_000, 300_000_000, Mark("kind", value="end"), Partitions("shard", (0, 1)))


def test_the_tour_is_accepted_and_its_variant_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog and query of "Five minutes", and what it says of the query without the relation."""
    monkeypatch.chdir(tmp_path)
    catalog, _ = re.findall(r"```toml\n(.*?)```", README, flags=re.S)
    (sql,) = re.findall(r"```sql\n(.*?)```", README, flags=re.S)
    (tmp_path / "queries").mkdir()
    (tmp_path / "streams.toml").write_text(catalog)
    query = tmp_path / "queries" / "vip.sql"
    query.write_text(sql)
    assert CliRunner().invoke(cli.main, ["check"]).exit_code == 0
    query.write_text("\n".join(line for line in sql.splitlines() if "vip AS" not in line).replace("v.name, ", ""))
    result = CliRunner().invoke(cli.main, ["check"])
    assert result.exit_code == 1
    assert "a.customer = o.customer joins on an unbounded attribute" in result.output
