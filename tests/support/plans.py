"""Plans of bounded queries, and the workload of two streams that most of their tests use."""

from __future__ import annotations

from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Plan
from support.product import decided

W1: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"K": "bigint", "ts": "bigint"}, "max_per_timestamp": 3},
        "T": {"timestamp": "ts", "columns": {"K": "bigint", "B": "bigint", "ts": "bigint"}},
    }
}
W1_SQL = "SELECT S.K, T.B FROM S, T WHERE S.K = T.K AND S.ts > T.ts AND 0 < T.B AND T.B < 5 AND 0 <= S.K AND S.K < 9"


def plan_of(sql: str, catalog: dict[str, Any]) -> Plan:
    """The plan of a bounded query."""
    return make_plan(decided(sql, catalog), catalog_from_mapping(catalog))
