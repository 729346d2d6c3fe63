"""The rows of relations: of one that changes they are kept, and those of any that is read are counted (E1)."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Alias, Filter, Project, Scan, SpjBlock
from streambound.analyzer.symbols import symbol
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedStateCount, NotCheckedError, count_of
from streambound.recheck.derivation.counts import CountedColumns
from streambound.recheck.derivation.operations import OperationChecker
from streambound.recheck.derivation.states import PRESENT, ROW, ExpectedState, reason_of
from streambound.recheck.derivation.trees import PlanNode, sources


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
    """The rows of a relation: as many as it is declared to have, or as its key has values."""
    below, names = node, ""
    while isinstance(below.tree, Filter | Alias | Project | SpjBlock):
        below = below.input("input")
    table = below.catalog.table(below.tree.table) if isinstance(below.tree, Scan) else None
    if table is None or sources(below)[below.tree.alias].is_stream:  # type: ignore[union-attr]
        raise NotCheckedError("rows of what is computed of relations")
    if count.rule != "rows":
        if table.changes is None or not table.changes.key or below is not node:
            raise NotCheckedError("rows of relations by a key")
        keys = {one.lower() for one in table.changes.key}
        places = frozenset(p for p, c in enumerate(node.schema) if c.name.lower() in keys)
        return operations.counts.most(count, CountedColumns(node, places, None))
    if table.is_fixed:
        names = symbol("rows", table.name)
        operations.counts.symbols.setdefault(names, Quantity.symbol(names, table.rows))
        size = operations.counts.symbols[names]
    elif table.rows is not None:
        size = Quantity.number(table.rows)
    else:
        raise RejectedError("a relation without a number of rows")
    operations.counts.agreed(count.size, size)
    return size
