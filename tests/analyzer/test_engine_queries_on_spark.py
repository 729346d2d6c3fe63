"""Subqueries, and queries of relations, of random statements: DuckDB computes what Spark does, of the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from streambound_runtime import expressions
from streambound_runtime.decoding.derived import cast
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.reading.relation_views import make_relation_views, view_of
from streambound_runtime.session import pinned
from streambound_runtime.spec import ROW, Derived, JobSpec, RelationQuery
from support.asking_statements import CATALOG, COLUMNS, AskingStatements
from support.choices import Choices
from support.profiles import MORE

STATEMENTS = 16 * MORE
VALUES: dict[str, tuple[Any, ...]] = {
    "a": (None, 0, 1, 2, 3, -1, 2**40),
    "b": (None, 0, 1, 2, -(2**31)),
    "c": (None, "", "a", "b", "B", "é", "ab"),
    "d": (None, date(2024, 1, 1), date(2024, 1, 3), date(2024, 1, 4)),
    "x": (None, 0.0, 0.5, 1.0, 2.0, -1.5, 1e300, float("inf")),
    "p": (None, Decimal("0.00"), Decimal("1.00"), Decimal("1.50"), Decimal("2.00"), Decimal("9999999.99")),
}


def job_of(sql: str) -> JobSpec | None:
    declared = catalog_from_mapping(CATALOG)
    (found,) = check_source(SourceText("q.sql", sql), declared)
    return (
        None
        if found.decision is None or found.decision.bound is None
        else job_spec(make_plan(found.decision, found.catalog or declared))
    )


def table(choices: Choices, names: Sequence[str], size: int) -> pa.Table:
    """Random rows, NULLs and equal ones among them."""
    if not names:
        return pa.table({"_": pa.nulls(size, pa.bool_())})
    kinds = {name: sql_type(COLUMNS[name]).arrow for name in names}
    return pa.table({n: pa.array([choices.pick(VALUES[n]) for _ in range(size)], kind) for n, kind in kinds.items()})


def told(value: Any) -> str:
    return repr(value + 0.0 if isinstance(value, float) else value)


def of_rows(spark: Any, column: Derived, rows: pa.Table, views: dict[str, pa.Table]) -> None:
    """A derived column of each row; of IN all that is asked is whether it is true."""
    given = expressions.with_subqueries(rows, ROW, column.subqueries, views)
    (found,) = expressions.computed(given, [column.engine], [column.type])
    with pinned(spark):
        asked = spark.createDataFrame(rows).alias(ROW).selectExpr(f"{cast(column)} AS v").toArrow()
    pairs = zip(asked.column("v").to_pylist(), found.to_pylist(), strict=True)
    is_in = column.type == "boolean" and " IN (" in column.expression
    different = [one for one in pairs if (bool(one[0]) != bool(one[1]) if is_in else told(one[0]) != told(one[1]))]
    assert not different, (column.expression, column.subqueries, different)


def of_relations(spark: Any, query: RelationQuery, views: dict[str, pa.Table]) -> None:
    """The rows of a relation that a query computes."""
    found = expressions.selected(query.engine, [column.type for column in query.relation.columns], views)
    with pinned(spark):
        asked = spark.sql(query.query).toArrow()
    mine, theirs = (Counter(tuple(map(told, row.values())) for row in one.to_pylist()) for one in (found, asked))
    assert mine == theirs, (query.query, query.engine)


def test_duckdb_computes_what_spark_does(spark: Any) -> None:
    compared = Counter[str]()
    for seed in range(STATEMENTS):
        choices = Choices.seeded(seed)
        job = job_of(AskingStatements(choices).statement())
        if job is None:
            continue
        views = {
            view_of(one.name): table(choices, [name for name in one.needs if name in COLUMNS], choices.integer(0, 9))
            for one in job.relations
        }
        make_relation_views(spark, views)
        rows = table(choices, list(COLUMNS), 12).append_column("ts", pa.array(range(12), pa.int64()))
        for column in (one for part in job.tables for one in part.derived if one.engine and one.asks):
            of_rows(spark, column, rows, views)
            compared["of rows"] += 1
        for query in (one for one in job.queries if one.engine):
            of_relations(spark, query, views)
            compared["of relations"] += 1
    assert compared["of rows"] >= STATEMENTS and compared["of relations"] >= STATEMENTS / 8, compared
