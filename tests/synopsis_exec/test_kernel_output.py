"""The kernel's output as JSON: what the corpus expects, and every type as a run writes it."""

from __future__ import annotations

import json
from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.kernel_output import kernel_output
from streambound.synopsis_exec.plan import make_plan
from support.corpus import ANSWERED
from support.encoding import encode_rows, multiset
from support.product import decided


def _output(sql: str, catalog: dict[str, Any], rows: dict[str, Any]) -> list[dict[str, Any]]:
    plan = make_plan(decided(sql, catalog), catalog_from_mapping(catalog))
    encoded = encode_rows(catalog, {item.name: rows.get(item.name, []) for item in plan.inputs})
    lines = kernel_output(plan, job_spec(plan), encoded).splitlines()
    return [json.loads(line) for line in lines]


def test_the_corpus() -> None:
    for case in ANSWERED[::5]:
        found = _output(case["sql"], case["catalog"], case["input"])
        assert multiset(found) == multiset(case["expected"]), case["name"]


def test_every_type() -> None:
    kinds = {"d": "decimal(30,4)", "born": "date", "seen": "timestamp", "ok": "boolean", "x": "double", "s": "string"}
    catalog = {"streams": {"S": {"timestamp": "at", "columns": {**kinds, "at": "timestamp"}}}}
    row = {
        "d": "-0.0500", "born": "2024-02-29", "seen": "2024-01-01T00:00:00.5", "ok": True, "x": 1.5, "s": "é",
        "at": "2024-01-01T00:00:01",
    }  # fmt: skip
    large = {**dict.fromkeys(kinds), "d": "123456789012345678901234.7891", "at": "2024-01-01T00:00:02"}
    first, second = _output("SELECT d, born, seen, ok, x, s, -1.5 AS c FROM S", catalog, {"S": [row, large]})
    assert first == {
        "d": "-0.0500", "born": "2024-02-29", "seen": "2024-01-01 00:00:00.500000", "ok": True, "x": 1.5, "s": "é",
        "c": "-1.5", "_ts": "2024-01-01 00:00:01", "_mult": 1,
    }  # fmt: skip
    assert second["d"] == "123456789012345678901234.7891"
    assert second["s"] is None and second["ok"] is None
