"""Which edit of the catalog changed what became of a statement that nobody touched.

The edits that a statement can see are taken back one by one; those without which it would be as it was are to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.values import decode
from streambound_runtime.promises import Domain

MOST_TRIED = 60
"""Edits of the tables that one statement names; beyond them all are blamed."""


@dataclass(frozen=True, slots=True)
class CatalogEdit:
    """One difference between two catalogs: where it is now, what it is, and how to take it back."""

    file: str
    line: int
    message: str
    undo: Callable[[Catalog], Catalog]


def catalog_edits(old: Catalog, new: Catalog, words: str) -> tuple[CatalogEdit, ...]:
    """The differences in the tables that a text names (as `reports.fingerprint.words` has it)."""
    named = {word.strip("`") for word in words.lower().split("\x1f")}
    tables = [table for table in old.tables if table.name.lower() in named]
    return tuple(edit for table in tables for edit in _table_edits(table, new.table(table.name), old, new))


def to_blame(
    edits: Sequence[CatalogEdit], new: Catalog, restored: Callable[[Catalog], bool]
) -> tuple[CatalogEdit, ...]:
    """A smallest selection of edits that all must be taken back; ``restored`` says if a catalog gives the old outcome.

    None where not even all of them together explain it.
    """
    if not restored(_undone(new, edits)):
        return ()
    if len(edits) > MOST_TRIED:
        return tuple(edits)
    left = list(edits)
    for edit in edits:
        without = [other for other in left if other is not edit]
        if restored(_undone(new, without)):
            left = without
    return tuple(left)


def _undone(catalog: Catalog, edits: Sequence[CatalogEdit]) -> Catalog:
    for edit in edits:
        catalog = edit.undo(catalog)
    return catalog


def _table_edits(
    old: DeclaredTable, new: DeclaredTable | None, before: Catalog, after: Catalog
) -> Iterator[CatalogEdit]:
    was = f"({before.file}:{old.line} then)"
    if new is None:
        message = f"{old.name} is not declared any more {was}"
        yield CatalogEdit(after.file, 1, message, lambda catalog: replace(catalog, tables=(*catalog.tables, old)))
        return
    for name in ("kind", "timestamp", "max_per_timestamp", "max_rate", "rows"):
        value, now = getattr(old, name), getattr(new, name)
        if value != now:
            label = f"{old.name}.{name}" if name != "kind" else old.name
            message = f"{label} is {_word(now)}, was {_word(value)} {was}"
            yield CatalogEdit(after.file, new.line, message, _undo_field(old.name, name, value))
    for column in old.columns:
        yield from _column_edits(old, new, column, after, before)
    for column in new.columns:
        if old.column(column.name) is None:
            message = f"{old.name}.{column.name} is declared here, and was not"
            yield CatalogEdit(after.file, column.line, message, _undo_added(old.name, column.name))


def _column_edits(
    old: DeclaredTable, new: DeclaredTable, column: Column, after: Catalog, before: Catalog
) -> Iterator[CatalogEdit]:
    label, now = f"{old.name}.{column.name}", new.column(column.name)
    undo = _undo_column(old.name, column)
    if now is None:
        message = f"{label} is not declared any more ({before.file}:{column.line} then)"
        yield CatalogEdit(after.file, new.line, message, undo)
        return
    if now.type != column.type:
        message = f"{label} is {now.type.name}, was {column.type.name} ({before.file}:{column.line} then)"
        yield CatalogEdit(after.file, now.line, message, undo)
    elif now.domain != column.domain:
        then = f"({before.file}:{column.domain_line or column.line} then)"
        message = f"the domain of {label} is {_domain(now)}, was {_domain(column)} {then}"
        yield CatalogEdit(after.file, now.domain_line or now.line, message, undo)


def _undo_field(table: str, name: str, value: object) -> Callable[[Catalog], Catalog]:
    return lambda catalog: _changed(catalog, table, lambda found: replace(found, **{name: value}))  # type: ignore[arg-type]


def _undo_column(table: str, column: Column) -> Callable[[Catalog], Catalog]:
    def undone(found: DeclaredTable) -> DeclaredTable:
        names = [other.name.lower() for other in found.columns]
        if column.name.lower() not in names:
            return replace(found, columns=(*found.columns, column))
        return replace(found, columns=tuple(column if n == column.name.lower() else other
                                            for n, other in zip(names, found.columns, strict=True)))  # fmt: skip

    return lambda catalog: _changed(catalog, table, undone)


def _undo_added(table: str, name: str) -> Callable[[Catalog], Catalog]:
    def undone(found: DeclaredTable) -> DeclaredTable:
        return replace(found, columns=tuple(other for other in found.columns if other.name.lower() != name.lower()))

    return lambda catalog: _changed(catalog, table, undone)


def _changed(catalog: Catalog, table: str, change: Callable[[DeclaredTable], DeclaredTable]) -> Catalog:
    tables = (change(found) if found.name.lower() == table.lower() else found for found in catalog.tables)
    return replace(catalog, tables=tuple(tables))


def _word(value: object) -> str:
    return "not declared" if value is None else str(value)


def _domain(column: Column) -> str:
    domain = column.domain
    match domain:
        case None:
            return "not declared"
        case Domain(low, high, ()) if low is not None and high is not None:
            return f"[{decode(low, column.type)}, {decode(high, column.type)}]"
    return f"[{', '.join(decode(value, column.type) for value in domain.values)}]"
