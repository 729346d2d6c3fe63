"""Filter, Alias, FirstRows, Distinct: some of the rows, with the columns that they have."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra.narrowing import narrowed
from streambound.analyzer.algebra.nodes import Alias, Filter, FirstRows
from streambound.analyzer.algebra.rules.operator_input import OperatorInput, passed_on, unless_static, without_now
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.view_facts import NOW, TimePromise, ViewFacts, ViewKind, least, promises


def filtered(tree: Filter, given: OperatorInput) -> ViewFacts:
    """The rows for which a condition is true: their values are those that it leaves."""
    row = narrowed(tree.condition.syntax, given.row)
    rows = 0 if row.none else given.facts.rows
    return replace(given.facts, rows=rows, columns=row.columns, state=0)


def aliased(tree: Alias, given: OperatorInput, named: Schema) -> ViewFacts:
    """The same rows: the sources of a subquery are called after it."""
    found = given.facts

    def named_anew(time: TimePromise) -> TimePromise:
        return time if time.source == NOW else replace(time, source=f"{tree.alias}.{time.source}")

    columns = tuple(
        replace(column, times=promises(named_anew(time) for time in column.times)) for column in given.columns
    )
    keys = passed_on(found.keys, zip(given.schema, named, strict=False))
    latest = None if found.latest is None else frozenset(f"{tree.alias}.{source}" for source in found.latest)
    return replace(found, keys=keys, columns=columns, state=0, latest=latest)


def distinct(given: OperatorInput) -> ViewFacts:
    """Each row once: those that came are remembered."""
    found = replace(given.facts, columns=given.columns)
    number = found.different
    return replace(found, keys=(*found.keys, given.whole), rows=number, state=0 if given.is_static else number).settled


def first_rows(tree: FirstRows, given: OperatorInput) -> ViewFacts:
    """The first rows: a new row may take the place of any of them."""
    count = tree.count.text if tree.count else ""
    rows = least(int(count) if count.isdigit() else None, given.facts.rows)
    change = unless_static(given.facts, ViewKind.CHANGING)
    columns = given.columns if given.is_static else without_now(given.columns)
    state = 0 if given.is_static else replace(given.facts, columns=given.columns).different
    return ViewFacts(change, given.facts.keys, rows, columns, state).settled
