"""What is remembered for each key that a punctuation ends (K3), and that such statements are sums over their keys."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
import sqlglot

from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.catalog import Catalog, catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.dataflow.judge import Judgement, judge
from streambound.criteria.dataflow.state import Operation, Retention
from support.oracle import connection
from support.punctuated import auction_house

RELATION = {"R": {"columns": {"code": "bigint", "label": "bigint"}, "rows": 10, "domain": {"label": [0, 3]}}}
BLOCK = "auction AS a JOIN bid AS b ON b.auction = a.id"
HIGHEST = f"SELECT a.id, a.category, MAX(b.price) AS best FROM {BLOCK} AND a.ts <= b.ts GROUP BY 1, 2"
COUNTED = f"SELECT a.id, a.category, COUNT(*) AS n FROM {BLOCK} AND a.ts <= b.ts GROUP BY 1, 2"
KEYS = 8
"""The entries that know which keys are open, and which have ended, of four open ones."""

OF_ONE_KEY = {
    "greatest price": (HIGHEST, 3 * 4),
    "groups of groups by another column": (
        f"SELECT q.category, AVG(q.best) AS mean FROM ({HIGHEST}) AS q GROUP BY q.category",
        3 * 4 + 4,
    ),
    "sums of groups, in one row": (f"SELECT SUM(q.n) AS n FROM ({COUNTED}) AS q", 4 + 1),
    "groups of a join by another column": (f"SELECT a.category, COUNT(*) AS n FROM {BLOCK} GROUP BY 1", 3 * 4),
    "pairs": (f"SELECT a.seller, b.price FROM {BLOCK} AND a.ts <= b.ts", 4),
    "rows without a partner": (
        "SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON b.auction = a.id AND b.ts >= a.ts",
        4,
    ),
    "what nobody bid for": (
        "SELECT id FROM auction AS a WHERE NOT EXISTS (SELECT 1 FROM bid AS b WHERE b.auction = a.id)",
        2 * 4,
    ),
    "first rows": (
        "SELECT id, price FROM (SELECT a.id, b.price, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price, b.ts, "
        f"b.bidder) AS place FROM {BLOCK} AND b.ts >= a.ts) AS q WHERE place <= 2",
        3 * 4,
    ),
    "groups that are joined": (
        "SELECT q.auction, q.n, p.least FROM (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction) AS q "
        "JOIN (SELECT id, MIN(category) AS least FROM auction GROUP BY id) AS p ON p.id = q.auction",
        4 * 4,
    ),
    "set operations": ("SELECT id FROM auction EXCEPT SELECT auction FROM bid", 4),
    "joined with a relation": (
        f"SELECT q.id, r.label FROM ({HIGHEST}) AS q LEFT JOIN R AS r ON r.code = q.best",
        3 * 4 + 10,
    ),
}
ACROSS_KEYS = {
    "a group of all keys": f"SELECT a.category, MAX(b.price) AS best FROM {BLOCK} GROUP BY a.category",
    "partners by another column": "SELECT a.id FROM auction AS a JOIN bid AS b ON b.bidder = a.id",
    "partners by an order": "SELECT a.id FROM auction AS a JOIN bid AS b ON b.auction <= a.id AND a.ts <= b.ts",
    "distinct prices": "SELECT DISTINCT b.price FROM bid AS b",
    "set operations by another column": "SELECT id, seller FROM auction EXCEPT SELECT bidder, price FROM bid",
    "partitions of all keys": (
        f"SELECT id, SUM(price) OVER (PARTITION BY seller ORDER BY id DESC) AS s FROM (SELECT a.id, a.seller, b.price "
        f"FROM {BLOCK}) AS q"
    ),
    "rows of a relation without a partner": (
        f"SELECT r.label, q.price FROM R AS r LEFT JOIN (SELECT a.id, b.price FROM {BLOCK}) AS q ON q.id = r.code"
    ),
    "NOT IN": "SELECT a.id FROM auction AS a WHERE a.id NOT IN (SELECT auction FROM bid)",
}


def house(once: bool = True, most: int = 4) -> Catalog:
    return catalog_from_mapping({**auction_house(most, once), "relations": RELATION}, "streams.toml")


def judged(sql: str, catalog: Catalog) -> Judgement:
    (statement,) = some_statements(SourceText("q.sql", sql), None, catalog.readable)
    found = judge(statement, catalog)
    assert found is not None, sql
    return found


def each_key(operation: Operation) -> list[Operation]:
    """The operations that are done for each key."""
    return [one for one in operation.every() if one.each_key is not None]


@pytest.mark.parametrize("name", OF_ONE_KEY)
def test_what_is_remembered_for_each_open_key(name: str) -> None:
    sql, entries = OF_ONE_KEY[name]
    found = judged(sql, house())
    assert found.entries is not None
    assert found.entries.value == entries + KEYS


def test_an_operation_says_what_it_does_for_one_key() -> None:
    found = judged(HIGHEST, house(most=500))
    (operation,) = each_key(found.operation)
    assert operation.each_key is not None
    assert (operation.each_key.key.stream, operation.each_key.key.marked) == ("auction", ("id",))
    assert [one.size.text for one in operation.each_key.operation.remembered if one.size] == ["1", "1", "1"]
    assert [one.size.text for one in operation.states if one.size] == ["500", "500", "500"]
    assert {one.count.retention for one in operation.states if one.count} == {Retention.KEY}


def test_a_relation_is_remembered_once_for_all_keys() -> None:
    found = judged(OF_ONE_KEY["joined with a relation"][0], house())
    assert [one.size.text for one in found.states if one.proposition == "E1" and one.size] == ["rows_R"]


@pytest.mark.parametrize("name", ACROSS_KEYS)
def test_where_rows_of_several_keys_meet_nothing_is_done_for_each(name: str) -> None:
    found = judged(ACROSS_KEYS[name], house())
    assert found.entries is None
    assert found.operation.each_key is None


def test_without_a_number_of_open_keys_or_of_their_rows_there_is_no_bound() -> None:
    sql = f"SELECT a.seller, b.price FROM {BLOCK} AND a.ts <= b.ts"
    assert judged(sql, house(once=False)).entries is None
    assert judged(sql.replace("seller", "category"), house(once=False)).entries is not None
    catalog = catalog_from_mapping(auction_house(None, once=False), "streams.toml")
    assert judged(COUNTED, catalog).entries is None


# --- sums over keys, by execution -------------------------------------------------------------------------------------

_TABLES = {
    "auction": ("id", "seller", "category", "kind", "ts"),
    "bid": ("auction", "bidder", "price", "ts"),
    "R": ("code", "label"),
}
DATABASE = connection()
for _name, _columns in _TABLES.items():
    _kinds = ", ".join(f"{column} {'VARCHAR' if column == 'kind' else 'BIGINT'}" for column in _columns)
    DATABASE.execute(f"CREATE TEMP TABLE {_name} ({_kinds})")


def random_rows(random: Random) -> dict[str, list[tuple[Any, ...]]]:
    """Rows of few keys and values, so that they meet if they can."""

    def some(high: int) -> int | None:
        return random.choice([None, *range(high)])

    return {
        "auction": [(some(4), some(3), some(3), "offer", random.randrange(4)) for _ in range(6)],
        "bid": [(some(4), some(3), some(3), random.randrange(4)) for _ in range(6)],
        "R": [(some(4), some(3)) for _ in range(4)],
    }


def is_sum_over_keys(sql: str, rows: dict[str, list[tuple[Any, ...]]]) -> bool:
    """Whether a statement's result is that of the rows of each key, together."""
    every = {row[0] for name in ("auction", "bid") for row in rows[name]}
    parts = Counter[tuple[Any, ...]]()
    for key in every:
        parts += results(sql, {n: some if n == "R" else [r for r in some if r[0] == key] for n, some in rows.items()})
    return results(sql, rows) == parts


def results(sql: str, rows: dict[str, list[tuple[Any, ...]]]) -> Counter[tuple[Any, ...]]:
    (text,) = sqlglot.transpile(sql, read="spark", write="duckdb")
    for name, columns in _TABLES.items():
        DATABASE.execute(f"DELETE FROM {name}")
        if rows[name]:
            marks = ", ".join([f"({', '.join('?' * len(columns))})"] * len(rows[name]))
            DATABASE.execute(f"INSERT INTO {name} VALUES {marks}", [value for row in rows[name] for value in row])
    return Counter(DATABASE.execute(text).fetchall())


@pytest.mark.parametrize("name", OF_ONE_KEY)
def test_what_is_done_for_each_key_is_a_sum_over_keys(name: str) -> None:
    (operation,) = each_key(judged(OF_ONE_KEY[name][0], house()).operation)
    sql = to_sql(operation.tree).sql("spark")
    assert all(is_sum_over_keys(sql, random_rows(Random(seed))) for seed in range(6))


@pytest.mark.parametrize("name", ACROSS_KEYS)
def test_other_statements_are_no_sums_over_keys(name: str) -> None:
    assert not all(is_sum_over_keys(ACROSS_KEYS[name], random_rows(Random(seed))) for seed in range(6))
