"""Repairs of random rejected queries: the patched files are bounded, and results change only as the label says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import Checked, check_source
from streambound.criteria.repairs.repair import with_repairs
from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.oracle import Oracle
from support.patching import CATALOG, catalog_text, patched, patched_by_lines
from support.profiles import MORE
from support.queries import Features, Statement, make_statement
from support.streams import Rows, small_rows

pytestmark = pytest.mark.xdist_group("rejected")  # the queries are found once, in one process
FILE = "q.sql"
SEEDS = range(80 * MORE)
NARROWER = ("window", "relation")
"""Changes that only add conditions: the results become fewer."""


def _checked(texts: Mapping[str, str]) -> tuple[Checked, ...]:
    return check_source(SourceText(FILE, texts[FILE]), parse_catalog(texts[CATALOG], CATALOG))


@cache
def _rejected(seeds: range) -> tuple[tuple[Statement, dict[str, str], Checked], ...]:
    """Random statements that are rejected, with their files and repairs."""
    return tuple(_found(seeds))


def _found(seeds: range) -> Iterator[tuple[Statement, dict[str, str], Checked]]:
    for seed in seeds:
        statement = make_statement(Choices.seeded(seed), Features(unions=15))
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
            assert fix.kind == ("contract" if set(fix.changes) == {"domain"} else "changes-results")
            assert all(d.severity.value != "error" for d in again.diagnostics)
            assert fix.sql == after[FILE]
            assert patched_by_lines(texts, fix) == after
            assert with_repairs(again) is again
            counts.update(fix.changes)
    assert counts["rejected"] > len(SEEDS) / 10, counts
    assert counts["repaired"] > 0.98 * counts["rejected"], counts
    assert {"domain", "window", "relation", "bucket"} <= set(counts), counts


def test_repairs_stay_in_their_statement_and_keep_everything_else() -> None:
    """In a file with other statements, comments, tabs, wide characters and CRLF."""
    before, behind = (
        "-- é漢😀\tfirst\r\nSELECT 1 AS one FROM S;\r\n\t/* two */ ",
        " -- behind\r\n;\r\nSELECT S.ts FROM S -- é\r\n",
    )
    repaired = 0
    for _, texts, item in _rejected(range(25 * MORE)):
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
    assert repaired > 10


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
    return Oracle(catalog, rows).counts(sql)


def test_changed_results_change_as_the_repair_says() -> None:
    """In DuckDB: added conditions and domains only remove results."""
    counts: Counter[str] = Counter()
    for statement, texts, item in _rejected(SEEDS):
        assert item.repairs is not None
        for fix in item.repairs.fixes:
            if not set(fix.changes) <= {*NARROWER, "domain"}:
                continue
            after = patched(texts, fix)
            rows = small_rows(Choices.seeded(len(statement.sql)), statement.catalog, 6)
            before = _results(statement.sql, statement.catalog, rows)
            now = _results(after[FILE], statement.catalog, _allowed(statement.catalog, after[CATALOG], rows))
            assert now <= before, (statement.sql, fix)
            counts[fix.changes[0]] += 1
            counts["fewer"] += now.total() < before.total()
            counts["kept some"] += now.total() > 0
    assert counts["relation"] and counts["domain"] and counts["window"] > 5, counts
    assert counts["fewer"] and counts["kept some"], counts
