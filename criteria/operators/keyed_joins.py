"""Joins of two views of so many rows each: proposition E1, Lemma 1. Both are remembered; there are no more pairs.

Of views without a number, whose rows close close together, those are remembered that are open (`closing_joins`).
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Join, JoinKind, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.criteria.operators.closing_joins import near_buckets
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.mapped import columns_shown
from streambound.criteria.operators.pair_tests import as_shown, pair_tests
from streambound.criteria.operators.states import Judged, State, ViewJoinPart
from streambound.criteria.size import product, total

_SIDES = ("_l", "_r")
KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)


def judge_keyed_join(tree: Join, context: Context) -> Judged:
    """A join of two views; raises NoRule where one has rows without a number, and they do not close close together."""
    if tree.kind not in KINDS or tree.using:
        raise NoRule(f"a {tree.kind} join")
    (given, left), (others, right) = (_side(side, tree, context) for side in (tree.left, tree.right))
    if left.part is None or right.part is None:
        return Judged(None, (), (*left.violations, *right.violations), (*left.suspects, *right.suspects))
    sides = (given, others)
    columns = (left.part.columns[: len(given)], right.part.columns[: len(others)])
    tests = pair_tests(tree, sides, columns, context)
    shown, own = as_shown(tree, sides, columns, context)
    near = None if left.rows is not None and right.rows is not None else near_buckets(left.closes, right.closes, tests)
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
        return Judged(part, states, retracts=True, closes=near.results(tree.kind, shown))
    pairs = mine if tree.kind in (JoinKind.SEMI, JoinKind.ANTI) else product([mine, theirs])
    if tree.kind is JoinKind.LEFT:
        pairs = total([mine, pairs])
    return Judged(part, states, rows=pairs, retracts=True)


def _side(side: Tree, tree: Join, context: Context) -> tuple[Schema, Judged]:
    """A side of a join with its columns that are needed: those that the condition reads, and what is shown."""
    before = context.needed
    if before is not None:
        condition = [] if tree.condition is None else list(parsed(tree.condition).find_all(exp.Column))
        context.needed = {**before, **{(node.name, node.table): node for node in condition}}
    given, needed = schema(side, context.catalog), context.needed
    if is_block(side, context.catalog):
        given = tuple(view for view in given if needed is None or any(view.called(*name) for name in needed))
        nodes = [exp.column(view.name, table=view.alias or None, quoted=True) for view in given]
        items = tuple(Named(f"c{n}", Scalar(node.sql("spark"), node), alias=True) for n, node in enumerate(nodes))
        side = Project(
            side, items or (Named("c0", Scalar("1", exp.Literal.number(1)), alias=True),), syntax=tree.syntax
        )
    judged = context.judge(side, context)
    context.needed = before
    return given if judged.part is None else columns_shown(given, judged.part.columns, needed), judged
