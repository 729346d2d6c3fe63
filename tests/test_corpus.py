"""The corpus: 200 queries whose verdicts and outputs were computed without this project's code."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from support.corpus import ANSWERED, CASES
from support.encoding import multiset
from support.kernel import formula_value, run_kernel
from support.oracle import Oracle, by_timestamp
from support.product import criterion, decided

BOUNDED = [case for case in ANSWERED if case["verdict"] == "bounded"]


def test_there_are_200_queries_and_each_kind_occurs() -> None:
    assert len(CASES) == len({case["name"] for case in CASES}) == 200
    assert len(ANSWERED) == 109
    assert Counter(case["projection"] for case in BOUNDED) == {"bag": 76, "set": 33}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_verdict_and_theorem(case: dict[str, Any]) -> None:
    decision = decided(case["sql"], case["catalog"])
    assert decision.query.projection == case["projection"]
    assert decision.verdict == case["verdict"]
    assert decision.criteria[0].name == case["projection"]
    assert decision.criteria[0].holds == (case["verdict"] == "bounded")
    if case["theorem_holds"] is not None:
        name = "theorem-1" if case["projection"] == "bag" else "theorem-2"
        assert criterion(decision, name) is case["theorem_holds"]


def test_oracle_agrees_with_every_output_both_ways() -> None:
    for case in ANSWERED:
        oracle = Oracle(case["catalog"], case["input"])
        assert multiset(oracle.expected(case["sql"])) == multiset(case["expected"]), case["name"]
        new = {now: rows for now, rows in oracle.prefix_expected(case["sql"]).items() if rows}
        assert new == by_timestamp(case["expected"]), case["name"]


def test_kernel_prints_every_expected_output() -> None:
    for case in BOUNDED:
        decision = decided(case["sql"], case["catalog"])
        run = run_kernel(decision, case["catalog"], case["input"])
        printed = {now: rows for now, rows in run.printed.items() if rows}
        assert printed == by_timestamp(case["expected"]), case["name"]
        limit = formula_value(decision, case["catalog"], case["input"])
        assert limit is not None, case["name"]
        assert run.peak <= limit, case["name"]
