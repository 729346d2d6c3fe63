"""Project, Over, Apply: columns of a row, computed of it, of a window of rows around it, or by a subquery."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.expression_facts import facts_of
from streambound.analyzer.algebra.nodes import Apply, ApplyKind, Item, Over, Project, Star
from streambound.analyzer.algebra.row_expressions import RANKS, row_expression
from streambound.analyzer.algebra.rules.operator_input import OperatorInput, passed_on, unless_static, without_now
from streambound.analyzer.algebra.schema import parsed, starred_places
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn, meant
from streambound.analyzer.algebra.value_sets import ANYTHING, between
from streambound.analyzer.algebra.view_facts import ColumnFacts, ViewFacts, ViewKind, added


def projected(tree: Project, given: OperatorInput) -> ViewFacts:
    """Columns of the row and expressions over it."""
    columns = tuple(_columns(tree.items, given))
    return replace(given.facts, keys=_keys(tree.items, given), columns=columns, state=0)


def over(tree: Over, given: OperatorInput, named: Schema) -> ViewFacts:
    """The row with columns that are computed over windows: with a new row they may be others of every row."""
    found = given.facts
    computed = [
        ColumnFacts(
            between(1 if call.function in RANKS else 0, None, column.nullable)
            if call.function in (*RANKS, "COUNT")
            else replace(ANYTHING, null=column.nullable)
        )
        for call, column in zip(tree.calls, named[len(given.schema) :], strict=True)
    ]
    columns = given.columns if given.is_static else without_now(given.columns)
    state = 0 if given.is_static else found.rows
    change = unless_static(found, ViewKind.CHANGING)
    return ViewFacts(change, found.keys, found.rows, (*columns, *computed), state).settled


def applied(tree: Apply, given: OperatorInput, asked: OperatorInput) -> ViewFacts:
    """The row with what a subquery says of it, which changes as the subquery's rows do."""
    of_subquery = asked.columns[0] if tree.kind is ApplyKind.SCALAR and asked.columns else ColumnFacts(between(0, 1))
    values = of_subquery.values.or_null() if tree.kind is not ApplyKind.EXISTS else of_subquery.values.not_null()
    if asked.is_static:
        return replace(given.facts, columns=(*given.columns, ColumnFacts(values)), state=0)
    columns = (*without_now(given.columns), ColumnFacts(values))
    state = added(*(replace(side.facts, columns=side.columns).different for side in (given, asked)))
    return ViewFacts(ViewKind.CHANGING, given.facts.keys, given.facts.rows, columns, state).settled


def _columns(items: tuple[Item, ...], given: OperatorInput) -> Iterator[ColumnFacts]:
    for item in items:
        if isinstance(item, Star):
            yield from (given.columns[place] for place in starred_places(item, given.schema))
        else:
            yield value(parsed(item.value), given)


def value(node: exp.Expr, given: OperatorInput) -> ColumnFacts:
    """The facts of an expression over a row."""
    found = row_expression(node, given.schema)
    return ColumnFacts() if found is None else facts_of(found, given.columns, given.row.kinds)


def _keys(items: tuple[Item, ...], given: OperatorInput) -> tuple[frozenset[str], ...]:
    """The keys of which all columns are listed."""
    pairs: list[tuple[ViewColumn, ViewColumn]] = []
    for item in items:
        if isinstance(item, Star):
            found = [given.schema[place] for place in starred_places(item, given.schema)]
            pairs += [(column, ViewColumn("", column.name)) for column in found]
            continue
        syntax = parsed(item.value)
        place = meant(syntax, given.schema) if isinstance(syntax, exp.Column) else None
        if place is not None:
            pairs.append((given.schema[place], ViewColumn("", item.name)))
    return passed_on(given.facts.keys, pairs)
