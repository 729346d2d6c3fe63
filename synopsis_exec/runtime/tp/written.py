"""What a sweep has made as Arrow batches: with lineages that another sweep reads, or as the result of a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from streambound_runtime.lineage.encoding import encoded, lineage_dag
from streambound_runtime.lineage.probability import possible
from streambound_runtime.lineage.too_large import LineageTooLargeError
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, P, formula_of
from streambound_runtime.tp.windows import Swept

DAG = "_lineage_dag"
"""The column that a result has after those of `rows`, on request."""


def as_operand(names: Sequence[str], made: Iterator[Swept]) -> Iterator[pa.RecordBatch]:
    """Rows for another sweep, in the columns of `rows`."""
    for rows in made:
        count = len(rows.lineages)
        lineages = pa.array(map(encoded, rows.lineages), pa.string(), size=count)
        arrays = [*rows.columns, *_periods(rows.begins, rows.ends), lineages, pa.nulls(count, pa.float64())]
        yield pa.RecordBatch.from_arrays(arrays, [*names, BEGIN, END, LINEAGE, P])


def as_result(names: Sequence[str], limits: Limits, dag: bool, made: Iterator[Swept]) -> Iterator[pa.RecordBatch]:
    """Rows with the text and probability of their lineages, without those that are false in every possible world."""
    for rows in made:
        kept, texts, chances, dags = [], [], [], []
        for place, lineage in enumerate(rows.lineages):
            try:
                chance = possible(lineage, limits.nodes)
            except LineageTooLargeError as error:
                fact = [column[place].as_py() for column in rows.columns]
                raise limits.error(error, fact, rows.begins[place], rows.ends[place]) from error
            if chance is None:
                continue
            kept.append(place)
            chances.append(chance)
            texts.append(lineage.text)
            if dag:
                dags.append(lineage_dag(lineage))
        places = pa.array(kept, pa.int64())
        begins, ends = ([points[place] for place in kept] for points in (rows.begins, rows.ends))
        arrays = [column.take(places) for column in rows.columns]
        arrays += [*_periods(begins, ends), pa.array(texts, pa.string()), pa.array(chances, pa.float64())]
        if dag:
            arrays.append(pa.array(dags, DAG_TYPE))
        yield pa.RecordBatch.from_arrays(arrays, [*names, BEGIN, END, LINEAGE, P, *((DAG,) if dag else ())])


def as_swept(names: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[Swept]:
    """Rows that nothing is to be done with."""
    for batch in batches:
        begins, ends, lineages, chances = (batch.column(name).to_pylist() for name in (BEGIN, END, LINEAGE, P))
        formulas = list(map(formula_of, lineages, chances))
        yield Swept([batch.column(name) for name in names], begins, ends, formulas)


DAG_TYPE = pa.list_(pa.struct([("op", pa.string()), ("var", pa.string()), ("args", pa.list_(pa.int32()))]))


def _periods(begins: Sequence[int], ends: Sequence[int]) -> list[pa.Array]:
    return [pa.array(begins, pa.int64()), pa.array(ends, pa.int64())]
