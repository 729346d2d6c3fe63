"""Derived columns where rows are decoded: they pass through DuckDB in this process, or through a DataFrame."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from streambound_runtime import expressions
from streambound_runtime.arrays import Integers
from streambound_runtime.decoding.decoder import Decoded, Decoder, Place
from streambound_runtime.decoding.derived import ComputedColumns, cast
from streambound_runtime.decoding.reasons import computed_in_words
from streambound_runtime.errors import JobError
from streambound_runtime.reading.relation_views import Views
from streambound_runtime.session import pinned
from streambound_runtime.spec import ROW, Relation, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from streambound_runtime.decoding.decoder import AllColumns

_TRY = re.compile(r"\btry_\w+")
_OF_USER = "`("
"""What only a call of a function of the user's own has in Spark SQL."""


Computed = tuple["pa.Table", Mapping[str, str]]
"""The values of derived columns, and the errors of those that raise one on some row."""


def decoder_of(spark: SparkSession | None, table: Stream | Relation, lines: bool, most: int, views: Views) -> Decoder:
    """A decoder of raw rows that tells ``most`` bad ones; derived columns DuckDB computes, or Spark if it must.

    These may ask ``views``, which Spark has by their names.
    """
    if not table.derived:
        return Decoder(table, lines, most)
    compute = partial(in_process, views) if spark is None or needs_no_spark(table) else partial(by_spark, spark)
    return DerivingDecoder(compute, table, lines, most)


def needs_no_spark(table: Stream | Relation) -> bool:
    """Whether DuckDB computes all derived columns of any row: none asks relations, or calls a function of the user's.

    With Spark these have views and functions of its session.
    """
    of_session = any(column.asks or _OF_USER in column.expression for column in table.derived)
    return not of_session and expressions.of_any_row(column.engine for column in table.derived)


class DerivingDecoder(Decoder):
    """Decodes raw rows in two steps, between which derived columns are computed."""

    def __init__(
        self,
        compute: Callable[[ComputedColumns, pa.Table], Computed],
        table: Stream | Relation,
        lines: bool,
        most: int,
    ) -> None:
        self.compute, self.derivation = compute, ComputedColumns(table, lines, most)
        super().__init__(self.derivation.first, lines, most)

    def decode(
        self, raw: pa.Table | pa.RecordBatch, late_before: int | None = None, all_columns: AllColumns = None
    ) -> Decoded:
        """As `Decoder.decode`."""
        first = super().decode(raw, late_before, all_columns)
        found: Computed = self.derivation.nothing(), {}
        if len(first.good_at):
            found = self.compute(self.derivation, self.derivation.arguments(first))

        def texts_of(at: Integers) -> tuple[list[str | None], list[Place]]:
            return self.texts(raw, first.good_at[at], all_columns), self.places(raw, first.good_at[at])

        return self.derivation.finished(first, *found, texts_of)


def in_process(views: Views, derivation: ComputedColumns, given: pa.Table) -> Computed:
    """The columns that DuckDB computes, and the errors of expressions; raises JobError for a subquery's error."""
    import pyarrow as pa

    columns, texts = derivation.table.derived, derivation.engine()
    given = _with_subqueries(views, derivation, given)
    kinds = [column.type for column in columns]
    names = [derivation.own("value", place) for place in range(len(columns))]
    try:
        return pa.table(dict(zip(names, expressions.computed(given, texts, kinds), strict=True))), {}
    except expressions.Raises:
        values, raising = expressions.tried(given, texts, kinds)
    for column, text, rows in zip(columns, texts, raising, strict=True):
        if expressions.needs_spark(given.filter(rows), text):
            what = f"{derivation.table.name}: {computed_in_words(column)} of a row is computed by Spark only"
            raise JobError("expression", f"{what}: run the job on Spark", 1)
    found = dict(zip(names, values, strict=True))
    found |= {derivation.own("raises", place): rows for place, rows in enumerate(raising)}
    messages = {
        column.name: expressions.error_of(given.filter(rows).slice(0, 1), text)
        for column, text, rows in zip(columns, texts, raising, strict=True)
        if rows.true_count
    }
    return pa.table(found), messages


def _with_subqueries(views: Views, derivation: ComputedColumns, given: pa.Table) -> pa.Table:
    for column in derivation.table.derived:
        try:
            given = expressions.with_subqueries(given, ROW, column.subqueries, views)
        except expressions.Raises as error:
            what = f"{derivation.table.name}: {computed_in_words(column)}"
            raise JobError("expression", expressions.without_value(what, error), 1) from error
    return given


def by_spark(spark: SparkSession, derivation: ComputedColumns, given: pa.Table) -> Computed:
    """The columns that Spark computes, and the errors of expressions."""
    with pinned(spark, local="0"):
        rows = spark.createDataFrame(given)
        rows = rows.selectExpr(*derivation.read(rows.columns)).alias(ROW)
        try:
            return rows.selectExpr(*derivation.sql(careful=False)).toArrow(), {}
        except Exception as error:
            messages = errors(rows, derivation) if is_of_spark(error) else {}
            if not messages:
                raise
            return rows.selectExpr(*derivation.sql(careful=True)).toArrow(), messages


def errors(rows: DataFrame, derivation: ComputedColumns) -> dict[str, str]:
    """The errors of the expressions that raise one on some row; any of them if there are several."""
    found = {}
    for place, column in enumerate(derivation.table.derived):
        try:
            with pinned(rows.sparkSession):
                rows.where(derivation.raising(place)).limit(1).selectExpr(cast(column)).toArrow()
        except Exception as error:
            if not is_of_spark(error):
                raise
            found[column.name] = in_words(error)
            if _OF_USER in column.expression and "INVALID_ARRAY_INDEX" in found[column.name]:
                found[column.name] = "it raises an error in Python"
    return found


def is_of_spark(error: Exception) -> bool:
    """Whether an error is one that Spark has raised."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def in_words(error: Exception) -> str:
    """The class of an error, and the function that returns NULL instead, where Spark names one."""
    text, name = str(error), error.getCondition() if hasattr(error, "getCondition") else None
    name = name or next(iter(re.findall(r"\[([A-Z][A-Z0-9_.]+)\]", text)), type(error).__name__)
    other = _TRY.search(text)
    return f"it raises {name}" + (f", and {other[0]} gives NULL instead" if other else "")
