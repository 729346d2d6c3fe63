"""What a job's plan prints for recorded rows, without Spark, as the lines of JSON that a run writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import to_json
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.simulate import replay
from streambound_runtime.spec import JobSpec


def kernel_output(plan: Plan, job: JobSpec, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The output over encoded rows by stream and relation, each timestamp by itself."""
    relations = {item.name: [dict(row) for row in rows[item.name]] for item in plan.relations}
    streams = {item.name: [dict(row) for row in rows[item.name]] for item in plan.streams}
    kinds = {column.name: column.type for column in plan.columns}
    first = plan.streams[0]
    clock = next(column.type for column in first.declared if column.name == first.timestamp)
    lines = []
    for step in replay(job, relations, streams):
        for row, number in step.results:
            cells = {name: _cell(value, kinds[name]) for name, value in row.items()}
            lines.append(json.dumps({**cells, "_ts": _cell(step.timestamp, clock), "_mult": number}) + "\n")
    return "".join(lines)


def _cell(value: Any, kind: DataType) -> object:
    """A value as JSON; a decimal as text, so that it stays exact."""
    if value is not None and kind.family is Family.DECIMAL:
        digits = tuple(map(int, str(abs(int(value)))))
        return format(Decimal((int(value < 0), digits, -(kind.scale or 0))), "f")
    return to_json(value, kind)
