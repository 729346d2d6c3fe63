"""RIGHT and FULL JOIN of views: a RIGHT one is a LEFT one from the other side; a FULL one has beside it who is alone.

S FULL JOIN T ON θ  ->  S LEFT JOIN T ON θ  UNION ALL  (NULL, … of T ANTI JOIN S ON θ)
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Join, JoinKind
from streambound.analyzer.algebra.schema import schema
from streambound.criteria.operators.closing_rows import taken_over
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.parts import MapPart, UnionPart
from streambound.criteria.operators.states import JudgedPart, RowsOfSide
from streambound.criteria.operators.written_columns import called
from streambound.criteria.size import total

PADS_LEFT = (JoinKind.RIGHT, JoinKind.FULL)
"""Joins of which rows of the right side may be alone."""


def judge_padded_join(tree: Join, context: Context) -> JudgedPart:
    """A RIGHT or FULL JOIN of views; raises NoRule where the joins that it is made of have no rule."""
    if tree.kind is JoinKind.RIGHT:
        return _as_written(context.judge(_turned(tree, JoinKind.LEFT), context), tree, context)
    kept = context.judge(replace(tree, kind=JoinKind.LEFT), context)
    alone = context.judge(_turned(tree, JoinKind.ANTI), context)
    if kept.part is None or alone.part is None:
        return JudgedPart(violations=(*kept.violations, *alone.violations), suspects=(*kept.suspects, *alone.suspects))
    given, columns = iter(alone.part.columns), kept.part.columns
    texts = tuple(
        exp.column(next(given).name, quoted=True).sql("spark")
        if of_right
        else exp.cast(exp.Null(), column.type.name).sql("spark")
        for of_right, column in zip(_of_right(tree, context), columns, strict=True)
    )
    padded = MapPart(context.name("map"), alone.part, columns, texts)
    part = UnionPart(context.name("union"), (kept.part, padded), columns)
    rows = None if kept.rows is None or alone.rows is None else total([kept.rows, alone.rows])
    return JudgedPart(part=part, states=(*kept.states, *alone.states), rows=rows, retracts=True)


def _turned(tree: Join, kind: JoinKind) -> Join:
    return replace(tree, kind=kind, left=tree.right, right=tree.left)


def _of_right(tree: Join, context: Context) -> list[bool]:
    """Of each column that is shown whether it is the right side's."""
    left = len(schema(tree.left, context.catalog))
    return [n >= left for n, one in enumerate(schema(tree, context.catalog)) if called(one, context.needed)]


def _as_written(found: JudgedPart, tree: Join, context: Context) -> JudgedPart:
    """The rows of a turned join with its columns in the order of the join as it is written."""
    if found.part is None:
        return found
    of_right = _of_right(tree, context)
    first = sum(of_right)
    order = [*range(first, len(of_right)), *range(first)]
    columns = tuple(found.part.columns[place] for place in order)
    texts = tuple(exp.column(column.name, quoted=True).sql("spark") for column in columns)

    def places(key: int) -> list[int]:
        return [order.index(key)]

    sides = tuple(
        RowsOfSide(frozenset(place for key in side.columns for place in places(key)), side.open) for side in found.sides
    )
    part = MapPart(context.name("map"), found.part, columns, texts)
    return replace(found, part=part, closes=taken_over(found.closes, places), sides=sides)
