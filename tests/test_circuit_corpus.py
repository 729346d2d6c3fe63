"""The corpus of queries beyond select-project-join: verdicts and outputs computed without this project's code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import streambound
from support.circuits import checked_circuit, expected, run_plan
from support.profiles import MORE

pytestmark = pytest.mark.xdist_group("corpus")  # its cases are checked once, in one process

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "circuits.jsonl").read_text().splitlines()
]
BY_NAME = {case["name"]: case for case in CASES}


def test_every_case_is_decided() -> None:
    """What is bounded prints the output in ticks (`runtime/test_engine.py`)."""
    assert len(CASES) == len(BY_NAME) == 237
    for case in CASES:
        assert str(checked_circuit(case["sql"], case["catalog"]).verdict) == case["verdict"], case["name"]


GROWING = [case for case in CASES if case["verdict"] != "bounded"]


@pytest.mark.parametrize("case", GROWING[:: 1 if MORE > 1 else 6], ids=lambda case: case["name"])
def test_what_is_not_bounded_prints_the_output_without_m(case: dict[str, Any]) -> None:
    compiled = streambound.compile(case["sql"], case["catalog"], unbounded=True).compiled
    assert "memory grows with its input" in compiled.text
    assert run_plan(compiled.plan, case["input"]).prints(expected(case["expected"]))


def test_most_cases_that_are_not_bounded_run() -> None:
    assert sum(bool(case["expected"]) for case in GROWING) > 60
