"""Part of every job: lines of JSON, read on the driver where they say without a doubt what they are.

Spark parses a line with `from_json`, which takes longer than everything else that a job does. Arrow is much faster, but
does not take the same texts for the same values. So a line is *sure* if both must agree on it: it is one object, with
every declared column once, each written as its type always is, and within its stream's contract. All other lines are
left to Spark, which also says what is wrong with them.
"""

from __future__ import annotations

import json
from functools import reduce
from math import isinf
from typing import Any

import numpy as np

from streambound.synopsis_exec.job.arrivals import Arrived, row_text
from streambound.synopsis_exec.job.arrow import on_spark
from streambound.synopsis_exec.job.cells import ENCODERS, is_written, schema_of_cells, within
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.near import MOST_BYTES, lines_near
from streambound.synopsis_exec.job.source import Source
from streambound.synopsis_exec.job.whole import good_rows, whole_columns

UNPACKED = 8
"""How many bytes of lines there may be per byte of their files, before one knows."""
MOST_OF_UNKNOWN = 1 << 18
"""A batch of unknown size is fetched if the last one had no more rows."""
MOST_LEFT, RESTS = 0.25, 9
"""Where Spark had to read more than such a part, or a line is no text, it reads all of so many batches."""
LONG, LONGEST = 1000, 50_000
"""Characters of a line from which on numbers may be too long and objects too deep for Spark, and names, too."""
MOST_DIGITS = 300
NUMBERS = r"[:\[,]\s*-?(Inf|NaN)"
"""What is a number to one parser and not to the other."""


class Reader:
    """Reads batches that are lines; knows of those before how long their lines were, and how many Spark had to read."""

    rows = 0
    """How many the last batch had."""
    unpacked: float | None = None
    """How many bytes of lines there were per byte that Spark had estimated: files may be compressed."""
    rests = 0
    """How many batches are read by Spark before this is tried again."""

    def pays(self, arrived: Arrived) -> bool:
        """Whether to read a batch so: not where it is large, or Spark had to read much of the last one."""
        if self.rests:
            self.rests -= 1
            return False
        if arrived.bytes is None:
            return 0 < self.rows <= MOST_OF_UNKNOWN
        if self.unpacked is None and MOST_BYTES // UNPACKED < arrived.bytes <= MOST_BYTES:
            (row,) = arrived.frame.selectExpr("sum(octet_length(value)) AS bytes").collect()
            self.unpacked = (row.bytes or 0) / arrived.bytes
        return arrived.bytes * (self.unpacked or UNPACKED) <= MOST_BYTES

    def read(self, arrived: Arrived) -> Any:
        """All rows, as `whole_columns`, with their reasons and texts; None where a line is no text."""
        import pyarrow as pa

        parts = lines_near(arrived)
        parts = by_source(arrived.frame.toArrow()) if parts is None else parts
        size, tables, doubtful = sum(lines.nbytes for lines in parts), [], []
        self.unpacked = size / arrived.bytes if size and arrived.bytes else self.unpacked
        for number, lines in enumerate(parts):
            try:
                lines.validate(full=True)
            except pa.ArrowInvalid:
                self.rests = RESTS
                return None
            sure = Sure(STREAMS[number], lines)
            tables.append(sure.rows(number))
            doubtful.append(sure.others(number))
        left = pa.concat_tables(doubtful)
        self.rests = RESTS if left.num_rows > MOST_LEFT * sum(map(len, parts)) else 0
        if left.num_rows:
            told = Arrived(on_spark(arrived.frame.sparkSession, left), arrived.options).told
            columns = [*whole_columns(), "reason", f"{row_text(told)} AS text"]
            tables.append(told.selectExpr(*columns).toArrow())
        order = tables[0].column_names
        return pa.concat_tables([table.select(order).cast(tables[0].schema) for table in tables])


def by_source(fetched: Any) -> list[Any]:
    """The lines of each stream."""
    source, lines = fetched.column("source").to_numpy(), fetched.column("value").combine_chunks()
    return [lines.filter(source == number) for number in range(len(STREAMS))]


class Sure:
    """What a stream's lines say, as far as that is sure: ``where`` are the lines, in order, of ``values`` by column."""

    def __init__(self, source: Source, lines: Any) -> None:
        self.source, self.lines = source, lines
        self.where = np.flatnonzero(framed(lines))
        found = self._parsed()
        if found is None:  # Arrow gives up at the first line that it cannot read
            texts = lines.take(self.where).to_pylist()
            self.where = self.where[np.array([readable(source, text) for text in texts], dtype=bool)]
            found = self._parsed()
        if found is None:
            self.where, found = self.where[:0], schema_of_cells(source).empty_table()
        self.values: dict[str, Any] = {}
        fine = np.ones(found.num_rows, dtype=bool)
        for cell in source.cells:
            self.values[cell.column], right = ENCODERS[cell.kind](found.column(cell.column).combine_chunks())
            fine &= within(cell, self.values[cell.column]) & right
        fine &= self._nulls_said(fine)
        if not fine.all():
            self.where = self.where[fine]
            self.values = {name: values.filter(fine) for name, values in self.values.items()}

    def _parsed(self) -> Any:
        """The lines as a table of the declared columns; None where one of them is not a single object, or not that."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        if not len(self.where):
            return schema_of_cells(self.source).empty_table()
        lines = self.lines if len(self.where) == len(self.lines) else self.lines.take(self.where)
        options = arrow_json.ParseOptions(
            explicit_schema=schema_of_cells(self.source), unexpected_field_behavior="ignore"
        )
        try:
            found = arrow_json.read_json(pa.BufferReader(one_text(lines)), parse_options=options)
        except pa.ArrowException:
            return None
        return found if found.num_rows == len(lines) else None

    def _nulls_said(self, fine: Any) -> Any:
        """Which rows have all columns: Arrow reads a missing one as NULL."""
        said = np.ones(len(fine), dtype=bool)
        nullable = [cell.column for cell in self.source.cells if self.values[cell.column].null_count]
        if nullable:
            null = reduce(np.logical_or, (self.values[name].is_null().to_numpy(False) for name in nullable))
            places = np.flatnonzero(null & fine)
            texts = self.lines.take(self.where[places]).to_pylist()
            said[places] = [all(name in row for name in nullable) for row in map(json.loads, texts)]
        return said

    def others(self, number: int) -> Any:
        """The lines that are not sure, as those of a batch."""
        import pyarrow as pa

        rest = np.ones(len(self.lines), dtype=bool)
        rest[self.where] = False
        lines = self.lines.filter(rest)
        return pa.table({"source": pa.array(np.full(len(lines), number, dtype=np.int32)), "value": lines})

    def rows(self, number: int) -> Any:
        """The lines as rows of `whole_columns` with reasons and texts, none of them bad."""
        import pyarrow as pa

        size = len(self.where)
        texts = self.lines if size == len(self.lines) else self.lines.take(self.where)
        found = good_rows(number, self.source, self.values, size)
        return found.append_column("reason", pa.nulls(size, pa.string())).append_column("text", texts)


def one_text(lines: Any) -> Any:
    """All lines, with an end between them."""
    import pyarrow as pa
    from pyarrow import compute as pc

    listed = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(listed, "\n")[0].as_buffer()


def framed(lines: Any) -> Any:
    """Which lines may be one object and nothing else, with nothing that one parser takes and the other does not.

    A line starts with `{` and ends with `}`, and what follows a `}` in it is `}`, `]` or `,`: then no object goes on in
    the next line, and none begins after another one.
    """
    from pyarrow import compute as pc

    sure = pc.and_(pc.starts_with(lines, "{"), pc.ends_with(lines, "}")).fill_null(False).to_numpy(False).copy()
    lengths = pc.binary_length(lines).fill_null(0).to_numpy(False)
    text = one_text(lines.fill_null("")).to_pybytes()
    if text.count(b"}") > len(lines) or b"\0" in text:
        ends = np.cumsum(lengths.astype(np.int64) + 1) - 1
        sure[np.searchsorted(ends, odd_places(text))] = False
    if len(lengths) and lengths.max() >= LONG:
        sure &= lengths < LONGEST
        long = np.flatnonzero(sure & (lengths >= LONG))
        sure[long] = [not too_long(text) for text in lines.take(long).to_pylist()]
    if b"NaN" in text or b"Inf" in text:
        sure &= ~pc.match_substring_regex(lines, NUMBERS).fill_null(True).to_numpy(False)
    return sure


def odd_places(text: bytes) -> Any:
    """Where something follows a `}` that cannot, and where a text ends for those who think of C."""
    found = np.frombuffer(text, dtype=np.uint8)
    closing = np.flatnonzero(found[:-1] == ord("}"))
    return np.concatenate([closing[~np.isin(found[closing + 1], list(b"\n,}]"))], np.flatnonzero(found == 0)])


def too_long(text: str) -> bool:
    """Whether a number in a line may have too many digits, or its objects be too deep."""
    return text.count("{") + text.count("[") >= LONG // 2 or sum(map(str.isdigit, text)) >= LONG // 2


def readable(source: Source, text: str) -> bool:
    """Whether Arrow reads a line as a row; asked line by line where it cannot read one of them."""
    try:
        pairs: list[tuple[str, Any]] = json.loads(
            text, object_pairs_hook=list, parse_float=finite, parse_int=whole_number
        )
    except (ValueError, RecursionError):
        return False
    kinds = {cell.column: cell.kind for cell in source.cells}
    mine = [(kinds[name], value) for name, value in pairs if name in kinds]
    once = len({name for name, _ in pairs if name in kinds}) == len(mine)
    return once and all(is_written(*cell) for cell in mine) and ("\\ud" not in text.lower() or is_text(pairs))


def is_text(found: Any) -> bool:
    """Whether there is no half of a character in what was parsed."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def whole_number(text: str) -> int:
    """A number; raises ValueError for one that is too large for any type."""
    if len(text) > MOST_DIGITS:
        raise ValueError(text)
    return int(text)


def finite(text: str) -> float:
    """A number; raises ValueError for one that is too large."""
    number = float(text)
    if isinf(number):
        raise ValueError(text)
    return number


PARSERS: dict[str, Any] = {"parse_float": finite, "parse_int": whole_number}
