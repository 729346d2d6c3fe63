"""Conditions where they cost least: at the side of a join that they are about, or as its keys.

Rows that are equal under bags are equal at every point of time, so conditions move as in bag algebra.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp

from streambound.temporal.scalars import conjunction, moved, over, place_of, places, text, tree
from streambound_runtime.operators.period_plan import (
    SliceCoalesce,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SlicePlan,
    SliceProject,
    width,
)
from streambound_runtime.operators.plan import JoinType


def kept(plan: SlicePlan, condition: exp.Expr) -> SlicePlan:
    """The rows of an operator for which a condition over its columns is true."""
    if isinstance(plan, SliceFilter):
        under = kept(plan.input, condition)
        if not isinstance(under, SliceFilter):
            return replace(plan, input=under)
        together = conjunction([tree(plan.condition), condition])
        return SliceFilter(plan.input, together)
    if isinstance(plan, SliceCoalesce | SliceDistinct):
        return replace(plan, input=kept(plan.input, condition))
    if isinstance(plan, SliceGroup) and max(places(condition), default=plan.keys) < plan.keys:
        return replace(plan, input=kept(plan.input, condition))
    if isinstance(plan, SliceProject):
        items = {place: plan.items[place] for place in places(condition)}
        if all(re.fullmatch(r"c\d+", item) for item in items.values()):
            meant = over(condition, lambda found: int(items[place_of(found)][1:]))
            return replace(plan, input=kept(plan.input, meant))
    if isinstance(plan, SliceJoin):
        by, used = width(plan.left), places(condition)
        if used and max(used) < by and plan.kind in ("inner", "left", "semi", "anti"):
            return replace(plan, left=kept(plan.left, condition))
        if used and min(used) >= by and plan.kind in ("inner", "right"):
            return replace(plan, right=kept(plan.right, moved(condition, -by)))
        if plan.kind == "inner":
            return joined(plan.kind, plan.left, plan.right, [*_conditions(plan, by), condition], by)
    return SliceFilter(plan, text(condition))


def joined(kind: JoinType, left: SlicePlan, right: SlicePlan, conditions: list[exp.Expr], by: int) -> SliceJoin:
    """A join on conditions over both sides' columns, of which the left one has ``by``.

    What is about one side alone is a condition of it, unless its rows that do not satisfy it are kept.
    """
    keys, rest = list[tuple[str, str]](), list[exp.Expr]()
    for condition in conditions:
        used = places(condition)
        if used and max(used) < by and kind in ("inner", "semi", "right"):
            left = kept(left, condition)
        elif used and min(used) >= by and kind in ("inner", "left", "semi", "anti"):
            right = kept(right, moved(condition, -by))
        elif (key := _key(condition, by)) is not None:
            keys.append(key)
        else:
            rest.append(condition)
    return SliceJoin(kind, left, right, tuple(keys), conjunction(rest))


def coalesced(plan: SlicePlan) -> SlicePlan:
    """A side of a join, coalesced if it is made of groups: of these each change of a row makes a row of its own, and
    neighbours with the same values would be multiplied by the join.
    """
    under = plan
    while isinstance(under, SliceProject | SliceFilter):
        under = under.input
    return SliceCoalesce(plan) if isinstance(under, SliceGroup) else plan


def _key(condition: exp.Expr, by: int) -> tuple[str, str] | None:
    """The sides of an equality between the two sides of a join."""
    if not isinstance(condition, exp.EQ):
        return None
    sides = (condition.left, condition.right)
    used = [places(side) for side in sides]
    if not all(used):
        return None
    if max(used[0]) < by <= min(used[1]):
        return text(sides[0]), text(moved(sides[1], -by))
    if max(used[1]) < by <= min(used[0]):
        return text(sides[1]), text(moved(sides[0], -by))
    return None


def _conditions(plan: SliceJoin, by: int) -> list[exp.Expr]:
    """The conditions of a join, over both sides' columns."""
    keys = [
        exp.EQ(this=_operand(tree(mine)), expression=_operand(moved(tree(theirs), by))) for mine, theirs in plan.keys
    ]
    return [*keys, *([tree(plan.condition)] if plan.condition else [])]


def _operand(node: exp.Expr) -> exp.Expr:
    return node if isinstance(node, exp.Column | exp.Paren | exp.Func | exp.Literal) else exp.Paren(this=node)
