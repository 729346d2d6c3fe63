"""Which expressions of a job are computed without Spark."""

from __future__ import annotations

from streambound_runtime.operators.circuit_plan import CircuitPlan, MapNode, PeriodNode
from streambound_runtime.spec import JobSpec


def why_not_embedded(job: JobSpec) -> str | None:
    """The first expression that Spark has to compute, in words; None where there is none."""
    for table in job.tables:
        for column in table.derived:
            return f"Spark computes {column.expression}"
    if job.computed is not None:
        return f"Spark computes {', '.join(job.computed.expressions)}"
    if job.queries:
        return f"Spark computes the relation {job.queries[0].relation.name}"
    for node in job.plan.nodes if isinstance(job.plan, CircuitPlan) else ():
        if isinstance(node, MapNode) and node.picks is None:
            return f"Spark computes {', '.join(node.expressions)}"
        if isinstance(node, PeriodNode):
            return "it is over periods"
    return None
