"""Rows in buckets of time, each once for every bucket that it is in: linear (DBSP §3), without memory.

A row in a bucket changes as long as the row does, and the bucket closes (A5), so that what stands above, such as the
first rows of each window or a join of windows, has to keep the rows of open buckets only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Bucket, BucketKind, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.criteria.operators.buckets import TimeFunction
from streambound.criteria.operators.buckets_of_buckets import ahead, waits
from streambound.criteria.operators.closing_windows import TIME
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.parts import BucketPart, Closing
from streambound.criteria.operators.states import ClosingRows, JudgedPart, RowsOfSide
from streambound.criteria.operators.written_columns import called
from streambound.criteria.size import Number, Size, product

_ENDS = ("start", "end", "last")


def judge_buckets(tree: Tree, context: Context) -> JudgedPart:
    """The rule of tumbling and hopping buckets; raises NoRule for others."""
    assert isinstance(tree, Bucket)
    if tree.kind is BucketKind.SESSION:
        raise NoRule("sessions of which nothing is aggregated, or that are of what is computed of several streams")
    wanted = [view for view in schema(tree, context.catalog) if called(view, context.needed)]
    given = schema(tree.input, context.catalog)
    ends = {name.lower(): end for name, end in zip(tree.columns, _ENDS, strict=False)}
    items, shown, names = list[Named](), list[int | str](), list[str]()
    for view in wanted:
        names.append(view.name)
        if view not in given:
            shown.append(ends[view.name.lower()])
            continue
        node = exp.column(view.name, table=view.alias or None, quoted=True)
        shown.append(len(items))
        items.append(Named(f"c{len(items)}", Scalar(node.sql("spark"), node), alias=True))
    time = len(items)
    block = Project(tree.input, (*items, Named(TIME, tree.time, alias=True)), syntax=tree.syntax)
    with context.reading(None):
        judged = context.judge(block, context)
    if judged.part is None:
        return judged
    below, slide = judged.part, tree.slide or tree.size
    if below.columns[time].type.family is Family.DATE:
        raise NoRule("a window of a DATE: make it of the TIMESTAMP that the date is of")
    kinds = [below.columns[time if isinstance(item, str) else item].type for item in shown]
    columns = tuple(Column(name, kind) for name, kind in zip(_apart(names), kinds, strict=True))
    part = BucketPart(context.name("buckets"), below, time, tree.size, slide, tree.offset, tuple(shown), columns)
    closes = _closing(judged, time, part)
    return JudgedPart(part=part, states=judged.states, retracts=judged.retracts, closes=closes)


def _closing(judged: JudgedPart, time: int, part: BucketPart) -> tuple[ClosingRows, ...]:
    """The ends of buckets, where what they are of is a time that nothing comes arbitrarily later than."""
    found = next(((rows, one) for rows in judged.closes for one in rows.columns if one.key == time), None)
    if found is None:
        return ()
    rows, one = found
    if one.how in ("div", "session"):
        return ()
    delay, more = waits(one)
    columns = tuple(
        Closing(place, part.size, item, delay) for place, item in enumerate(part.items) if isinstance(item, str)
    )
    buckets = TimeFunction("start", part.slide, part.size).open(delay + ahead(one))
    sides = tuple(
        RowsOfSide(
            frozenset(n for n, item in enumerate(part.items) if isinstance(item, str) or item in side.columns),
            partial(_open, side.open, part, more),
        )
        for side in rows.sides
        if time in side.columns
    )
    return (ClosingRows(columns, partial(_open, rows.open, part, more), buckets, sides),) if columns else ()


def _open(open: Callable[[int], Size], part: BucketPart, before: int, more: int) -> Size:
    """Each row as often as there are buckets that it is in, if it came since so long ``before`` the first has begun."""
    return product([Number(-(-part.size // part.slide)), open(part.size - 1 + before + more)])


def _apart(names: list[str]) -> list[str]:
    """Names that are not alike, as columns of a job have them."""
    lowered = [name.lower() for name in names]
    return [f"c{n}_{name}" if lowered.count(name.lower()) > 1 else name for n, name in enumerate(names)]
