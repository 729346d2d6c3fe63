"""Relations as views: derived columns, and queries, may ask them in subqueries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from streambound_runtime.decoding.derived import typed_values
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.spec import JobSpec, Relation

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Views = Mapping[str, "pa.Table"]
"""The good rows of the relations that are asked, in the columns that are needed, by the names of their views."""


def view_of(relation: str) -> str:
    """The name of a relation in expressions, unlikely among a session's own views.

    >>> view_of("devices"), view_of("odd name")
    ('streambound_devices', 'streambound_6f6464206e616d65')
    """
    return f"streambound_{relation if relation.isidentifier() and relation.isascii() else relation.encode().hex()}"


def asked_relations(job: JobSpec) -> set[str]:
    """The names of the relations that expressions and queries ask."""
    tables = (*job.tables, *(query.relation for query in job.queries))
    asked = {name for table in tables for column in table.derived for name in column.asks}
    return asked | {name for query in job.queries for name in query.asks}


def declared_part(relation: Relation) -> Relation:
    """A relation without derived columns: these may ask the relation itself."""
    names = {column.name for column in relation.columns}
    return replace(relation, needs=tuple(name for name in relation.needs if name in names), derived=())


def view_rows(relation: Relation, rows: pa.Table) -> pa.Table:
    """Good rows of a relation as its view has them: the declared columns that are needed, with their types."""
    import pyarrow as pa

    kinds = {column.name: sql_type(column.type) for column in relation.columns}
    names = [name for name in relation.needs if name in kinds]
    if not names:
        return pa.table({"_": pa.nulls(rows.num_rows, pa.bool_())})
    some = rows if rows.num_rows else pa.table({name: pa.array([], kinds[name].encoded) for name in names})
    return pa.table({name: typed_values(some.column(name).combine_chunks(), kinds[name]) for name in names})


def make_relation_views(spark: SparkSession, views: Views) -> None:
    """Make views of Spark's session."""
    for name, rows in views.items():
        spark.createDataFrame(rows).createOrReplaceTempView(name)
