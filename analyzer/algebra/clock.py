"""The time of what a tree reads: the type of all timestamps beside it."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.algebra.nodes import Scan, Tree, inputs
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.columns import Column


def clock(tree: Tree, catalog: Catalog) -> Column | None:
    """The time of the first stream that a tree reads, or of the first changes; of others' where it reads none."""
    read = [table for scan in scans(tree) if (table := catalog.table(scan.table)) is not None]
    return next((time for table in (*read, *catalog.tables) if (time := time_of(table)) is not None), None)


def clocks(tree: Tree, catalog: Catalog) -> tuple[str, ...]:
    """The streams, and relations that change, whose timestamps are those of a tree's results, each once."""
    read = ((name, catalog.table(name)) for name in dict.fromkeys(scan.table for scan in scans(tree)))
    return tuple(name for name, table in read if table is not None and time_of(table) is not None)


def time_of(table: DeclaredTable) -> Column | None:
    """The time of a stream's rows, or of a relation's changes; None of a relation that does not change."""
    if table.timestamp is not None:
        return table.column(table.timestamp)
    return None if table.changes is None else table.changes.timestamp


def scans(tree: Tree) -> Iterator[Scan]:
    """The places where a tree reads a stream or a relation, from left to right."""
    if isinstance(tree, Scan):
        yield tree
    for below in inputs(tree):
        yield from scans(below)
