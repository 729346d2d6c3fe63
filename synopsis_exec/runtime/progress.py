"""A job's figures in Spark's own progress of its query: `StreamingQueryProgress.observedMetrics["streambound"]`.

Spark fills observed metrics while it makes the rows of a batch, and only then are these rows folded. So each batch
observes what held before it, after the batch that the figure `batch` names. The figures are handed over as a local
property of Spark's, which a task of one row reads; the rows of the batch are not touched for that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

OBSERVATION = "streambound"
FIGURES = ("batch", "entries", "bound", "closed_until", "late", "quarantined", "pending")
"""Each is NULL where there is none: `batch` before the first one, `bound` where M is no number."""
_PROPERTY = "streambound.progress"


def set_figures(spark: SparkSession, figures: Mapping[str, int | None]) -> None:
    """Say what the next batch observes."""
    spark.sparkContext.setLocalProperty(_PROPERTY, json.dumps(figures))


def observed(rows: DataFrame, job: JobSpec) -> DataFrame:
    """The rows of a stream; each of its batches observes the latest figures."""
    from pyspark.sql import functions

    schema = ", ".join(f"{name} BIGINT" for name in FIGURES)
    figures_row = rows.sparkSession.range(0, 1, 1, 1).mapInArrow(_reading(), schema)
    moments = {
        "timestamp": f"CAST(timestamp_micros(closed_until) AS {job.time_type})",
        "date": "date_from_unix_date(CAST(closed_until AS INT))",
    }
    moment = moments.get(sql_type(job.time_type).family, "closed_until")
    figures_row = figures_row.withColumn("closed_until", functions.expr(moment))
    found = figures_row.observe(OBSERVATION, *(functions.max(name).alias(name) for name in FIGURES)).select("batch")
    # Spark leaves out what nothing depends on: here every row does, and passes
    return rows.where(functions.coalesce(found.scalar(), functions.lit(0)) >= 0)


def _reading() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for a worker, which need not have this package: it travels whole."""
    names, key = FIGURES, _PROPERTY

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import json

        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        figures_row = json.loads((context and context.getLocalProperty(key)) or "{}")
        for _ in batches:
            yield pa.RecordBatch.from_arrays(
                [pa.array([figures_row.get(name)], pa.int64()) for name in names], list(names)
            )

    return read
