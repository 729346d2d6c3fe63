"""Results that executors have made, as Spark's rows: encoded, then with their types, and at the end as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import numpy as np

from streambound_runtime.arrays import Mask, Values
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.reasons import shown
from streambound_runtime.decoding.sql_types import SqlType, spark_name, sql_type
from streambound_runtime.engine.plan import ComputedRows
from streambound_runtime.errors import JobError
from streambound_runtime.operators.circuit_plan import MapNode, NamedTypes
from streambound_runtime.operators.delta import Delta, delta_of
from streambound_runtime.operators.entries import column_of
from streambound_runtime.periods.times import decoded
from streambound_runtime.reading.computing import in_words, is_of_spark
from streambound_runtime.results import DELETE, OP, UPSERT, check_fits, write_results
from streambound_runtime.row_values import Value
from streambound_runtime.session import pinned
from streambound_runtime.spec import JobSpec, TableColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

TIME, WEIGHT, FACTS = "_ts", "_mult", "_facts"


def schema_of(job: JobSpec) -> str:
    """The columns of encoded results, and of what a function says beside them."""
    values = (f"c{place} {_sql(sql_type(column.type))}" for place, column in enumerate(job.columns))
    return ", ".join([f"{TIME} BIGINT", *values, f"{WEIGHT} {job.multiplicity}", f"{FACTS} BINARY"])


def batch_of(job: JobSpec, found: Delta) -> pa.RecordBatch:
    """Results as an operator gives them."""
    import pyarrow as pa

    for column in job.columns:
        check_fits(column.name, found.columns[column.name], found.nulls.get(column.name), sql_type(column.type))
    arrays = [_column(found, column.name, _arrow(sql_type(column.type))) for column in job.columns]
    check_fits(WEIGHT, found.weights(), None, sql_type(job.multiplicity))
    weights = pa.array(found.weights().tolist(), sql_type(job.multiplicity).encoded)
    nothing = pa.nulls(found.size, pa.binary())
    return pa.RecordBatch.from_arrays([pa.array(found.time), *arrays, weights, nothing], names=_names(job))


def empty_results(job: JobSpec) -> Delta:
    """No results."""
    return delta_of([], tuple(column.name for column in job.columns))


def facts(job: JobSpec, data: bytes) -> pa.RecordBatch:
    """The facts that a function returns beside its results."""
    import pyarrow as pa

    types = [pa.int64(), *(_arrow(sql_type(column.type)) for column in job.columns), sql_type(job.multiplicity).encoded]
    columns = [*(pa.nulls(1, kind) for kind in types), pa.array([data], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=_names(job))


def facts_of(rows: DataFrame) -> list[bytes]:
    """The facts that functions have returned beside their results."""
    found: list[bytes] = rows.where(f"{FACTS} IS NOT NULL").select(FACTS).toArrow().column(0).to_pylist()
    return found


def results_of(rows: DataFrame, job: JobSpec) -> DataFrame:
    """The results of all functions, those that are the same as one."""
    from pyspark.sql import functions as F

    return consolidated(rows.where(F.col(FACTS).isNull()).drop(FACTS), job)


def consolidated(results: DataFrame, job: JobSpec) -> DataFrame:
    """Encoded results, those that are the same as one; a sum beyond the type of `_mult` is an error.

    What is taken back as often as it comes is none.
    """
    from pyspark.sql import functions as F

    by = [name for name in _names(job) if name not in (WEIGHT, FACTS)]
    return results.groupBy(*by).agg(F.sum(WEIGHT).cast(job.multiplicity).alias(WEIGHT)).where(f"{WEIGHT} <> 0")


def net_rows(job: JobSpec, results: str) -> str:
    """SQL, of Spark and of DuckDB, for a batch's upserts of encoded results: the new row of each key, or its last one.

    A key with more rows than one is ``wrong``.
    """
    values = [f"c{place}" for place in range(len(job.columns))]
    key = ", ".join(f"c{place}" for place, column in enumerate(job.columns) if column.name in job.key)
    names, total = ", ".join(values), f"sum({WEIGHT})"
    rows = f"SELECT max({TIME}) AS {TIME}, {names}, {total} AS n FROM {results} GROUP BY {names} HAVING {total} <> 0"
    told = (
        f"SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY n DESC) AS place, "
        f"n NOT IN (1, -1) OR count(*) OVER (PARTITION BY {key}, n) > 1 AS wrong FROM ({rows}) AS each_row"
    )
    return f"SELECT {TIME}, {names}, CAST(n AS {job.multiplicity}) AS {WEIGHT}, wrong FROM ({told}) AS told " + (
        "WHERE place = 1 OR wrong"
    )


def two_rows(job: JobSpec) -> JobError:
    """The error for a key with more rows than one: that there is none has been proved."""
    key = ", ".join(job.key)
    return JobError("key", f"two results agree in {key}, the key by which they are written: please report it", 3)


def upserts(results: DataFrame, job: JobSpec) -> DataFrame:
    """A batch's upserts, of encoded results; of results that are none the same."""
    if not job.key:
        return results
    rows = results.sparkSession.sql(net_rows(job, "{results}"), results=results)
    fails = f"CASE WHEN wrong THEN raise_error('{two_rows(job)}') ELSE {WEIGHT} END AS {WEIGHT}"
    return rows.selectExpr(*_names(job)[:-2], fails)


def typed(results: DataFrame, job: JobSpec) -> DataFrame:
    """Results with the types of the select list, `_ts` and `_mult`, or of upserts `_op`."""
    last = f"if({WEIGHT} > 0, '{UPSERT}', '{DELETE}') AS {OP}" if job.key else WEIGHT
    return results.selectExpr(*_values(job.columns), f"{_typed(TIME, sql_type(job.time_type))} AS `_ts`", last)


def _values(columns: Sequence[TableColumn]) -> list[str]:
    return [
        f"{_typed(f'c{place}', sql_type(column.type))} AS {quoted(column.name)}" for place, column in enumerate(columns)
    ]


def computed_above(job: JobSpec) -> tuple[JobSpec, MapNode | None]:
    """The job without what is computed of its results one by one, and that, which Spark computes of a whole batch."""
    *under, top = job.plan.operators
    if not isinstance(top, ComputedRows):
        return job, None
    plan = replace(job.plan, operators=tuple(under), columns=tuple(name for name, _ in top.node.given))
    return replace(job, plan=plan, columns=columns_of(top.node.given)), top.node


def columns_of(columns: NamedTypes) -> tuple[TableColumn, ...]:
    """The columns of a node as those of a job."""
    return tuple(TableColumn(*column) for column in columns)


def computed(results: DataFrame, job: JobSpec, node: MapNode | None) -> DataFrame:
    """Encoded results of a job, as a node computes them of others; these, if there is none."""
    if node is None:
        return results
    values = results.selectExpr(*_values(columns_of(node.given)), TIME, WEIGHT)
    values = values.where(node.where) if node.where else values
    made = (f"{text} AS c{n}" for n, text in enumerate(_made(job, node)))
    with pinned(results.sparkSession):
        return consolidated(values.selectExpr(TIME, *made, WEIGHT), job)


def _made(job: JobSpec, node: MapNode) -> list[str]:
    """The values of a job's columns, encoded, in SQL."""
    return [_encoded(text, column) for text, column in zip(node.expressions, job.columns, strict=True)]


@contextmanager
def computing(results: DataFrame, job: JobSpec, node: MapNode | None) -> Iterator[None]:
    """Raise JobError where an expression of a node raises an error on some of the results that it is given."""
    try:
        yield
    except Exception as error:
        if node is None or not is_of_spark(error):
            raise
        given = results.selectExpr(*_values(columns_of(node.given)))
        for made, text, column in zip(_made(job, node), node.expressions, job.columns, strict=True):
            try:
                given.selectExpr(f"hash({made}) AS h").agg({"h": "max"}).toArrow()
            except Exception as cause:
                if not is_of_spark(cause):
                    raise
                why = f"{column.name} cannot be computed of a result: {in_words(cause)}"
                raise JobError("expression", f"{why}; in {shown(text)}", 1) from cause
        raise


def write_in_order(results: DataFrame, job: JobSpec, file: TextIO, multiplicity: str) -> int:
    """Write encoded results as lines, in order of `_ts` and of their values; returns how many lines."""
    return sum(write_results(file, job, delta, multiplicity) for delta in in_order(results, job))


def in_order(results: DataFrame, job: JobSpec) -> Iterator[Delta]:
    """Encoded results, in order of `_ts` and of their values."""
    names = [name for name in _names(job) if name not in (WEIGHT, FACTS)]
    return deltas_of(results.orderBy(*names).select(*_names(job)[:-1]).toArrow(), job)


def deltas_of(table: pa.Table, job: JobSpec) -> Iterator[Delta]:
    """Encoded results in order as deltas."""
    texts = {column.name: _is_text(sql_type(column.type)) for column in job.columns}
    for batch in table.to_batches(max_chunksize=1 << 16):
        columns, nulls = {}, {}
        for place, column in enumerate(job.columns):
            values = [
                int(v) if sql_type(column.type).large and v is not None else v
                for v in batch.column(place + 1).to_pylist()
            ]
            columns[column.name], null = column_of(values, texts[column.name])
            if null is not None:
                nulls[column.name] = null
        counts = np.array([int(n) for n in batch.column(len(job.columns) + 1).to_pylist()], dtype=object)
        yield Delta(batch.column(0).to_numpy(), counts, columns, nulls)


def _column(found: Delta, name: str, kind: pa.DataType) -> pa.Array:
    """A column of results; what is beyond 64 bits are Python's values, and no rows have no type of their own."""
    import pyarrow as pa

    values, null = found.columns[name], found.nulls.get(name)
    if not len(values) or values.dtype == object or pa.types.is_decimal(kind):
        return pa.array([None if gone else value for value, gone in _cells(values, null)], kind)
    return pa.array(values, kind, mask=null)


def _cells(values: Values, null: Mask | None) -> Iterator[tuple[Value, bool]]:
    return zip(values.tolist(), np.zeros(len(values), dtype=bool) if null is None else null, strict=True)


def _names(job: JobSpec) -> list[str]:
    return [TIME, *(f"c{place}" for place in range(len(job.columns))), WEIGHT, FACTS]


def _arrow(kind: SqlType) -> pa.DataType:
    import pyarrow as pa

    return pa.string() if _is_text(kind) else kind.encoded


def _is_text(kind: SqlType) -> bool:
    """Whether values are texts; a NULL that nothing gives a type counts as one."""
    return kind.family in ("string", "list", "other") and not kind.distance


def _sql(kind: SqlType) -> str:
    """The type of encoded values; a NULL that nothing gives a type is a string."""
    if kind.large:
        return "DECIMAL(38,0)"
    return "STRING" if _is_text(kind) else "DOUBLE" if kind.family == "float" else "BIGINT"


def _encoded(text: str, column: TableColumn) -> str:
    """A value that Spark computes as a result's column, encoded, in SQL."""
    kind = sql_type(column.type)
    if kind.family == "list":
        return f"CAST(({text}) AS STRING)"
    value = f"CAST(({text}) AS {spark_name(column.type)})"
    match kind.family:
        case "date":
            return f"CAST(unix_date({value}) AS BIGINT)"
        case "timestamp":
            return f"unix_micros(CAST({value} AS TIMESTAMP))"
        case "decimal":
            return f"CAST(replace(CAST({value} AS STRING), '.', '') AS {_sql(kind)})"
        case "other" if kind.distance:
            return f"unix_micros(timestamp_micros(0) + {value})"
    return f"CAST({value} AS {_sql(kind)})"


def _typed(name: str, kind: SqlType) -> str:
    """An encoded value as Spark has it, in SQL."""
    match kind.family:
        case "boolean":
            return f"{name} = 1"
        case "date":
            return f"date_from_unix_date(CAST({name} AS INT))"
        case "timestamp":
            return decoded(kind.name, name)
        case "decimal":
            return f"CAST(CAST({name} AS STRING) || 'E{-kind.scale}' AS {kind.name.upper()})"
        case "other" if kind.distance:
            return f"timestamp_micros({name}) - timestamp_micros(0)"
        case "list":
            values = f"from_json({name}, 'ARRAY<{_sql(kind.element)}>')"
            return f"transform({values}, one -> {_typed('one', kind.element)})"
        case "string" | "other":
            return name
    return f"CAST({name} AS {kind.name.upper()})"
