"""Circuits go on after a restart at every timestamp, and do not care how timestamps are cut into steps."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from support.circuits import Circuit, checked_once

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "circuits.jsonl").read_text().splitlines()
]


def runnable(case: dict[str, Any]) -> bool:
    if any("changes" in table for kind in case["catalog"].values() for table in kind.values()):
        return False
    checked = checked_once(case["sql"], case["catalog"])
    return checked.circuit is not None and str(checked.verdict) == "bounded"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_restarts_and_other_steps_change_nothing(case: dict[str, Any]) -> None:
    if not runnable(case):
        return
    circuit = Circuit(case)
    ticks = [[time] for time in circuit.times]
    if not ticks:
        return
    whole = circuit.run(ticks, restart=False)
    assert circuit.run(ticks, restart=True) == whole
    random = Random(case["name"])
    for _ in range(3):
        places = sorted({0, *random.sample(range(len(ticks)), random.randrange(len(ticks))), len(ticks)})
        cuts = [[t for tick in ticks[a:b] for t in tick] for a, b in pairwise(places)]
        other = circuit.run(cuts, restart=random.random() < 0.5)
        assert sorted(map(repr, other[0])) == sorted(map(repr, whole[0]))
        assert other[2] == whole[2]
        if case["mode"] == "changes":
            assert other[0] == whole[0]


def test_most_bounded_cases_take_part() -> None:
    assert sum(map(runnable, CASES[::4])) >= 20
