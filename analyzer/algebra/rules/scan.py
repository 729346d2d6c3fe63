"""Scan: what the catalog declares of a stream or relation."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Scan
from streambound.analyzer.algebra.value_sets import between, of_domain
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, ViewFacts, ViewKind
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.closure import FIRST_TIMES
from streambound.analyzer.columns import Column


def scan(tree: Scan, catalog: Catalog) -> ViewFacts:
    """The rows of a table: of a stream they come at the time that they carry."""
    declared = catalog.table(tree.table)
    if declared is None:
        return ViewFacts()
    columns = tuple(_column(column, declared, tree.alias) for column in declared.columns)
    if declared.changes is not None:
        key = frozenset(f"{tree.alias}.{name}".lower() for name in declared.changes.key)
        change = ViewKind.CHANGING if declared.rows is None else ViewKind.KEYED
        return ViewFacts(change, (key,) if key else (), declared.rows, columns, state=declared.rows)
    if declared.kind is Kind.RELATION:
        return ViewFacts(ViewKind.STATIC, rows=declared.rows, columns=columns, state=0, latest=frozenset())
    return ViewFacts(ViewKind.APPEND_ONLY, columns=columns, state=0, latest=frozenset((tree.alias,)))


def _column(column: Column, declared: DeclaredTable, alias: str) -> ColumnFacts:
    if column.name != declared.timestamp:
        return ColumnFacts(of_domain(column.domain, column.type, null=True))
    first = FIRST_TIMES[column.type.family]
    values = of_domain(column.domain, column.type, null=False).meet(between(first, None, null=False))
    return ColumnFacts(values, (TimePromise(NOW, 0, 0), TimePromise(alias, 0, 0)))
