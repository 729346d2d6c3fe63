"""Witnesses of queries beyond joins: what the command prints, and DuckDB's word on all prefixes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streambound.recheck.oracle.prove import prove
from streambound.reports.circuit_witness_report import tables_of
from streambound.reports.witness_report import json_rows
from support.circuits import checked_circuit
from support.command_line import call

pytestmark = pytest.mark.xdist_group("corpus")  # its cases are checked once, in one process

CASES = [
    case
    for line in (Path(__file__).parent / "data" / "circuits.jsonl").read_text().splitlines()
    if (case := json.loads(line))["verdict"] == "unbounded"
    and not any("changes" in table for kind in case["catalog"].values() for table in kind.values())
]
SIZE = 4
CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", name = "string", ts = "timestamp" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", ts = "timestamp" }
domain.a = [0, 3]
"""
COUNT = "SELECT a, COUNT(*) AS n, MAX(ts) AS last FROM S GROUP BY a"


@pytest.mark.parametrize("case", CASES[::2], ids=lambda case: case["name"])
def test_duckdb_tells_all_prefixes_apart(case: dict[str, Any]) -> None:
    checked = checked_circuit(case["sql"], case["catalog"])
    found = checked.circuit_witness
    if found is None:
        assert str(checked.verdict) != "unbounded" or checked.decision is not None
        return
    witness, tables = found.of_size(SIZE), tables_of(found.statement, checked.statement)
    assert witness is not None and checked.statement.tree is not None and checked.catalog is not None
    parts = [[json_rows(tables, rows) for rows in part] for part in (witness.elements, witness.probes)]
    always = json_rows(tables, witness.always)
    assert prove(checked.statement.tree, checked.catalog, always, *parts).states == 1 << SIZE
    without = prove(checked.statement.tree, checked.catalog, always, [{}, {}], parts[1])
    assert without.states <= 2  # nothing is printed before the first row: else it is the elements that are told apart


def test_most_cases_have_a_witness() -> None:
    assert sum(checked_circuit(case["sql"], case["catalog"]).circuit_witness is not None for case in CASES) >= 60


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "q.sql").write_text(COUNT)
    return tmp_path


def test_rows_subsets_and_changes_are_printed(place: Path) -> None:
    shown = call("witness", "q.sql", "--size", "2")
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert lines[0] == "q: unbounded" and "any" not in lines[1]
    values = [json.loads(line.split(" ", 3)[3])["a"] for line in lines if line.startswith("  S ")]
    assert values[:2] == values[2:] and len(set(values)) == 2
    heads = [line for line in lines if line.startswith("after ")]
    assert heads == ["after no element:", "after element 1:", "after element 2:", "after elements 1, 2:"]
    assert f'  probe 1 changes +1 {{"a": {values[0]}, "n": 1, "last": "2024-' in shown.output
    assert f'  probe 2 changes -1 {{"a": {values[1]}, "n": 1' in lines[-1]
    large = call("witness", "q.sql", "--size", "9").output
    assert "after all elements:" in large and "after element 1:" not in large


def test_streams_are_written_and_proved(place: Path) -> None:
    shown = call("witness", "q.sql", "--size", "2", "--out", "w", "--subset", "2", "--probe", "2", "--prove", "3")
    assert shown.exit_code == 0, shown.output
    assert "proved by DuckDB: 8 of 8 prefixes" in shown.output
    about = json.loads((place / "w" / "witness.json").read_text())
    assert [[change["_mult"] for change in probe] for probe in about["results"]] == [[-1, 1], [-1, 1]]
    sent = [json.loads(line) for line in (place / "w" / "input" / "S.jsonl").read_text().splitlines()]
    assert len(sent) == 2 and sent[0]["a"] == sent[1]["a"] and sent[0]["ts"] < sent[1]["ts"]


def test_the_report_says_what_the_witness_keeps(place: Path) -> None:
    (found,) = json.loads(call("check", "q.sql", "--format", "json").output)["queries"]
    assert found["witness"] == {"attributes": ["S.a"], "probe_streams": [], "replays_a_match": True}


def test_bounded_queries_have_none(place: Path) -> None:
    (place / "q.sql").write_text("SELECT a, COUNT(*) AS n FROM T GROUP BY a")
    refused = call("witness", "q.sql")
    assert refused.exit_code == 1 and "q has no witness: it is bounded" in refused.output
