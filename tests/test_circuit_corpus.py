"""The corpus of queries beyond select-project-join: verdicts and outputs computed without this project's code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import streambound
from support.circuits import checked_once, expected, run_circuit, run_plan

pytestmark = pytest.mark.xdist_group("corpus")  # its cases are checked once, in one process

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "circuits.jsonl").read_text().splitlines()
]
BY_NAME = {case["name"]: case for case in CASES}
DECIDED = 237
"""Cases whose verdict is the corpus'."""


def verdict(case: dict[str, Any]) -> str:
    return str(checked_once(case["sql"], case["catalog"]).verdict)


def test_most_cases_are_decided() -> None:
    assert len(CASES) == len(BY_NAME) == 237
    assert sum(verdict(case) == case["verdict"] for case in CASES) >= DECIDED


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_no_verdict_is_wrong_and_what_is_bounded_prints_the_output(case: dict[str, Any]) -> None:
    found = verdict(case)
    assert found in ("unsupported", "unknown", case["verdict"])
    query = checked_once(case["sql"], case["catalog"])
    if found != "bounded" or query.circuit is None:
        return
    run = run_circuit(query, case["input"], case["mode"] == "final", ticks=None)
    assert run.prints(expected(case["expected"]))
    bound = query.circuit_bound
    assert bound is not None
    assert bound.entries.value is None or run.peak <= bound.entries.value


GROWING = [case for case in CASES if case["verdict"] != "bounded"]


@pytest.mark.parametrize("case", GROWING, ids=lambda case: case["name"])
def test_what_is_not_bounded_prints_the_output_without_m(case: dict[str, Any]) -> None:
    compiled = streambound.compile(case["sql"], case["catalog"], unbounded=True).compiled
    assert "memory grows with its input" in compiled.text
    assert run_plan(compiled.plan, case["input"]).prints(expected(case["expected"]))


def test_most_cases_that_are_not_bounded_run() -> None:
    assert sum(bool(case["expected"]) for case in GROWING) > 60
