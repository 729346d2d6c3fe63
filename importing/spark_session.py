"""The tables of a live Spark session: `spark.catalog`. pyspark is imported only here, when it is called."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from streambound.analyzer.errors import UsageError
from streambound.analyzer.json_models import parsed
from streambound.importing.spark_schema import SparkSchema, table_of
from streambound.importing.tables import ImportedTable
from streambound.synopsis_exec.java import require_java


def spark_session(names: Sequence[str] = ()) -> tuple[ImportedTable, ...]:
    """The tables and views of those names, or all of the session's current database.

    A table that Spark reads as a stream is one; any other is a relation, since that is how Spark sees it.
    Raises UsageError where there is no Spark, or no such table, and JavaError where Spark would need a Java.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError("pyspark is not installed", remedy="pip install 'streambound[spark]'") from error
    if "SPARK_REMOTE" not in os.environ and SparkSession.getActiveSession() is None:
        require_java()
    try:
        return _tables(SparkSession.builder.getOrCreate(), names)
    except PySparkException as error:
        said = str(error).strip().splitlines()
        raise UsageError(f"Spark says: {said[0] if said else type(error).__name__}") from error


def _tables(spark: Any, names: Sequence[str]) -> tuple[ImportedTable, ...]:
    wanted = list(names) or sorted(table.name for table in spark.catalog.listTables())
    if not wanted:
        raise UsageError("the session has no tables", remedy="name them, as in database.table")
    return tuple(_table(spark, name) for name in wanted)


def _table(spark: Any, name: str) -> ImportedTable:
    if not spark.catalog.tableExists(name):
        raise UsageError(f"the session has no table {name}", remedy="spark.catalog.listTables() lists them")
    frame = spark.table(name)
    place = f"the Spark table {name}"
    schema = parsed(frame.schema.json(), place).read(SparkSchema, "not a schema of Spark", closed=False)
    return table_of(schema, name.rsplit(".", 1)[-1], place, not frame.isStreaming)
