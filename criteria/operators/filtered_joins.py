"""Conditions above an outer, semi or anti join of two blocks, moved below it: an exact rewriting.

σ_p(S ⟕ T) = σ_p(S) ⟕ T, and so of ⋉, ▷, and of ⟖ with its sides exchanged, where p is of S's columns alone. Where it is
not true of a row of NULLs, it drops rows that are filled with them: σ_q(S ⟕ T) = σ_q(S ⋈ T) for such a q of T's, and
σ_p(S ⟗ T) = σ_p(S ⟕ T) (Galindo-Legaria, Rosenthal, *Outerjoin simplification and reordering*, 1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.asked_relations import conjuncts
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Scalar, Tree, named_inputs
from streambound.analyzer.algebra.null_conditions import rejects_null
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.pushed_filters import all_of, is_of
from streambound.preprocess.pipeline import derive
from streambound.preprocess.split_join import split_join

_KEEPS_LEFT = (JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
_PADS = (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL)


def with_filtered_joins(tree: Tree, context: Context) -> Tree:
    """``Filter(Join(left, S, T), p AND q)  ->  Filter(Join(left, Filter(S, p), T), q)``, where p is of S alone."""
    below = named_inputs(tree)
    changed = {name: with_filtered_joins(under, context) for name, under in below.items()}
    if any(changed[name] is not below[name] for name in below):
        tree = replace(tree, **changed)  # type: ignore[arg-type]
    if not isinstance(tree, Filter) or not isinstance(tree.input, Join):
        return tree
    join, parts = tree.input, conjuncts(parsed(tree.condition))
    blocks = is_block(join.left, context.catalog) and is_block(join.right, context.catalog)
    if not blocks or join.using or join.kind not in (*_KEEPS_LEFT, *_PADS) or any(p.find(exp.Query) for p in parts):
        return tree
    join = _without_padding(join, parts, context)
    if is_block(join, context.catalog):
        return replace(tree, input=join)
    join, rest = _moved(join, parts, tree, context)
    return replace(tree, input=join, condition=all_of(rest)) if rest else join


def _without_padding(join: Join, parts: Sequence[exp.Expr], context: Context) -> Join:
    """The join without the rows filled with NULLs that a condition drops."""
    if join.kind not in _PADS:
        return join
    left, right = (
        any(_drops(part, schema(side, context.catalog)) for part in parts) for side in (join.left, join.right)
    )
    without_right = left and join.kind in (JoinKind.RIGHT, JoinKind.FULL)
    without_left = right and join.kind in (JoinKind.LEFT, JoinKind.FULL)
    if join.kind is JoinKind.FULL and without_left is not without_right:
        return replace(join, kind=JoinKind.LEFT if without_right else JoinKind.RIGHT)
    return replace(join, kind=JoinKind.INNER) if without_left or without_right else join


def _moved(join: Join, parts: Sequence[exp.Expr], above: Filter, context: Context) -> tuple[Join, list[exp.Expr]]:
    """The join with what of a condition is of the side alone whose rows it keeps, and what is left of it.

    What has several cases moves where the join can be split by them.
    """
    if join.kind is JoinKind.FULL:
        return join, list(parts)
    right = join.kind is JoinKind.RIGHT
    side = join.right if right else join.left
    given = schema(side, context.catalog)
    own = [part for part in parts if _is_of(part, given) and not context.blocks.unread(side, [part])]
    plain = [part for part in own if _cases(_filtered(side, [part], above), context) <= 1]

    def moved(some: Sequence[exp.Expr]) -> Join:
        new = _filtered(side, some, above) if some else side
        return replace(join, right=new) if right else replace(join, left=new)

    chosen = own if own == plain or split_join(moved(own), context.blocks) is not None else plain
    if not chosen or not _cases(_filtered(side, chosen, above), context):
        # No side is left without rows: a job reads it for the row that aggregates have of none.
        return join, list(parts)
    return moved(chosen), [part for part in parts if part not in chosen]


def _cases(side: Tree, context: Context) -> int:
    one = Named("c0", Scalar("1", exp.Literal.number(1)), alias=True)
    return len(derive(context.blocks.query(side, [one])).split.branches)


def _filtered(tree: Tree, conditions: Sequence[exp.Expr], above: Filter) -> Filter:
    if not isinstance(tree, Filter):
        return Filter(tree, all_of(conditions), syntax=above.syntax)
    return replace(tree, condition=all_of([*conjuncts(parsed(tree.condition)), *conditions]))


def _is_of(part: exp.Expr, given: Schema) -> bool:
    columns = list(part.find_all(exp.Column))
    return bool(columns) and all(is_of(column, given) for column in columns)


def _drops(part: exp.Expr, side: Schema) -> bool:
    """Whether a condition is not true of rows that have NULL in all columns of a side."""
    return rejects_null(part, lambda column: is_of(column, side))
