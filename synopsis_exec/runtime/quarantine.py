"""Quarantined rows: what is said of rows that cannot be used, and the stop at the first where one must stop the job."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from streambound_runtime.decoding.reasons import detail
from streambound_runtime.decoding.row_text import cut_columns
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import RejectedRow
from streambound_runtime.promises import QuarantineLimit
from streambound_runtime.results import json_value
from streambound_runtime.row_values import Value
from streambound_runtime.spec import JobSpec, Relation, Stream

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, str | int | None]
Late = Callable[[int, int], str]
"""The reason for a late row, by its partition and its timestamp."""
FIELDS = ("stream", "relation", "reason", "detail", "file", "line", "partition", "offset", "batch", "row", "length")
"""What a quarantined row has, in this order; what is not known of it is left out."""
_SHOWN = 200
"""Characters of a row in a message."""
_AT_ONCE = 1024
"""Rows that are Python's at a time."""


class BadRows:
    """The bad rows of a batch. All are counted, the first ``most`` kept: as Arrow has them, so that they take little.

    ``counts`` are by the words of their reasons; of ``kept`` it is known what they are. ``stopping`` are of streams and
    relations of which one bad row stops the job.
    """

    def __init__(self, most: int) -> None:
        self.most, self.kept, self.stopping = most, 0, 0
        self.counts = Counter[str]()
        self.tables: list[tuple[Stream | Relation, str, pa.Table]] = []

    def add(
        self,
        table: Stream | Relation,
        rejected: pa.Table,
        file: str = "",
        beyond: pa.Table | None = None,
        late: Late | None = None,
    ) -> None:
        """Take in rows that a decoder has rejected, and those ``beyond``, of one file unless a column says it."""
        told = with_reasons(rejected, late)
        counts = Counter[str](told.column("detail").to_pylist())
        for words, n in zip(*_counts(with_reasons(beyond, late)), strict=True) if beyond is not None else ():
            counts[words] += n
        self.counts.update(counts)
        self.stopping += counts.total() if table.stops else 0
        first = told.slice(0, max(self.most - self.kept, 1 if table.stops else 0))
        self.kept = min(self.kept + first.num_rows, self.most)
        if first.num_rows:
            self.tables.append((table, file, first))

    def add_closed(self, job: JobSpec, rejected: Iterable[RejectedRow]) -> None:
        """Take in rows that were only found to be bad when their timestamp closed, without their lines.

        A row's text is a JSON object of its timestamp and the columns that the job reads of it.
        """
        import pyarrow as pa

        streams = {stream.name: stream for stream in job.streams}
        for row in rejected:
            stream, copies = streams[row.stream], min(row.copies, max(self.most - self.kept, 1))
            text = row_text(stream, {**row.values, stream.timestamp: row.time})
            self.add(
                stream,
                told_rows(row.reason, row.detail, [text] * copies),
                beyond=pa.table({"detail": [row.detail], "n": [row.copies - copies]}),
            )

    def extend(self, others: BadRows) -> None:
        """Take in other bad rows, whose counts are elsewhere."""
        self.tables += others.tables
        self.kept = min(self.kept + others.kept, self.most)

    def rows(self, batch: int | None = None) -> Iterator[Row]:
        """Those that are kept, as they are written, with the number of their batch."""
        found = (
            row_of(table, {**row, "file": row.get("file") or file, "batch": batch})
            for table, file, rows in self.tables
            for start in range(0, rows.num_rows, _AT_ONCE)
            for row in rows.slice(start, _AT_ONCE).to_pylist()
        )
        return islice(found, self.kept)

    def stop(self) -> None:
        """Raise JobError for the first bad row of a stream or relation that is to stop the job."""
        if not self.stopping:
            return
        table, file, rows = next(one for one in self.tables if one[0].stops)
        (found,) = rows.slice(0, 1).to_pylist()
        row = row_of(table, {**found, "file": found.get("file") or file})
        text = str(row["row"] or "")
        shown = text and f": {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'}"
        others = f", and {self.stopping - 1} more in this batch" if self.stopping > 1 else ""
        what = f"{name_of(row)} breaks its contract{where_read(row)}: {row['detail']}{shown}{others}"
        raise JobError("contract", what, 1)


def check_limit(limit: QuarantineLimit, counts: Mapping[str, int]) -> None:
    """Raise JobError for more bad rows, counted by the words of their reasons, than may be."""
    total = sum(counts.values())
    if limit.stops and total > limit.most:
        reasons = ", ".join(f"{words} {n:,}" for words, n in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
        what = f"{total:,} rows cannot be used, more than the catalog's quarantine.max = {limit.most:,}"
        raise JobError("quarantine", f"{what} ({reasons})", 1)


def told_rows(reason: str, words: str, texts: Sequence[str | None], **places: pa.Array) -> pa.Table:
    """Rows that are bad for one reason, as a decoder has them."""
    import pyarrow as pa

    why = {name: pa.array([text] * len(texts), pa.string()) for name, text in (("reason", reason), ("detail", words))}
    return pa.table(why | cut_columns(texts) | places)


def with_reasons(rows: pa.Table, late: Late | None) -> pa.Table:
    """Bad rows with the reasons of those that are late, which only the promises of their inputs say."""
    import pyarrow as pa
    from pyarrow import compute as pc

    known = rows.column("detail")
    if late is None or not known.null_count:
        return rows
    why, inputs = cache(late), zip(rows.column("part").to_pylist(), rows.column("ts").to_pylist(), strict=True)
    codes = [None if there else why(*one) for one, there in zip(inputs, known.is_valid().to_pylist(), strict=True)]
    found = {"reason": codes, "detail": [None if code is None else detail(code) for code in codes]}
    for place, name in enumerate(rows.schema.names):
        if name in found:
            values = pc.if_else(known.is_valid(), rows.column(name), pa.array(found[name], pa.string()))
            rows = rows.set_column(place, name, values)
    return rows


def _counts(rows: pa.Table) -> tuple[list[str], list[int]]:
    return rows.column("detail").to_pylist(), rows.column("n").to_pylist()


def row_of(table: Stream | Relation, known: Mapping[str, str | int | None]) -> Row:
    """A quarantine record as it is written, with the row's text even if that is NULL."""
    stream = isinstance(table, Stream) and not table.relation
    found = {**known, "stream" if stream else "relation": table.name}
    found["file"] = local(str(found.get("file") or ""))
    if isinstance(table, Relation):
        found["batch"] = None  # it is read before the first one
    return {key: found.get(key) for key in FIELDS if key == "row" or found.get(key) not in (None, "")}


def row_text(table: Stream | Relation, values: Mapping[str, Value]) -> str:
    """A row, of which some columns are known, encoded, as a JSON object."""
    named = ((json.dumps(c.name, ensure_ascii=False), c) for c in table.columns if c.name in values)
    cells = ",".join(f"{name}:{json_value(values[c.name], sql_type(c.type))}" for name, c in named)
    return f"{{{cells}}}"


def local(file: str) -> str:
    """A file of this machine by its path, any other by its URI; both as people write them.

    >>> local("file:///a%20b/c.jsonl"), local("hdfs://h/x%23"), local("/a%20b")
    ('/a b/c.jsonl', 'hdfs://h/x#', '/a%20b')
    """
    uri = urlparse(file)
    if not uri.scheme:
        return file
    return unquote(uri.path) if uri.scheme == "file" else unquote(file)


def json_lines(rows: Iterable[Row]) -> Iterator[str]:
    """One JSON object a line."""
    return (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def name_of(row: Row) -> str:
    """Of which stream or relation a quarantined row is."""
    return str(row.get("stream") or row["relation"])


def where_read(row: Row) -> str:
    """Where a row was read, as far as that is known.

    >>> where_read({"file": "a.jsonl", "line": 3}), where_read({"partition": 0, "offset": 7}), where_read({})
    (' in a.jsonl, line 3', ' at partition 0, offset 7', '')
    """
    if "file" in row:
        return f" in {row['file']}" + (f", line {row['line']}" if "line" in row else "")
    known = [f"{key} {row[key]}" for key in ("partition", "offset") if key in row]
    return f" at {', '.join(known)}" if known else ""
