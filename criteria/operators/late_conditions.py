"""Conditions over rows of several sources that are no comparison of two attributes: tested when a result is made.

σ_p(S ⋈_c T), where nothing is known of p(S, T) but how to compute it: the block S ⋈_c T keeps what p needs of each row,
the largest parts over one row each, as it keeps what the select list shows, and Spark computes p of its results. A
selection above a block is linear (DBSP §3): nothing else is remembered, and a block that is bounded stays so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.asked_relations import conjuncts
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.made_columns import shown_column
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Filter,
    Item,
    Join,
    JoinKind,
    Named,
    Scalar,
    SpjBlock,
    Tree,
    named_inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.columns import Column
from streambound.analyzer.flatten import written
from streambound.analyzer.query import Computed, Query
from streambound.analyzer.spans import Span
from streambound.criteria.bag import bag_violations
from streambound.criteria.operators.closing_rows import block_columns
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.operators.written_columns import called
from streambound.preprocess.pipeline import derive

_HOLDS = "_holds"


def with_late_conditions(tree: Tree, context: Context) -> Tree:
    """``Filter(Join(S, T), c AND p)  ->  Filter(SpjBlock(Filter(Join(S, T), c)), p)``, where a block has such a p."""
    if isinstance(tree, Filter | Join) and is_block(tree, context.catalog):
        found = _of_block(tree, context)
        if found is not None:
            return found
    below = named_inputs(tree)
    changed = {name: with_late_conditions(under, context) for name, under in below.items()}
    return tree if all(changed[name] is below[name] for name in below) else replace(tree, **changed)  # type: ignore[arg-type]


def is_late(tree: Tree) -> bool:
    """Whether a tree is a block with a condition above it that is tested when a result is made."""
    return isinstance(tree, Filter) and isinstance(tree.input, SpjBlock)


def is_marked(tree: Tree) -> bool:
    """Whether a tree is a block of its own, whether or not there is a condition above it."""
    return isinstance(tree, SpjBlock) or is_late(tree)


def _of_block(tree: Filter | Join, context: Context) -> Tree | None:
    parts = _conditions(tree)
    late = context.blocks.unread(_without(tree, {id(part) for part in parts}), parts)
    if not late or any(part.find(exp.Query) for part in parts):
        return None
    return Filter(SpjBlock(_without(tree, {id(part) for part in late})), _all(late), syntax=tree.syntax, at=tree.at)


def _conditions(tree: Tree) -> list[exp.Expr]:
    """The conditions that a block's rows satisfy, and those of its joins that could as well be tested above it."""
    match tree:
        case Filter(input, condition):
            return [*_conditions(input), *conjuncts(parsed(condition))]
        case Join(JoinKind.INNER, left, right, condition):
            own = [] if condition is None else conjuncts(parsed(condition))
            return [*_conditions(left), *_conditions(right), *own]
        case Join(kind, left) if kind in (*ONE_SIDED, JoinKind.LEFT):
            return _conditions(left)
    return []


def _without(tree: Tree, dropped: set[int]) -> Tree:
    """A block without some of its conditions, by their identities."""
    match tree:
        case Filter(input, condition):
            kept = _kept(condition, dropped)
            below = _without(input, dropped)
            return below if kept is None else replace(tree, input=below, condition=kept)
        case Join(JoinKind.INNER, left, right, condition):
            kept = None if condition is None else _kept(condition, dropped)
            return replace(tree, left=_without(left, dropped), right=_without(right, dropped), condition=kept)
        case Join(kind, left) if kind in (*ONE_SIDED, JoinKind.LEFT):
            return replace(tree, left=_without(left, dropped))
    return tree


def _kept(condition: Scalar, dropped: set[int]) -> Scalar | None:
    parts = conjuncts(parsed(condition))
    kept = [part for part in parts if id(part) not in dropped]
    if len(kept) == len(parts):
        return condition
    return _all(kept) if kept else None


def _all(parts: Sequence[exp.Expr]) -> Scalar:
    condition = exp.and_(*parts) if len(parts) > 1 else parts[0]
    return Scalar(condition.sql("spark"), condition)


Listed = list[tuple[Column, str]]
"""Columns, and the expressions over a part's columns that they are."""


def judge_marked(tree: Tree, context: Context) -> JudgedPart:
    """A block with the columns that the operators above read, which does not become part of what is around it."""
    assert isinstance(tree, SpjBlock)
    query = context.blocks.query(tree.input, _columns(tree.input, context.positions.of(written(tree)), context))
    return _block(query, context)


def judge_late(
    body: Tree, items: Sequence[Item] | None, late: Scalar, context: Context
) -> tuple[JudgedPart, Listed, str]:
    """A block with a select list, or with all columns that are needed, its results still to be tested.

    The columns that it shows, and the test, are over the part's columns.
    """
    if items is None:
        shown: list[Item] = [*_columns(body, context.positions.of(parsed(late)), context)]
    else:
        shown = [_guarded(item, body, late, context) for item in items]
    query = context.blocks.query(body, [*shown, Named(_HOLDS, late, alias=True)])
    names = [output.name for output in query.branches[0].outputs[:-1]]
    own = [*(f"_{n}" for n in range(1, len(names) + 1)), _HOLDS]
    query = replace(
        query,
        branches=tuple(
            replace(b, outputs=tuple(replace(o, name=name) for o, name in zip(b.outputs, own, strict=True)))
            for b in query.branches
        ),
    )
    judged = _block(query, context)
    if judged.part is None:
        return judged, [], ""
    *texts, holds = (exp.column(name, quoted=True).sql("spark") for name in own)
    pairs = zip(names, judged.part.columns, texts, strict=False)
    listed = [(Column(name, column.type), text) for name, column, text in pairs]
    return judged, listed, holds


def _block(query: Query, context: Context) -> JudgedPart:
    """A block by the bag criterion."""
    split = derive(query).split
    violations = [violation for branch in split.branches for violation in bag_violations(Facts.of(branch))]
    if context.refuses(violations):
        return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=(split,))
    part, states = context.block(query, "bag")
    return JudgedPart(part=part, states=states, closes=block_columns(split))


def _columns(body: Tree, place: Span, context: Context) -> list[Named]:
    """The columns that the operators above read, by names of their own: those of several sources may have the same."""
    found = list[Named]()
    for view in schema(body, context.catalog):
        if called(view, context.needed):
            column = shown_column(view, place)
            found.append(Named(f"_c{len(found) + 1}", Scalar(column.sql("spark"), column), alias=True))
    return found


def _guarded(item: Item, body: Tree, late: Scalar, context: Context) -> Item:
    """An item that is computed of several rows, of those only for which the condition holds: it may fail for others."""
    if not isinstance(item, Named) or isinstance(parsed(item.value), exp.Column):
        return item
    branches = context.blocks.query(body, [item]).branches
    if not any(isinstance(branch.outputs[0].value, Computed) for branch in branches):
        return item
    node = parsed(item.value)
    guarded = exp.Case(ifs=[exp.If(this=parsed(late).copy(), true=node.copy())])
    guarded.meta.update(node.meta)
    return replace(item, value=Scalar(guarded.sql("spark"), guarded), alias=True)
