"""The plan of a SEQ TP block: operators of `periods.plan`, with a lineage in the place of multiplicity.

Rows are ``(c0, c1, …, begin, end, lineage)``, free of duplicates: a projection is the disjunction of its derivations.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.lineage.formulas import NODES
from streambound_runtime.periods.plan import (
    PeriodFilter,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    SnapshotScan,
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


@dataclass(frozen=True, slots=True)
class LineageQuery:
    """A SEQ TP block.

    ``columns`` are the names of the result's columns, ``time_type`` is the type of its periods; a decision about a
    lineage may take so many ``nodes``. ``dag``: the result has `_lineage_dag`, too.
    """

    name: str
    plan: PeriodPlan
    columns: tuple[str, ...]
    time_type: str
    nodes: int = NODES
    dag: bool = False


def is_base(plan: PeriodPlan) -> bool:
    """Whether the rows of an operator are some of a relation's, so that each has a variable of its own as lineage."""
    match plan:
        case SnapshotScan():
            return True
        case PeriodFilter(input=input):
            return is_base(input)
        case PeriodProject(input=input):
            return is_base(input) and keeps_facts(plan)
    return False


def keeps_facts(plan: PeriodProject) -> bool:
    """Whether rows that differ still differ after a projection: no column is left out."""
    return set(plan.items) >= {f"c{place}" for place in range(width(plan.input))}


def merges(plan: PeriodJoin) -> bool:
    """Whether neighbours among a join's rows can have equivalent lineages: where a side is no relation."""
    return not (is_base(plan.left) and is_base(plan.right))


def independent(plan: PeriodJoin) -> bool:
    """Whether the sides of a join are different relations: no variable is in a lineage twice."""
    names = [{scan.table.lower() for scan in scans(side)} for side in (plan.left, plan.right)]
    return not merges(plan) and not names[0] & names[1]
