"""One function an operator over one view: which states there are, and what is needed of the input."""

from __future__ import annotations

from streambound.analyzer.algebra.monotone import not_monotone
from streambound.analyzer.algebra.nodes import Bucket, BucketKind, Filter, Fixpoint, Union
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.claims import ClaimedApart, ClaimedOperation, ClaimedPoint, NotCheckedError
from streambound.recheck.derivation.counts import CountedColumns
from streambound.recheck.derivation.demand import Needed, everything, needed_of
from streambound.recheck.derivation.fact_log import CheckedFacts
from streambound.recheck.derivation.operations import OperationChecker
from streambound.recheck.derivation.states import KEY, ROW, ExpectedState
from streambound.recheck.derivation.trees import PlanNode, listed, only_grows


def filtered_rows(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The rows for which a condition is true: it is read, and says which values are enough."""
    assert isinstance(node.tree, Filter), "its rule"
    needed, below = needed_of(claim), node.input("input")
    apart = dict(needed.apart)
    for one in claim.inputs[0].apart if claim.inputs else ():
        if one.path:
            most, pair = _apart(operations.counts.facts, node, one), (one.column, one.other)
            apart[pair] = min(most, apart.get(pair, most))
    limited = Needed(needed.columns, {**needed.most, **_limits(node, needed)}, apart)
    _linear(operations, claim, (below, limited.reading(below.read_by(node.tree.condition))))


def select_list(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The columns of a select list: those that are read are needed, and what their expressions read."""
    needed, below, items = needed_of(claim), node.input("input"), listed(node)
    columns = frozenset[int]().union(*(below.read_by(items[place]) for place in needed.columns))
    places = {one: place for one, item in enumerate(items) if (place := below.place_of(item)) is not None}
    _linear(operations, claim, (below, needed.at(places).reading(columns)))


def same_rows(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The rows of the input by another name."""
    _linear(operations, claim, (node.input("input"), needed_of(claim)))


def recursive_rows(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The rows of the recursion around it, which remembers them."""
    _linear(operations, claim)


def union(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """UNION ALL remembers nothing, UNION the different rows."""
    assert isinstance(node.tree, Union), "its rule"
    if node.tree.distinct:
        return distinct(operations, node, claim)
    needed = needed_of(claim)
    return _linear(operations, claim, (node.input("left"), needed), (node.input("right"), needed))


def bucket(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """Buckets need the time of a row, and remember nothing; sessions are kept by the groups that are of them."""
    assert isinstance(node.tree, Bucket), "its rule"
    if node.tree.kind is BucketKind.SESSION:
        raise NotCheckedError("sessions")
    needed, below = needed_of(claim), node.input("input")
    read = (needed.columns & below.every) | below.read_by(node.tree.time, *node.tree.keys)
    _linear(operations, claim, (below, needed.at({place: place for place in below.every}).reading(read)))


def _linear(operations: OperationChecker, claim: ClaimedOperation, *below: tuple[PlanNode, Needed]) -> None:
    """An operator that remembers nothing."""
    operations.states(claim)
    operations.inputs(claim, *below)


def distinct(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The different rows of a view."""
    size, reason, retention = operations.counted(claim, 0, CountedColumns(node, node.every, node.every))
    proposition = "K2" if retention == KEY else "Lemma 1"
    state = ExpectedState("distinct", proposition, tuple(range(node.width)), ROW, size, reason, retention)
    operations.states(claim, state)
    names = ("left", "right") if isinstance(node.tree, Union) else ("input",)
    operations.inputs(claim, *((below, everything(below)) for below in map(node.input, names)))


def fixpoint(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """F2: the rows of the least fixpoint, of which each column has few values; F3: the base's, if some go."""
    assert isinstance(node.tree, Fixpoint), "its rule"
    if not node.tree.distinct:
        raise RejectedError("a recursion that need not end")
    if not_monotone(node.tree.step, node.tree.name) is not None:
        raise RejectedError("a recursion that takes rows away from itself")
    base, step = node.input("base"), node.input("step")
    size, reason, retention = operations.counted(claim, 0, CountedColumns(node, node.every, node.every))
    states = [ExpectedState("recursion", "F2", tuple(range(node.width)), ROW, size, reason, retention)]
    if not (only_grows(base) and only_grows(step)) and not base.is_static:
        size, reason, retention = operations.counted(claim, 1, CountedColumns(base, base.every, base.every))
        states.append(ExpectedState("base", "F3", tuple(range(base.width)), ROW, size, reason, retention))
    operations.states(claim, *states)
    operations.inputs(claim, (base, everything(base)), (step, everything(step)))


def _apart(facts: CheckedFacts, node: PlanNode, claim: ClaimedApart) -> int:
    """By how much a column is above another one at most where a condition is true, which wants both."""
    pair = claim.column, claim.other
    if any(all(place not in atoms.present(one, node.row) for one in node.conditions) for place in pair):
        raise RejectedError("a row beside that need not be there")
    first, last = (ClaimedPoint(column=place) for place in pair)
    return facts.path(claim.path, first, last, node, ())


def _limits(node: PlanNode, needed: Needed) -> dict[int, int]:
    """The greatest values that a condition leaves of columns, where no smaller ones are asked for above."""
    found: dict[int, int] = {}
    for place in range(node.width):
        ends = [atoms.values(one, node.row, place).ends[1] for one in node.conditions]
        whole = [one for one in (*ends, needed.most.get(place)) if isinstance(one, int)]
        if whole:
            found[place] = min(whole)
    return found
