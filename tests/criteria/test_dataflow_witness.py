"""Witnesses of statements, by the states that have no size; what is said of these; and that bounded ones have none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.algebra import nodes
from streambound.analyzer.catalog import Catalog, catalog_from_mapping
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import some_statements
from streambound.analyzer.work import begin, share
from streambound.criteria.dataflow.findings import violations
from streambound.criteria.dataflow.judge import Judgement, judge
from streambound.criteria.dataflow.state import Operation
from streambound.criteria.dataflow.visible_rows import Visibility
from streambound.criteria.dataflow.witness import Suspects, UnboundedState, prove, simplest_plans
from streambound.criteria.witnesses.executed import Executed
from streambound.criteria.witnesses.witness import SchemeWitness, first_that_holds, same_relations
from support.cases import read_queries
from support.choices import Choices
from support.grown import grown_statement
from support.operator_queries import in_words_of, operator_query, random_catalog
from support.profiles import MORE

_STREAM: dict[str, Any] = {
    "timestamp": "ts",
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "max_per_timestamp": 2,
    "domain": {"b": [0, 2]},
}
CATALOG = catalog_from_mapping(
    {
        "streams": {"S": _STREAM, "T": _STREAM},
        "relations": {
            "R": {"columns": {"k": "bigint", "y": "bigint"}, "changes": {"timestamp": "ts", "op": "op"}},
            "Q": {"columns": {"k": "bigint", "y": "bigint"}, "rows": 5},
        },
    }
)
BY_PLAN = read_queries("dataflow_witness.sql")
BOUNDED = [
    "SELECT b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY b",
    "SELECT ts DIV 10 AS w, a, COUNT(DISTINCT v) AS n FROM S GROUP BY ts DIV 10, a",
    "SELECT S.v, T.v AS w FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + 5",
    "SELECT v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS n FROM S) AS q WHERE n <= 2",
    "SELECT b FROM S EXCEPT SELECT b FROM T",
    "SELECT SUM(q.m) AS s FROM (SELECT b, SUM(v) AS m FROM S GROUP BY b) AS q",
]
FOUND = [
    ("SELECT a + 1 AS k, COUNT(*) AS n FROM S GROUP BY a + 1", {("SB201", "a + 1")}),
    ("SELECT b, COUNT(DISTINCT S.v) AS n FROM S GROUP BY b", {("SB201", "S.v")}),
    ("SELECT LAG(v) OVER (PARTITION BY a, b ORDER BY ts) AS d FROM S", {("SB201", "a")}),
    ("SELECT v FROM S EXCEPT SELECT v FROM T", {("SB201", "v")}),
    ("SELECT S.v, R.y FROM S JOIN R ON S.b = R.k", {("SB201", "S.v"), ("SB201", "R.y"), ("SB201", "R")}),
    (
        "SELECT S.v, q.n FROM S JOIN (SELECT a, COUNT(*) AS n FROM T GROUP BY a) AS q ON S.a = q.a",
        {("SB201", "S.v"), ("SB201", "q.n"), ("SB203", "S.a = q.a"), ("SB201", "a")},
    ),
    ("SELECT S.v FROM S LEFT JOIN T ON S.b = T.b", {("SB201", "S.v")}),
]
CASES = [
    case
    for name in ("circuits.jsonl", "corpus.jsonl")
    for line in (Path(__file__).parents[1] / "data" / name).read_text().splitlines()
    if (case := json.loads(line)).get("verdict") == "unbounded"
]
SAMPLED, MOST_SUSPECTS = 12, 8
RANDOM, EACH = 2 * MORE, 5
"""Catalogs of random statements, and statements of each."""


def judged(sql: str, catalog: Catalog = CATALOG) -> tuple[Statement, Judgement]:
    begin()
    (statement,) = some_statements(SourceText("q.sql", sql), None, catalog.readable)
    found = judge(statement, catalog)
    assert found is not None, sql
    return statement, found


@pytest.mark.parametrize("name", BY_PLAN)
def test_a_state_without_a_size_says_what_elements_and_probes_are(name: str) -> None:
    statement, judgement = judged(BY_PLAN[name])
    proof = prove(statement, CATALOG, judgement)
    assert proof.statement is not None and not isinstance(proof.statement, SchemeWitness)
    assert grown_statement(proof.statement)


def test_what_no_plan_shows_a_scheme_may() -> None:
    statement, judgement = judged("SELECT MIN(q.m) AS r FROM (SELECT a, MAX(v) AS m FROM S GROUP BY a) AS q")
    assert isinstance(prove(statement, CATALOG, judgement).statement, SchemeWitness)


def _every(operation: Operation, above: Operation | None = None) -> Iterator[UnboundedState]:
    for one in operation.inputs:
        yield from _every(one, operation)
    yield from (UnboundedState(state, operation, above) for state in operation.states)


def _suspected(statement: Statement, judgement: Judgement, catalog: Catalog, steps: float) -> bool:
    """Whether some states are suspected; fails where a witness is found of them."""
    lowered = lower(statement, catalog)
    assert lowered.tree is not None
    executed = Executed(lowered.tree, catalog, lowered.queries)
    every = list(_every(judgement.operation))
    suspects = list(islice(Suspects(judgement).of(every), MOST_SUSPECTS))
    with share(steps):
        assert first_that_holds(executed, simplest_plans(executed, suspects, [])) is None, statement.source.text
    return bool(suspects)


@pytest.mark.parametrize("sql", BOUNDED)
def test_nothing_is_found_of_a_bounded_statement_whichever_state_is_suspected(sql: str) -> None:
    statement, judgement = judged(sql)
    assert judgement.entries is not None
    assert _suspected(statement, judgement, CATALOG, 150_000)


def test_nothing_is_found_of_random_bounded_statements() -> None:
    suspected = 0
    for seed in range(RANDOM):
        choices = Choices.seeded(seed)
        catalog = catalog_from_mapping(random_catalog(choices))
        for _ in range(EACH):
            statement, judgement = judged(in_words_of(operator_query(choices)[0], duckdb=False), catalog)
            if judgement.entries is not None:
                suspected += _suspected(statement, judgement, catalog, 30_000)
    assert suspected > RANDOM


@pytest.mark.parametrize("sql, places", FOUND)
def test_what_grows_is_told_where_it_is_written(sql: str, places: set[tuple[str, str]]) -> None:
    _, judgement = judged(sql)
    told = violations(judgement)
    assert {(str(one.code), sql[one.span.start : one.span.end]) for one in told} == places
    assert all(one.message and one.help for one in told)


ASKING = [
    "SELECT S.a, COUNT(*) AS n FROM S WHERE EXISTS (SELECT 1 FROM Q WHERE Q.k = S.v) GROUP BY S.a",
    "SELECT S.a, COUNT(*) AS n FROM S WHERE S.v IN (SELECT k FROM Q WHERE y > 3) GROUP BY S.a",
    "SELECT S.a, COUNT(*) AS n FROM S WHERE S.v > (SELECT MAX(k) FROM Q WHERE Q.y = S.b) GROUP BY S.a",
]


@pytest.mark.parametrize("sql", ASKING)
def test_elements_have_the_rows_of_relations_that_they_ask(sql: str) -> None:
    statement, judgement = judged(sql)
    found = prove(statement, CATALOG, judgement).statement
    assert found is not None and not isinstance(found, SchemeWitness)
    few, more = found.of_size(2), found.of_size(5)
    assert few is not None and more is not None and same_relations(few, more)
    assert any(row.table == "Q" for row in few.always)


def test_rows_of_tables_make_a_row_visible_under_the_conditions_of_all_operators() -> None:
    _, judgement = judged(
        "SELECT q.m FROM (SELECT a AS g, MAX(v) AS m, COUNT(*) AS n FROM S WHERE b > 0 GROUP BY a) AS q "
        "JOIN T ON q.g = T.a WHERE q.m > 3 AND q.n > 2"
    )
    groups = next(one.tree for one in judgement.operation.every() if isinstance(one.tree, nodes.Aggregate))
    found = next(Visibility(CATALOG, groups).of(judgement.operation.tree))
    texts = {one.sql("spark").replace("`", "") for one in found.conditions}
    assert [one.table for one in found.scans] == ["S", "T"]
    assert texts >= {"S.b > 0", "S.a = T.a", "S.v > 3"}
    assert not any("2" in one for one in texts)  # of a number of rows nothing is known
    assert [one and one.sql("spark").replace("`", "") for one in found.kept or ()] == ["S.a", "S.v", None]


@pytest.mark.parametrize("case", CASES[::SAMPLED], ids=lambda case: case["name"])
def test_unbounded_cases_are_proved(case: dict[str, Any]) -> None:
    catalog = catalog_from_mapping(case["catalog"], "streams.toml")
    statement, judgement = judged(case["sql"], catalog)
    assert judgement.entries is None, case["sql"]
    assert prove(statement, catalog, judgement).found, case["sql"]
    assert violations(judgement), case["sql"]
