"""Jobs that are made of the new judge's operations: what they print, and that they keep at most M."""

from __future__ import annotations

from typing import Any

import pytest
from test_circuit_corpus import CASES

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.dataflow.decision import of_judgement
from streambound.criteria.dataflow.judge import judge
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.operations.plan import plan_of_operators
from streambound_runtime.engine.plan import states_of
from streambound_runtime.operators.formula import value
from support.choices import Choices
from support.circuits import encoded_rows, expected, random_rows, reference, run_plan
from support.operator_queries import operator_query
from support.operator_runs import World, outcome

EACH = 20
SEEDS = (7, 23)
SECOND = 1_000_000
CATALOG: dict[str, Any] = {
    "streams": {
        name: {
            "timestamp": "ts",
            "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"},
            "domain": {"b": [0, 2]},
            "max_per_timestamp": 2,
        }
        for name in ("S", "T")
    }
}
HOPS = "HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS)"
STATEMENTS = {
    "a key twice": "SELECT b, b AS c, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY b, b",
    "a key twice of a join": "SELECT S.b, S.b AS c, SUM(T.v) AS n FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND "
    "S.ts + INTERVAL '2' SECOND GROUP BY S.b, S.b",
    "rows of each bucket by another key": f"SELECT b, COUNT(*) AS n, MAX(v) AS m FROM {HOPS} GROUP BY b",
    "rows of all buckets": f"SELECT COUNT(*) AS n FROM {HOPS}",
    "a key that is computed of an end": "SELECT window_end + INTERVAL '1' HOUR AS y, COUNT(*) AS n, MAX(v) AS m FROM "
    f"{HOPS} GROUP BY window_end + INTERVAL '1' HOUR",
    "buckets of a computed time": "SELECT window.start AS z, MAX(q.n) AS m FROM (SELECT b, window.start AS z, COUNT(*) "
    "AS n FROM S GROUP BY b, window(ts, '4 seconds')) q GROUP BY window(q.z + INTERVAL '1' SECOND, '8 seconds')",
    "groups of which nothing is read": "SELECT COUNT(*) AS n FROM (SELECT COUNT(DISTINCT T.b) AS m FROM S JOIN T ON "
    "S.a = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL '2' SECOND) q",
    "LAG with NULL as its default": "SELECT a, LAG(v, 1, NULL) OVER (PARTITION BY b ORDER BY ts, a, v) AS x FROM S",
}
UNBOUNDED = {
    "groups": "SELECT a, COUNT(*) AS n, MAX(v) AS m, COUNT(DISTINCT b) AS k FROM S GROUP BY a",
    "the best of a join": "SELECT S.b, MAX(T.v) AS m FROM S JOIN T ON S.a < T.a GROUP BY S.b",
    "sums of a join": "SELECT S.a, SUM(S.v * T.v) AS n FROM S JOIN T ON S.v < T.v GROUP BY S.a",
    "rows before": "SELECT a, LAG(v) OVER (PARTITION BY a ORDER BY ts, v, b) AS x FROM S",
    "rows that follow": "SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts, a, v ROWS BETWEEN UNBOUNDED PRECEDING AND "
    "1 FOLLOWING) AS x FROM S",
    "a join of views": "SELECT p.a, p.n, q.n AS m FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) p LEFT JOIN "
    "(SELECT a, COUNT(*) AS n FROM T GROUP BY a) q ON p.a = q.a",
    "rows without a partner": "SELECT S.a, S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.v = S.v)",
    "rows of both sides": "SELECT S.a, T.v FROM S FULL JOIN T ON S.a = T.a",
    "different rows": "SELECT a, v FROM S UNION SELECT v, b FROM T",
    "rows of one side": "SELECT a FROM S EXCEPT SELECT v FROM T",
}
BOUNDED = [case for case in CASES if case["verdict"] == "bounded"]


@pytest.mark.parametrize("case", BOUNDED, ids=lambda case: case["name"])
def test_a_bounded_case_prints_the_output_and_keeps_at_most_m(case: dict[str, Any]) -> None:
    catalog = catalog_from_mapping(case["catalog"], "streams.toml")
    (statement,) = split_statements(SourceText("case.sql", case["sql"]))
    if lower(statement, catalog).query is not None:
        pytest.skip("joins alone have a plan of their own")
    found = judge(statement, catalog)
    assert found is not None and found.entries is not None
    plan = plan_of_operators(of_judgement(found), statement, case["mode"] == "final")
    ran = run_plan(plan, case["input"])
    assert ran.prints(expected(case["expected"]))
    rows = encoded_rows(plan, case["input"])
    relations = {one.name: rows[one.name] for one in plan.inputs if one.timestamp is None}
    assert ran.peak <= (value(job_spec(plan).plan.bound, relations) or 0)
    told = {(one.operator, one.state) for one in plan.circuit.kept}
    assert told == {(one.name, table.name) for one in plan.circuit.operators for table in states_of(one)}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_job_prints_what_the_reference_evaluator_says_and_keeps_at_most_m(name: str) -> None:
    catalog, rows = catalog_from_mapping(CATALOG), random_rows(SECOND, 3, 25)
    (statement,) = split_statements(SourceText("q.sql", STATEMENTS[name]))
    found = judge(statement, catalog)
    assert found is not None and found.entries is not None and found.entries.value is not None
    ran = run_plan(plan_of_operators(of_judgement(found), statement), rows)
    assert ran.printed and ran.prints(reference(STATEMENTS[name], CATALOG, rows))
    assert ran.peak <= found.entries.value


@pytest.mark.parametrize("name", UNBOUNDED)
def test_what_nothing_bounds_has_a_job_without_m(name: str) -> None:
    catalog, rows = catalog_from_mapping(CATALOG), random_rows(SECOND, 3, 25)
    (statement,) = split_statements(SourceText("q.sql", UNBOUNDED[name]))
    found = judge(statement, catalog)
    assert found is not None and found.entries is None and not found.outside
    plan = plan_of_operators(of_judgement(found), statement, grows=True)
    assert plan.bound.grows and value(job_spec(plan).plan.bound, {}) is None
    ran = run_plan(plan, rows)
    assert ran.printed and ran.prints(reference(UNBOUNDED[name], CATALOG, rows))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_statements_print_what_others_say(seed: int) -> None:
    """DuckDB and the reference evaluator; `tests/random_queries.py --dataflow` tries as many as one likes."""
    choices, ran = Choices.seeded(seed), 0
    with World(choices) as world:
        for _ in range(EACH):
            text, _ = operator_query(choices)
            found = outcome(world, text, "batch")
            assert not found.different, text
            ran += found.results
    assert ran > EACH // 4
