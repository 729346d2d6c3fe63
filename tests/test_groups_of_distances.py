"""Groups by how far two times are apart, which a window limits: as the reference evaluator and DuckDB say, within M."""

from __future__ import annotations

import random

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import is_bounded, prints_as_duckdb, proved
from support.derivations import Outcome, checked, derived, falsified

NEAR = "S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + 3"
LEFT = f"SELECT T.ts - S.ts AS d, COUNT(*) AS n FROM {NEAR.replace('JOIN', 'LEFT JOIN')} GROUP BY T.ts - S.ts"
QUERIES = {
    f"SELECT T.ts - S.ts AS d, COUNT(*) AS n FROM {NEAR} GROUP BY T.ts - S.ts": 10,
    f"SELECT (T.ts - S.ts) DIV 2 AS d, S.b, MAX(T.v) AS m FROM {NEAR} GROUP BY (T.ts - S.ts) DIV 2, S.b": 24,
    f"SELECT d, SUM(v) AS s FROM (SELECT S.ts - T.ts + 1 AS d, T.v AS v FROM {NEAR}) q GROUP BY d": 10,
    LEFT: 11,
}
"""Statements with M."""


@pytest.mark.parametrize("sql", QUERIES)
def test_there_is_a_group_for_each_distance(sql: str) -> None:
    assert proved(sql, CATALOG)[1] == QUERIES[sql]
    prints_as_duckdb(sql, CATALOG, every_prefix=True)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT T.ts - S.ts AS d, COUNT(*) AS n FROM S JOIN T ON S.a = T.a AND T.ts >= S.ts GROUP BY T.ts - S.ts",
        f"SELECT T.ts + S.ts AS d, COUNT(*) AS n FROM {NEAR} GROUP BY T.ts + S.ts",
        f"SELECT T.ts - S.v AS d, COUNT(*) AS n FROM {NEAR} GROUP BY T.ts - S.v",
    ],
)
def test_others_have_any_number_of_groups(sql: str) -> None:
    assert not is_bounded(sql, CATALOG)


def test_a_distance_that_the_times_do_not_have_is_rejected() -> None:
    (one,) = derived(LEFT, catalog_from_mapping(CATALOG))
    assert checked(one)[0] is Outcome.ACCEPTED
    assert "apart" in {fact.get("rule") for fact in one.document["facts"]}
    changed = [change for change in falsified(one.document) if "facts" in map(str, change[0])]
    outcomes = [checked(one, document)[0] for _, _, document in random.Random(3).sample(changed, 40)]
    assert sum(outcome is Outcome.REJECTED for outcome in outcomes) > 30
