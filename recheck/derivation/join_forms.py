"""Joins, and unions of selections, in another form that means the same: by operator, or at a path by what facts say.

σ[T.k IS NULL](S ⟕ T)  ->  (S ▷ T) ⟕ σ[FALSE](T) on FALSE, if T.k is never NULL        (W ⋈ S) ⋈ T  ->  W ⋈ (S ⋈ T)
S NOT IN T by x = y on θ  ->  (σ[x IS NOT NULL](S) ▷ T on θ ∧ x = y) ▷ σ[y IS NULL](T) on θ ∪ σ[x IS NULL](S) ▷ T on θ
σ_p(S) ∪ σ_q(S)  ->  σ[p OR q](S), if no row satisfies both        σ_p(S ⋈ T)  ->  σ_p(block(S ⋈ T))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from sqlglot import exp

from streambound.analyzer.algebra.asked_relations import conjuncts as standing_parts
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Filter,
    Join,
    JoinKind,
    Named,
    Project,
    Scalar,
    SpjBlock,
    Tree,
    Union,
    named_inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.syntax import column_of, conjunction, conjuncts, scalar_of
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.conditions import over_inputs, passed_down
from streambound.recheck.derivation.trees import PlanNode, selections

_ASKING = (*ONE_SIDED, JoinKind.LEFT)
"""Joins above which a condition of their left side may as well be tested."""


def padded_rows(tree: Tree, catalog: Catalog) -> Tree:
    """An anti join, whose columns are kept by a left join, for rows of a left join that have no partner."""
    join = tree.input if isinstance(tree, Filter) else None
    if not isinstance(tree, Filter) or not isinstance(join, Join) or join.kind is not JoinKind.LEFT or join.using:
        return tree
    left, right = schema(join.left, catalog), schema(join.right, catalog)
    parts = conjuncts(tree.condition)
    rest = [part for part in parts if not _asks_for_padding(part, left, right)]
    if len(rest) == len(parts):
        return tree
    never = scalar_of(exp.false())
    none = Filter(join.right, never, syntax=join.syntax, at=join.at)
    found: Tree = replace(join, left=replace(join, kind=JoinKind.ANTI), right=none, condition=never)
    condition = conjunction(rest)
    return found if condition is None else replace(tree, input=found, condition=condition)


def _asks_for_padding(part: exp.Expr, left: Schema, right: Schema) -> bool:
    """Whether a condition is that a column of the right side is NULL, which it is in no row of that side."""
    column = part.this.unnest() if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null) else None
    place = meant(column, right) if isinstance(column, exp.Column) and meant(column, left) is None else None
    return place is not None and not right[place].nullable


# --- streams together -------------------------------------------------------------------------------------------------


def streams_together(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose inner joins join neighbouring streams first, without rows whose NULLs equal nothing."""
    if is_block(tree, catalog):
        return tree
    if isinstance(tree, Join) and tree.kind is JoinKind.INNER and not tree.using:
        sides, rest = _flattened(tree, catalog)
        runs = [
            (of_streams, list(run))
            for of_streams, run in groupby(
                [streams_together(side, catalog) for side in sides], lambda side: _reads_streams(side, catalog)
            )
        ]
        if any(of_streams and len(run) > 1 for of_streams, run in runs):
            first = list[Tree]()
            for of_streams, run in runs:
                if of_streams:
                    found, rest = _joined(run, rest, catalog)
                    first.append(_present(found, rest, catalog))
                else:
                    first += run
            whole, rest = _joined(first, rest, catalog)
            if isinstance(whole, Join) and rest:
                return replace(whole, condition=conjunction([*conjuncts(whole.condition), *rest]))
            return whole
    return over_inputs(tree, {name: streams_together(one, catalog) for name, one in named_inputs(tree).items()})


def _reads_streams(tree: Tree, catalog: Catalog) -> bool:
    return is_block(tree, catalog) and not is_static(tree, catalog)


def _flattened(tree: Tree, catalog: Catalog) -> tuple[list[Tree], list[exp.Expr]]:
    """The sides of inner joins of inner joins, and all of their conditions."""
    if not isinstance(tree, Join) or tree.kind is not JoinKind.INNER or tree.using or is_block(tree, catalog):
        return [tree], []
    (left, mine), (right, theirs) = _flattened(tree.left, catalog), _flattened(tree.right, catalog)
    return [*left, *right], [*mine, *theirs, *conjuncts(tree.condition)]


def _present(tree: Tree, conditions: Sequence[exp.Expr], catalog: Catalog) -> Tree:
    """Rows without NULL in columns that must equal one of another side."""
    columns = schema(tree, catalog)
    for side in (side for one in conditions if isinstance(one, exp.EQ) for side in (one.left, one.right)):
        if isinstance(side, exp.Column) and meant(side, columns) is not None:
            tree = passed_down(tree, exp.Not(this=exp.Is(this=side.copy(), expression=exp.Null())), catalog)
    return tree


def _joined(sides: Sequence[Tree], conditions: list[exp.Expr], catalog: Catalog) -> tuple[Tree, list[exp.Expr]]:
    """Inner joins from left to right, each with the conditions whose columns are there; and the other conditions."""
    found = sides[0]
    for side in sides[1:]:
        pair = Join(JoinKind.INNER, found, side, syntax=found.syntax, at=found.at)
        columns = schema(pair, catalog)
        here = [one for one in conditions if all(meant(c, columns) is not None for c in one.find_all(exp.Column))]
        conditions = [one for one in conditions if one not in here]
        found = replace(pair, condition=conjunction(here))
    return found, conditions


# --- by what facts say ------------------------------------------------------------------------------------------------


def anti_joins(node: PlanNode, null_member: bool, null_values: bool) -> Tree:
    """NOT IN as anti joins (B5), where the member may be NULL, or the values that it is compared with may.

    A row whose member is NULL stays where there is no value at all; of others none may be equal, and none NULL.
    """
    tree = node.tree
    member = parsed(tree.member).unnest() if isinstance(tree, Join) and tree.member is not None else None
    if not isinstance(tree, Join) or tree.kind is not JoinKind.NOT_IN or not isinstance(member, exp.EQ):
        raise RejectedError("a NOT IN that is none")
    x, y, conditions = member.left, member.right, conjuncts(tree.condition)
    anti = replace(tree, kind=JoinKind.ANTI, member=None)
    if node.input("left").is_static:  # whose rows are kept as they are
        return replace(anti, condition=conjunction([*conditions, exp.or_(member.copy(), _null(x), _null(y))]))
    left = _where(tree.left, x, False) if null_member else tree.left
    found = replace(anti, condition=conjunction([*conditions, member]), left=left)
    if null_values:
        found = replace(anti, left=found, right=_where(tree.right, y, True))
    if not null_member:
        return found
    unknown = replace(anti, left=_where(tree.left, x, True))
    return Union(found, unknown, distinct=False, syntax=tree.syntax, at=tree.at)


def _where(tree: Tree, value: exp.Expr, null: bool) -> Filter:
    return Filter(tree, scalar_of(_null(value) if null else exp.Not(this=_null(value))), syntax=tree.syntax)


def _null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node.copy() if isinstance(node, exp.Column) else exp.paren(node.copy()), expression=exp.Null())


def one_selection(node: PlanNode) -> Tree:
    """A UNION ALL of selections of the same rows as one, of which no row satisfies both conditions."""
    tree, (left, right) = node.tree, selections(node)
    either = exp.or_(parsed(left.condition).copy(), parsed(right.condition).copy())
    found = Filter(left.input, scalar_of(either), syntax=tree.syntax, at=tree.at)
    side = named_inputs(tree)["left"]
    return replace(side, input=found) if isinstance(side, Project) else found


# --- conditions that are tested late ----------------------------------------------------------------------------------


def conditions_above(node: PlanNode, late: Sequence[int]) -> Tree:
    """A block without some of its conditions, which are tested of its rows: of those that do not decide pairs."""
    tree = node.tree
    if not isinstance(tree, Filter | Join) or not is_block(tree, node.catalog):
        raise RejectedError("conditions of no block")
    parts = _conditions(tree)
    if not late or any(not 0 <= one < len(parts) for one in late) or len({*late}) < len(late):
        raise RejectedError("conditions that a block has not")
    chosen = [parts[one] for one in late]
    if any(part.find(exp.Query) for part in chosen):
        raise RejectedError("subqueries are no late conditions")
    condition = exp.and_(*chosen) if len(chosen) > 1 else chosen[0]
    block = _without(tree, {id(part) for part in chosen})
    return Filter(SpjBlock(block), Scalar(condition.sql("spark"), condition), syntax=tree.syntax, at=tree.at)


def values_in_block(node: PlanNode, columns: Sequence[int], texts: Sequence[str]) -> Tree:
    """A select list and a condition above a block that shows, of what they read, some columns and expressions."""
    tree, late = node.tree, node.input("input").tree
    block = late.input if isinstance(late, Filter) else None
    if not isinstance(tree, Project) or not isinstance(late, Filter) or not isinstance(block, SpjBlock):
        raise RejectedError("values of no block")
    given = schema(block, node.catalog)
    items = [item for item in tree.items if isinstance(item, Named)]
    read = [parsed(late.condition), *(parsed(item.value) for item in items)]
    every = {one.sql("spark"): one for whole in read for one in whole.walk()}
    if len(items) < len(tree.items) or not {*texts} <= every.keys() or not {*columns} <= {*range(len(given))}:
        raise RejectedError("values that nothing reads")
    if any(whole.find(exp.Query) for whole in read):
        raise RejectedError("subqueries above a block")
    shown = [*(column_of(given[place]) for place in columns), *(every[text] for text in texts)]
    named = tuple(Named(f"_c{n}", scalar_of(one), alias=True) for n, one in enumerate(shown))
    places = {place: n for n, place in enumerate(columns)} | {text: len(columns) + n for n, text in enumerate(texts)}

    def over(one: exp.Expr) -> exp.Expr:
        place = meant(one, given) if isinstance(one, exp.Column) else None
        known = places.get(one.sql("spark"), None if place is None else places.get(place))
        if known is not None:
            return exp.column(f"_c{known}")
        if isinstance(one, exp.Column):
            raise RejectedError("a column that the block does not show")
        holder = exp.Paren(this=one.copy())
        for child, own in zip(list(holder.this.iter_expressions()), one.iter_expressions(), strict=True):
            child.replace(over(own))
        found: exp.Expr = holder.this
        return found

    below = SpjBlock(Project(block.input, named, syntax=late.syntax))
    above = replace(late, input=below, condition=scalar_of(over(parsed(late.condition))))
    return replace(
        tree, input=above, items=tuple(replace(one, value=scalar_of(over(parsed(one.value)))) for one in items)
    )


def _parts(condition: Scalar | None) -> list[exp.Expr]:
    """The parts of a conjunction as they stand in it, known by their identity."""
    return [] if condition is None else standing_parts(parsed(condition))


def _conditions(tree: Tree) -> list[exp.Expr]:
    """The conditions of a block's filters and inner joins, also of the rows that others ask for partners."""
    match tree:
        case Filter(input, condition):
            return [*_conditions(input), *_parts(condition)]
        case Join(JoinKind.INNER, left, right, condition):
            return [*_conditions(left), *_conditions(right), *_parts(condition)]
        case Join(kind, left) if kind in _ASKING:
            return _conditions(left)
    return []


def _without(tree: Tree, dropped: set[int]) -> Tree:
    """A block without some of its conditions, by their identities."""
    match tree:
        case Filter(input, condition):
            kept, below = _kept(condition, dropped), _without(input, dropped)
            return below if kept is None else replace(tree, input=below, condition=kept)
        case Join(JoinKind.INNER, left, right, condition):
            kept = _kept(condition, dropped)
            return replace(tree, left=_without(left, dropped), right=_without(right, dropped), condition=kept)
        case Join(kind, left) if kind in _ASKING:
            return replace(tree, left=_without(left, dropped))
    return tree


def _kept(condition: Scalar | None, dropped: set[int]) -> Scalar | None:
    parts = _parts(condition)
    kept = [part for part in parts if id(part) not in dropped]
    if len(kept) == len(parts) or not kept:
        return condition if kept else None
    node = exp.and_(*kept) if len(kept) > 1 else kept[0]
    return Scalar(node.sql("spark"), node)
