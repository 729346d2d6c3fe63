"""Quarantined rows: what is said of rows that cannot be used, and the stop at the first where one must stop the job."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from streambound_runtime.decoding.reasons import detail
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.errors import JobError
from streambound_runtime.operators.rejected_row import RejectedRow
from streambound_runtime.results import json_value
from streambound_runtime.row_values import Value
from streambound_runtime.spec import JobSpec, Relation, Stream

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, str | int | None]
FIELDS = ("stream", "relation", "reason", "detail", "file", "line", "partition", "offset", "batch", "row")
"""What a quarantined row has, in this order; what is not known of it is left out."""
_SHOWN = 200
"""Characters of a row in a message."""


def quarantined(
    table: Stream | Relation, rejected: pa.Table, file: str, late: Callable[[int, int], str] | None = None
) -> list[Row]:
    """Rows that a decoder has rejected, all of one file unless a column says otherwise.

    ``late`` gives the reason for a late row, by its partition and its timestamp.
    """
    found = []
    for row in rejected.to_pylist():
        if row["detail"] is None and late is not None:
            row["reason"] = late(row["part"], row["ts"])
            row["detail"] = detail(row["reason"])
        row["file"] = row.get("file") or file
        found.append(row_of(table, row))
    return found


def row_of(table: Stream | Relation, known: Mapping[str, str | int | None]) -> Row:
    """What is known of a row, as it is written; its text is there even if it is NULL."""
    stream = isinstance(table, Stream) and not table.relation
    found = {**known, "stream" if stream else "relation": table.name}
    found["file"] = local(str(found.get("file") or ""))
    return {key: found.get(key) for key in FIELDS if key == "row" or found.get(key) not in (None, "")}


def rejected_when_closed(job: JobSpec, rejected: Iterable[RejectedRow]) -> Iterator[Row]:
    """Rows that were only found to be bad when their timestamp closed, where their lines are not known any more.

    A row's text is a JSON object of its timestamp and the columns that the job reads of it.
    """
    streams = {stream.name: stream for stream in job.streams}
    for row in rejected:
        stream = streams[row.stream]
        known = {"reason": row.reason, "detail": row.detail}
        yield from [
            row_of(stream, {**known, "row": row_text(stream, {**row.values, stream.timestamp: row.time})})
        ] * row.copies


def row_text(table: Stream | Relation, values: Mapping[str, Value]) -> str:
    """A row, of which some columns are known, encoded, as a JSON object."""
    named = ((json.dumps(c.name, ensure_ascii=False), c) for c in table.columns if c.name in values)
    cells = ",".join(f"{name}:{json_value(values[c.name], sql_type(c.type))}" for name, c in named)
    return f"{{{cells}}}"


def in_batch(bad: Iterable[Row], batch: int) -> list[Row]:
    """The rows with the number of the micro-batch that brought them."""
    found = ({**row, "batch": batch} for row in bad)
    return [{key: row[key] for key in FIELDS if key in row} for row in found]


def local(file: str) -> str:
    """A file of this machine by its path, any other by its URI; both as people write them.

    >>> local("file:///a%20b/c.jsonl"), local("hdfs://h/x%23"), local("/a%20b")
    ('/a b/c.jsonl', 'hdfs://h/x#', '/a%20b')
    """
    uri = urlparse(file)
    if not uri.scheme:
        return file
    return unquote(uri.path) if uri.scheme == "file" else unquote(file)


def json_lines(rows: Iterable[Row]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


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


def stop_at(job: JobSpec, bad: Iterable[Row]) -> None:
    """Raise JobError for the first bad row of a stream or relation that is to stop the job."""
    stops = {table.name for table in job.tables if table.stops}
    found = [row for row in bad if name_of(row) in stops]
    if found:
        row, text = found[0], str(found[0]["row"] or "")
        shown = text and f": {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'}"
        others = f", and {len(found) - 1} more in this batch" if found[1:] else ""
        what = f"{name_of(row)} breaks its contract{where_read(row)}: {row['detail']}{shown}{others}"
        raise JobError("contract", what, 1)
