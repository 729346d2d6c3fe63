"""Unions of rows of streams and rows of a relation that does not change, which are there from the first timestamp."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.criteria.vocabulary import Verdict
from support.choices import Choices
from support.circuits import checked_circuit
from support.operator_runs import World, outcome
from support.profiles import MORE

BOTH = "(SELECT * FROM Q AS q1 UNION ALL SELECT S.a, S.b FROM S)"
QUERIES = [
    f"SELECT x.b, COUNT(*) AS n FROM {BOTH} AS x GROUP BY x.b",
    f"SELECT COUNT(DISTINCT x.a) AS n, MAX(x.b) AS m FROM {BOTH} AS x",
    f"SELECT x.b, SUM(x.a) AS n FROM {BOTH} AS x WHERE x.b > 0 GROUP BY x.b HAVING COUNT(*) > 1",
    "SELECT x.b, x.a FROM (SELECT * FROM Q AS q1 EXCEPT ALL SELECT S.a, COUNT(*) AS b FROM S GROUP BY S.a) AS x",
    "SELECT x.b FROM (SELECT * FROM Q AS q1 EXCEPT SELECT MAX(S.a) AS a, S.b FROM S GROUP BY S.b) AS x",
    "SELECT x.b FROM (SELECT * FROM Q AS q INTERSECT SELECT MAX(S.a) AS a, S.b FROM S GROUP BY S.b) AS x WHERE x.b > 0",
    "SELECT x.b FROM (SELECT * FROM Q AS q UNION SELECT T.a, T.b FROM S RIGHT JOIN T ON S.v = T.v WHERE S.ts > 2) AS x",
]
DOMAINS = {"a": [0, 3], "b": [0, 3]}


@pytest.mark.parametrize("sql", QUERIES)
def test_the_rows_of_the_relation_are_there_from_the_first_timestamp_on(sql: str) -> None:
    ran = 0
    for seed in range(12 * MORE):
        with World(Choices.seeded(seed)) as world:
            found = outcome(world, sql, "batch")
        assert not found.different, (seed, found.different)
        ran += found.results
        if ran and seed + 1 >= 2 * MORE:
            break
    assert ran, "it has printed something"


@pytest.mark.parametrize("declared", [{}, {"domain": DOMAINS}], ids=["rows", "domains"])
@pytest.mark.parametrize("sql", QUERIES[:3])
def test_with_domains_or_few_rows_they_are_bounded(sql: str, declared: dict[str, Any]) -> None:
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}, "domain": DOMAINS}
    relation: dict[str, Any] = {"columns": {"a": "bigint", "b": "bigint"}, "rows": 4, **declared}
    statement = checked_circuit(sql, {"streams": {"S": stream}, "relations": {"Q": relation}})
    assert statement.verdict is Verdict.BOUNDED, statement.diagnostics
