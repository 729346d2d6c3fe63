"""A relation that changes as what a job reads, a source of changes in order of time, and the operator of its rows."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.changes import ChangeFormat, DeclaredChanges
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.synopsis_exec.branch_plan import constant
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.operators.circuit_plan import ChangesNode
from streambound_runtime.promises import UPDATE, ChangeRecords, Domain


def changes_input(table: DeclaredTable) -> Input:
    """The changes of a relation: its columns, those of the change beside them, and the time of the change."""
    changes, old = _changes(table), _before(table)
    kinds = (changes.insert, changes.delete, *((UPDATE,) if old else ()))
    op = replace(changes.op, domain=Domain(None, None, kinds))
    rest = [column for column in table.columns if column.name not in (op.name, changes.timestamp.name)]
    columns: tuple[Column, ...] = (*rest, op, *old, changes.timestamp)
    return Input(
        table.name,
        Kind.RELATION,
        columns,
        columns,
        changes.timestamp.name,
        table.max_per_timestamp,
        table.source,
        table.rows,
        table.on_violation,
        table.arrival,
        table.max_rate,
        records=_records(table),
    )


def changes_node(name: str, table: DeclaredTable) -> ChangesNode:
    """The operator that has the rows of a relation."""
    changes = _changes(table)
    columns = tuple(column.name for column in table.columns)
    time = changes.timestamp.name if table.column(changes.timestamp.name) else ""
    insert, delete = constant(changes.insert), constant(changes.delete)
    assert insert is not None and delete is not None, "kinds have values"
    before = tuple(column.name for column in _before(table))
    return ChangesNode(
        name, table.name, columns, changes.op.name, insert, delete, changes.key, table.rows, time, before
    )


def _changes(table: DeclaredTable) -> DeclaredChanges:
    assert table.changes is not None, "a relation that changes"
    return table.changes


def _before(table: DeclaredTable) -> tuple[Column, ...]:
    """The columns of the row before an update, where a change has it."""
    if _changes(table).format is not ChangeFormat.DEBEZIUM:
        return ()
    names, mark = {column.name.lower() for column in table.columns}, "before"
    while any(f"{mark} {name}" in names for name in names):
        mark = f"_{mark}"
    return tuple(replace(column, name=f"{mark} {column.name}", domain=None) for column in table.columns)


def _records(table: DeclaredTable) -> ChangeRecords | None:
    """How changes are written, where they are no rows."""
    changes = _changes(table)
    if changes.format is ChangeFormat.OP:
        return None
    beside = [name for name, _ in table.source.metadata] if table.source is not None else []
    debezium = changes.format is ChangeFormat.DEBEZIUM
    return ChangeRecords(
        debezium,
        tuple(column.name for column in table.columns),
        changes.op.name,
        str(changes.insert),
        str(changes.delete),
        changes.key,
        changes.timestamp.name,
        changes.timestamp.type.family is Family.TIMESTAMP,
        tuple(column.name for column in _before(table)),
        tuple(dict.fromkeys([*beside, *([] if debezium else [changes.timestamp.name])])),
    )
