"""Repairs of random rejected queries: the patched files are bounded, and results change only as the label says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from analyzer.catalog import parse_catalog
from analyzer.spans import SourceText
from criteria.check import Checked, check_source, with_repairs
from criteria.vocabulary import Verdict
from tests.support.choices import Choices
from tests.support.encoding import Row
from tests.support.oracle import Oracle
from tests.support.patching import CATALOG, catalog_text, patched, patched_by_lines
from tests.support.profiles import MORE
from tests.support.queries import Features, Statement, make_statement
from tests.support.streams import Rows, adversarial_rows, small_rows

pytestmark = pytest.mark.xdist_group("rejected")  # the queries are found once, in one process
FILE = "q.sql"
SEEDS = range(160 * MORE)
NARROW = range(5000, 5000 + 120 * MORE)
NARROWER = ("condition", "bound", "window", "order", "simultaneous")
"""Changes that only add conditions: the results become fewer."""


def _checked(texts: Mapping[str, str]) -> tuple[Checked, ...]:
    return check_source(SourceText(FILE, texts[FILE]), parse_catalog(texts[CATALOG], CATALOG))


@cache
def _rejected(seeds: range, kind: str = "bigint") -> tuple[tuple[Statement, dict[str, str], Checked], ...]:
    """Random statements that are rejected, with their files and repairs; integers may have a narrower type."""
    return tuple(_found(seeds, kind))


def _found(seeds: range, kind: str) -> Iterator[tuple[Statement, dict[str, str], Checked]]:
    for seed in seeds:
        statement = make_statement(Choices.seeded(seed), Features(unions=15))
        for body in (*statement.catalog["streams"].values(), *statement.catalog["relations"].values()):
            narrow = {name: kind for name in ("a", "b") if name in body["columns"]}
            body["columns"].update(narrow)
        texts = {FILE: statement.sql, CATALOG: catalog_text(statement.catalog)}
        (item,) = _checked(texts)
        if item.rejected:
            yield statement, texts, with_repairs(item)


def test_every_repair_shown_makes_the_files_bounded() -> None:
    counts: Counter[str] = Counter()
    for _, texts, item in _rejected(SEEDS):
        counts["rejected"] += 1
        assert item.repairs is not None
        counts["repaired"] += bool(item.repairs.fixes)
        assert bool(item.repairs.fixes) != bool(item.repairs.why_none)
        for fix in item.repairs.fixes:
            after = patched(texts, fix)
            (again,) = _checked(after)
            assert again.verdict is Verdict.BOUNDED, (texts, fix)
            assert fix.kind == "changes-results"
            assert all(d.severity.value != "error" for d in again.diagnostics)
            assert fix.sql == after[FILE]
            assert patched_by_lines(texts, fix) == after
            assert with_repairs(again) is again
            counts.update(fix.changes)
    assert counts["rejected"] > len(SEEDS) / 10, counts
    assert counts["repaired"] > 0.98 * counts["rejected"], counts
    assert {"bound", "domain", "window", "order", "relation", "distinct", "column"} <= set(counts), counts


def test_repairs_stay_in_their_statement_and_keep_everything_else() -> None:
    """In a file with other statements, comments, tabs, wide characters and CRLF."""
    before, behind = (
        "-- é漢😀\tfirst\r\nSELECT 1 AS one FROM S;\r\n\t/* two */ ",
        " -- behind\r\n;\r\nSELECT S.ts FROM S -- é\r\n",
    )
    repaired = 0
    for _, texts, item in _rejected(range(70 * MORE)):
        text = before + texts[FILE].replace("\n", "\r\n") + behind
        files = {FILE: text, CATALOG: texts[CATALOG].replace("\n", "\r\n")}
        checked = _checked(files)
        found = with_repairs(checked[1])
        assert [item.verdict for item in checked[:1]] == [Verdict.BOUNDED]
        assert found.repairs is not None and item.repairs is not None
        assert [fix.changes for fix in found.repairs.fixes] == [fix.changes for fix in item.repairs.fixes]
        for fix in found.repairs.fixes:
            after = patched(files, fix)
            again = _checked(after)
            assert [item.verdict for item in again] == [Verdict.BOUNDED, Verdict.BOUNDED, checked[2].verdict]
            assert after[FILE].startswith(before)
            assert after[FILE].endswith(behind.lstrip()) or "-- behind" in after[FILE]
            assert after[FILE].count("\r\n") == after[FILE].count("\n")
            assert after[CATALOG].count("\r\n") == after[CATALOG].count("\n")
            assert patched_by_lines(files, fix) == {file: t.replace("\r\n", "\n") for file, t in after.items()}
            repaired += 1
    assert repaired > 20


# --- what the labels say ------------------------------------------------------------------------------------------


def _allowed(catalog: Mapping[str, Any], text: str, rows: Rows) -> Rows:
    """The rows that a catalog's text does not quarantine."""
    kept: Rows = {}
    for name, some in rows.items():
        table = parse_catalog(text).table(name)
        assert table is not None
        ranges = {column.name: column.domain for column in table.columns if column.domain}
        kept[name] = [row for row in some if all(_inside(row[c], domain) for c, domain in ranges.items())]
    return kept


def _inside(value: Any, domain: Any) -> bool:
    if value is None:
        return True
    if domain.values:
        return value in domain.values
    return not isinstance(value, int) or domain.low <= value <= domain.high


def _results(sql: str, catalog: Mapping[str, Any], rows: Rows) -> Counter[tuple[Any, ...]]:
    return Oracle(_wide(catalog), rows).counts(sql)


def _wide(catalog: Mapping[str, Any]) -> dict[str, Any]:
    """The catalog with bigint for tinyint: DuckDB adds a constant to a tinyint in 8 bits, SQL at large does not."""
    found: dict[str, Any] = json.loads(json.dumps(catalog).replace('"tinyint"', '"bigint"'))
    return found


def test_safe_repairs_change_no_result() -> None:
    counts: Counter[str] = Counter()
    for statement, texts, item in _rejected(NARROW, "tinyint"):
        assert item.repairs is not None
        fixes = [fix for fix in item.repairs.fixes if fix.kind == "safe"]
        counts["rejected"] += 1
        counts["with a safe repair"] += bool(fixes)
        for fix in fixes:
            after = patched(texts, fix)
            counts.update(f"safe {change}" for change in fix.changes)
            for seed in range(2):
                rows = _narrow_rows(Choices.seeded(seed), statement.catalog, seed % 2 == 1)
                expected = _results(statement.sql, statement.catalog, rows)
                assert (
                    _results(after[FILE], statement.catalog, _allowed(statement.catalog, after[CATALOG], rows))
                    == expected
                )
                counts["with results"] += bool(expected)
    assert counts["with a safe repair"] > 0.3 * counts["rejected"] > 3, counts
    assert counts["safe domain"] and counts["safe bound"] and counts["with results"], counts


def _narrow_rows(choices: Choices, catalog: Mapping[str, Any], hostile: bool) -> Rows:
    """Rows with tinyint values, the extremes among them, where a generator of wider ones makes them up."""
    rows = (adversarial_rows if hostile else small_rows)(choices, _wide(catalog), 6)
    bodies = {**catalog["streams"], **catalog["relations"]}
    return {table: [_narrow(row, bodies[table].get("domain", {})) for row in some] for table, some in rows.items()}


def _narrow(row: Row, domains: Mapping[str, Any]) -> Row:
    free = {name: v for name, v in row.items() if name in ("a", "b") and v is not None and name not in domains}
    return {**row, **{name: v if -128 <= v <= 127 else (127, -128)[v % 2] for name, v in free.items()}}


def test_changed_results_change_as_the_repair_says() -> None:
    """In DuckDB: added conditions only remove results, DISTINCT only duplicates, a dropped column only itself."""
    counts: Counter[str] = Counter()
    for statement, texts, item in _rejected(SEEDS):
        assert item.repairs is not None
        for fix in item.repairs.fixes:
            if len(set(fix.changes)) > 1 or fix.changes[0] not in (*NARROWER, "distinct", "column", "domain"):
                continue
            after = patched(texts, fix)
            rows = small_rows(Choices.seeded(len(statement.sql)), statement.catalog, 6)
            before = _results(statement.sql, statement.catalog, rows)
            now = _results(after[FILE], statement.catalog, _allowed(statement.catalog, after[CATALOG], rows))
            if fix.changes[0] == "distinct":
                assert set(now) == set(before)
            elif fix.changes[0] == "column" and "drop" in fix.title:
                assert now.total() == before.total() or statement.distinct
            elif fix.changes[0] != "column":
                assert now <= before, (statement.sql, fix)
            counts[fix.changes[0]] += 1
            counts["fewer"] += now.total() < before.total()
            counts["kept some"] += now.total() > 0
    assert counts["bound"] > 5 and counts["domain"] > 5 and counts["window"] > 5 and counts["distinct"], counts
    assert counts["fewer"] and counts["kept some"], counts
