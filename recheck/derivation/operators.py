"""One function an operator: which states there are, and what is needed of the inputs. Those with few rules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.monotone import not_monotone
from streambound.analyzer.algebra.nodes import JoinKind, Named, Scalar
from streambound.analyzer.query import Query
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.blocks import claimed_results
from streambound.recheck.derivation.claims import ClaimedGreatest, ClaimedOperation, ClaimedPoint, ClaimedStateCount
from streambound.recheck.derivation.counts import counted
from streambound.recheck.derivation.facts import CheckedFacts
from streambound.recheck.derivation.operations import ExpectedState, Needed, OperationChecker, needed_of
from streambound.recheck.derivation.plan import PlanNode, is_session, listed
from streambound.recheck.derivation.rows import only_grows, sources


def linear(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """An operator that remembers nothing: it needs of its inputs what is needed of its rows, and what it reads."""
    needed, tree = needed_of(claim), node.tree
    places, read = {place: place for place in node.every}, frozenset[int]()
    operations.states(claim)
    if isinstance(tree, nodes.Recur):  # the recursion around it remembers its rows
        return operations.inputs(claim)
    if isinstance(tree, nodes.Union):
        return operations.inputs(claim, *((side, needed) for side in node.inputs.values()))
    below = node.below
    match tree:
        case nodes.Filter(condition=condition):
            read = below.read_by(condition)
            needed = _limited(operations.counts.facts, node, needed, claim.inputs[0].limits if claim.inputs else ())
        case nodes.Project():
            shown = {one: below.place_of(item) for one, item in enumerate(listed(node))}
            places = {one: place for one, place in shown.items() if place is not None}
            read = frozenset[int]().union(*(below.read_by(listed(node)[one]) for one in needed.columns))
    return operations.inputs(claim, (below, needed.of(places, read)))


def bucket(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """Rows with their buckets of time, which need the time; those of sessions move, which groups of them know."""
    if is_session(node.tree):
        raise RejectedError("sessions, which are kept by groups alone")
    in_buckets(operations, node, claim)


def in_buckets(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """Rows with buckets, or sessions, of which nothing is remembered below the groups."""
    tree, below = node.tree, node.below
    assert isinstance(tree, nodes.Bucket), "its rule"
    operations.states(claim)
    read = below.read_by(tree.time, *tree.keys)
    operations.inputs(claim, (below, needed_of(claim).of({place: place for place in below.every}, read)))


def _limited(facts: CheckedFacts, node: PlanNode, needed: Needed, claimed: tuple[ClaimedGreatest, ...]) -> Needed:
    """The values of columns that are enough for a condition, and how far apart they may be."""
    limits = dict(needed.limits)
    for place in range(node.width):
        ends = [atoms.values(one, node.row, place).ends[1] for one in node.conditions]
        whole = [one for one in (*ends, limits.get((place, None))) if isinstance(one, int)]
        limits |= {(place, None): min(whole)} if whole else {}
    for one in claimed:
        if one.other is not None and one.path:
            most = _apart(facts, node, one, one.other)
            limits[one.column, one.other] = min(most, limits.get((one.column, one.other), most))
    return Needed(needed.columns, limits)


def _apart(facts: CheckedFacts, node: PlanNode, claim: ClaimedGreatest, other: int) -> int:
    """By how much a column is above another one at most where a condition is true, which wants both."""
    pair = claim.column, other
    if any(all(place not in atoms.present(one, node.row) for one in node.conditions) for place in pair):
        raise RejectedError("a row beside that need not be there")
    first, last = (ClaimedPoint(column=place) for place in pair)
    found = facts.path(claim.path, first, last, node, ())
    assert found is not None, "there is a path"
    return found


def union(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """UNION ALL remembers nothing, UNION the different rows."""
    is_bag = isinstance(node.tree, nodes.Union) and not node.tree.distinct
    return linear(operations, node, claim) if is_bag else distinct(operations, node, claim)


def distinct(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The different rows of a view."""
    size = operations.counted(claim, 0, counted(node, by=node.every))
    operations.states(claim, ExpectedState("distinct", "K2" if claim.count(0).goes == "key" else "Lemma 1", size))
    _whole_inputs(operations, node, claim)


def _whole_inputs(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    operations.inputs(claim, *((below, Needed(below.every)) for below in node.inputs.values()))


def fixpoint(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """F2: the rows of the least fixpoint, of which each column has few values; F3: the base's, if some go."""
    assert isinstance(node.tree, nodes.Fixpoint), "its rule"
    if not node.tree.distinct or not_monotone(node.tree.step, node.tree.name) is not None:
        raise RejectedError("a recursion that need not end, or takes rows away from itself")
    base, step = node.input("base"), node.input("step")
    states = [ExpectedState("recursion", "F2", operations.counted(claim, 0, counted(node, by=node.every)))]
    if not (only_grows(base) and only_grows(step)) and not base.is_static:
        states.append(ExpectedState("base", "F3", operations.counted(claim, 1, counted(base, by=base.every))))
    operations.states(claim, *states)
    _whole_inputs(operations, node, claim)


# --- relations --------------------------------------------------------------------------------------------------------


def relation(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """E1: the rows of a relation that changes, once for all that read it."""
    table = node.table
    if table is None or table.changes is None or claim.inputs:
        raise RejectedError("a scan of what does not change")
    operations.states(claim, ExpectedState("relation", "E1", all_rows(operations, claim.count(0), node)))
    if table.name in operations.relations:
        del operations.sizes[id(claim.states[0])]
    operations.relations.add(table.name)


def all_rows(operations: OperationChecker, count: ClaimedStateCount, node: PlanNode) -> Quantity:
    """The rows of a relation, or of what is made of some: as many as are declared, or as its key has values."""
    if count.rule == "whole":
        return operations.counts.most(count, counted(node))
    if node.table is None or node.table.changes is None or not node.table.changes.key:
        raise RejectedError("rows of relations by a key")
    keys = {one.lower() for one in node.table.changes.key}
    places = frozenset(p for p, c in enumerate(node.schema) if c.name.lower() in keys)
    return operations.counts.most(count, counted(node, places))


# --- EXCEPT and INTERSECT ---------------------------------------------------------------------------------------------


def set_operation(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The rows that wait, by the results of blocks, or by their columns' values until neither side can change them.

    C1: what both sides have waits. C2: EXCEPT keeps all rows of its left side.
    """
    tree, count = node.tree, claim.count(0)
    assert isinstance(tree, nodes.Except | nodes.Intersect), "its rule"
    keeps_left = isinstance(tree, nodes.Except) and tree.distinct
    common = node if keeps_left else node.of(nodes.Intersect(tree.left, tree.right, tree.distinct))
    if count.rule not in ("results", "combinations", "parts"):
        raise RejectedError("rows that wait which are counted as those of one side")
    rows = replace(counted(node if count.rule == "parts" else common, by=node.every), one_side=False)
    size = operations.counted(claim, 0, rows, *_results(operations, node, tree, count))
    known = sources(node) if count.sources else {}  # that there is one key of each stream holds of both sides
    if any(known[one.source].table is not None or not known[one.source].single for one in count.sources):
        raise RejectedError("rows of one side's sources")
    operations.states(claim, ExpectedState("rows", "C2" if keeps_left else "C1", size))
    _whole_inputs(operations, node, claim)


def _results(
    operations: OperationChecker, node: PlanNode, tree: nodes.Except | nodes.Intersect, count: ClaimedStateCount
) -> tuple[list[Query] | None, bool]:
    """The blocks whose results wait: those of each side, or what they can both have, of EXCEPT the left one's.

    These wait for any that a side may still bring, so that they are counted by values.
    """
    blocks = [one for one in node.inputs.values() if operations.is_block(one)] if count.rule == "results" else []
    each = [operations.columns(side).block(side.tree, None, True) for side in blocks]
    if len(each) == 2 and claimed_results(map(derive, each), count) is not None:
        return each, False
    if isinstance(tree, nodes.Except) and tree.distinct:
        return (each[:1] if blocks and blocks[0].tree is tree.left else None), True
    return (list(_joint_results(operations, node, tree)) if len(each) == 2 else None), True


def _joint_results(
    operations: OperationChecker, node: PlanNode, tree: nodes.Except | nodes.Intersect
) -> Iterator[Query]:
    """The rows that both sides have, for every set of columns that are NULL."""
    names = tuple(f"c{n}" for n in range(node.width))
    items = [Named(one, Scalar(exp.column(one, table="_l")), alias=True) for one in names]
    left = nodes.Alias(tree.left, "_l", names, syntax=tree.syntax)
    right = nodes.Alias(tree.right, "_r", names, syntax=tree.syntax)
    both = nodes.Join(JoinKind.INNER, left, right, syntax=tree.syntax)
    for number in range(node.width + 1):
        for nulls in combinations(names, number):
            where = exp.and_(*(part for one in names for part in _equal(one, one in nulls)))
            yield operations.columns(node).items(nodes.Filter(both, Scalar(where), syntax=tree.syntax), items)


def _equal(name: str, null: bool) -> list[exp.Expr]:
    mine, theirs = (exp.column(name, table=alias) for alias in ("_l", "_r"))
    if not null:
        return [exp.EQ(this=mine, expression=theirs)]
    return [exp.Is(this=one, expression=exp.Null()) for one in (mine, theirs)]
