"""Derived columns on executors: decoded rows are Spark's between two functions under `mapInArrow`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.decoding.contracts import marks_among
from streambound_runtime.decoding.decoder import Decoded, Decoder, Place
from streambound_runtime.decoding.derived import ComputedColumns
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.raw import PLACES, own
from streambound_runtime.decoding.typed_columns import TypedColumn
from streambound_runtime.placement.decoded_chunk import DecodedChunk, chunk_of, packed_facts, unpacked_facts
from streambound_runtime.reading.files import Raw
from streambound_runtime.session import pinned
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Errors = Mapping[str, Mapping[str, str]]
"""What errors expressions raise on a batch, by stream and column (`reading.computing.errors`)."""


class MissingRowTextError(Exception):
    """A row is rejected, and what it says has not come along: raised on an executor, for the driver to try again."""


class DerivedOnExecutors:
    """The derived columns of a stream; with ``errors``, which expressions raise, what a rejected row says comes along.

    What travels: facts (`decoded_chunk.packed_facts`), or a good row of the first step.
    """

    def __init__(self, job: JobSpec, number: int, errors: Errors | None, lines: bool) -> None:
        stream, self.most = job.streams[number], job.quarantine_limit.most
        self.stream, self.number, self.derivation = stream, number, ComputedColumns(stream, lines, self.most)
        self.lines = lines
        self.careful = errors is not None
        self.messages = dict((errors or {}).get(stream.name, {}))

    def schema(self) -> str:
        """The columns that travel to Spark."""
        beside = {"text": "STRING", **PLACES} if self.careful else {}
        columns = {"facts": "BINARY", "ts": "BIGINT", **beside}
        own_columns = [f"{self._own(name)} {kind}" for name, kind in columns.items()]
        return ", ".join([*own_columns, *self.derivation.argument_types()])

    def first_step(self, late_before: int | None) -> Callable[[Iterator[Raw]], Iterator[pa.RecordBatch]]:
        """The first step, over raw rows."""

        def begin(raws: Iterator[Raw]) -> Iterator[pa.RecordBatch]:
            decoder = Decoder(self.derivation.first, self.lines, self.most)
            for raw in raws:
                found = decoder.decode(raw.rows, late_before, raw.all_columns)
                none = np.zeros(0, dtype=np.int64)
                bad = found.rejected, found.beyond
                chunk = DecodedChunk(self.number, found.rows, found.largest, found.ended, *bad, raw.file, none, None)
                yield from self._travelling(decoder, raw, found, packed_facts(chunk, counted=False))

        return begin

    def _travelling(self, decoder: Decoder, raw: Raw, found: Decoded, facts: bytes) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        arguments, size = self.derivation.arguments(found), len(found.good_at)
        columns = {"facts": pa.nulls(size, pa.binary()), "ts": found.good.column(1).combine_chunks()}
        if self.careful:
            places = [{"file": raw.file, **known} for known in decoder.places(raw.rows, found.good_at)]
            columns["text"] = pa.array(
                decoder.texts(raw.rows, found.good_at, raw.all_columns) if size else [], pa.string()
            )
            for name, kind in _arrow_places().items():
                columns[name] = pa.array([known.get(name) for known in places], kind)
        rows = pa.table({own(self.stream, name): values for name, values in columns.items()} | _columns(arguments))
        alone = {field.name: pa.nulls(1, field.type) for field in rows.schema}
        yield pa.record_batch(alone | {own(self.stream, "facts"): pa.array([facts], pa.binary())}, schema=rows.schema)
        yield from rows.to_batches()

    def computed(self, rows: DataFrame) -> DataFrame:
        """The rows with their derived columns."""
        names = self.derivation.passed(rows.columns)
        with pinned(rows.sparkSession):
            return rows.selectExpr(*names, *self.derivation.sql(self.careful))

    def second_step(self, tables: Iterator[pa.Table]) -> Iterator[DecodedChunk]:
        """The second step, over what travels."""
        from pyarrow import compute as pc

        for table in tables:
            facts = table.column(own(self.stream, "facts"))
            yield from map(unpacked_facts, facts.drop_null().to_pylist())
            rows = table.filter(pc.is_null(facts)).combine_chunks()
            if rows.num_rows:
                yield chunk_of(self.stream, self.number, self._finished(rows), Raw(rows))

    def _finished(self, rows: pa.Table) -> Decoded:
        import pyarrow as pa

        def texts_of(at: Integers) -> tuple[list[str | None], list[Place]]:
            if not self.careful:
                raise MissingRowTextError(self.stream.name)
            names = {own(self.stream, name): name for name in ("text", *PLACES)}
            found = rows.select([*names]).take(pa.array(at)).rename_columns([*names.values()]).to_pylist()
            return [row.pop("text") for row in found], found

        declared = {column.name: column for column in self.stream.columns}
        typed = [
            TypedColumn(rows.column(name).combine_chunks(), declared[name]).values
            for name in self.derivation.first.needs
        ]
        part, ts = pa.array(np.zeros(rows.num_rows, dtype=np.int32)), rows.column(own(self.stream, "ts"))
        good = pa.Table.from_arrays([part, ts, *typed], ["part", "ts", *self.derivation.first.needs])
        fields = dict.fromkeys(("reason", "detail", "row"), pa.string()) | {"length": pa.int64()} | _arrow_places()
        rejected, beyond = pa.schema(fields).empty_table(), pa.table({"detail": pa.array([], pa.string())})
        none = np.zeros(0, dtype=np.int64)
        marks = marks_among(self.stream, dict(zip(self.derivation.first.needs, typed, strict=True)), rows.num_rows)
        beyond = beyond.append_column("n", [pa.array([], pa.int64())])
        first = Decoded(good, np.arange(rows.num_rows), rejected, none, beyond, 0, {}, frozenset(), marks)
        return self.derivation.finished(first, rows, self.messages, texts_of)

    def _own(self, name: str) -> str:
        return quoted(own(self.stream, name))


def union(parts: list[DataFrame]) -> DataFrame:
    """The rows of several DataFrames."""
    return reduce(lambda one, other: one.union(other), parts)


def _arrow_places() -> dict[str, pa.DataType]:
    import pyarrow as pa

    kinds = {"STRING": pa.string(), "INT": pa.int32(), "BIGINT": pa.int64()}
    return {name: kinds[kind] for name, kind in PLACES.items()}


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.schema.names, table.columns, strict=True))
