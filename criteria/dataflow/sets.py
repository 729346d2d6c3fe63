"""The rules of DISTINCT and of set operations: rows with their weights, by all columns.

What both sides have waits (C1): under what is known of both together. EXCEPT keeps all rows of its left side (C2).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.query import Query
from streambound.criteria.dataflow.blocks import Read, RuleContext, block, most_results, read_block, read_items
from streambound.criteria.dataflow.counting import different, least, until_key_ends
from streambound.criteria.dataflow.demand import Demand, everything
from streambound.criteria.dataflow.state import (
    BlockResults,
    Entry,
    Operation,
    OperatorState,
    Retention,
    StateCount,
    SumOfCounts,
    Undecided,
    better,
)
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.size import Number, total

MOST_COLUMNS = 6
"""Columns of a set operation of which every set of NULLs is looked at."""


def distinct(tree: nodes.Distinct | nodes.Union, demand: Demand, context: RuleContext) -> Operation:
    """Each row once: by the set criterion of a block, or the different rows of a view."""
    if isinstance(tree, nodes.Union):
        below: tuple[Operation, ...] = (_below(tree.left, context), _below(tree.right, context))
    else:
        below = (_below(tree.input, context),)
    view = context.views.of(tree)
    count = until_key_ends(view, view.every)
    proposition = "K2" if count is not None and count.retention is Retention.KEY else "Lemma 1"
    states = (_rows(tree, "distinct", proposition, count, view),)
    found = Operation(tree, states, below, demand)
    return better(block(tree, everything(view), context), found) if context.is_block(tree) else found


def union(tree: nodes.Union, demand: Demand, context: RuleContext) -> Operation:
    """UNION ALL: what its sides remember; UNION is that without duplicates (C3)."""
    if tree.distinct:
        return distinct(tree, demand, context)
    return Operation(tree, (), (context.below(tree.left, demand), context.below(tree.right, demand)), demand)


def _below(tree: nodes.Tree, context: RuleContext) -> Operation:
    view = context.views.of(tree)
    return context.below(tree, replace(everything(view), once=True))


def _rows(tree: nodes.Tree, what: str, proposition: str, count: StateCount | None, view: OperatorView) -> OperatorState:
    words = "rows are compared with all their columns"
    return OperatorState.of(tree, what, proposition, view.every, Entry.ROW, count, view, words)


def set_operation(tree: nodes.Except | nodes.Intersect, demand: Demand, context: RuleContext) -> Operation:
    """EXCEPT and INTERSECT."""
    view, left, right = (context.views.of(one) for one in (tree, tree.left, tree.right))
    below = context.below(tree.left, everything(left)), context.below(tree.right, everything(right))
    keeps_left = isinstance(tree, nodes.Except) and tree.distinct
    counts = [_of_left(tree, context) if keeps_left else _of_both(tree, context), _open(view, left, right)]
    shared = view if keeps_left else context.views.of(nodes.Intersect(tree.left, tree.right, tree.distinct))
    counts.append(different(_by_values(shared), shared.every))
    counts.append(_of_each(tree, context))
    if left.rows is not None and right.rows is not None:
        counts.append(StateCount(total([left.rows, right.rows])))
    count = least(one for one in counts if one is not None)
    return Operation(tree, (_rows(tree, "rows", "C2" if keeps_left else "C1", count, view),), below, demand)


def _by_values(view: OperatorView) -> OperatorView:
    """Rows of which nothing is known but their values, and the one value that a key has."""
    keys = {name: one for name, one in view.sources.items() if one.table is None and one.rows == Number(1)}
    origins = tuple(
        origin if origin and origin <= keys.keys() else frozenset((f"values {place}",))
        for place, origin in enumerate(view.origins)
    )
    return replace(view, sources=keys, origins=origins, rows=None, parts=(), keys=(), below=None)


def _of_left(tree: nodes.Except | nodes.Intersect, context: RuleContext) -> StateCount | None:
    if not context.is_block(tree.left):
        return None
    read = read_block(tree.left, None, context, distinct=True)
    return most_results(read, Retention.EVER, by_values=True)


def _of_each(tree: nodes.Except | nodes.Intersect, context: RuleContext) -> StateCount | None:
    """The rows of both sides, where each has a number: rows of one wait for those that the other may still bring."""
    if not (context.is_block(tree.left) and context.is_block(tree.right)):
        return None
    counts = [most_results(read_block(side, None, context, distinct=True)) for side in (tree.left, tree.right)]
    known = [one for one in counts if one is not None]
    queries = tuple(query for one in known if isinstance(one.why, BlockResults) for query in one.why.queries)
    if len(known) < len(counts):
        return None
    return StateCount(total(one.size for one in known), Retention.EVER, why=BlockResults(queries))


def _of_both(tree: nodes.Except | nodes.Intersect, context: RuleContext) -> StateCount | None:
    """The rows that two blocks can both have."""
    reads = _joints(tree, context)
    if reads is None:
        return None
    counts = [most_results(read, by_values=True) for read in reads]
    known = [one for one in counts if one is not None and isinstance(one.why, BlockResults)]
    if len(known) < len(counts):
        return None
    queries = tuple(query for one in known if isinstance(one.why, BlockResults) for query in one.why.queries)
    return StateCount(total([Number(0), *(one.size for one in known)]), why=BlockResults(queries, True))


def _joints(tree: nodes.Except | nodes.Intersect, context: RuleContext) -> list[Read] | None:
    """The rows that two blocks both have, for every set of columns that are NULL on both sides."""
    width = len(context.views.of(tree).schema)
    if width > MOST_COLUMNS or not (context.is_block(tree.left) and context.is_block(tree.right)):
        return None
    nulls = (frozenset(one) for number in range(width + 1) for one in combinations(range(width), number))
    return [read_items(_joint(tree, width, one), _items(width), context) for one in nulls]


def open_rows_of(tree: nodes.Except | nodes.Intersect, context: RuleContext) -> list[Query] | None:
    """Blocks, one of which has each row that may still change the result; None where no block says it."""
    if isinstance(tree, nodes.Except) and tree.distinct:
        read = read_block(tree.left, None, context, distinct=True) if context.is_block(tree.left) else None
        return None if read is None or isinstance(read, Undecided) else [read.split]
    reads = _joints(tree, context)
    known = [read.split for read in reads or () if not isinstance(read, Undecided)]
    return None if reads is None or len(known) < len(reads) else known


def _items(width: int) -> list[nodes.Named]:
    return [nodes.Named(f"c{n}", Scalar(exp.column(f"c{n}", table="_l")), alias=True) for n in range(width)]


def _joint(tree: nodes.Except | nodes.Intersect, width: int, nulls: frozenset[int]) -> nodes.Filter:
    """The rows of both sides that are equal, of which some columns are NULL."""
    names = tuple(f"c{n}" for n in range(width))
    syntax = tree.syntax
    left, right = (
        nodes.Alias(tree.left, "_l", names, syntax=syntax),
        nodes.Alias(tree.right, "_r", names, syntax=syntax),
    )
    where = exp.and_(*(part for n in range(width) for part in _equal(n, n in nulls)))
    return nodes.Filter(nodes.Join(nodes.JoinKind.INNER, left, right, syntax=syntax), Scalar(where), syntax=syntax)


def _equal(place: int, null: bool) -> Iterator[exp.Expr]:
    mine, theirs = (exp.column(f"c{place}", table=alias) for alias in ("_l", "_r"))
    if null:
        yield exp.Is(this=mine, expression=exp.Null())
        yield exp.Is(this=theirs, expression=exp.Null())
    else:
        yield exp.EQ(this=mine, expression=theirs)


def _open(view: OperatorView, left: OperatorView, right: OperatorView) -> StateCount | None:
    """The rows of both sides that are open until neither changes any more."""
    counts = list[StateCount]()
    for side in (left, right):
        now = [replace(both, values=own.values) for own, both in zip(side.columns, view.columns, strict=True)]
        whole = replace(side, parts=(side,)).narrowed(now).parts[0]
        count = different(whole, whole.every)
        if count is None:
            return None
        counts.append(count)
    why = SumOfCounts(view, tuple(counts))
    return StateCount(total(one.size for one in counts), Retention.TIME, why=why)
