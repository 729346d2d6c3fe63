"""Passes over a tree before its rules, and their order: what rules see means the same, in the form that they speak of.

Those that need no facts are in `preprocess.trees`. Pure functions; the docstring shows the rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Filter, Fixpoint, Join, JoinKind, Project, Scan, Tree
from streambound.analyzer.algebra.recent_rows import asks_for_newest
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.algebra.value_sets import ValueSet
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import Family
from streambound.criteria.dataflow.views import Views, statement_views
from streambound.preprocess.trees.arguments import arguments_down
from streambound.preprocess.trees.conditions import conditions_down, filtered
from streambound.preprocess.trees.distinct_rows import distinct_rows
from streambound.preprocess.trees.flatten import flat_aggregates
from streambound.preprocess.trees.greatest_counts import greatest_counts
from streambound.preprocess.trees.hidden_keys import hidden_keys
from streambound.preprocess.trees.not_in import compared, split
from streambound.preprocess.trees.padding import padded_rows
from streambound.preprocess.trees.plain_conditions import plain_conditions
from streambound.preprocess.trees.running_groups import running_groups
from streambound.preprocess.trees.scalars import scalars_joined
from streambound.preprocess.trees.streams_together import streams_together
from streambound.preprocess.trees.sums import groups_of_pairs, sums_below
from streambound.preprocess.trees.unions import in_both, one_selection
from streambound.preprocess.trees.with_inputs import with_inputs

Pass = Callable[[Tree, Catalog], Tree]
_LEFT_MEETS = (JoinKind.INNER, JoinKind.RIGHT, JoinKind.SEMI)
_RIGHT_MEETS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN)


# --- unions, NOT IN and sums ------------------------------------------------------------------------------------------


def disjoint_unions(tree: Tree, catalog: Catalog) -> Tree:
    """Unions of selections that no row satisfies both of, as one selection."""
    return without_union(with_inputs(tree, lambda one: disjoint_unions(one, catalog)), catalog)


def without_union(tree: Tree, catalog: Catalog) -> Tree:
    """A union of selections of the same rows, of which no row is in both, as one; another operator as it is."""
    both = None if is_static(tree, catalog) else in_both(tree)
    if both is None or both.condition.syntax.find(exp.Query):
        return tree
    empty = any(column.values.size == 0 for column in statement_views(catalog).of(both).columns)
    return one_selection(tree) if empty else tree


def anti_joins(tree: Tree, catalog: Catalog) -> Tree:
    """NOT IN as anti joins (B5), whose conditions depend on which sides may be NULL."""
    return without_not_in(with_inputs(tree, lambda one: anti_joins(one, catalog)), catalog)


def without_not_in(tree: Tree, catalog: Catalog) -> Tree:
    """A NOT IN as anti joins; another operator as it is."""
    sides = compared(tree)
    if sides is None:
        return tree
    views = [statement_views(catalog).of(one) for one in sides]
    members, values = ([column.values.null for column in view.columns] for view in views)
    return split(tree, members, values, catalog)


def sums_down(tree: Tree, catalog: Catalog) -> Tree:
    """Aggregates over joins with views as those of each key's sums and best values (A1, E4)."""
    pushed = above_groups(tree, catalog)
    return with_inputs(pushed[1] if pushed is not None else tree, lambda one: sums_down(one, catalog))


def above_groups(tree: Tree, catalog: Catalog) -> tuple[str, Project] | None:
    """The side whose rows only come, and a select list of aggregates as one of its groups; None of others."""
    below = tree.input if isinstance(tree, Project) else None
    while isinstance(below, Filter):
        below = below.input
    join = None if below is None else groups_of_pairs(below, catalog)
    if join is None:
        return None
    left, right = (statement_views(catalog).of(side).change for side in (join.left, join.right))
    for own, other, side in ((left, right, "left"), (right, left, "right")):
        if own is ViewKind.APPEND_ONLY and other > ViewKind.APPEND_ONLY:
            made = sums_below(tree, side == "left", catalog)
            return None if made is None else (side, made)
    return None


# --- ranges -----------------------------------------------------------------------------------------------------------


def ranges_down(tree: Tree, catalog: Catalog) -> Tree:
    """What a join's partners can be, as a condition of a view that is joined (D4, U10): of other rows it keeps nothing.

    S ⋈ (SELECT b, COUNT(*) … GROUP BY b) W on S.a = W.b, S.a in 1..2
    ->  S ⋈ σ[b BETWEEN 1 AND 2](W), which goes below the groups
    """
    return _ranges_down(tree, statement_views(catalog))


def _ranges_down(tree: Tree, views: Views) -> Tree:
    for side, part, _ in limits_of(tree, views):
        tree = limited(tree, side, part, views.catalog)
    if isinstance(tree, Fixpoint):
        inside = views.inside(tree)
        return replace(tree, base=_ranges_down(tree.base, views), step=_ranges_down(tree.step, inside))
    return with_inputs(tree, lambda one: _ranges_down(one, views))


def limited(tree: Tree, side: str, part: exp.Expr, catalog: Catalog) -> Tree:
    """A join of whose side a condition is true."""
    return replace(tree, **{side: filtered(getattr(tree, side), part, catalog)})


def limits_of(tree: Tree, views: Views) -> list[tuple[str, exp.Expr, int]]:
    """The sides of a join, and what partners leave of columns, by the places in pairs; the newest row is met by all."""
    if not isinstance(tree, Join) or tree.using or is_block(tree, views.catalog) or asks_for_newest(tree):
        return []
    left, pair = views.of(tree.left), views.pairs(tree)
    found = list[tuple[str, exp.Expr, int]]()
    for name, side, first, kinds in (
        ("left", tree.left, 0, _LEFT_MEETS),
        ("right", tree.right, len(left.schema), _RIGHT_MEETS),
    ):
        if tree.kind not in kinds or isinstance(side, Scan) or is_static(side, views.catalog):
            continue
        own = views.of(side)
        for place, (before, column) in enumerate(zip(own.columns, own.schema, strict=True)):
            after = pair.columns[place + first].values
            if column.type is not None and before.values != after and not is_block(side, views.catalog):
                parts = _limits(column_of(column), before.values, after, column.type.family)
                found += [(name, part, place + first) for part in parts]
    return found


def _limits(column: exp.Column, before: ValueSet, after: ValueSet, family: Family) -> list[exp.Expr]:
    if family is Family.STRING and after.listed:
        values = [exp.Literal.string(str(value)) for value in sorted(map(str, after.listed))]
        return [exp.In(this=column, expressions=values)]
    if family is not Family.INTEGER or after.listed == frozenset():
        return []
    (low, high), known = after.ends, before.ends
    if (low, high) == known:
        return [exp.Not(this=exp.Is(this=column, expression=exp.Null()))] if before.null and not after.null else []
    found: list[exp.Expr] = []
    if low is not None and low != known[0]:
        found.append(exp.GTE(this=column.copy(), expression=_number(int(low))))
    if high is not None and high != known[1]:
        found.append(exp.LTE(this=column.copy(), expression=_number(int(high))))
    return found


def _number(value: int) -> exp.Expr:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


# --- their order ------------------------------------------------------------------------------------------------------

PASSES: tuple[Pass, ...] = (
    plain_conditions,
    disjoint_unions,
    padded_rows,
    scalars_joined,
    anti_joins,
    flat_aggregates,
    arguments_down,
    conditions_down,
    ranges_down,
)
FORMS: tuple[tuple[Pass, ...], ...] = (
    PASSES,
    tuple(one for each in PASSES for one in ((each, sums_down) if each is conditions_down else (each,))),
    tuple(one for one in PASSES if one is not flat_aggregates),
    (*PASSES, streams_together),
    (*PASSES, hidden_keys),
    (running_groups, *PASSES),
    (*PASSES, distinct_rows, greatest_counts),
)
"""The passes of each normal form.

Aggregates may be of each key's below joins with views (A1, E4); inner groups of aggregates of aggregates may go with a
key that ends (K3); streams may be a block of their own; groups may show when they close, or be of running aggregates,
of distinct rows or of running counts, which go with a key that ends (K2, K3).
"""


def normal_forms(tree: Tree, catalog: Catalog) -> Iterator[Tree]:
    """A tree after all passes, then in other forms that may have a bound where it has none."""
    known = list[Tree]()
    for passes in FORMS:
        found = reduce(lambda made, one: one(made, catalog), passes, tree)
        if found not in known:
            known.append(found)
            yield found
