"""Derived columns on the driver: decoded rows pass through a DataFrame there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.decoding.derived import Derivation, cast
from streambound_runtime.spec import ROW, Relation, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from streambound_runtime.decoding.decoder import Whole

_LOCAL = "spark.sql.execution.arrow.localRelationThreshold"
"""Below so many bytes Spark computes rows one by one while it plans a query, which takes long for many."""
_TRY = re.compile(r"\btry_\w+")


def decoder_of(spark: SparkSession, table: Stream | Relation, lines: bool) -> Decoder:
    """A decoder of raw rows; where there are derived columns it asks Spark."""
    return DerivingDecoder(spark, table, lines) if table.derived else Decoder(table, lines=lines)


class DerivingDecoder(Decoder):
    """Decodes raw rows in two steps, between which Spark computes."""

    def __init__(self, spark: SparkSession, table: Stream | Relation, lines: bool) -> None:
        self.spark, self.derivation = spark, Derivation(table)
        super().__init__(self.derivation.first, lines)

    def decode(self, raw: pa.Table | pa.RecordBatch, late_before: int | None = None, whole: Whole = None) -> Decoded:
        """As `Decoder.decode`."""
        first = super().decode(raw, late_before, whole)
        computed, words = self._computed(first)

        def told(at: Any) -> tuple[list[str | None], list[dict[str, Any]]]:
            return self.texts(raw, first.good_at[at], whole), self.places(raw, first.good_at[at])

        return self.derivation.finished(first, computed, words, told)

    def _computed(self, first: Decoded) -> tuple[pa.Table, dict[str, str]]:
        """What Spark computes, and the errors of expressions that raise one."""
        if not len(first.good_at):
            return self.derivation.nothing(), {}
        with _in_tasks(self.spark):
            rows = self.spark.createDataFrame(self.derivation.arguments(first)).alias(ROW)
        try:
            return rows.selectExpr(*self.derivation.sql(careful=False)).toArrow(), {}
        except Exception as error:
            words = errors(rows, self.derivation) if is_of_spark(error) else {}
            if not words:
                raise
            return rows.selectExpr(*self.derivation.sql(careful=True)).toArrow(), words


@contextmanager
def _in_tasks(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(_LOCAL, None)
    spark.conf.set(_LOCAL, "0")
    try:
        yield
    finally:
        spark.conf.unset(_LOCAL) if before is None else spark.conf.set(_LOCAL, before)


def errors(rows: DataFrame, derivation: Derivation) -> dict[str, str]:
    """What error each expression raises that raises one on some of the rows: of several errors any one."""
    found = {}
    for place, column in enumerate(derivation.table.derived):
        try:
            rows.where(derivation.raising(place)).limit(1).selectExpr(cast(column)).toArrow()
        except Exception as error:
            if not is_of_spark(error):
                raise
            found[column.name] = in_words(error)
    return found


def is_of_spark(error: Exception) -> bool:
    """Whether an error is one that Spark has raised."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def in_words(error: Any) -> str:
    """The class of an error, and the function that returns NULL instead, where Spark names one."""
    said, name = str(error), error.getCondition() if hasattr(error, "getCondition") else None
    name = name or next(iter(re.findall(r"\[([A-Z][A-Z0-9_.]+)\]", said)), type(error).__name__)
    other = _TRY.search(said)
    return f"Spark raises {name}" + (f", and {other[0]} gives NULL instead" if other else "")
