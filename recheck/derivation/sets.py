"""EXCEPT and INTERSECT: what both sides have waits (C1); EXCEPT keeps all rows of its left side (C2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Except, Filter, Intersect, Join, JoinKind, Named
from streambound.analyzer.algebra.syntax import scalar_of
from streambound.analyzer.query import Query
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedStateCount, count_of
from streambound.recheck.derivation.counts import CountedColumns
from streambound.recheck.derivation.demand import everything
from streambound.recheck.derivation.operations import OperationChecker
from streambound.recheck.derivation.states import BLOCK, EVER, PRESENT, ROW, ROWS, ExpectedState
from streambound.recheck.derivation.trees import PlanNode, sources


def set_operation(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The rows that wait, by the results of blocks, or by their columns' values until neither side can change them."""
    tree, left, right = node.tree, node.input("left"), node.input("right")
    assert isinstance(tree, Except | Intersect), "its rule"
    keeps_left = isinstance(tree, Except) and tree.distinct
    common = node if keeps_left else node.of(Intersect(tree.left, tree.right, tree.distinct))

    count = count_of(claim, 0)
    rows = CountedColumns(node if count.rule == "open" else common, node.every, node.every)
    queries, of_each = _blocks(operations, node, tree, count) if count.rule == "results" else ([], False)
    if count.rule == "rows":
        size, reason, retention = operations.counts.all_rows(left) + operations.counts.all_rows(right), ROWS, PRESENT
        operations.counts.agreed(count.size, size)
    else:
        size, reason, retention = operations.counted(claim, 0, rows, lambda: queries)
    known = sources(node) if count.sources else {}  # that there is one key of each stream holds of both sides
    if any(known[one.source].table is not None or not known[one.source].single for one in count.sources):
        raise RejectedError("rows of one side's sources")
    if reason == BLOCK and not of_each and not operations.of_blocks.by_values(map(derive, queries), count):
        raise RejectedError("rows that wait for any that a side may still bring")
    retention = EVER if reason == BLOCK and (keeps_left or of_each) else retention
    proposition = "C2" if keeps_left else "C1"
    operations.states(claim, ExpectedState("rows", proposition, tuple(range(node.width)), ROW, size, reason, retention))
    operations.inputs(claim, (left, everything(left)), (right, everything(right)))


def _blocks(
    operations: OperationChecker, node: PlanNode, tree: Except | Intersect, count: ClaimedStateCount
) -> tuple[list[Query], bool]:
    """The blocks whose results wait: those of each side, or what they can both have, of EXCEPT the left one's."""
    sides = [one for one in (node.input("left"), node.input("right")) if operations.is_block(one)]
    each = [operations.columns(side).block(side.tree, None, True) for side in sides]
    if len(each) == 2 and operations.of_blocks.are_results(map(derive, each), count):
        return each, True
    if isinstance(tree, Except) and tree.distinct:
        return (each[:1] if operations.is_block(node.input("left")) else []), False
    return (list(_joint_results(operations, node, tree)) if len(each) == 2 else []), False


def _joint_results(operations: OperationChecker, node: PlanNode, tree: Except | Intersect) -> Iterator[Query]:
    """The rows that both sides have, for every set of columns that are NULL."""
    items = [Named(f"c{n}", scalar_of(exp.column(f"c{n}", table="_l")), alias=True) for n in range(node.width)]
    names = tuple(f"c{n}" for n in range(node.width))
    left, right = Alias(tree.left, "_l", names, syntax=tree.syntax), Alias(tree.right, "_r", names, syntax=tree.syntax)
    both = Join(JoinKind.INNER, left, right, syntax=tree.syntax)
    for number in range(node.width + 1):
        for nulls in combinations(range(node.width), number):
            where = exp.and_(*(part for n in range(node.width) for part in _equal(n, n in nulls)))
            body = Filter(both, scalar_of(where), syntax=tree.syntax)
            yield operations.columns(node).items(body, items)


def _equal(place: int, null: bool) -> Iterator[exp.Expr]:
    mine, theirs = (exp.column(f"c{place}", table=alias) for alias in ("_l", "_r"))
    if null:
        yield exp.Is(this=mine, expression=exp.Null())
        yield exp.Is(this=theirs, expression=exp.Null())
    else:
        yield exp.EQ(this=mine, expression=theirs)
