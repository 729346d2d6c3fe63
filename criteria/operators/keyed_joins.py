"""Joins of two views of so many rows each: proposition E1, Lemma 1. Both are remembered; there are no more pairs.

Of views without a number, whose rows close close together, those are remembered that are open (`closing_joins`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Join, JoinKind
from streambound.criteria.judged import State
from streambound.criteria.operators.closing_joins import near_buckets
from streambound.criteria.operators.join_sides import side_of
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.padded_joins import PADS_LEFT, judge_padded_join
from streambound.criteria.operators.pair_tests import as_shown, pair_tests
from streambound.criteria.operators.parts import ViewJoinPart
from streambound.criteria.operators.states import JudgedPart, RowsOfSide
from streambound.criteria.size import product, total

_SIDES = ("_l", "_r")
KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)


def judge_keyed_join(tree: Join, context: Context) -> JudgedPart:
    """A join of two views; raises NoRule where one has rows without a number, and they do not close close together."""
    if tree.kind in PADS_LEFT and not tree.using:
        return judge_padded_join(tree, context)
    if tree.kind not in KINDS or tree.using:
        raise NoRule("USING between queries: write ON" if tree.using else f"a {tree.kind} join")
    (given, left), (others, right) = (side_of(side, tree, context) for side in (tree.left, tree.right))
    if left.part is None or right.part is None:
        return JudgedPart(violations=(*left.violations, *right.violations), suspects=(*left.suspects, *right.suspects))
    sides = (given, others)
    columns = (left.part.columns[: len(given)], right.part.columns[: len(others)])
    tests = pair_tests(tree, sides, columns, context)
    shown, own = as_shown(tree, sides, columns, context)
    near = (
        None
        if left.rows is not None and right.rows is not None
        else near_buckets(left.closes, right.closes, tests, tree.kind)
    )
    name, span = context.name(f"{tree.kind} join"), context.positions.of(tree.syntax or exp.Null())
    part = ViewJoinPart(name, str(tree.kind), left.part, right.part, tests, ((),), tuple(shown), own)
    if near is not None:
        part = replace(part, closing=near.closing)
        mine, theirs = near.rows
    else:
        mine = context.size(lambda: left.rows, "a join with a view whose rows have no number")
        theirs = context.size(lambda: right.rows, "a join with a view whose rows have no number")
    proposition, freed = ("E1", "when it is taken back") if near is None else ("A5", "when its bucket has closed")
    states = tuple(
        State(f"{name} {side}", proposition, rows, (), freed, span)
        for side, rows in (("left", mine), ("right", theirs))
    )
    states = (*left.states, *right.states, *states)
    if near is not None:
        return JudgedPart(part=part, states=states, retracts=True, closes=near.results(tree.kind, shown))
    pairs = mine if tree.kind in (JoinKind.SEMI, JoinKind.ANTI) else product([mine, theirs])
    if tree.kind is JoinKind.LEFT:
        pairs = total([mine, pairs])
    of_side = partial(RowsOfSide.at_a_time, shown=shown)
    rows_of = [of_side("l", rows=mine)] if tree.kind in (JoinKind.INNER, JoinKind.LEFT) else []
    rows_of += [of_side("r", rows=theirs)] if tree.kind is JoinKind.INNER else []  # beside NULLs of LEFT
    return JudgedPart(part=part, states=states, rows=pairs, retracts=True, sides=tuple(rows_of))
