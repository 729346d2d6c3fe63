"""What a sweep has made as Arrow batches: with lineages that another sweep reads, or as the result of a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from streambound_runtime.arrays import Integers
from streambound_runtime.lineage.encoding import encoded, lineage_dag
from streambound_runtime.lineage.formulas import FALSE, Formula, LineageTooLargeError
from streambound_runtime.lineage.probability import decimal, possible
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, P
from streambound_runtime.tp.swept import RowLineages, Swept

DAG = "_lineage_dag"
"""The column that a result has after those of `rows`, on request."""


def as_operand(names: Sequence[str], made: Iterator[Swept]) -> Iterator[pa.RecordBatch]:
    """Rows for another sweep, in the columns of `rows`."""
    for rows in made:
        formulas = rows.lineages.formulas()
        kept = _places(formula is not FALSE for formula in formulas)
        lineages = pa.array([encoded(formulas[place]) for place in kept], pa.string())
        yield _batch(names, rows, kept, {LINEAGE: lineages, P: pa.nulls(len(kept), pa.float64())})


def as_result(names: Sequence[str], limits: Limits, dag: bool, made: Iterator[Swept]) -> Iterator[pa.RecordBatch]:
    """Rows with the text and probability of their lineages, without those that are false in every possible world."""
    for rows in made:
        written = None if dag else rows.lineages.written()
        if written is not None:
            kept = np.flatnonzero(written.possible)
            shown = pa.array(map(decimal, written.chances[kept].tolist()), pa.float64())
            columns = {LINEAGE: written.texts.take(pa.array(kept)), P: shown}
            yield _batch(names, rows, kept, columns)
            continue
        formulas = rows.lineages.formulas()
        chances = [_chance(formula, rows, place, limits) for place, formula in enumerate(formulas)]
        kept = _places(chance is not None for chance in chances)
        columns = {
            LINEAGE: pa.array([formulas[place].text for place in kept], pa.string()),
            P: pa.array([decimal(p) for p in chances if p is not None], pa.float64()),
        }
        if dag:
            columns[DAG] = pa.array([lineage_dag(formulas[place]) for place in kept], DAG_TYPE)
        yield _batch(names, rows, kept, columns)


def as_swept(names: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[Swept]:
    """Rows that nothing is to be done with."""
    for batch in batches:
        begins, ends = (np.asarray(batch.column(name)) for name in (BEGIN, END))
        lineages = RowLineages(batch.column(LINEAGE), batch.column(P))
        yield Swept([batch.column(name) for name in names], begins, ends, lineages)


DAG_TYPE = pa.list_(pa.struct([("op", pa.string()), ("var", pa.string()), ("args", pa.list_(pa.int32()))]))


def _places(kept: Iterable[bool]) -> Integers:
    return np.flatnonzero(np.fromiter(kept, dtype=bool))


def _chance(lineage: Formula, rows: Swept, place: int, limits: Limits) -> float | None:
    try:
        return possible(lineage, limits.nodes)
    except LineageTooLargeError as error:
        fact = [column[place].as_py() for column in rows.columns]
        raise limits.error(error, fact, int(rows.begins[place]), int(rows.ends[place])) from error


def _batch(names: Sequence[str], rows: Swept, kept: Integers, columns: dict[str, pa.Array]) -> pa.RecordBatch:
    """Those rows that are kept, with columns of their lineages."""
    at = pa.array(kept)
    arrays = [column.take(at) for column in rows.columns]
    arrays += [pa.array(points[kept]) for points in (rows.begins, rows.ends)]
    return pa.RecordBatch.from_arrays([*arrays, *columns.values()], [*names, BEGIN, END, *columns])
