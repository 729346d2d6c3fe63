"""Part of every job: all streams as one, and what is told of each of their rows."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from streambound.synopsis_exec.job.arrow import SLOTS, slot_type
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.json_text import quoted, reasons
from streambound.synopsis_exec.job.reading import are_lines, json_rows, read, read_columns, read_lines, text_of
from streambound.synopsis_exec.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNKNOWN = 2**50
"""Spark says 2 ** 63 bytes of what it knows nothing of, of which the columns that are read are some part."""


def as_lines(options: argparse.Namespace) -> bool:
    """Whether what comes are lines of JSON that the driver can read by itself: see `Cell`."""
    return all(
        source.cells and are_lines(source, options) and (options.input or not source.metadata) for source in STREAMS
    )


def as_columns(options: argparse.Namespace) -> bool:
    """Whether what comes are columns of files that the driver can tell apart by itself: see `Cell`."""
    return not options.input and all(
        source.cells and source.format in COLUMNAR and not source.payload for source in STREAMS
    )


def arriving(spark: SparkSession, options: argparse.Namespace, files: list[list[str]] | None = None) -> DataFrame:
    """All streams as one: what is told of their rows (`tagged`), or `source` (a number) and what that is made of.

    These are `value`, a line, or the columns of `places`.
    What crosses from here to a batch is made for every row, whether that is needed or not. Files that the driver reads
    by itself (`near`) give the same. ``files`` are some files of each stream, which then are read once.
    """
    parts = []
    for number, source in enumerate(STREAMS):
        mine = files[number] if files is not None else None
        if as_lines(options):
            part = read_lines(spark, source, options, mine).selectExpr(f"{number} AS source", "*")
        elif as_columns(options):
            part = in_places(number, read_columns(spark, source, options, mine))
        else:
            part = tagged(number, source, read(spark, source, options, streaming=True))
        parts.append(part)
    return in_one(parts)


def in_one(parts: list[DataFrame]) -> DataFrame:
    """The rows of all streams."""
    return reduce(lambda together, part: together.unionByName(part, allowMissingColumns=True), parts)


class Arrived:
    """A micro-batch as Spark gives it: the rows of `arriving`."""

    near: list[dict[str, int]] | None = None
    """The files of each stream's rows, with their sizes, if the driver can read them by itself: see `paths_near`."""

    def __init__(self, frame: DataFrame, options: argparse.Namespace) -> None:
        self.frame, self.options = frame, options

    @cached_property
    def told(self) -> DataFrame:
        """What is told of its rows."""
        if as_columns(self.options):
            return tagged_columns(self.frame)
        if not as_lines(self.options):
            return self.frame
        parts = []
        for number, source in enumerate(STREAMS):
            lines = self.frame.where(f"source = {number}").drop("source")
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
    row's partition, `place` where its record is in a queue. For a punctuation `mark` says from when to when it ends
    time, and `ts` and the values are NULL.
    """
    told = [f"{text} AS {name}" for name, text in tags(source).items()]
    place = ["place"] * ("place" in rows.columns)
    return rows.selectExpr(f"{number} AS source", f"raw AS raw_{number}", "reason", *place, *told)


def tags(source: Source) -> dict[str, str]:
    """What is told of a row, in Spark SQL over `row` and `reason`."""
    time, marks = source.values[source.time or ""], source.mark != "FALSE"
    good = f"reason IS NULL AND NOT {source.mark}" if marks else "reason IS NULL"
    column_of = {slot: column for column, slot in source.slots.items()}
    told = {
        "part": source.part,
        "ts": f"CASE WHEN {good} THEN CAST({time} AS BIGINT) END",
        "useful": f"({source.useful}){f' AND NOT {source.mark}' if marks else ''}",
        **{slot: slot_text(source, slot, column_of.get(slot), good) for slot in SLOTS},
    }
    if marks:
        mark = f"struct(CAST({source.since} AS BIGINT) AS low, CAST({time} AS BIGINT) AS high)"
        told["mark"] = f"CASE WHEN reason IS NULL AND {source.mark} THEN {mark} END"
    return told


# --- columns of files -------------------------------------------------------------------------------------------------

COLUMNAR = ("orc", "parquet")
"""Formats of files that have columns with types, which Spark brings along."""
OF_A_TYPE = re.compile(r"`((?:[^`]|``)*)` (\w+)")
"""A column and its type, in a schema of types without parameters."""
OF_ROW = re.compile(r"'(?:[^'\\]|\\.)*'|`row`\.|`(?:[^`]|``)*`|\brow\.")
"""A literal, a column's name, or what says that the next is a column of the row."""


def places(source: Source) -> dict[str, str]:
    """Column -> the column, shared by the streams, in which it crosses to a batch.

    Streams share columns of the same type only, so that nothing is cast; a timestamp is the first of its type.
    """
    seen: Counter[str] = Counter()
    found = {}
    kinds = declared_kinds(source)
    for name, kind in sorted(kinds.items(), key=lambda column: column[0] != source.time):
        found[name] = f"own_{kind}_{seen[kind]}"
        seen[kind] += 1
    return {name: found[name] for name in kinds}


def declared_kinds(source: Source) -> dict[str, str]:
    """Column -> its type, where no type has parameters."""
    return {name.replace("``", "`"): kind.lower() for name, kind in OF_A_TYPE.findall(source.typed)}


PLACES = tuple(places(source) for source in STREAMS)
"""The places of each stream's columns."""


def in_places(number: int, rows: DataFrame) -> DataFrame:
    """A stream's columns in their places; nothing is told of a row that is not asked."""
    return rows.selectExpr(f"{number} AS source", *(f"{quoted(name)} AS {own}" for name, own in PLACES[number].items()))


def tagged_columns(frame: DataFrame) -> DataFrame:
    """As `tagged`, of all streams at once, from their columns in their places."""
    rows = with_rows(frame).selectExpr("source", *(f"raw_{n}" for n in range(len(STREAMS))))
    rows = rows.selectExpr("*", f"{per_source([reasons(source.invalid) for source in STREAMS])} AS reason")
    told = [tags(source) for source in STREAMS]
    columns = [f"{per_source([mine[name] for mine in told])} AS {name}" for name in told[0]]
    return rows.selectExpr("*", *columns)


def with_rows(frame: DataFrame) -> DataFrame:
    """Columns in their places, with the row of each source that a row may be of, as `raw_0`, `raw_1` and so on."""
    return frame.selectExpr("*", *(f"{row_of(there)} AS raw_{n}" for n, there in enumerate(PLACES)))


def row_of(there: dict[str, str]) -> str:
    """A row, of the columns in their places."""
    return f"struct({', '.join(f'{own} AS {quoted(name)}' for name, own in there.items())})"


def per_source(texts: list[str]) -> str:
    """What each source says of its `row`, as one text over all of their rows, `raw_0`, `raw_1` and so on."""
    return f"CASE source {' '.join(f'WHEN {n} THEN {said_of(n, text)}' for n, text in enumerate(texts))} END"


def said_of(number: int, text: str) -> str:
    """A text about any row, as one about the rows of a source.

    >>> said_of(1, "row.`a row.` = 'row.' AND `row`.b > 0")
    "raw_1.`a row.` = 'row.' AND raw_1.b > 0"
    """
    return OF_ROW.sub(lambda found: f"raw_{number}." if found[0] in ("row.", "`row`.") else str(found[0]), text)


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
