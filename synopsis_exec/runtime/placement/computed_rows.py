"""Rows of a circuit's nodes that Spark computes of others: all timestamps of a step in one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from streambound_runtime.operators.circuit_plan import MapNode, NamedTypes
from streambound_runtime.operators.delta import Delta, delta_of
from streambound_runtime.placement.result_rows import FACTS, batch_of, computed, computing, in_order
from streambound_runtime.spec import JobSpec, ResultColumns, TableColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def computed_by_spark(spark: SparkSession, job: JobSpec, node: MapNode, rows: Delta) -> Delta:
    """The rows of a node, of those of its input; raises JobError where an expression raises an error."""
    names = tuple(name for name, _ in node.columns)
    if not rows.size:
        return delta_of([], names)
    import pyarrow as pa

    given = replace(job, columns=_columns(node.given), computed=None)
    mine = replace(
        job, columns=_columns(node.columns), computed=ResultColumns(_columns(node.given), node.expressions, node.where)
    )
    frame = spark.createDataFrame(pa.Table.from_batches([batch_of(given, rows)])).drop(FACTS)
    with computing(frame, mine):
        return together(list(in_order(computed(frame, mine), mine)), names)


def _columns(columns: NamedTypes) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, kind) for name, kind in columns)


def together(parts: Sequence[Delta], names: tuple[str, ...]) -> Delta:
    """Deltas of one order of time as one."""
    if len(parts) == 1:
        return parts[0]
    rows = [row for part in parts for row in zip(part.time.tolist(), part.weights().tolist(), part.rows(), strict=True)]
    return delta_of(rows, names)
