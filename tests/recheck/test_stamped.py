"""A statement with timestamps against the statement as it stands on every prefix, in DuckDB."""

from __future__ import annotations

from collections import Counter

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.recheck.oracle.stamped import stamped
from support.cases import read_queries
from support.choices import Choices
from support.oracle import Oracle, by_timestamp
from support.product import NotAnalysed, lowered, parsed
from support.profiles import MORE
from support.queries import Features, make_statement
from support.streams import small_rows

CATALOG = {
    "streams": {
        "S": {"timestamp": "at", "columns": {"a": "bigint", "b": "bigint", "at": "timestamp"}},
        "T": {"timestamp": "ts", "columns": {"ts": "timestamp", "a": "bigint", "b": "bigint"}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "n": "bigint"}}},
}
MADE = read_queries("stamped.sql")


def _check(sql: str, catalog: dict[str, object], seed: int) -> int:
    """Compare both forms; the number of results."""
    width = len(lowered(sql, catalog).branches[0].outputs)
    rows = small_rows(Choices.seeded(seed), catalog, timestamps=6)
    oracle = Oracle(catalog, rows)
    tree = stamped(parsed(sql), catalog_from_mapping(catalog), [f"c{i}" for i in range(width)])
    found = oracle.rows(tree.sql("spark"))
    static = oracle.counts(sql, -(2**62))
    new = {now: counts for now, counts in oracle.prefix_expected(sql).items() if counts}
    timeless = [row for row in found if row["_ts"] is None]
    assert sum(row["_mult"] for row in timeless) == sum(static.values())
    assert by_timestamp([row for row in found if row["_ts"] is not None]) == _later(new, static)
    return len(found)


def _later(new: dict[int, Counter[tuple[object, ...]]], static: Counter[tuple[object, ...]]) -> object:
    """What the timestamps add to the results that need no stream."""
    first = min(new, default=0)
    after = {now: counts - static if now == first else counts for now, counts in new.items()}
    return {now: counts for now, counts in after.items() if counts}


@pytest.mark.parametrize("name", MADE)
def test_made_statements(name: str) -> None:
    assert sum(_check(MADE[name], CATALOG, seed) for seed in range(5)) > 0


def test_random_statements() -> None:
    results = done = 0
    for seed in range(30 * MORE):
        statement = make_statement(Choices.seeded(seed), Features())
        try:
            results += _check(statement.sql, statement.catalog, seed)
            done += 1
        except NotAnalysed:
            continue
    assert done > 20
    assert results > 15
