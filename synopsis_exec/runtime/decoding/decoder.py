"""Decides whether a row is good, and encodes it: in one place, for every source."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.decoding.change_records import format_of
from streambound_runtime.decoding.contracts import broken, broken_periods, marked, places, useful
from streambound_runtime.decoding.json_objects import BLANK, NO_CHANGE, NO_VALUE, NOT_JSON, NOT_UTF8, read_objects
from streambound_runtime.decoding.raw import LONGEST_LINE, PLACES, in_objects, of_files, own
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.decoding.row_text import cut_columns, line_texts, row_texts
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.decoding.typed_columns import TypedColumn, columns_read, columns_wanted
from streambound_runtime.spec import Relation, Stream, TableColumn

if TYPE_CHECKING:
    import pyarrow as pa

    AllColumns = Callable[[Integers], pa.Table] | None
    """Gives the raw rows at some places with all columns, where the rows at hand have not got all."""

_OF_LINES = {NO_VALUE: "no-value", NOT_UTF8: "not-utf8", NOT_JSON: "not-json", NO_CHANGE: "not-a-change"}


Place = dict[str, str | int | None]
"""Where a row is: its file, line, partition and offset, as far as that is known."""


class Ended(NamedTuple):
    """A punctuation: in a partition no more rows come from ``since`` (None: the beginning) to ``until``."""

    part: int
    since: int | None
    until: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """The result of decoding some raw rows.

    ``good`` are the good rows that the plan can use: of a stream the columns ``part`` (int32, the place of the row's
    partition) and ``ts`` (int64), then, as of a relation, those that it needs, in that order; a column may be called
    ``ts``, too. Values are encoded as `SqlType.encoded` says, texts perhaps with a dictionary. ``rejected`` are others:
    ``reason`` (a code of `REASONS`), ``detail`` (its words), ``row`` (its text, or, where it has a ``length``, the
    beginning of that), where it is, and, of late rows, whose reason is ``late`` and whose detail is NULL, ``part`` and
    ``ts``. ``good_at`` and ``rejected_at`` are their
    places among the raw rows.

    Only the first bad rows are in ``rejected``, as many as the decoder tells; ``beyond`` counts the others by the same
    ``detail``, ``part`` and ``ts``.

    ``rows`` were read, blank lines not counted. ``largest`` is the greatest timestamp of any good row by partition,
    ``ended`` are the punctuations of time; ``marks`` says which of ``good`` are records that end keys.
    """

    good: pa.Table
    good_at: Integers
    rejected: pa.Table
    rejected_at: Integers
    beyond: pa.Table
    rows: int
    largest: dict[int, int]
    ended: frozenset[Ended]
    marks: Mask


class _Read:
    """The columns of some raw rows, encoded, and what is wrong with each row, if anything: its first fault."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.columns: dict[str, pa.Array] = {}
        self.unread: list[tuple[str, TableColumn, Mask]] = []
        """Reasons why values are not there, and of which rows."""
        self.no_texts: dict[str, Mask] = {}
        self.there = np.ones(size, dtype=bool)
        self.why = np.zeros(size, dtype=np.int16)
        self.faults: list[tuple[str, str]] = [("", "")]

    def add(self, reason: str, column: TableColumn | None, rows: Mask, broken: str = "") -> None:
        """Note a fault of some rows, unless they have one; ``broken`` is what is declared, as it is written."""
        if rows.any():
            self.why[rows & (self.why == 0)] = len(self.faults)
            self.faults.append((reason, detail(reason, column, per=broken)))


class Decoder:
    """Decodes raw rows (`decoding.raw`) of a stream or relation; with ``lines`` they are lines of files instead.

    At most ``most`` bad rows are returned each time; the others are only counted.
    """

    def __init__(self, table: Stream | Relation, lines: bool = False, most: int = sys.maxsize) -> None:
        self.table, self.most = table, most
        self.stream = table if isinstance(table, Stream) else None
        self.lines = lines or of_files(table)
        self.objects = lines or in_objects(table)
        beside = dict(table.source.metadata) if table.source is not None and self.objects and not lines else {}
        self.inside = tuple(c for c in table.columns if self.objects and c.name not in beside)
        self.typed = tuple(c for c in table.columns if c.name in beside) if self.objects else columns_read(table)
        self.wanted = {column.name for column in columns_wanted(table)}
        arrival = self.stream.arrival if self.stream is not None else None
        self.mark, self.partitions = (arrival.mark, arrival.partitions) if arrival is not None else (None, None)
        self.keys = self.stream.marks if self.stream is not None else ()
        self.records = self.stream.records if self.stream is not None else None

    def decode(
        self, raw: pa.Table | pa.RecordBatch, late_before: int | None = None, all_columns: AllColumns = None
    ) -> Decoded:
        """The good rows and the others; good ones with timestamps below ``late_before`` are late.

        Columns that are not wanted (`columns_wanted`) may be missing; ``all_columns`` reads them for texts of bad rows.
        Raises ValueError where a column is of a type that has to be cast by Spark.
        """
        import pyarrow as pa

        read = self._read(raw)
        ending = self._ending(read)
        is_mark = self._checked(read, ending)
        of_key = np.logical_or.reduce([np.zeros(read.size, dtype=bool), *ending])
        fine = read.there & (read.why == 0)
        part = self._part(read)
        ts: Integers | None = None
        keep, late, largest = fine & ~is_mark, np.zeros(raw.num_rows, dtype=bool), dict[int, int]()
        if self.stream is not None:
            ts = read.columns[self.stream.timestamp].fill_null(0).to_numpy()
            largest = _largest(part, ts, keep, len(self.partitions.values) if self.partitions else 1)
            late = keep & (ts < late_before) if late_before is not None else late
            keep = keep & ~late
            if self.stream.useful != ((),):
                keep = keep & (of_key | useful(self.stream.useful, read.columns, raw.num_rows))
            if not self.stream.ends_keys:
                keep = keep & ~of_key
        good_at = np.flatnonzero(keep)
        rejected_at = np.flatnonzero(read.there & ((read.why > 0) | late))
        told, others = rejected_at[: self.most], rejected_at[self.most :]
        return Decoded(
            self._good(read, part, ts, good_at),
            good_at,
            self._rejected(raw, read, told, part, ts, all_columns),
            told,
            _counted(pa.table(_reasons(read, others, part, ts))),
            int(np.count_nonzero(read.there)),
            largest,
            self._ended(read, part, ts, np.flatnonzero(fine & is_mark)),
            of_key[good_at],
        )

    def texts(self, raw: pa.Table | pa.RecordBatch, at: Integers, all_columns: AllColumns = None) -> list[str | None]:
        """The texts of the raw rows at some places."""
        rows = raw.take(_array(at)) if all_columns is None else all_columns(at)
        value, text = own(self.table, "value"), own(self.table, "text")
        names = [name for name in rows.schema.names if name not in self._own() and not (self.objects and name == value)]
        found: list[str | None] = [*row_texts({name: _one(rows.column(name)) for name in names}, rows.num_rows)]
        if self.objects:  # of a record without a value is told what is known beside it
            lines = zip(line_texts(_one(rows.column(value))), found, strict=True)
            found = [f'{{"metadata":{row}}}' if line is None and names else line for line, row in lines]
        if text in rows.schema.names:
            values = rows.column(text).to_pylist()
            found = [theirs if theirs is not None else mine for theirs, mine in zip(values, found, strict=True)]
        return found

    def places(self, raw: pa.Table | pa.RecordBatch, at: Integers) -> list[Place]:
        """Where the raw rows at some places are: their file, line, partition and offset, as far as columns say it."""
        columns = self.place_columns(raw, at)
        rows = zip(*(values.to_pylist() for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows] or [{} for _ in at]

    def place_columns(self, raw: pa.Table | pa.RecordBatch, at: Integers) -> dict[str, pa.Array]:
        """The same, as columns."""
        found = ((name, theirs) for theirs, name in self._own().items() if name in PLACES)
        return {name: _one(raw.column(theirs)).take(_array(at)) for name, theirs in found if theirs in raw.schema.names}

    def _own(self) -> dict[str, str]:
        return {own(self.table, name): name for name in (*PLACES, "fault", "text", "length")}

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read(self, raw: pa.Table | pa.RecordBatch) -> _Read:
        """The columns, and which rows do not have all of them, with values of their types."""
        import pyarrow as pa
        from pyarrow import compute as pc

        read = _Read(raw.num_rows)
        if self.objects:
            kinds = {column.name: sql_type(column.type) for column in self.inside}
            lines = _one(raw.column(own(self.table, "value")))
            too_long = self._too_long(raw, lines)
            if too_long.any():
                read.add("too-long", None, too_long)
                lines = pc.if_else(pa.array(too_long), pa.scalar(None, lines.type), lines)
            state, objects = read_objects(lines, kinds, not self.lines, self.records)
            read.there = (state != BLANK) | too_long
            for number, reason in _OF_LINES.items():
                read.add(reason, None, state == number, format_of(self.records))
            for column in self.inside:
                read.columns[column.name] = objects[column.name].encoded()
                absent, wrong = objects[column.name].masks()
                read.unread += [("missing-column", column, absent), ("wrong-type", column, wrong)]
        for column in (c for c in self.typed if c.name in self.wanted or c.name in raw.schema.names):
            found = TypedColumn(_one(raw.column(column.name)), column)
            read.columns[column.name], read.no_texts[column.name] = found.values, found.not_text
        fault = own(self.table, "fault")
        if fault in raw.schema.names:
            values = _one(raw.column(fault))
            read.add("not-columns", None, places(values, ("",)) >= 0)
            read.unread += [("wrong-type", column, places(values, (column.name,)) >= 0) for column in self.typed]
        return read

    def _too_long(self, raw: pa.Table | pa.RecordBatch, lines: pa.Array) -> Mask:
        """Which objects are longer than may be, of which perhaps only the beginning has come."""
        from pyarrow import compute as pc

        found = np.asarray(pc.greater(pc.binary_length(lines), LONGEST_LINE).fill_null(False))
        length = own(self.table, "length")
        return found | np.asarray(_one(raw.column(length)).is_valid()) if length in raw.schema.names else found

    def _ending(self, read: _Read) -> list[Mask]:
        """Which records end a key of each of the stream's marks."""
        return [places(read.columns[mark.column], (mark.value,)) >= 0 for mark in self.keys]

    def _checked(self, read: _Read, ending: Sequence[Mask]) -> Mask:
        """Note the faults of rows, in the order of precedence; returns a mask of the punctuations of time.

        A punctuation needs only the columns that say what it ends; the value that marks it is no fault of a row.
        """
        is_mark = np.zeros(read.size, dtype=bool)
        kinds: list[tuple[Mask, str, set[str]]] = []
        always = {self.stream.timestamp if self.stream is not None else ""}
        always |= {self.partitions.column} if self.partitions is not None else set()
        if self.mark is not None:
            is_mark = marked(self.mark, read.columns[self.mark.column])
            kinds.append((is_mark, self.mark.column, {self.mark.since or ""}))
        kinds += [(rows, one.column, {*one.needs}) for one, rows in zip(self.keys, ending, strict=True)]
        for reason, column, rows in read.unread:
            wanted = [(which, {*names, mark_column} | always) for which, mark_column, names in kinds]
            read.add(reason, column, _not_spared(rows, column.name, wanted))
        for column in self.table.columns:
            if column.name in read.columns:
                wanted = [(which, (names | always) - {mark_column}) for which, mark_column, names in kinds]
                for reason, rows in self._broken(read, column):
                    read.add(reason, column, _not_spared(rows, column.name, wanted))
        if self.table.period is not None:
            spared = np.zeros(read.size, dtype=bool)
            for which, _, _ in kinds:
                spared = spared | which
            for reason, at, declared, rows in broken_periods(self.table.period, read.columns):
                read.add(reason, at, rows & ~spared, declared)
        return is_mark

    def _broken(self, read: _Read, column: TableColumn) -> Iterator[tuple[str, Mask]]:
        if column.name in read.no_texts:
            yield "text-not-utf8", read.no_texts[column.name]
        yield from broken(self.table, column, read.columns[column.name])

    # --- what is told -------------------------------------------------------------------------------------------------

    def _part(self, read: _Read) -> Integers:
        if self.partitions is None:
            return np.zeros(read.size, dtype=np.int32)
        return places(read.columns[self.partitions.column], self.partitions.values)

    def _good(self, read: _Read, part: Integers, ts: Integers | None, at: Integers) -> pa.Table:
        import pyarrow as pa

        everything = len(at) == read.size
        names, columns = list(self.table.needs), [read.columns[name] for name in self.table.needs]
        if not everything:
            columns = [values.take(_array(at)) for values in columns]
        if ts is not None:
            names, columns = ["part", "ts", *names], [pa.array(part[at]), pa.array(ts[at]), *columns]
        if not names:  # of a relation only matters how many rows it has
            return pa.table({"": pa.nulls(len(at))}).select([])
        return pa.Table.from_arrays(columns, names)

    def _rejected(
        self,
        raw: pa.Table | pa.RecordBatch,
        read: _Read,
        at: Integers,
        part: Integers,
        ts: Integers | None,
        all_columns: AllColumns,
    ) -> pa.Table:
        import pyarrow as pa
        from pyarrow import compute as pc

        codes = pa.array(["late", *(code for code, _ in read.faults[1:])]).take(pa.array(read.why[at]))
        texts = self.texts(raw, at, all_columns) if len(at) else []
        columns = {"reason": codes, **_reasons(read, at, part, ts), **cut_columns(texts)}
        length = own(self.table, "length")
        if length in raw.schema.names:
            columns["length"] = pc.coalesce(_one(raw.column(length)).take(_array(at)), columns["length"])
        return pa.table(columns | self.place_columns(raw, at))

    def _ended(self, read: _Read, part: Integers, ts: Integers | None, at: Integers) -> frozenset[Ended]:
        """Integer time starts at 0, so that what ends from there on ends from the beginning."""
        if self.mark is None or self.stream is None or ts is None:
            return frozenset()
        since = [None] * len(at)
        if self.mark.since is not None:
            since = read.columns[self.mark.since].take(_array(at)).to_pylist()
            time = next(column.type for column in self.table.columns if column.name == self.stream.timestamp)
            if sql_type(time).family == "integer":
                since = [low if low is not None and low > 0 else None for low in since]
        return frozenset(map(Ended, part[at].tolist(), since, ts[at].tolist()))


def _reasons(read: _Read, at: Integers, part: Integers, ts: Integers | None) -> dict[str, pa.Array]:
    """The faults of some rows; for late ones also partition and timestamp, from which the detail is made later."""
    import pyarrow as pa

    late = read.why[at] == 0
    found = {
        "detail": pa.array([None, *(words for _, words in read.faults[1:])], pa.string()).take(pa.array(read.why[at]))
    }
    if ts is not None:
        found["part"] = pa.array(part[at], pa.int32(), mask=~late)
        found["ts"] = pa.array(ts[at], pa.int64(), mask=~late)
    return found


def _counted(rows: pa.Table) -> pa.Table:
    """How many of some rows are the same, as `n`."""
    return rows.group_by(rows.schema.names).aggregate([([], "count_all")]).rename_columns({"count_all": "n"})


def _not_spared(rows: Mask, column: str, punctuations: Sequence[tuple[Mask, set[str]]]) -> Mask:
    """Of some rows those that are no punctuation, or one of a kind that needs a column; each kind needs some."""
    for which, needed in punctuations:
        if column not in needed:
            others = [mask for mask, names in punctuations if column in names]
            rows = rows & ~(which & ~np.logical_or.reduce(others) if others else which)
    return rows


def _largest(part: Integers, ts: Integers, keep: Mask, partitions: int) -> dict[int, int]:
    """The greatest timestamp of some rows, for each of the partitions."""
    found = ((place, ts[keep & (part == place)] if partitions > 1 else ts[keep]) for place in range(partitions))
    return {place: int(times.max()) for place, times in found if len(times)}


def _one(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _array(at: Integers) -> pa.Array:
    import pyarrow as pa

    return pa.array(at, pa.int64())
