"""EXCEPT and INTERSECT: what both sides have waits (C1); EXCEPT keeps all rows of its left side (C2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Except, Filter, Intersect, Join, JoinKind, Named
from streambound.analyzer.algebra.syntax import scalar_of
from streambound.analyzer.query import Query
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedOperation
from streambound.recheck.derivation.counts import CountedRows
from streambound.recheck.derivation.demand import everything
from streambound.recheck.derivation.states import BLOCK, EVER, ROW, State
from streambound.recheck.derivation.trees import Node

if TYPE_CHECKING:
    from streambound.recheck.derivation.operators import Operators


def set_operation(operators: Operators, node: Node, tree: Except | Intersect, claim: ClaimedOperation) -> None:
    """The rows that wait, by the results of blocks, or by their columns' values until neither side can change them."""
    left, right = node.input("left"), node.input("right")
    keeps_left = isinstance(tree, Except) and tree.distinct
    common = node if keeps_left else node.of(Intersect(tree.left, tree.right, tree.distinct))
    rows = CountedRows(common, common.every, common.every)

    def results() -> list[Query]:
        blocks = [left] if keeps_left else [left, right]
        if not all(map(operators.is_block, blocks)):
            raise RejectedError("results of what is no block")
        if keeps_left:
            return [operators.columns(left).block(left.tree, None, True)]
        return list(_joint_results(operators, node, tree))

    size, reason, retention = operators.counted(claim, 0, rows, results)
    if any(one.count is not None and one.count.sources for one in claim.states):
        raise RejectedError("rows of one side's sources")
    if keeps_left and reason == BLOCK:
        retention = EVER
    proposition = "C2" if keeps_left else "C1"
    operators.states(claim, State("rows", proposition, tuple(range(node.width)), ROW, size, reason, retention))
    operators.inputs(claim, (left, everything(left)), (right, everything(right)))


def _joint_results(operators: Operators, node: Node, tree: Except | Intersect) -> Iterator[Query]:
    """The rows that both sides have, for every set of columns that are NULL."""
    items = [Named(f"c{n}", scalar_of(exp.column(f"c{n}", table="_l")), alias=True) for n in range(node.width)]
    names = tuple(f"c{n}" for n in range(node.width))
    left, right = Alias(tree.left, "_l", names, syntax=tree.syntax), Alias(tree.right, "_r", names, syntax=tree.syntax)
    both = Join(JoinKind.INNER, left, right, syntax=tree.syntax)
    for number in range(node.width + 1):
        for nulls in combinations(range(node.width), number):
            where = exp.and_(*(part for n in range(node.width) for part in _equal(n, n in nulls)))
            body = Filter(both, scalar_of(where), syntax=tree.syntax)
            yield operators.columns(node).items(body, items)


def _equal(place: int, null: bool) -> Iterator[exp.Expr]:
    mine, theirs = (exp.column(f"c{place}", table=alias) for alias in ("_l", "_r"))
    if null:
        yield exp.Is(this=mine, expression=exp.Null())
        yield exp.Is(this=theirs, expression=exp.Null())
    else:
        yield exp.EQ(this=mine, expression=theirs)
