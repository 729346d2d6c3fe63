"""Derived columns on executors: decoded rows are Spark's between two functions under `mapInArrow`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.decoding.derived import Derivation
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.raw import PLACES, own
from streambound_runtime.decoding.typed_columns import TypedColumn
from streambound_runtime.placement.pieces import Piece, heard, piece_of, told
from streambound_runtime.reading.files import Raw
from streambound_runtime.session import pinned
from streambound_runtime.spec import Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Errors = Mapping[str, Mapping[str, str]]
"""What errors expressions raise on a batch, by stream and column (`reading.computing.errors`)."""
_PLACES = dict(zip(PLACES, ("STRING", "BIGINT", "INT", "BIGINT"), strict=True))


class ComputedThere:
    """The derived columns of a stream; with ``errors``, which expressions raise, what a rejected row says comes along.

    What travels: facts (`pieces.told`), or a good row of the first step.
    """

    def __init__(self, stream: Stream, number: int, errors: Errors | None) -> None:
        self.stream, self.number, self.derivation = stream, number, Derivation(stream)
        self.careful = errors is not None
        self.words = dict((errors or {}).get(stream.name, {}))

    def schema(self) -> str:
        """The columns that travel to Spark."""
        beside = {"text": "STRING", **_PLACES} if self.careful else {}
        said = {"facts": "BINARY", "ts": "BIGINT", **beside}
        own_columns = [f"{self._own(name)} {kind}" for name, kind in said.items()]
        return ", ".join([*own_columns, *self.derivation.argument_types()])

    def begun(self, lines: bool, late_before: int | None) -> Callable[[Iterator[Raw]], Iterator[pa.RecordBatch]]:
        """The first step, over raw rows."""

        def begin(raws: Iterator[Raw]) -> Iterator[pa.RecordBatch]:
            decoder = Decoder(self.derivation.first, lines=lines)
            for raw in raws:
                found = decoder.decode(raw.rows, late_before, raw.whole)
                none = np.zeros(0, dtype=np.int64)
                piece = Piece(self.number, found.rows, found.largest, found.ended, found.rejected, raw.file, none, None)
                yield from self._travelling(decoder, raw, found, told(piece, counted=False))

        return begin

    def _travelling(self, decoder: Decoder, raw: Raw, found: Decoded, facts: bytes) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        arguments, size = self.derivation.arguments(found), len(found.good_at)
        columns = {"facts": pa.nulls(size, pa.binary()), "ts": found.good.column(1).combine_chunks()}
        if self.careful:
            places = [{"file": raw.file, **known} for known in decoder.places(raw.rows, found.good_at)]
            columns["text"] = pa.array(decoder.texts(raw.rows, found.good_at, raw.whole) if size else [], pa.string())
            kinds = {"file": pa.string(), "partition": pa.int32()}
            for name in PLACES:
                columns[name] = pa.array([known.get(name) for known in places], kinds.get(name, pa.int64()))
        rows = pa.table({own(self.stream, name): values for name, values in columns.items()} | _columns(arguments))
        alone = {field.name: pa.nulls(1, field.type) for field in rows.schema}
        yield pa.record_batch(alone | {own(self.stream, "facts"): pa.array([facts], pa.binary())}, schema=rows.schema)
        yield from rows.to_batches()

    def computed(self, rows: DataFrame) -> DataFrame:
        """What travels, with the derived columns."""
        names = [quoted(name) for name in rows.columns]
        with pinned(rows.sparkSession):
            return rows.selectExpr(*names, *self.derivation.sql(self.careful))

    def pieces(self, tables: Iterator[pa.Table]) -> Iterator[Piece]:
        """The second step, over what travels."""
        from pyarrow import compute as pc

        for table in tables:
            facts = table.column(own(self.stream, "facts"))
            yield from map(heard, facts.drop_null().to_pylist())
            rows = table.filter(pc.is_null(facts)).combine_chunks()
            if rows.num_rows:
                yield piece_of(self.stream, self.number, self._finished(rows), Raw(rows))

    def _finished(self, rows: pa.Table) -> Decoded:
        import pyarrow as pa

        def said(at: Any) -> tuple[list[str | None], list[dict[str, Any]]]:
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
        kinds = {"file": pa.string(), "line": pa.int64(), "partition": pa.int32(), "offset": pa.int64()}
        rejected = pa.schema(dict.fromkeys(("reason", "detail", "row"), pa.string()) | kinds).empty_table()
        none = np.zeros(0, dtype=np.int64)
        first = Decoded(good, np.arange(rows.num_rows), rejected, none, 0, {}, frozenset())
        return self.derivation.finished(first, rows, self.words, said)

    def _own(self, name: str) -> str:
        return quoted(own(self.stream, name))


def union(parts: list[DataFrame]) -> DataFrame:
    """The rows of several DataFrames."""
    return reduce(lambda one, other: one.union(other), parts)


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.schema.names, table.columns, strict=True))
