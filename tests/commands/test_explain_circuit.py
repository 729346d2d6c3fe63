"""`explain --emit circuit`: every stage as text and as a drawing, for queries that `check` refuses, too."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from streambound.commands.explain import _CIRCUITS
from streambound.reports.circuit_stages import CIRCUIT_STAGES
from support.command_line import call
from support.drawing_texts import dot_labels, mermaid_labels

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
"""
WITHIN = "SELECT S.a, COUNT(*) AS n FROM S, T WHERE S.a = T.a AND T.ts <= S.ts AND S.ts <= T.ts + 3 GROUP BY S.a"
CLOSURE = (
    "WITH RECURSIVE r(x, y) AS (SELECT a, b FROM S UNION SELECT r.x, S.b FROM r JOIN S ON r.y = S.a) SELECT x FROM r"
)


@pytest.fixture
def explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    Path("streams.toml").write_text(CATALOG, encoding="utf-8")

    def explain(sql: str, *arguments: str) -> str:
        Path("q.sql").write_text(sql, encoding="utf-8")
        return call("explain", "q.sql", *arguments).output.rstrip("\n")

    return explain


def test_the_command_knows_every_stage() -> None:
    assert _CIRCUITS == CIRCUIT_STAGES


@pytest.mark.parametrize("stage", CIRCUIT_STAGES)
@pytest.mark.parametrize("sql", [WITHIN, CLOSURE])
def test_every_stage_can_be_printed_and_drawn(explained, sql: str, stage: str) -> None:  # type: ignore[no-untyped-def]
    """In a format of a drawing each, in turn."""
    name = stage.partition(":")[2] or "chain"
    text = explained(sql, "--emit", stage)
    assert text.startswith(f"-- {name}: over ")
    numbered = [line for line in text.splitlines() if not line.startswith("--")]
    inside = sum(": fixpoint" in line for line in numbered)
    assert text.count("<- output") == 1 + inside
    form = ("mermaid", "dot", "svg")[[*CIRCUIT_STAGES].index(stage) % 3]
    drawing = explained(sql, "--emit", stage, "--format", form)
    match form:
        case "mermaid":
            assert len(mermaid_labels(drawing)) == len(numbered)
        case "dot":
            assert len(dot_labels(drawing)) >= len(numbered)
        case _:
            drawn = ET.fromstring(drawing)
            assert len(drawn.findall(".//{*}rect")) + len(drawn.findall(".//rect")) > len(numbered)


def test_the_rules_of_the_chain_are_named(explained) -> None:  # type: ignore[no-untyped-def]
    text = explained(WITHIN, "--emit", "circuit:chain")
    assert (
        "-- bilinear (3.4): ⋈ S.a = T.a AND T.ts <= S.ts AND S.ts <= T.ts + 3 [4]  ->  a ⋈ I(b) + z⁻¹I(a) ⋈ b" in text
    )
    assert "-- touched keys (4.7): rows of groups" in text


def test_recursion_has_the_four_terms_of_a_join(explained) -> None:  # type: ignore[no-untyped-def]
    text = explained(CLOSURE, "--emit", "circuit:chain")
    assert sum("⋈ r.y = S.a (" in line for line in text.splitlines()) == 4


def test_what_has_no_circuit_says_so_at_its_token(explained) -> None:  # type: ignore[no-untyped-def]
    sql = "WITH RECURSIVE r(x) AS (SELECT a FROM S UNION ALL SELECT S.b FROM r JOIN S ON r.x = S.a) SELECT x FROM r"
    text = explained(sql, "--emit", "circuit")
    assert "there is no circuit: UNION ALL in a recursive query counts paths" in text
    assert "q.sql:1:6" in text


def test_a_statement_without_operators_is_told_from_one_with_a_circuit(explained) -> None:  # type: ignore[no-untyped-def]
    assert "this statement names no operators" in explained("SELECT a FROM nowhere", "--emit", "circuit")
