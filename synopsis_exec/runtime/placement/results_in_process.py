"""What a job computes of its plan's results, in this process: as `result_rows` has it for Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streambound_runtime.decoding.derived import typed_values
from streambound_runtime.decoding.reasons import shown
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.decoding.typed_columns import TypedColumn
from streambound_runtime.errors import JobError, usage
from streambound_runtime.expressions import NEEDS_SPARK, Raises, computed, query
from streambound_runtime.operators.circuit_plan import MapNode
from streambound_runtime.placement.result_rows import TIME, WEIGHT, columns_of, net_rows, two_rows
from streambound_runtime.spec import JobSpec, TableColumn

if TYPE_CHECKING:
    import pyarrow as pa

_RESULTS = "streambound results"


def in_order_in_process(job: JobSpec, results: pa.Table) -> pa.Table:
    """Encoded results in order of `_ts` and their values, those that are the same as one, NULL first as in Spark.

    What is taken back as often as it comes is none.
    """
    names = ", ".join(_names(job))
    total = f"sum({WEIGHT})"
    return query(
        f'SELECT {names}, CAST({total} AS {job.multiplicity}) AS {WEIGHT} FROM "{_RESULTS}" '
        f"GROUP BY {names} HAVING {total} <> 0 ORDER BY {_order(job)}",
        **{_RESULTS: results},
    )


def upserts_in_process(job: JobSpec, results: pa.Table) -> pa.Table:
    """A batch's upserts in order, of encoded results; of results that are none the same."""
    if not job.key:
        return results
    found = query(net_rows(job, f'"{_RESULTS}"') + f" ORDER BY {_order(job)}", **{_RESULTS: results})
    if any(found.column("wrong").to_pylist()):
        raise two_rows(job)
    return found.drop_columns(["wrong"])


def _names(job: JobSpec) -> list[str]:
    return [TIME, *(f"c{place}" for place in range(len(job.columns)))]


def _order(job: JobSpec) -> str:
    return ", ".join(f"{name} NULLS FIRST" for name in _names(job))


def made_in_process(node: MapNode, given: pa.Table) -> pa.Table:
    """The rows of a node of the engine, encoded; raises JobError where an expression has no value."""
    import pyarrow as pa

    rows, made = _typed(given, columns_of(node.given)), columns_of(node.columns)
    if node.where:
        (passes,) = _computed(rows, [node.engine_where], [node.where], [TableColumn("a condition", "boolean")])
        given, rows = given.filter(passes), rows.filter(passes)
    found = _computed(rows, node.engine, node.expressions, made)
    columns = {f"c{n}": _encoded(values, made[n]) for n, values in enumerate(found)}
    return pa.table({"t": given.column("t"), **columns, "w": given.column("w")})


def _computed(
    rows: pa.Table, engine: Sequence[str], texts: Sequence[str], columns: Sequence[TableColumn]
) -> list[pa.Array]:
    """The values of expressions; raises JobError where one has none, or is not among those that DuckDB computes."""
    for text, column in zip(engine or [""] * len(columns), columns, strict=True):
        if not text:
            written = shown(texts[columns.index(column)])
            raise usage(f"{column.name} is computed by Spark only, as {written}: run the job on Spark")
    try:
        return computed(rows, engine, [column.type for column in columns])
    except Raises as error:
        why = f"{columns[error.place].name} cannot be computed of a result: {error.words}"
        if NEEDS_SPARK in error.words:
            why = f"{columns[error.place].name} is computed by Spark only, of some result: run the job on Spark"
        raise JobError("expression", f"{why}; in {shown(texts[error.place])}", 1) from error


def _typed(given: pa.Table, columns: Sequence[TableColumn]) -> pa.Table:
    """The plan's results with their types, but for those that no expression reads here."""
    import pyarrow as pa

    kinds = {f"c{place}": (column.name, sql_type(column.type)) for place, column in enumerate(columns)}
    known = {name: kind for name, kind in kinds.items() if kind[1].family != "other"}
    values = {name: typed_values(given.column(place).combine_chunks(), kind) for place, (name, kind) in known.items()}
    return pa.table(values | {"": pa.nulls(given.num_rows)})


def _encoded(values: pa.Array, column: TableColumn) -> pa.Array:
    """Values of a column as results have them; of doubles, zero has one sign, as where Spark groups by it."""
    from pyarrow import compute as pc

    kind = sql_type(column.type)
    if kind.family == "other":
        return values
    found = TypedColumn(values, column).values
    return pc.add(found, 0.0) if kind.family == "float" else found
