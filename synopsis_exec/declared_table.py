"""A stream or relation of a plan as the runtime reads it (`streambound_runtime.spec`), or the changes of a relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from streambound.analyzer import columns
from streambound.analyzer.catalog import DeclaredTable, Kind, OnViolation
from streambound.analyzer.changes import ChangeFormat, DeclaredChanges
from streambound.analyzer.columns import Column
from streambound.analyzer.endpoints import Sink, SourceOptions, Target
from streambound.analyzer.query import Condition, NullTest, OneOf
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.synopsis_exec.asked_relations import asked_relations, over_views
from streambound.synopsis_exec.branch_plan import OPERATORS, constant
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime import spec
from streambound_runtime.operators.circuit_plan import ChangesNode
from streambound_runtime.operators.plan import Test
from streambound_runtime.promises import UPDATE, Arrival, ChangeRecords, Domain, KeyMark, Mark, Partitions

Options = Sequence[tuple[Condition, ...]]


def declared_table(
    item: Input,
    options: Options = ((),),
    uses: Callable[[str], Options] = lambda column: ((),),
    relations: dict[str, str] | None = None,
) -> spec.Stream | spec.Relation:
    """``options`` say which rows are useful, ``uses`` for which a derived column is (`synopsis_exec.useful`).

    ``relations`` are the names of the job's relations, by them in small letters.
    """
    columns = tuple(spec.TableColumn(one.name, one.type.name, declared_domain(one.domain)) for one in item.declared)
    needs, period = tuple(column.name for column in item.columns if column.name != item.timestamp), item.period
    source, stops = source_spec(item.source), item.on_violation is OnViolation.STOP
    derived = tuple(_derived(column, uses(column.name), relations or {}) for column in item.derived)
    if item.timestamp is None:
        return spec.Relation(item.name, columns, needs, source, item.rows, stops, derived, period, item.unique)
    if period is not None and (period.most is not None or period.unique):  # a row may be bad because of others
        needs = tuple(dict.fromkeys((*needs, *(one.name for one in columns if one.name != item.timestamp))))
    marks = tuple(KeyMark(p.attributes, p.column, told(p.value), p.max_open, p.since) for p in item.punctuations)
    return spec.Stream(
        item.name,
        columns,
        item.timestamp,
        needs,
        tests_of(options),
        source,
        _arrival(item),
        item.max_per_timestamp,
        stops,
        item.max_rate,
        derived,
        item.kind is Kind.RELATION,
        marks,
        item.ends_keys,
        period=period,
        records=item.records,
        unique=item.unique,
    )


def source_spec(found: SourceOptions | None) -> spec.SourceSpec | None:
    """Where rows come from, if the catalog says that."""
    return spec.SourceSpec(found.format, found.path, found.options, found.payload, found.metadata) if found else None


def sink_specs(sink: Sink | None) -> tuple[spec.SinkSpec | None, spec.SinkSpec | None]:
    """Where results go, and where bad rows do, if the catalog says that."""
    if sink is None:
        return None, None
    results = spec.SinkSpec(call=sink.call) if sink.call else None if sink.target is None else _target(sink.target)
    return results, None if sink.quarantine is None else _target(sink.quarantine)


def _target(target: Target) -> spec.SinkSpec:
    return spec.SinkSpec(target.format, target.path, target.options, table=target.table)


def _derived(column: columns.Column, uses: Options, relations: dict[str, str]) -> spec.Derived:
    asks = tuple(relations[name] for name in asked_relations(column.expression))
    return spec.Derived(column.name, over_views(column.expression, relations), column.type.name, tests_of(uses), asks)


def _arrival(item: Input) -> Arrival[spec.Value]:
    mark, partitions = item.arrival.mark, item.arrival.partitions
    return Arrival(
        item.arrival.lateness,
        item.arrival.idle_after,
        Mark(mark.column, _value(mark.value), mark.like, mark.since) if mark else None,
        Partitions(partitions.column, _values(partitions.values)) if partitions else None,
    )


def declared_domain(domain: Domain[Value] | None) -> Domain[spec.Value] | None:
    """The values that a column may have, encoded as the runtime has them."""
    return Domain(_value(domain.low), _value(domain.high), _values(domain.values)) if domain else None


def tests_of(options: Options) -> tuple[tuple[Test, ...], ...]:
    """Conjunctions of conditions on a row, each once, as the runtime has them."""
    return tuple(dict.fromkeys(tuple(map(_test, atoms)) for atoms in options))


def _test(atom: Condition) -> Test:
    if isinstance(atom, OneOf):
        return Test(atom.attribute.column, "in", None, tuple(map(constant, atom.values)))
    if isinstance(atom, NullTest):
        return Test(atom.attribute.column, "is null" if atom.is_null else "is not null")
    right = atom.right.column if atom.right is not None else None
    return Test(atom.left.column, OPERATORS[atom.op], right, constant(atom.offset))


def _values(values: Iterable[Value]) -> tuple[spec.Value, ...]:
    return tuple(value for value in map(_value, values) if value is not None)


def _value(value: Value | None) -> spec.Value | None:
    return None if value is None else constant(value)


def told(value: Value) -> spec.Value:
    """The value that tells a punctuation, encoded."""
    found = constant(value)
    assert found is not None, "a catalog gives a value"
    return found


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
