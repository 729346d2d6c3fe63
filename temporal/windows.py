"""The windows of a join of rows with lineages (Papaioannou, Theobald, Böhlen, *Generalized Lineage-Aware Temporal
Windows*, Table II), as queries of the same operators.

With r° for the rows of r that show their lineages in a column and are themselves certain:

    overlapping and unmatched windows  =  r° ⟗ s°            the lineage of a side without a match is NULL
    negating windows of r              =  Π r° (r° ⋈ s)      the lineage of a row is that of all its matches
"""

from __future__ import annotations

from streambound.temporal.scalars import over, place_of, text, tree
from streambound_runtime.operators.period_plan import (
    LineageColumn,
    SliceJoin,
    SlicePlan,
    SliceProject,
    inputs_of,
    width,
)
from streambound_runtime.operators.plan import JoinType
from streambound_runtime.tp.plan import WINDOWS


def outermost_join(plan: SlicePlan) -> SliceJoin | None:
    """The join above which are no others and no set operations; None where there is none."""
    while not isinstance(plan, SliceJoin):
        match inputs_of(plan):
            case (under,):
                plan = under
            case _:
                return None
    return plan


def matched_windows(join: SliceJoin) -> SliceJoin:
    """Overlapping and unmatched windows: the facts and the lineage of the left side, then those of the right one."""
    return _joined(
        "left" if join.kind == "anti" else join.kind, join, LineageColumn(join.left), LineageColumn(join.right)
    )


def negating_windows(join: SliceJoin) -> tuple[SliceProject | None, SliceProject | None]:
    """Of each side whose negating windows the join needs: facts and lineage; what is negated is the row's lineage."""
    by, more = width(join.left), width(join.right)
    left = _joined("inner", join, LineageColumn(join.left), join.right)
    right = _joined("inner", join, join.left, LineageColumn(join.right))
    wanted = WINDOWS[join.kind]
    return (
        SliceProject(left, tuple(f"c{n}" for n in range(by + 1))) if wanted[0] else None,
        SliceProject(right, tuple(f"c{n}" for n in range(by, by + more + 1))) if wanted[1] else None,
    )


def _joined(kind: JoinType, join: SliceJoin, left: SlicePlan, right: SlicePlan) -> SliceJoin:
    """The join of sides with more columns."""
    by, moved = width(join.left), width(left) - width(join.left)
    condition = join.condition and text(
        over(tree(join.condition), lambda one: (place := place_of(one)) + moved * (place >= by))
    )
    return SliceJoin(kind, left, right, join.keys, condition)
