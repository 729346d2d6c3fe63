"""A stream or relation of a plan as the runtime reads it: `streambound_runtime.spec`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from streambound.analyzer import columns
from streambound.analyzer.catalog import OnViolation
from streambound.analyzer.query import Atom, NullTest
from streambound.analyzer.values import Value
from streambound.synopsis_exec.asked_relations import asked_relations, over_views
from streambound.synopsis_exec.branch_plan import OPERATORS, constant
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime import spec
from streambound_runtime.plan import Test

Options = Sequence[tuple[Atom, ...]]


def declared_table(
    item: Input,
    options: Options = ((),),
    uses: Callable[[str], Options] = lambda column: ((),),
    relations: dict[str, str] | None = None,
) -> spec.Stream | spec.Relation:
    """``options`` say which rows are useful, ``uses`` for which a derived column is (`synopsis_exec.useful`).

    ``relations`` are the names of the job's relations, by them in small letters.
    """
    columns = tuple(spec.Column(column.name, column.type.name, _domain(column.domain)) for column in item.declared)
    needs = tuple(column.name for column in item.columns if column.name != item.timestamp)
    found, stops = item.source, item.on_violation is OnViolation.STOP
    source = spec.Source(found.format, found.path, found.options, found.payload, found.metadata) if found else None
    derived = tuple(_derived(column, uses(column.name), relations or {}) for column in item.derived)
    if item.timestamp is None:
        return spec.Relation(item.name, columns, needs, source, item.rows, stops, derived)
    useful, most, rate = _tests(options), item.max_per_timestamp, item.max_rate
    limit = spec.Rate(rate.rows, rate.per, rate.written) if rate is not None else None
    arrival = _arrival(item)
    return spec.Stream(item.name, columns, item.timestamp, needs, useful, source, arrival, most, stops, limit, derived)


def _derived(column: columns.Column, uses: Options, relations: dict[str, str]) -> spec.Derived:
    asks = tuple(relations[name] for name in asked_relations(column.expression))
    return spec.Derived(column.name, over_views(column.expression, relations), column.type.name, _tests(uses), asks)


def _arrival(item: Input) -> spec.Arrival:
    mark, partitions = item.arrival.mark, item.arrival.partitions
    return spec.Arrival(
        item.arrival.lateness,
        item.arrival.idle_after,
        spec.Mark(mark.column, _value(mark.value), mark.like, mark.since) if mark else None,
        spec.Partitions(partitions.column, _values(partitions.values)) if partitions else None,
    )


def _domain(domain: columns.Domain | None) -> spec.Domain | None:
    return spec.Domain(_value(domain.low), _value(domain.high), _values(domain.values)) if domain else None


def _tests(options: Options) -> tuple[tuple[Test, ...], ...]:
    return tuple(dict.fromkeys(tuple(map(_test, atoms)) for atoms in options))


def _test(atom: Atom) -> Test:
    if isinstance(atom, NullTest):
        return Test(atom.attribute.column, "is null" if atom.is_null else "is not null")
    right = atom.right.column if atom.right is not None else None
    return Test(atom.left.column, OPERATORS[atom.op], right, constant(atom.offset))


def _values(values: Iterable[Value]) -> tuple[spec.Value, ...]:
    return tuple(value for value in map(_value, values) if value is not None)


def _value(value: Value | None) -> spec.Value | None:
    return None if value is None else constant(value)
