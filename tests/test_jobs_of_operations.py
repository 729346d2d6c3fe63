"""Jobs that are made of the new judge's operations: what they print, and that they keep at most M."""

from __future__ import annotations

from typing import Any

import pytest
from test_circuit_corpus import CASES

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.dataflow.judge import judge
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.operations.plan import plan_of_judgement
from streambound_runtime.operators.formula import value
from support.choices import Choices
from support.circuits import encoded_rows, expected, run_plan
from support.operator_queries import operator_query
from support.operator_runs import World, outcome

EACH = 20
SEEDS = (7, 23)
BOUNDED = [case for case in CASES if case["verdict"] == "bounded"]


@pytest.mark.parametrize("case", BOUNDED, ids=lambda case: case["name"])
def test_a_bounded_case_prints_the_output_and_keeps_at_most_m(case: dict[str, Any]) -> None:
    catalog = catalog_from_mapping(case["catalog"], "streams.toml")
    (statement,) = split_statements(SourceText("case.sql", case["sql"]))
    if lower(statement, catalog).query is not None:
        pytest.skip("joins alone have a plan of their own")
    found = judge(statement, catalog)
    assert found is not None and found.entries is not None
    plan = plan_of_judgement(found, statement, case["mode"] == "final")
    ran = run_plan(plan, case["input"])
    assert ran.prints(expected(case["expected"]))
    rows = encoded_rows(plan, case["input"])
    relations = {one.name: rows[one.name] for one in plan.inputs if one.timestamp is None}
    assert ran.peak <= (value(job_spec(plan).plan.bound, relations) or 0)


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
