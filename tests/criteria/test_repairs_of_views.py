"""Repairs of statements that read by name (views of the file, WITH, subqueries): those of the flat query, in the text.

The patched text is executed by DuckDB, which has views of its own, and compared with the patched flat query.
"""

from __future__ import annotations

import random

import duckdb
import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.diagnostics import Fix
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.repairs.repair import with_repairs
from streambound.criteria.vocabulary import Verdict
from support.cases import read_queries
from support.patching import CATALOG, patched

TEXT = """
[streams.orders]
timestamp = "ts"
columns = { customer = "bigint", amount = "bigint", ts = "bigint" }
[streams.alerts]
timestamp = "ts"
columns = { customer = "bigint", level = "bigint", ts = "bigint" }
[relations.vip]
columns = { customer = "bigint" }
rows = 9
"""
COLUMNS = {"orders": ("customer", "amount", "ts"), "alerts": ("customer", "level", "ts"), "vip": ("customer",)}
JOINED = "SELECT {} FROM orders JOIN alerts ON alerts.customer = orders.customer AND alerts.ts < orders.ts"
READ = "SELECT orders.customer, {}.level FROM orders JOIN {} ON {}.customer = orders.customer AND {}.ts < orders.ts"
FORMS = read_queries("repairs_of_views.sql")
FLAT = JOINED.format("orders.customer, alerts.level")


def _repairs(sql: str) -> tuple[Fix, ...]:
    item = check_source(SourceText("q.sql", sql), parse_catalog(TEXT, CATALOG))[-1]
    assert item.verdict is Verdict.UNBOUNDED
    repairs = with_repairs(item).repairs
    assert repairs is not None
    return repairs.fixes


def _rows(sql: str, seed: int) -> list[tuple[int, ...]]:
    chosen, database = random.Random(seed), duckdb.connect(config={"threads": 1})
    for table, columns in COLUMNS.items():
        rows = [tuple(chosen.choice([-3, 0, 1, 2, 99, 150]) for _ in columns) for _ in range(40)]
        database.execute(f"CREATE TABLE {table} ({', '.join(f'{column} BIGINT' for column in columns)})")
        values = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
        database.execute(f"INSERT INTO {table} VALUES {values}")
    return sorted(database.sql(sql).fetchall())


@pytest.mark.parametrize("form", FORMS)
def test_repairs_are_those_of_the_flat_query(form: str) -> None:
    flat, found = _repairs(FLAT), _repairs(FORMS[form])
    assert flat[0].changes == ("window",)
    assert [fix.changes for fix in found] == [fix.changes for fix in flat]
    for expected, fix in zip(flat, found, strict=True):
        after = patched({"q.sql": FORMS[form], CATALOG: TEXT}, fix)
        (*_, last) = check_source(SourceText("q.sql", after["q.sql"]), parse_catalog(after[CATALOG], CATALOG))
        assert last.verdict is Verdict.BOUNDED
        results = [_rows(after["q.sql"], seed) for seed in range(3)]
        assert results == [_rows(patched({"q.sql": FLAT}, expected)["q.sql"], seed) for seed in range(3)]
        assert any(results)


def test_a_view_changes_only_where_nothing_else_can() -> None:
    """What the reader sees is repaired in the reader; what it does not see in the view, which says so."""
    view = "CREATE VIEW v AS SELECT customer, level, ts FROM alerts"
    seen = _repairs(f"{view}; {READ.replace('{}', 'v')}")[0]
    assert all(edit.span.start > len(view) for edit in seen.edits) and "view" not in seen.note
    inside = _repairs(f"CREATE VIEW j AS {JOINED.format('orders.customer, level')}; SELECT customer, level FROM j")
    assert inside[0].changes == ("window",)
    assert "the view j changes, for everything that reads it" in inside[0].note
    assert inside[0].sql == "SELECT customer, level FROM j"
