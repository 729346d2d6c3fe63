"""Relations as views: derived columns may ask them, in subqueries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from streambound_runtime.decoding.derived import typed_values
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.row_values import Value
from streambound_runtime.spec import JobSpec, Relation

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def view_of(relation: str) -> str:
    """What a relation is called in expressions: a name that a session's own views hardly have.

    >>> view_of("devices"), view_of("odd name")
    ('streambound_devices', 'streambound_6f6464206e616d65')
    """
    return f"streambound_{relation if relation.isidentifier() and relation.isascii() else relation.encode().hex()}"


def make_relation_views(spark: SparkSession, job: JobSpec, relations: Mapping[str, list[dict[str, Value]]]) -> None:
    """Make views of the good rows of the relations that expressions and queries ask, in the columns that are needed."""
    tables = (*job.tables, *(query.relation for query in job.queries))
    asked = {name for table in tables for column in table.derived for name in column.asks}
    asked |= {name for query in job.queries for name in query.asks}
    for relation in job.relations:
        if relation.name in asked:
            rows = _typed(relation, relations[relation.name])
            spark.createDataFrame(rows).createOrReplaceTempView(view_of(relation.name))


def _typed(relation: Relation, rows: Iterable[dict[str, Value]]) -> pa.Table:
    import pyarrow as pa

    rows, kinds = list(rows), {column.name: sql_type(column.type) for column in relation.columns}
    names = [name for name in relation.needs if name in kinds]
    if not names:
        return pa.table({"_": pa.nulls(len(rows), pa.bool_())})
    values = {name: pa.array([row[name] for row in rows], kinds[name].encoded) for name in names}
    return pa.table({name: typed_values(found, kinds[name]) for name, found in values.items()})
