"""What keeps a block's tables: the kernel of whole columns, or SQL where their entries are more than counts."""

from __future__ import annotations

from streambound.criteria.rows_apart import kept_apart
from streambound.synopsis_exec.plan_ir import Plan

MOST_AGING = 6
"""Timestamps of one table that may grow too old to be told apart; entries are counted per subset of them."""


def sql_reason(plan: Plan) -> str | None:
    """Why SQL keeps a query's tables; None where the kernel of columns does."""
    if kept_apart(plan.bound) is not None:
        return "the rows of its streams are kept, not matches of some of them"
    if plan.sums:
        return "its entries hold sums, not counts alone"
    if not plan.in_columns:
        return "it keeps the greatest or least value per key, which is not a count"
    for branch in plan.branches:
        if any(part.new for transition in branch.transitions for part in transition.parts):
            return "matches of independent streams are joined from what a timestamp has brought of each"
        for table in branch.tables:
            if table.members:
                return "one table holds the matches of all sets of streams"
            aging = [age for age in table.ages if age.expires is None]
            if len(aging) > MOST_AGING:
                return f"{table.name} keeps {len(aging)} timestamps without end, more than {MOST_AGING}"
    return None


def kernel_in_words(plan: Plan) -> str:
    """What keeps the tables and, where it is SQL, why."""
    reason = sql_reason(plan)
    return f"SQL over its tables, because {reason}" if reason else "columns, many timestamps at once"
