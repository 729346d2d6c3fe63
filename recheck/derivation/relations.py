"""The rows of relations: of one that changes they are kept, and those of any that is read are counted (E1)."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Scan
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedStateCount, count_of
from streambound.recheck.derivation.counts import CountedColumns
from streambound.recheck.derivation.operations import OperationChecker
from streambound.recheck.derivation.states import PRESENT, ROW, ExpectedState, reason_of
from streambound.recheck.derivation.trees import PlanNode


def relation(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """E1: the rows of a relation that changes, once for all that read it."""
    assert isinstance(node.tree, Scan), "its rule"
    table = node.catalog.table(node.tree.table)
    if table is None or table.changes is None or claim.inputs:
        raise RejectedError("a scan of what does not change")
    key = tuple(range(node.width))
    count = count_of(claim, 0)
    size = all_rows(operations, count, node)
    operations.states(claim, ExpectedState("relation", "E1", key, ROW, size, reason_of(count), PRESENT))
    if table.name in operations.relations:
        del operations.sizes[id(claim.states[0])]
    operations.relations.add(table.name)


def all_rows(operations: OperationChecker, count: ClaimedStateCount, node: PlanNode) -> Quantity:
    """The rows of a relation, or of what is made of some: as many as are declared, or as its key has values."""
    if count.rule == "rows":
        size = operations.counts.all_rows(node)
        operations.counts.agreed(count.size, size)
        return size
    table = node.catalog.table(node.tree.table) if isinstance(node.tree, Scan) else None
    if table is None or table.changes is None or not table.changes.key:
        raise RejectedError("rows of relations by a key")
    keys = {one.lower() for one in table.changes.key}
    places = frozenset(p for p, c in enumerate(node.schema) if c.name.lower() in keys)
    return operations.counts.most(count, CountedColumns(node, places, None))
