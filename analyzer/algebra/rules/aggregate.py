"""Aggregate: one row for each group, which changes as rows of the group come."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, AggregateFunction, computed_of
from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.rules.operator_input import OperatorInput, called, unless_static
from streambound.analyzer.algebra.rules.select_list import value
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.value_sets import ANYTHING, ValueSet, between
from streambound.analyzer.algebra.view_facts import ColumnFacts, ViewFacts, ViewKind, least, product_of
from streambound.analyzer.expressions.evident import plain_value
from streambound.analyzer.types import DataType, Family


def aggregate(tree: Aggregate, given: OperatorInput, named: Schema) -> ViewFacts:
    """The groups. A key that is a time, or a bucket of it, settles its groups when it is over.

    A row of the input changes the group of its own keys alone, so what their values say of `NOW` holds of the group.
    """
    keys = [value(key.value.syntax, given) for key in tree.keys]
    calls = zip(tree.calls, named[len(keys) :], strict=True)
    columns = (*keys, *(_of_group(call, column, given, bool(keys)) for call, column in calls))
    key = frozenset(map(called, named[: len(keys)]))
    if not keys:
        change = unless_static(given.facts, ViewKind.KEYED)
        return ViewFacts(change, (key,), 1, columns, 0 if given.is_static else 1)
    groups = least(given.facts.rows, product_of(one.values for one in keys))
    closes = any(one.closing is not None for one in keys)
    change = unless_static(given.facts, ViewKind.CLOSING if closes else ViewKind.CHANGING)
    return ViewFacts(change, (key,), groups, columns, 0 if given.is_static else groups, given.facts.latest).settled


def _of_group(call: AggregateCall, column: ViewColumn, given: OperatorInput, grouped: bool) -> ColumnFacts:
    """The values of an aggregate; ``grouped``: there is a row in each group."""
    arguments = [value(argument.syntax, given) for argument in computed_of(call)]
    there = grouped and call.filter is None and not any(one.values.null for one in arguments)
    if call.function == "COUNT":
        return ColumnFacts(between(int(there), given.facts.rows, null=False))
    function = AGGREGATES.get(call.function)
    if len(arguments) != 1 or column.type is None or function is None or not function.of_one_value:
        return ColumnFacts(replace(ANYTHING, null=column.nullable))
    kind = type_of(computed_of(call)[0].syntax, given.schema)[0] or column.type
    values = _aggregated(call.function, function, arguments[0].values, kind, column.type)
    return ColumnFacts(replace(values, null=column.nullable and not there))


def _aggregated(name: str, function: AggregateFunction, values: ValueSet, of: DataType, kind: DataType) -> ValueSet:
    if function.picks:
        return values
    low, high = values.ends
    if name == "SUM" and kind.family in (Family.INTEGER, Family.DECIMAL):
        return between(0 if low is not None and low >= 0 else None, 0 if high is not None and high <= 0 else None)
    if name == "AVG" and kind.family is Family.FLOAT and of.family is Family.INTEGER:
        plain = [None if end is None else plain_value(end, of) for end in (low, high)]
        ends = [None if isinstance(end, str) else end for end in plain]
        return between(ends[0], ends[1])
    return ANYTHING
