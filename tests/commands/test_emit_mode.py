"""`--emit-mode`: it replaces the comment, and what a query cannot have is refused at the operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import call

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
max_per_timestamp = 2
domain.a = [0, 3]
"""
WINDOWS = "SELECT ts DIV 4 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 4"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "q.sql").write_text(WINDOWS)
    (tmp_path / "keys.sql").write_text("SELECT a, COUNT(*) AS n FROM S GROUP BY a")
    return tmp_path


def test_the_option_is_as_the_comment(place: Path) -> None:
    changes = call("compile", "q.sql").output
    final = call("compile", "q.sql", "--emit-mode", "final")
    assert final.exit_code == 0, final.output
    assert "final=True" in final.output and "final=True" not in changes
    (place / "q.sql").write_text("-- streambound: emit final\n" + WINDOWS)
    assert "final=True" in call("compile", "q.sql").output
    assert "final=True" not in call("compile", "q.sql", "--emit-mode", "changes").output
    assert "final=True" in call("explain", "q.sql", "--emit", "job", "--emit-mode", "final").output


def test_what_is_never_final_is_refused_at_the_operator(place: Path) -> None:
    refused = call("compile", "keys.sql", "--emit-mode", "final")
    assert refused.exit_code == 1
    assert "may take results back for ever" in refused.output and "keys.sql:1:" in refused.output
    assert call("compile", "keys.sql", "--emit-mode", "changes").exit_code == 0
    assert call("compile", "keys.sql", "--emit-mode", "sometimes").exit_code == 2
    for mode in ("fragments", "parts"):
        refused = call("compile", "keys.sql", "--emit-mode", mode)
        assert refused.exit_code == 1 and f"emit {mode}" in refused.output


def test_every_command_that_reads_a_query_has_it(place: Path) -> None:
    assert "groups 2 may take results back" in call("check", "keys.sql", "--emit-mode", "final").output
    assert call("check", "keys.sql").exit_code == call("check", "q.sql", "--emit-mode", "final").exit_code == 0
    for command in ("verify", "memory", "witness"):
        refused = call(command, "keys.sql", "--emit-mode", "sometimes")
        assert refused.exit_code == 2 and "--emit-mode" in refused.output


def test_an_accepted_verdict_is_not_that_of_another_mode(place: Path) -> None:
    assert call("check", "keys.sql").exit_code == 0
    assert call("check", "keys.sql", "--emit-mode", "final").exit_code == 1
    assert call("check", "keys.sql", "--emit-mode", "changes").exit_code == 0


def test_verify_compares_final_results(place: Path) -> None:
    rows = place / "rows"
    rows.mkdir()
    lines = [f'{{"a": 1, "ts": {time}}}' for time in (0, 0, 1, 5, 6, 6, 9)]
    (rows / "S.jsonl").write_text("\n".join(lines) + "\n")
    found = call("verify", "q.sql", "--emit-mode", "final", "--input", "rows", "--runs", "1")
    assert found.exit_code == 0, found.output
    assert "3 results at 1 timestamp" in found.output
    changes = call("verify", "q.sql", "--input", "rows", "--runs", "1")
    assert "7 results at 5 timestamps" in changes.output
