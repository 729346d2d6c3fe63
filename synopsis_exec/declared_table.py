"""A stream or relation of a plan as the runtime reads it: `streambound_runtime.spec`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from streambound.analyzer import columns
from streambound.analyzer.catalog import Kind, OnViolation
from streambound.analyzer.endpoints import Sink, SourceOptions, Target
from streambound.analyzer.query import Condition, NullTest, OneOf
from streambound.analyzer.values import Value
from streambound.synopsis_exec.asked_relations import asked_relations, over_views
from streambound.synopsis_exec.branch_plan import OPERATORS, constant
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime import spec
from streambound_runtime.operators.plan import Test
from streambound_runtime.promises import Arrival, Domain, KeyMark, Mark, Partitions

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
        return spec.Relation(item.name, columns, needs, source, item.rows, stops, derived, period)
    if period is not None and (period.most is not None or period.unique):  # a row may be bad because of others
        needs = tuple(dict.fromkeys((*needs, *(one.name for one in columns if one.name != item.timestamp))))
    marks = tuple(KeyMark(p.attributes, p.column, told(p.value), p.max_open) for p in item.punctuations)
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
    return spec.SinkSpec(target.format, target.path, target.options)


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
