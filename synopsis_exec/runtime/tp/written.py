"""Results with their lineages as arrays, too."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from streambound_runtime.lineage.encoding import lineage_dag
from streambound_runtime.lineage.formulas import LineageTooLargeError
from streambound_runtime.lineage.probability import decimal, possible
from streambound_runtime.periods.frames import BEGIN, END
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.rows import formula_of

DAG = "_lineage_dag"
"""The column that a result has after those of `rows`, on request."""
DAG_TYPE = pa.list_(pa.struct([("op", pa.string()), ("var", pa.string()), ("args", pa.list_(pa.int32()))]))


def with_dags(width: int, limits: Limits, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of so many values with the text, probability and array of each lineage that is true in a possible world."""
    for batch in batches:
        rows, texts, chances, dags = list[int](), list[str](), list[float](), list[list[dict[str, object]]]()
        for place, row in enumerate(batch.to_pylist()):
            lineage = formula_of(row[f"c{width}"], row[f"c{width + 1}"])
            try:
                p = possible(lineage, limits.nodes)
            except LineageTooLargeError as error:
                fact = [row[f"c{n}"] for n in range(width)]
                raise limits.error(error, fact, row[BEGIN], row[END]) from error
            if p is not None:
                rows.append(place)
                texts.append(lineage.text)
                chances.append(decimal(p))
                dags.append(lineage_dag(lineage))
        kept, made = batch.take(pa.array(rows, pa.int64())), {f"c{width}": pa.array(texts, pa.string())}
        made |= {f"c{width + 1}": pa.array(chances, pa.float64()), DAG: pa.array(dags, DAG_TYPE)}
        names = [*batch.schema.names, DAG]
        yield pa.RecordBatch.from_arrays([made[name] if name in made else kept.column(name) for name in names], names)
