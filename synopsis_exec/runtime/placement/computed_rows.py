"""Rows of a circuit's nodes that are computed of others: all rows of a tick in one query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from streambound_runtime.expressions import NEEDS_SPARK
from streambound_runtime.operators.circuit_plan import MapNode, NamedTypes
from streambound_runtime.placement.result_rows import (
    FACTS,
    TIME,
    WEIGHT,
    computed,
    computing,
    results_of_node,
)
from streambound_runtime.placement.results_in_process import made_in_process
from streambound_runtime.spec import JobSpec, TableColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def rows_computed(job: JobSpec, spark: SparkSession | None, node: MapNode, rows: pa.Table) -> pa.Table:
    """The rows of a node of the engine, by DuckDB, or else by Spark; raises JobError where an expression raises one."""
    mine = _job_of(job, node)
    texts = (*node.engine, *([node.engine_where] if node.where else []))
    if spark is not None and not all(text and NEEDS_SPARK not in text for text in texts or [""]):
        return _computed_by_spark(spark, mine, rows)
    found = made_in_process(mine, as_results(rows))
    return found.rename_columns(["t", *(f"c{place}" for place in range(len(node.columns))), "w"])


def _computed_by_spark(spark: SparkSession, job: JobSpec, rows: pa.Table) -> pa.Table:
    frame = spark.createDataFrame(as_results(rows).drop_columns([FACTS]))
    with computing(frame, job):
        found = computed(frame, job).toArrow()
    return found.rename_columns(["t", *(f"c{place}" for place in range(len(job.columns))), "w"])


def as_results(rows: pa.Table) -> pa.Table:
    """Rows of the engine as what `batch_of` gives."""
    import pyarrow as pa

    names = [TIME, *rows.column_names[1:-1], WEIGHT]
    return rows.rename_columns(names).append_column(FACTS, pa.nulls(rows.num_rows, pa.binary()))


def _job_of(job: JobSpec, node: MapNode) -> JobSpec:
    """The job whose results a node computes."""
    return replace(job, columns=_columns(node.columns), computed=results_of_node(node))


def _columns(columns: NamedTypes) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, kind) for name, kind in columns)
