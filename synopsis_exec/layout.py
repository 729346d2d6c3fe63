"""The hash of the tables that a saved state holds."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from streambound.criteria.certificate import certificate, to_json
from streambound.synopsis_exec.plan_ir import Plan

_LAYOUT = ("name", "streams", "relations", "stored", "ages", "deadline")


def layout_sha256(plan: Plan) -> str:
    """A hash of what the tables store, in which order: a state saved with another one means something else."""
    found: dict[str, Any] = to_json(certificate(plan.bound, plan.distinct))
    layout = [[table[key] for key in _LAYOUT] for branch in found["branches"] for table in branch["tables"]]
    said: list[Any] = [plan.distinct, layout]
    items = (*plan.inputs, *plan.computed)
    if derived := [[item.name, c.name, c.expression, c.type.name] for item in items for c in item.derived]:
        said.append(derived)
    if plan.computed:
        said.append([[item.name, item.query] for item in plan.computed])
    return sha256(json.dumps(said).encode()).hexdigest()
