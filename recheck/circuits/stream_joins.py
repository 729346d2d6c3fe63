"""Semi, anti and outer joins of two streams: B1 (no row waits), B3 (semi, anti), B4 (outer), and NOT IN (B5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed, qualified, schema
from streambound.analyzer.query import Query, Source, TimeValue
from streambound.analyzer.relation_queries import is_static
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.certificates.sizes import tuples_of
from streambound.recheck.certificates.validate import symbols_of
from streambound.recheck.circuits.buckets import closing_bucket
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.closing_columns import closing_columns
from streambound.recheck.circuits.evidence import Evidence, keys_with_values
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import Names, all_of, called, names_in, node_of, scalar, under_filter
from streambound.recheck.circuits.view import ClosesBy, JoinedSide, View

_OUTER = (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL)
_ASKING = (JoinKind.SEMI, JoinKind.ANTI)


def stream_join(tree: Join, states: States) -> View:
    """The tables of the inner join: of a bag, or those of a set where the left side's fate is known when it comes."""
    if tree.kind not in (*_OUTER, *_ASKING) or tree.using:
        raise NotRecheckedError(f"{tree.kind} joins of views that change")
    split = derive(_inner(tree, states)).split
    if not split.branches:
        return View()
    if len(split.branches) > 1 or len(split.branches[0].sources) != 2:
        raise NotRecheckedError("joins with several cases, or of more than two streams")
    as_set = replace(split, distinct=True)
    if tree.kind in _ASKING and any(Evidence.is_of(one, as_set, True) for one in states.evidence.blocks):
        _check_never_waits(split)
        states.evidence.block(as_set, "B1", True)
    else:
        states.evidence.block(split, "B3" if tree.kind in _ASKING else "B4", False)
    return View(closing=tuple(_closing(tree, split, states)))


def _closing(tree: Join, split: Query, states: States) -> Iterator[ClosesBy]:
    """The times of a side that has a row for each of its own: such a row changes until no partner comes any more."""
    conditions = Conditions(split.branches[0])
    left, right = (source.alias for source in split.branches[0].sources)
    whole = {JoinKind.RIGHT: right, JoinKind.FULL: None}.get(tree.kind, left)
    everything = schema(tree, states.catalog)
    shown = [n for n, column in enumerate(everything) if called(column, states.needed)]
    own = schema(tree.right if tree.kind is JoinKind.RIGHT else tree.left, states.catalog)
    for pairs in closing_columns(split):
        (column,) = pairs.columns
        value = conditions.branch.outputs[column.place].value
        if whole is None or not isinstance(value, TimeValue) or value.plus.source != whole:
            continue
        source = conditions.source(whole)

        def alone(more: int, source: Source = source, delay: int = column.delay) -> Quantity:
            return tuples_of(source, delay + more, symbols_of(split)) if delay + more else Quantity.number(0)

        def open(more: int, pairs: ClosesBy = pairs, alone: Callable[[int], Quantity] = alone) -> Quantity:
            return alone(more) if tree.kind in _ASKING else alone(more) + pairs.open(more)

        of_side = JoinedSide(frozenset(n for n in shown if everything[n] in own), alone)
        yield ClosesBy((replace(column, place=shown[column.place]),), open, None, (of_side,))


def _check_never_waits(split: Query) -> None:
    """B1: only where the left side's fate is known when it comes, are the right side's extrema enough (W1)."""
    conditions = Conditions(split.branches[0])
    left, right = (conditions.time(source.alias) for source in split.branches[0].sources)
    bound = conditions.follows.bound(right, left)
    if bound is None or bound[0] > 0:
        raise NotRecheckedError("extrema beside rows that wait")


def _inner(tree: Join, states: States) -> Query:
    """The inner join, with the columns of the result that are needed."""
    needed = states.needed
    shown = [c for c in schema(tree, states.catalog) if called(c, needed)]
    items = [Named(f"c{n}", scalar(node_of(c, needed, shown)), alias=True) for n, c in enumerate(shown)]
    sides = [under_filter(side) for side in (tree.left, tree.right)]
    body: Tree = Join(JoinKind.INNER, sides[0][0], sides[1][0], tree.condition, syntax=tree.syntax)
    conditions = ((below, condition) for below, condition in sides if condition is not None)
    every = all_of(qualified(condition, schema(below, states.catalog)) for below, condition in conditions)
    return states.blocks.query(body if every is None else Filter(body, every, syntax=tree.syntax), items)


# --- NOT IN ----------------------------------------------------------------------------------------------------------


def not_in(tree: Join, states: States) -> View:
    """``x NOT IN (SELECT y …)``: the anti join with ``y = x OR y IS NULL OR x IS NULL``, case by case (B5)."""
    assert tree.member is not None, "what NOT IN compares"
    member = parsed(tree.member)
    if not isinstance(member, exp.EQ):
        raise NotRecheckedError("NOT IN of several columns")
    x, y = member.this, member.expression
    anti = replace(tree, kind=JoinKind.ANTI, member=None)
    if is_static(tree.right, states.catalog):
        left = replace(anti, condition=_and(tree, member))
        left = replace(anti, left=left, right=_where(tree.right, y, null=True))
        return states.of(replace(anti, left=left, condition=_and(tree, _is_null(x))))
    equal = replace(anti, condition=_and(tree, member), left=_where(tree.left, x, null=False))
    unknown = replace(anti, left=_where(tree.left, x, null=True))
    null = replace(anti, right=_where(tree.right, y, null=True))
    if not derive(_inner(null, states)).split.branches:  # y is never NULL
        states.of(equal)
        states.of(unknown)
        return View()
    before, states.needed = states.needed, _deciding(equal, states)
    try:
        _but_for_nulls(equal, replace(null, kind=JoinKind.SEMI), states)
        states.of(unknown)
    finally:
        states.needed = before
    return View()


def _deciding(equal: Join, states: States) -> Names | None:
    """What says which partners a row has, with what is shown; None for all columns where a time is among them."""
    if states.needed is None:
        return None
    read = {**states.needed, **names_in([equal.condition])}
    timed = any(one.time and called(one, read) for one in schema(equal, states.catalog))
    return None if timed else read


def _but_for_nulls(equal: Join, null: Join, states: States) -> None:
    """The rows without an equal partner but for those with one that is NULL, until no partner comes any more.

    Without a time among what decides, they are the rows that a partner that is NULL can meet, each counted once.
    """
    joints = [derive(_inner(one, states)).split for one in (equal, null)]
    stream_join(equal, states)
    stream_join(null, states)
    pairs = [(split, Conditions(branch)) for split in joints for branch in split.branches]
    if not pairs:
        raise NotRecheckedError("NOT IN that is always true")
    outputs = pairs[0][1].branch.outputs
    names = tuple(one.name for one in outputs)
    if states.needed is not None:
        results = states.evidence.results(joints[1:])
        keys = keys_with_values(names, joints[1], results.tables)
        states.line("B5", keys, results.entries, "when both sides have it equally often")
        return
    for place, output in enumerate(outputs):
        if not isinstance(output.value, TimeValue):
            continue
        found = [closing_bucket(one, one.branch.outputs[place]) for _, one in pairs]
        known = [bucket for bucket in found if bucket is not None]
        if len(known) < len(found):
            break
        delay = max(bucket.delay for bucket in known)
        split, first = pairs[0]
        waiting = Quantity.number(0)
        if delay:
            waiting = tuples_of(first.source(known[0].stream), delay, symbols_of(split))
        states.line("B5", names, waiting, "when no partner comes any more")
        return
    raise NotRecheckedError("NOT IN of what may be NULL, whose rows wait")


def _and(tree: Join, member: exp.Expr) -> Scalar | None:
    parts = [*([] if tree.condition is None else [parsed(tree.condition)]), member]
    return all_of(parts)


def _where(side: Tree, column: exp.Expr, null: bool) -> Tree:
    """The rows of a side in which a column is NULL, or is not."""
    test = _is_null(column) if null else exp.Not(this=_is_null(column))
    below, known = under_filter(side)
    every = all_of([*([] if known is None else [parsed(known)]), test])
    assert every is not None
    return Filter(below, every, syntax=below.syntax if known is not None else side.syntax)


def _is_null(column: exp.Expr) -> exp.Expr:
    return exp.Is(this=column.copy(), expression=exp.Null())
