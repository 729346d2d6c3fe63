"""The closure of a block's conditions: over equal keys to a join's other side, and to both sides of a set operation.

Of `a JOIN b ON a.k = b.k WHERE a.k IN (1, 2)` only rows of b with k 1 or 2 play a part. So less is moved and joined,
and over streams less is remembered (proposition P2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.types import DataType, Family
from streambound.temporal.pushing import kept
from streambound.temporal.scalars import conjunction, moved, over, places, text, tree
from streambound_runtime.operators.period_plan import (
    SliceCoalesce,
    SliceDifference,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceUnion,
    width,
)

Facts = dict[int, dict[str, None]]
"""Conditions that all rows satisfy, each on one column, by the column's place; in a text the column is ``c0``."""
_TESTS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
NARROWED = {"inner": (0, 1), "left": (1,), "right": (0,), "semi": (0, 1), "anti": (1,)}
"""The sides of a join whose rows play no part without a partner."""
KEPT = {"inner": (0, 1), "left": (0,), "right": (1,), "semi": (0,), "anti": (0,)}
"""The sides that contribute one row to each row of the result."""


def inferred(plan: SlicePlan, catalog: Catalog) -> SlicePlan:
    """The same rows, with the conditions that follow from those of a join's other side."""
    match plan:
        case SliceRelation():
            return replace(plan)  # a scan of its own, which tells the places apart where a relation is read
        case SliceJoin():
            return _joined(
                replace(plan, left=inferred(plan.left, catalog), right=inferred(plan.right, catalog)), catalog
            )
        case SliceUnion() | SliceDifference():
            return replace(plan, left=inferred(plan.left, catalog), right=inferred(plan.right, catalog))
        case SliceFilter(SliceUnion() | SliceDifference() as both, condition):
            return _of_both(both, conjuncts(tree(condition)), catalog)
        case SliceFilter() | SliceProject() | SliceDistinct() | SliceGroup() | SliceCoalesce():
            return replace(plan, input=inferred(plan.input, catalog))
    raise AssertionError(f"{type(plan).__name__} is no operator of a rewriting")


def _of_both(plan: SliceUnion | SliceDifference, conditions: Sequence[exp.Expr], catalog: Catalog) -> SlicePlan:
    """Push conditions to both sides: equal values on both sides satisfy a condition alike."""
    sides, above = [plan.left, plan.right], list[exp.Expr]()
    for condition in conditions:
        kinds = [[column_type(side, place, catalog) for side in sides] for place in places(condition)]
        if kinds and _is_plain(condition) and all(one and other and same_values(one, other) for one, other in kinds):
            sides = [kept(side, condition) for side in sides]
        else:
            above.append(condition)
    left, right = (inferred(side, catalog) for side in sides)
    both = replace(plan, left=left, right=right)
    return SliceFilter(both, conjunction(above)) if above else both


def _joined(plan: SliceJoin, catalog: Catalog) -> SliceJoin:
    sides = [plan.left, plan.right]
    for side in NARROWED.get(plan.kind, ()):
        more = list(_carried(plan, side, catalog))
        for condition in more:
            sides[side] = kept(sides[side], condition)
        if more:
            sides[side] = inferred(sides[side], catalog)
            plan = replace(plan, left=sides[0], right=sides[1])
    return plan


def _carried(plan: SliceJoin, side: int, catalog: Catalog) -> Iterator[exp.Expr]:
    """Conditions on the keys of a side that the other one's rows satisfy, and that it does not have itself."""
    mine, other = (plan.left, plan.right)[side], (plan.left, plan.right)[1 - side]
    known, told = _facts(mine), _facts(other)
    for there, here in equal_columns(plan, side, catalog):
        for condition in told.get(there, {}):
            if condition not in known.get(here, {}):
                yield moved(tree(condition), here)


def equal_columns(plan: SliceJoin, side: int, catalog: Catalog) -> list[tuple[int, int]]:
    """Places of the other side's columns, each with the place of this side's that has the same values in a pair."""
    sides, found = (plan.left, plan.right), list[tuple[int, int]]()
    for pair in plan.keys:
        mine, theirs = place_of(pair[side]), place_of(pair[1 - side])
        if mine is not None and theirs is not None:
            kinds = column_type(sides[side], mine, catalog), column_type(sides[1 - side], theirs, catalog)
            if kinds[0] is not None and kinds[1] is not None and same_values(kinds[0], kinds[1]):
                found.append((theirs, mine))
    return found


def _facts(plan: SlicePlan) -> Facts:
    match plan:
        case SliceFilter(input, condition):
            found = _facts(input)
            for one in conjuncts(tree(condition)):
                used = sorted(places(one))
                if len(used) == 1 and _is_plain(one):
                    found.setdefault(used[0], {})[text(over(one, lambda _: 0))] = None
            return found
        case SliceProject(input, items):
            under = _facts(input)
            named = {place: place_of(item) for place, item in enumerate(items)}
            return {place: under[mine] for place, mine in named.items() if mine is not None and mine in under}
        case SliceJoin(kind, left, right):
            starts = 0, width(left)
            found = {}
            for side in KEPT.get(kind, ()):
                found |= {place + starts[side]: facts for place, facts in _facts((left, right)[side]).items()}
            return found
        case SliceDistinct(input) | SliceCoalesce(input):
            return _facts(input)
        case SliceGroup(input, keys):
            return {place: facts for place, facts in _facts(input).items() if place < keys}
        case SliceDifference(left=left):
            return _facts(left)
        case SliceUnion(left, right):
            mine, theirs = _facts(left), _facts(right)
            return {n: dict.fromkeys(one for one in mine[n] if one in theirs[n]) for n in mine if n in theirs}
    return {}


def _is_plain(node: exp.Expr) -> bool:
    """Whether a condition compares a column with constants, so that equal values satisfy it alike."""
    match node:
        case exp.Paren() | exp.Not():
            return _is_plain(node.this)
        case exp.And() | exp.Or():
            return _is_plain(node.left) and _is_plain(node.right)
        case exp.In():
            listed = not node.args.get("query") and all(map(_is_constant, node.expressions))
            return listed and isinstance(node.this, exp.Column)
        case exp.Between():
            return isinstance(node.this, exp.Column) and all(map(_is_constant, (node.args["low"], node.args["high"])))
        case exp.Is():
            return isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Null)
    if not isinstance(node, _TESTS):
        return False
    sides = (node.left, node.right)
    return any(isinstance(side, exp.Column) for side in sides) and any(map(_is_constant, sides))


def _is_constant(node: exp.Expr) -> bool:
    if isinstance(node, exp.Neg | exp.Cast | exp.Paren):
        return _is_constant(node.this)
    return isinstance(node, exp.Literal | exp.Boolean)


def column_type(plan: SlicePlan, place: int, catalog: Catalog) -> DataType | None:
    """The type of a plan's column that comes from a relation; None if it is computed."""
    match plan:
        case SliceRelation(table=name, columns=columns):
            table = catalog.table(name)
            found = None if table is None else table.column(columns[place])
            return None if found is None else found.type
        case SliceProject(input, items):
            under = place_of(items[place])
            return None if under is None else column_type(input, under, catalog)
        case SliceJoin(left=left, right=right):
            by = width(left)
            return column_type(left, place, catalog) if place < by else column_type(right, place - by, catalog)
        case SliceFilter(input=input) | SliceDistinct(input=input) | SliceCoalesce(input=input):
            return column_type(input, place, catalog)
        case SliceGroup(input=input, keys=keys) if place < keys:
            return column_type(input, place, catalog)
        case SliceUnion(left, right) | SliceDifference(left=left, right=right):
            kinds = column_type(left, place, catalog), column_type(right, place, catalog)
            return kinds[0] if kinds[0] == kinds[1] else None
    return None


def same_values(left: DataType, right: DataType) -> bool:
    """Whether values of two types that are equal are the same ones, and compare alike with others."""
    return left.name == right.name or left.family is right.family is Family.INTEGER


def place_of(text: str) -> int | None:
    """The place of the column that an expression is; None for other expressions."""
    return int(text[1:]) if text[:1] == "c" and text[1:].isdigit() else None
