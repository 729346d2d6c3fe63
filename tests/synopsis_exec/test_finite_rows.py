"""Generated rows of queries beyond joins: they give results, or `verify` would compare nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streambound.synopsis_exec.finite_rows import finite_rows
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.simulate import replay
from support.circuits import checked_circuit, circuit_plan, encoded_rows

LINES = (Path(__file__).parents[1] / "data" / "circuits.jsonl").read_text().splitlines()
CASES: list[dict[str, Any]] = [case for line in LINES[::5] if (case := json.loads(line))["verdict"] == "bounded"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_generated_rows_give_results(case: dict[str, Any]) -> None:
    if any("changes" in table for kind in case["catalog"].values() for table in kind.values()):
        return
    checked = checked_circuit(case["sql"], case["catalog"])
    if checked.circuit is None or checked.catalog is None or str(checked.verdict) != "bounded":
        return
    plan = circuit_plan(checked)
    relations, rows = finite_rows(plan, 1)
    given = {name: list(mine) for name, mine in relations.items()}
    for name, row in rows:
        given.setdefault(name, []).append(row)
    encoded, job = encoded_rows(plan, given), job_spec(plan)
    static = {relation.name: encoded[relation.name] for relation in job.relations}
    streams = {stream.name: encoded[stream.name] for stream in job.streams}
    times = sorted({row[stream.timestamp] for stream in job.streams for row in streams[stream.name]})
    assert any(now.results for now in replay(job, static, streams, times[:: max(1, len(times) // 6)]))
