"""What is known of an operator of a SEQ TP block by its form."""

from __future__ import annotations

from streambound_runtime.operators.period_plan import (
    SliceFilter,
    SliceJoin,
    SlicePlan,
    SliceProject,
    SliceRelation,
    scans,
    width,
)

WINDOWS = {
    "inner": (False, False),
    "left": (True, False),
    "right": (False, True),
    "full": (True, True),
    "anti": (True, False),
}
"""Of which sides a join needs unmatched and negating windows (Papaioannou et al., Table III)."""


def is_base(plan: SlicePlan) -> bool:
    """Whether the rows of an operator are some of a relation's, so that each has a variable of its own as lineage."""
    match plan:
        case SliceRelation():
            return True
        case SliceFilter(input=input):
            return is_base(input)
        case SliceProject(input=input):
            return is_base(input) and keeps_facts(plan)
    return False


def keeps_facts(plan: SliceProject) -> bool:
    """Whether rows that differ still differ after a projection: no column is left out."""
    return set(plan.items) >= {f"c{place}" for place in range(width(plan.input))}


def merges(plan: SliceJoin) -> bool:
    """Whether neighbours among a join's rows can have equivalent lineages: where a side is no relation."""
    return not (is_base(plan.left) and is_base(plan.right))


def independent(plan: SliceJoin) -> bool:
    """Whether the sides of a join are different relations: no variable is in a lineage twice."""
    names = [{scan.table.lower() for scan in scans(side)} for side in (plan.left, plan.right)]
    return not merges(plan) and not names[0] & names[1]
