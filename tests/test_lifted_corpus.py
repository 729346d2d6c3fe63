"""Queries beyond select-project-join: 237 cases whose outputs were computed without this project's code."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from streambound.incremental.evaluate import evaluate
from streambound.incremental.pipeline import STAGE_NAMES
from support.lifted import CASES, circuit_of, expected, fed, printed, stages_of
from support.prefixes import finals, recomputed

CHANGES = [case for case in CASES if case["mode"] == "changes"]
FINAL = [case for case in CASES if case["mode"] == "final"]


def test_there_are_237_cases_and_outputs_retract() -> None:
    assert len({case["name"] for case in CASES}) == 237
    assert (len(CHANGES), len(FINAL)) == (228, 9)
    rows = [row for case in CASES for row in case["expected"]]
    assert len(rows) == 1_678
    assert sum(row["_mult"] < 0 for row in rows) == 294


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case["name"])
def test_every_stage_prints_the_changes(case: dict[str, Any]) -> None:
    times, given = fed(case["catalog"], case["input"])
    seen = []
    for stage in stages_of(case["sql"], case["catalog"]):
        seen.append(stage.name)
        if stage.over == "Z-sets":
            changes = recomputed(stage.circuit, given)
        elif stage.over == "changes":
            changes = evaluate(stage.circuit, given)
        else:
            continue  # over streams of views: incrementalise has it inside of D and I
        assert printed(stage.circuit, times, changes) == expected(case), stage.name
    assert tuple(seen) == STAGE_NAMES


@pytest.mark.parametrize("case", FINAL, ids=lambda case: case["name"])
def test_each_window_is_printed_once_at_its_last_timestamp(case: dict[str, Any]) -> None:
    circuit = circuit_of(case["sql"], case["catalog"])
    _, given = fed(case["catalog"], case["input"])
    names = [column.name for column in circuit.schema]
    size = case["window"]["size"]

    def last(bucket: Fraction) -> Fraction:
        return bucket * size + (size - 1 if bucket >= 0 else 0)

    found = finals(circuit, given, names.index(case["window"]["column"]), last)
    assert printed(circuit, list(found), list(found.values())) == expected(case)
