"""Derived columns on the driver: decoded rows pass through a DataFrame there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streambound_runtime.arrays import Integers
from streambound_runtime.decoding.decoder import Decoded, Decoder, Place
from streambound_runtime.decoding.derived import ComputedColumns, cast
from streambound_runtime.session import pinned
from streambound_runtime.spec import ROW, Relation, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from streambound_runtime.decoding.decoder import AllColumns

_TRY = re.compile(r"\btry_\w+")


def decoder_of(spark: SparkSession | None, table: Stream | Relation, lines: bool, most: int) -> Decoder:
    """A decoder of raw rows that tells ``most`` bad ones; where there are derived columns it asks Spark."""
    return DerivingDecoder(spark, table, lines, most) if table.derived else Decoder(table, lines, most)


class DerivingDecoder(Decoder):
    """Decodes raw rows in two steps, between which Spark computes."""

    def __init__(self, spark: SparkSession, table: Stream | Relation, lines: bool, most: int) -> None:
        self.spark, self.derivation = spark, ComputedColumns(table, lines, most)
        super().__init__(self.derivation.first, lines, most)

    def decode(
        self, raw: pa.Table | pa.RecordBatch, late_before: int | None = None, all_columns: AllColumns = None
    ) -> Decoded:
        """As `Decoder.decode`."""
        first = super().decode(raw, late_before, all_columns)
        computed, messages = self._computed(first)

        def texts_of(at: Integers) -> tuple[list[str | None], list[Place]]:
            return self.texts(raw, first.good_at[at], all_columns), self.places(raw, first.good_at[at])

        return self.derivation.finished(first, computed, messages, texts_of)

    def _computed(self, first: Decoded) -> tuple[pa.Table, dict[str, str]]:
        """What Spark computes, and the errors of expressions that raise one."""
        if not len(first.good_at):
            return self.derivation.nothing(), {}
        with pinned(self.spark, local="0"):
            given = self.derivation.arguments(first)
            rows = self.spark.createDataFrame(given)
            rows = rows.selectExpr(*self.derivation.read(rows.columns)).alias(ROW)
            try:
                return rows.selectExpr(*self.derivation.sql(careful=False)).toArrow(), {}
            except Exception as error:
                messages = errors(rows, self.derivation) if is_of_spark(error) else {}
                if not messages:
                    raise
                return rows.selectExpr(*self.derivation.sql(careful=True)).toArrow(), messages


def errors(rows: DataFrame, derivation: ComputedColumns) -> dict[str, str]:
    """What error each expression raises that raises one on some of the rows: of several errors any one."""
    found = {}
    for place, column in enumerate(derivation.table.derived):
        try:
            with pinned(rows.sparkSession):
                rows.where(derivation.raising(place)).limit(1).selectExpr(cast(column)).toArrow()
        except Exception as error:
            if not is_of_spark(error):
                raise
            found[column.name] = in_words(error)
    return found


def is_of_spark(error: Exception) -> bool:
    """Whether an error is one that Spark has raised."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def in_words(error: Exception) -> str:
    """The class of an error, and the function that returns NULL instead, where Spark names one."""
    text, name = str(error), error.getCondition() if hasattr(error, "getCondition") else None
    name = name or next(iter(re.findall(r"\[([A-Z][A-Z0-9_.]+)\]", text)), type(error).__name__)
    other = _TRY.search(text)
    return f"Spark raises {name}" + (f", and {other[0]} gives NULL instead" if other else "")
