"""The statements and the table of docs/theory*.md, executed: verdict, and the paper's theorem clause by clause."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from streambound.criteria.bound import bound
from support.product import decided

PAGES = sorted((Path(__file__).parents[1] / "docs").glob("theory*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
COLUMNS = {**dict.fromkeys("ABCD", "bigint"), "U": "double", "V": "double", "s": "string", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "FSTUWXYZ"},
    "relations": {"R": {"columns": {"K": "bigint", "M": "bigint", "V": "double"}}},
}
STATEMENT = re.compile(r"-- name: (\w+)\n-- (bounded|unbounded|unknown)\b(.*)\n((?:(?!-- name|```).*\n)+)")
ROW = re.compile(r"^\| ((?:bag|set|union|self-join)[^|]*) \| (.*) \| ([^|]*) \| (bounded|unbounded|unknown) \|$", re.M)


def _statements() -> dict[str, tuple[str, str, str]]:
    return {name: (verdict, rest, sql.strip().rstrip(";")) for name, verdict, rest, sql in STATEMENT.findall(TEXT)}


STATEMENTS = _statements()
ROWS = {
    f"{title}: {name}": (name, paper, verdict)
    for title, example, paper, verdict in ROW.findall(TEXT)
    for name in re.findall(r"`([^`]+)`", example)
}


def _sql(example: str) -> str:
    """A row's example in full: the default select list, and the streams that it mentions."""
    if example in STATEMENTS:
        return STATEMENTS[example][2]
    if " … " not in example and "FROM" not in example:
        example = f"SELECT 1 AS one … {example}"
    parts = []
    for part in re.split(r" (UNION(?: ALL)?) ", example):
        streams = ", ".join(dict.fromkeys(re.findall(r"\b([A-Z])\.", part)))
        parts.append(part.replace(" … ", f" FROM {streams} WHERE "))
    return " ".join(parts)


def test_the_document_has_statements_and_rows() -> None:
    assert len(STATEMENTS) >= 10
    assert len(ROWS) >= 20
    assert TEXT.count("-- name: ") == len(STATEMENTS)


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str) -> None:
    verdict, rest, sql = STATEMENTS[name]
    decision = decided(sql, CATALOG)
    assert decision.verdict == verdict
    if claimed := re.match(r", (.+) entries", rest):
        found = bound(decision.derivation.split)
        assert found is not None and found.entries.text == claimed[1]
    paper = decision.criteria[1] if len(decision.criteria) > 1 else None
    if "holds" in rest:
        assert paper is not None and paper.holds
    for clause in re.findall(r"\bC\d", rest.partition(":")[0]):
        assert paper is not None and clause in {violation.condition for violation in paper.violations}


@pytest.mark.parametrize("row", ROWS)
def test_rows(row: str) -> None:
    name, paper, verdict = ROWS[row]
    decision = decided(_sql(name), CATALOG)
    assert decision.verdict == verdict
    found = next(iter(decision.criteria[1:]), None)
    if paper == "–":
        assert found is None
    elif paper.startswith("holds"):
        assert found is not None and found.holds
    else:
        assert found is not None and {v.condition for v in found.violations} & set(paper.split(", "))
