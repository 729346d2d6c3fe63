"""The certificate of a plan's bound as the text of a constant, and the hash of the tables that a saved state holds."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from streambound.criteria.certificate import certificate, to_json
from streambound.synopsis_exec.plan_ir import Plan

_LAYOUT = ("name", "streams", "relations", "stored", "ages", "deadline")


def certificate_text(plan: Plan) -> str:
    """The certificate as JSON, a table a line."""
    found = _certificate(plan)
    branches = ",\n".join(_branch(branch) for branch in found.pop("branches"))
    return f'{_json(found)[:-1]},\n "branches": [\n{branches}]}}'


def layout_sha256(plan: Plan) -> str:
    """A hash of what the tables store, in which order: a state saved with another one means something else."""
    layout = [[table[key] for key in _LAYOUT] for b in _certificate(plan)["branches"] for table in b["tables"]]
    return sha256(_json([plan.distinct, layout]).encode()).hexdigest()


def _certificate(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = to_json(certificate(plan.bound, plan.distinct))
    return found


def _branch(branch: dict[str, Any]) -> str:
    tables = ",\n".join(f"   {_json(table)}" for table in branch["tables"])
    inner = f"\n{tables}]" if tables else "]"
    return f'  {{"sql": {_json(branch["sql"])}, "tables": [{inner}}}'


def _json(value: Any) -> str:
    return json.dumps(value)
