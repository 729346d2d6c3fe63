"""The relations of a job, read where they are: their good rows, and the quarantined ones with what is told of them.

Files of JSON lines, and what Spark reads of any other source, pass through the decoder on executors; a row whose period
is bad is quarantined there, too. Nothing comes to the driver but what is quarantined, and that only to be written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Values
from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.decoding.quoting import quoted, sql_text
from streambound_runtime.decoding.row_text import cut_columns
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.errors import unreadable
from streambound_runtime.periods.execution import GoodRows
from streambound_runtime.periods.job import PeriodRelation
from streambound_runtime.periods.times import OTHER, carried_as, typed
from streambound_runtime.periods.validity import ABOUT_ROWS, REASON, WORDS, judged
from streambound_runtime.quarantine import BadRows
from streambound_runtime.reading.files import Files, LocalFiles, Raw
from streambound_runtime.reading.sources import by_path, paths_now, raw_rows
from streambound_runtime.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    Batches = Iterator[pa.RecordBatch]

BAD = "_bad"
"""The column with what is told of a quarantined row, as JSON."""
_AT_ONCE = 4096
"""Bad rows that are told at a time."""
_ABOUT = "_told"
"""The column with what can be told of a good row, as JSON, where other rows may make it bad."""
_REASON, _DETAIL = '"?reason"', '"?detail"'
"""What stands in it for the reason; in a text in JSON these quotes would be escaped."""


def read_relation(spark: SparkSession, given: PeriodRelation, settings: Settings) -> DataFrame:
    """The rows of a relation in the types that are declared, and `BAD`, which good rows have not; lazily.

    Raises JobError for columns whose values cannot be read.
    """
    table = given.relation
    strange = next((column for column in table.columns if sql_type(column.type).family == OTHER), None)
    if strange is not None:
        raise unreadable(f"{table.name}.{strange.name} is {strange.type}, which a SEQ statement does not read")
    types = ", ".join(f"c{place} {carried_as(sql_type(one.type))}" for place, one in enumerate(table.columns))
    parts = _of_files(spark, given, settings) if by_path(table, settings) else None
    parts = parts or [(raw_rows(spark.read, table, settings), _of_rows(given))]
    found = reduce(
        lambda one, other: one.unionAll(other),
        [rows.mapInArrow(decode, f"{types}, {BAD} STRING, {_ABOUT} STRING") for rows, decode in parts],
    )
    listed = (f"{typed(f'c{n}', sql_type(one.type))} AS {quoted(one.name)}" for n, one in enumerate(table.columns))
    told = found.selectExpr(*listed, BAD, _ABOUT)
    return (_judged(given, told) if given.key else told).drop(_ABOUT)


def _of_files(
    spark: SparkSession, given: PeriodRelation, settings: Settings
) -> list[tuple[DataFrame, Callable[[Batches], Batches]]]:
    """The files that executors read, and those that Spark has to, such as CSV, each with what decodes it."""
    files = Files(spark, given.relation, settings)
    paths, others = files.apart(paths_now(spark, given.relation, settings))
    parts = []
    if paths or not others:
        rows = spark.createDataFrame([(path,) for path in paths], "path STRING").repartition(max(1, len(paths)))
        parts.append((rows, _of_paths(given, settings)))
    if others:
        parts.append((files.by_spark(others), _of_rows(given, files.local.lines)))
    return parts


def _judged(given: PeriodRelation, rows: DataFrame) -> DataFrame:
    """The rows, of which those that other rows, or their probability, make bad are quarantined, too."""
    assert given.period is not None, "what has lineages has periods"
    alone = f"CASE WHEN {BAD} IS NOT NULL THEN '' END"
    fact = given.fact(column.name for column in given.relation.columns)
    found = judged(rows, alone, given.period, given.time_type, given.key, given.probability, fact)
    words = " ".join(f"WHEN '{reason}' THEN {sql_text(json.dumps(known))}" for reason, known in ABOUT_ROWS.items())
    about = f"replace({_ABOUT}, '{_REASON}', concat('\"', {REASON}, '\"'))"
    about = f"replace({about}, '{_DETAIL}', CASE {REASON} {words} END)"
    listed = [quoted(column.name) for column in given.relation.columns]
    return found.selectExpr(*listed, f"coalesce({BAD}, {about}) AS {BAD}", _ABOUT)


def good_rows(given: PeriodRelation, rows: DataFrame) -> GoodRows:
    """The rows that are not quarantined."""
    return GoodRows(rows.where(f"{BAD} IS NULL").drop(BAD), given.period, given.time_type)


def _of_paths(given: PeriodRelation, settings: Settings) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        local = LocalFiles(given.relation, settings)
        for batch in batches:
            for path in batch.column(0).to_pylist():
                raws = local.opened(path)
                if raws is None:
                    raise ValueError(f"{path} is none of the files that can be read here")
                for raw in raws:
                    yield from _decoded(Decoder(given.relation, lines=local.lines), given, raw)

    return read


def _of_rows(given: PeriodRelation, lines: bool = False) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        import pyarrow as pa

        for batch in batches:
            yield from _decoded(Decoder(given.relation, lines=lines), given, Raw(pa.Table.from_batches([batch])))

    return read


def _decoded(decoder: Decoder, given: PeriodRelation, raw: Raw) -> Batches:
    """The good rows of some raw ones, then the quarantine records of the others."""
    import pyarrow as pa

    found = decoder.decode(raw.rows, all_columns=raw.all_columns)
    bad = BadRows(sys.maxsize)
    bad.add(given.relation, found.rejected, raw.file)
    good = found.good
    why = np.full(good.num_rows, "")
    if given.period is not None:
        why = _faults(found, given)
        wrong = np.flatnonzero(why != "")
        reasons = why[wrong].tolist()
        told = _told(decoder, raw, found.good_at[wrong], reasons, [WORDS[reason] for reason in reasons])
        bad.add(given.relation, told, raw.file)
        good = good.filter(pa.array(why == ""))
    names = [f"c{place}" for place in range(len(given.relation.columns))]
    columns = [good.column(one.name) for one in given.relation.columns]
    about = _about(decoder, given, raw, found, why) if given.key else [None] * good.num_rows
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    schema = pa.schema([*fields, pa.field(BAD, pa.string()), pa.field(_ABOUT, pa.string())])
    none = pa.nulls(good.num_rows, pa.string())
    yield from pa.Table.from_arrays([*columns, none, pa.array(about, pa.string())], schema=schema).to_batches()
    rows = bad.rows()
    while some := [json.dumps(row, ensure_ascii=False) for row in islice(rows, _AT_ONCE)]:
        empty = [pa.nulls(len(some), field.type) for field in fields]
        texts = pa.array(some, pa.string())
        yield pa.RecordBatch.from_arrays([*empty, texts, pa.nulls(len(some), pa.string())], schema=schema)


def _about(decoder: Decoder, given: PeriodRelation, raw: Raw, found: Decoded, why: Values) -> list[str]:
    """A template of the quarantine record of each good row, with marks for the reason."""
    at, rows = found.good_at[why == ""], BadRows(sys.maxsize)
    marks = [_REASON.strip('"')] * len(at), [_DETAIL.strip('"')] * len(at)
    rows.add(given.relation, _told(decoder, raw, at, *marks), raw.file)
    return [json.dumps(row, ensure_ascii=False) for row in rows.rows()]


def _faults(found: Decoded, given: PeriodRelation) -> Values:
    """By row the reason why its period is bad; an empty text for a good one."""
    assert given.period is not None
    begin, end = (found.good.column(name).combine_chunks() for name in given.period)
    absent = np.asarray(begin.is_null()) | np.asarray(end.is_null())
    b, e = (np.asarray(one.fill_null(0)) for one in (begin, end))
    outside = np.zeros(len(b), dtype=bool)
    if given.low is not None:
        outside |= b < given.low
    if given.high is not None:
        outside |= e > given.high
    return np.select([absent, b >= e, outside], [*WORDS], default="")


def _told(decoder: Decoder, raw: Raw, at: Integers, reasons: Sequence[str], details: Sequence[str]) -> pa.Table:
    """The quarantine records of some raw rows (`Decoded.rejected`)."""
    import pyarrow as pa

    why = {"reason": pa.array(reasons, pa.string()), "detail": pa.array(details, pa.string())}
    texts = cut_columns(decoder.texts(raw.rows, at, raw.all_columns))
    return pa.table(why | texts | decoder.place_columns(raw.rows, at))
