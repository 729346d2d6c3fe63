"""Jobs over derived columns that are written by hand: queries name them, batch SQL says what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlglot
from msgspec.structs import replace

from streambound.analyzer.catalog import Catalog, catalog_from_mapping
from streambound.analyzer.columns import Column
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.analyzer.types import parse_type
from streambound.criteria.verdict import decide
from streambound.recheck.oracle.spark_batch import BatchStatement
from streambound.synopsis_exec.job_file import CompiledJob, compiled
from streambound.synopsis_exec.plan import make_plan

Declared = Mapping[str, Any]
Derived = Mapping[str, Mapping[str, tuple[str, str]]]
"""By table and name: the type and the expression."""


def derived_job(sql: str, declared: Declared, derived: Derived, placement: str | None = "driver") -> CompiledJob:
    """The job of a statement over tables that have these columns, too; ``{S}`` stands for the table S."""
    catalog = catalog_from_mapping(declared)
    (statement,) = split_statements(SourceText("q.sql", _named(sql, catalog, {})))
    query = lower(statement, _extended(catalog, derived)).query
    assert query is not None
    return compiled(make_plan(decide(query), catalog), placement)


def batch_statement(sql: str, declared: Declared, derived: Derived, columns: tuple[str, ...]) -> BatchStatement:
    """The same statement, with each column's expression in place of its name."""
    catalog = catalog_from_mapping(declared)
    text = _named(sql, catalog, derived)
    return BatchStatement(text, sqlglot.parse_one(text, dialect="spark"), catalog, columns)


def _named(sql: str, catalog: Catalog, derived: Derived) -> str:
    def table(name: str) -> str:
        columns = derived.get(name, {}).items()
        said = ", ".join(f"CAST(({text}) AS {kind}) AS {column}" for column, (kind, text) in columns)
        return f"(SELECT *, {said} FROM {name})" if said else name

    return sql.format(**{found.name: table(found.name) for found in catalog.tables})


def _extended(catalog: Catalog, derived: Derived) -> Catalog:
    tables = {}
    for table in catalog.tables:
        more = [_column(name, kind, text) for name, (kind, text) in derived.get(table.name, {}).items()]
        tables[table.name] = replace(table, columns=(*table.columns, *more))
    return replace(catalog, tables=tuple(tables.values()))


def _column(name: str, kind: str, text: str) -> Column:
    found = parse_type(kind)
    assert found is not None
    return Column(name, found, expression=text)
