"""The tables of docs/circuits.md: each numbered statement of DBSP has a test by its number, and named tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "circuits.md").read_text(encoding="utf-8")
STATEMENTS = (
    "2.4", "2.10", "2.11", "2.12", "2.13", "2.16", "2.18", "2.20", "2.21", "2.22", "3.2", "3.3", "3.4", "4.5", "4.6",
    "4.7", "5.2", "5.3", "5.4", "6.1", "6.2",
)  # fmt: skip
"""The propositions, lemmas, corollaries and theorems of the paper."""
DEFINED = {
    name: path.name
    for path in Path(__file__).parent.glob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
}
TABLES = TEXT[TEXT.index("## The paper's statements, and their tests") :].split("## Where the paper is not followed")
ROWS = [
    [re.findall(r"`(test_\w+)`", line), line] for table in TABLES for line in re.findall(r"^\| .* \|$", table, re.M)
]
NAMED = [name for names, _ in ROWS for name in names]


def test_each_line_names_tests_that_exist() -> None:
    assert len(NAMED) == len(set(NAMED)) > 30
    assert [name for name in NAMED if name not in DEFINED] == []
    assert [line for names, line in ROWS if not names and not re.match(r"\| (paper|---) ", line)] == []


@pytest.mark.parametrize("number", STATEMENTS)
def test_each_statement_has_a_test_by_its_number(number: str) -> None:
    lines = re.findall(rf"^\|(?: | .*, ){re.escape(number)}(?:, .*)? \|.*`(test_\w+)` \|$", TABLES[0], re.M)
    assert lines
    assert all(f"_{number.replace('.', '_')}_" in name for name in lines), lines
