"""Repairs that join a relation: the same ones however names are written, and results that only a partner keeps."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.diagnostics import Fix
from streambound.analyzer.spans import SourceText
from streambound.analyzer.types import parse_type
from streambound.criteria.check import check_source
from streambound.criteria.repairs.keys import ID, KEY, referenced
from streambound.criteria.repairs.repair import with_repairs
from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.oracle import Oracle
from support.patching import CATALOG, catalog_text, patched
from support.profiles import MORE
from support.streams import small_rows

FILE = "q.sql"
TABLES = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a_id": "bigint", "b": "bigint", "ts": "bigint"}},
        "T": {"timestamp": "at", "columns": {"c_id": "bigint", "d": "bigint", "at": "bigint"}},
    },
    "relations": {
        "A": {"columns": {"a_id": "bigint", "b": "bigint"}},
        "C": {"columns": {"id": "bigint", "c_id": "bigint", "d": "bigint"}},
    },
}
OWNER = {"a_id": "S", "b": "S", "ts": "S", "c_id": "T", "d": "T", "at": "T"}
CONDITIONS = (
    ("a_id", "= ", "c_id"), ("b", "< ", "d"), ("b", "> ", "3"), ("d", "BETWEEN ", "0 AND 9"), ("ts", "< ", "at"),
    ("at", "<= ", "ts"), ("b", "= ", "d"), ("d", "= ", "1"),
)  # fmt: skip


@dataclass(frozen=True)
class Spelling:
    """How a query is written: which names have an alias, which streams stand in a subquery, and how FROM joins them."""

    choices: Choices | None = None

    def name(self, column: str) -> str:
        bare = self.choices is not None and self.choices.chance(70)
        return column if bare or column not in OWNER else f"{OWNER[column]}.{column}"

    def stream(self, name: str) -> str:
        if self.choices is None or self.choices.chance(50):
            return name
        columns = ", ".join(column for column, owner in OWNER.items() if owner == name)
        return f"(SELECT {self.choices.pick(('*', columns, f'{name}.*'))} FROM {name}) AS {name}"

    def query(self, distinct: bool, either: bool, outputs: list[str], conditions: list[tuple[str, str, str]]) -> str:
        one_of = self.choices.pick((", ", " CROSS JOIN ")) if self.choices else ", "
        where = (" OR " if either else " AND ").join(
            f"{self.name(left)} {op}{self.name(right)}" for left, op, right in conditions
        )
        listed = ", ".join(map(self.name, outputs))
        select = f"SELECT {'DISTINCT ' if distinct else ''}{listed}"
        return f"{select} FROM {self.stream('S')}{one_of}{self.stream('T')} WHERE {where}"


def _repairs(sql: str) -> tuple[Fix, ...]:
    (item,) = check_source(SourceText(FILE, sql), parse_catalog(catalog_text(TABLES), CATALOG))
    repairs = with_repairs(item).repairs
    return repairs.fixes if repairs else ()


def _bounded(sql: str) -> bool:
    (item,) = check_source(SourceText(FILE, sql), parse_catalog(catalog_text(TABLES), CATALOG))
    return item.verdict is Verdict.BOUNDED


@pytest.mark.slow
def test_names_without_an_alias_and_subqueries_lose_no_repair() -> None:
    """And in DuckDB the patches return the same; what a relation has is kept as often as it was."""
    counts: Counter[str] = Counter()
    for seed in range(50 * MORE):
        choices = Choices.seeded(seed)
        columns = [column for column in ("a_id", "b", "c_id", "d") if choices.chance(40)] or ["a_id"]
        conditions = [condition for condition in CONDITIONS if choices.chance(25)] or [CONDITIONS[4]]
        shape = choices.chance(40), choices.chance(20), columns, conditions
        plain, written = Spelling().query(*shape), Spelling(choices).query(*shape)
        first, second = _repairs(plain), _repairs(written)
        assert [fix.changes for fix in first] == [fix.changes for fix in second], written
        oracle = Oracle(TABLES, small_rows(choices, TABLES, 6))
        before = oracle.counts(plain)
        for one, other in zip(first, second, strict=True):
            sql = patched({FILE: written, CATALOG: ""}, other)[FILE]
            if "relation" not in other.changes or {"domain", "bucket"} & set(other.changes):
                continue
            assert _bounded(sql), sql
            now = oracle.counts(sql)
            assert set(now) == set(oracle.counts(one.sql)), (one.sql, sql)
            assert set(now) <= set(before), (plain, sql)
            joined = other.title.startswith("join")
            assert ("repeated" in other.note) == (joined and not sql.startswith("SELECT DISTINCT"))
            assert joined or now <= before
            counts["joined" if joined else "asked"] += 1
            counts["kept some"] += bool(now)
        if seed >= 4 * MORE and min(counts[name] for name in ("joined", "asked", "kept some")) > 0:
            return
    raise AssertionError(counts)


REFERENCES = [
    ("card_id", "cards", "card_id owner", {"card_id": KEY}),
    ("card_id", "cards", "owner card_id", {"card_id": KEY}),
    ("card_id", "accounts", "id card_id", {"card_id": ID}),
    ("card_id", "cards", "id owner", {"id": KEY}),
    ("cardId", "Card", "ID owner", {"ID": KEY}),
    ("CARD_ID", "cards", "cardId", {"cardId": KEY}),
    ("category_code", "categories", "code", {"code": KEY}),
    ("vip_card_id", "vip_cards", "id", {"id": KEY}),
    ("customer", "vip", "customer name", {"customer": KEY}),
    ("card_id", "merchants", "merchant_id country", {}),
    ("card_id", "merchants", "id country", {}),
    ("country", "merchants", "merchant_id country", {}),
    ("amount", "limits", "country amount", {}),
    ("id", "merchants", "id", {}),
    ("name", "vip", "name", {}),
    ("code", "categories", "code", {}),
    ("card", "cards", "id", {}),
    ("category_id", "categories", "code", {}),
    ("bid", "bids", "id", {}),
]


@pytest.mark.parametrize(("name", "relation", "columns", "expected"), REFERENCES)
def test_only_names_that_mean_the_same_are_joined(
    name: str, relation: str, columns: str, expected: dict[str, int]
) -> None:
    text = parse_type("string")
    declared = tuple(Column(column, text) for column in columns.split())
    assert dict(referenced(name, text, relation, declared)) == expected


def test_types_must_fit_and_no_measure_is_a_key() -> None:
    assert referenced("a_id", parse_type("bigint"), "A", (Column("a_id", parse_type("string")),)) == []
    assert referenced("a", parse_type("double"), "A", (Column("a", parse_type("double")),)) == []
