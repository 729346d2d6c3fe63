"""Part of every job: all streams as one, and what is told of each of their rows."""

from __future__ import annotations

import argparse
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from synopsis_exec.job.arrow import SLOTS, slot_type
from synopsis_exec.job.given import STREAMS
from synopsis_exec.job.reading import are_lines, json_rows, read, read_lines, text_of
from synopsis_exec.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNKNOWN = 2**50
"""Spark says 2 ** 63 bytes of what it knows nothing of, of which the columns that are read are some part."""


def as_lines(options: argparse.Namespace) -> bool:
    """Whether what comes are lines of JSON that the driver can read by itself: see `Cell`."""
    return all(source.cells and are_lines(source, options) for source in STREAMS)


def arriving(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """All streams as one: what is told of their rows (`tagged`), or `source` (a number) and `value` (a line).

    What crosses from here to a batch is made for every row, whether that is needed or not.
    """
    parts = []
    for number, source in enumerate(STREAMS):
        if as_lines(options):
            part = read_lines(spark, source, options).selectExpr(f"{number} AS source", "value")
        else:
            part = tagged(number, source, read(spark, source, options, streaming=True))
        parts.append(part)
    return in_one(parts)


def in_one(parts: list[DataFrame]) -> DataFrame:
    """The rows of all streams."""
    return reduce(lambda together, part: together.unionByName(part, allowMissingColumns=True), parts)


class Arrived:
    """A micro-batch as Spark gives it: the rows of `arriving`."""

    def __init__(self, frame: DataFrame, options: argparse.Namespace) -> None:
        self.frame, self.options = frame, options

    @cached_property
    def told(self) -> DataFrame:
        """What is told of its rows."""
        if not as_lines(self.options):
            return self.frame
        parts = []
        for number, source in enumerate(STREAMS):
            lines = self.frame.where(f"source = {number}").select("value")
            parts.append(tagged(number, source, json_rows(source, lines, self.options)))
        return in_one(parts)

    @cached_property
    def bytes(self) -> int | None:
        """How many they are, as Spark estimates it from the files; None where it knows nothing.

        Without what is there for bad rows alone.
        """
        raw = [name for name in self.frame.columns if name.startswith("raw_")]
        used = self.frame.drop(*raw) if raw else self.frame
        size = int(used._jdf.queryExecution().analyzed().stats().sizeInBytes())
        return size if size < UNKNOWN else None


def tagged(number: int, source: Source, rows: DataFrame) -> DataFrame:
    """A stream's rows: `source` (its number), `reason`, `ts`, `useful`, and the columns of values.

    `raw_n` has the rows of source n; the texts of bad rows are made of it, by `row_text`. `part` is the number of a
    row's partition. For a punctuation `mark` says from when to when it ends time, and `ts` and the values are NULL.
    """
    time, marks = source.values[source.time or ""], source.mark != "FALSE"
    good = f"reason IS NULL AND NOT {source.mark}" if marks else "reason IS NULL"
    column_of = {slot: column for column, slot in source.slots.items()}
    columns = [
        f"{number} AS source",
        f"{source.part} AS part",
        f"raw AS raw_{number}",
        "reason",
        f"CASE WHEN {good} THEN CAST({time} AS BIGINT) END AS ts",
        f"({source.useful}){f' AND NOT {source.mark}' if marks else ''} AS useful",
        *(f"{slot_text(source, slot, column_of.get(slot), good)} AS {slot}" for slot in SLOTS),
    ]
    if marks:
        mark = f"struct(CAST({source.since} AS BIGINT) AS low, CAST({time} AS BIGINT) AS high)"
        columns.append(f"CASE WHEN reason IS NULL AND {source.mark} THEN {mark} END AS mark")
    return rows.selectExpr(*columns)


def row_text(frame: DataFrame) -> str:
    """A row's text, in Spark SQL over the columns of `tagged`."""
    kinds = dict(frame.dtypes)
    cases = (f"WHEN {n} THEN {text_of(f'raw_{n}', kinds[f'raw_{n}'])}" for n in range(len(STREAMS)))
    return f"CASE source {' '.join(cases)} END"


def slot_text(source: Source, slot: str, column: str | None, good: str) -> str:
    """What a row of a source has in a slot; a bad one has anything there, but no text, which may be none."""
    kind = slot_type(slot)
    if column is None:
        return f"CAST(NULL AS {kind})"
    value = f"CAST({source.values[column]} AS {kind})"
    return f"CASE WHEN {good} THEN {value} END" if kind == "STRING" else value
