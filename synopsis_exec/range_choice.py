"""Whether executors fold a query's large batches in ranges of time, and how each range gets the tables at its start."""

from __future__ import annotations

from streambound.synopsis_exec.kernel_choice import row_kernel_reason
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan

MOST_TABLES = 12
"""Tables of a branch beyond which ranges are not folded in parallel: the extensions are as many as pairs of tables."""


def no_ranges_reason(plan: Plan) -> str | None:
    """Why the driver folds large batches, too; None where the executors do."""
    if row_kernel_reason(plan):
        return "its kernel takes one timestamp after the other"
    if reach(plan) is not None:
        return None
    return next((reason for branch in plan.branches if (reason := no_extensions_reason(branch))), None)


def reach(plan: Plan) -> int | None:
    """How long before a timestamp the rows may lie that its tables are made of; None where there is no limit.

    Then a range of time needs no more than the rows of that long before it.
    """
    found = [_reach(branch) for branch in plan.branches]
    return None if None in found else max((back for back in found if back is not None), default=0)


def _reach(branch: BranchPlan) -> int | None:
    """A match dies of the first of its kept timestamps, and so did, earlier, the smaller one that it extends."""
    back: dict[tuple[str, ...], int] = {}
    for table in sorted(branch.tables, key=lambda table: len(table.streams)):
        lives = [age.expires for age in table.ages if age.expires is not None]
        if not lives:
            return None
        grown = (part.streams for t in branch.transitions if t.target == table.streams for part in t.parts)
        back[table.streams] = max(0, min(lives)) + max((back[before] for before in grown), default=0)
    return max(back.values(), default=0)


def no_extensions_reason(plan: BranchPlan) -> str | None:
    """Why what a range does is not written down; None where it is."""
    if any(table.ages for table in plan.tables):
        return "it remembers timestamps, and not all of its tables forget them"
    if any(len(transition.parts) > 1 or any(part.now for part in transition.parts) for transition in plan.transitions):
        return "some of its streams are independent, and matches of them are joined from several tables"
    if len(plan.tables) > MOST_TABLES:
        return f"there are more than {MOST_TABLES} tables"
    return None
