"""What was read of a foreign declaration, and its text as a part of `streams.toml`.

What has no counterpart is said, in a comment and as a warning; nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.changes import ENVELOPE_TIMES
from streambound.analyzer.errors import CatalogError, UsageError
from streambound.analyzer.types import Family, parse_type

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_WIDTH = 110
_TIMES = (Family.INTEGER, Family.TIMESTAMP)


class ImportedColumn(Struct, frozen=True):
    """A column with its Spark SQL type, and the values that its declaration allows, where it lists them."""

    name: str
    type: str
    values: tuple[str, ...] = ()


class ImportedTable(Struct, frozen=True):
    """A table as far as it could be read.

    ``relation`` is None where the declaration does not say which it is; ``timestamp`` and ``lateness`` are those of a
    watermark; ``ttl`` is how long rows wait in joins; ``notes`` say what was left out, and why. ``place`` is where it
    was read. ``changes`` says how the rows of a relation come and go, without its timestamp; ``unread`` why that has no
    counterpart.
    """

    name: str
    columns: tuple[ImportedColumn, ...]
    place: str
    timestamp: str | None = None
    lateness: str | None = None
    relation: bool | None = None
    source: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    changes: Mapping[str, Any] | None = None
    unread: str = ""
    ttl: str | None = None

    @property
    def missing(self) -> str:
        """Why this cannot be declared yet, with the way out; nothing where it can."""
        if not self.columns:
            return "none of its columns could be read"
        if self.unread:
            return self.unread
        if self.relation and self.changes is None:
            return ""
        if self.changes is not None and self.timestamp is None:
            own = self.changes["format"] == "debezium"
            return f"it names no time of its changes: give --timestamp {'ts_ms' if own else 'COLUMN'}"
        if self.changes is not None and self.changes["format"] == "upsert" and "key" not in self.changes:
            return "its rows replace those of a key, and it names none: add PRIMARY KEY (…) NOT ENFORCED"
        if self.timestamp is None:
            return "it names no application time: give --timestamp COLUMN for a stream, or --relation"
        if self.changes is not None and self.timestamp in ENVELOPE_TIMES:
            return ""
        column = next((c for c in self.columns if c.name.lower() == str(self.timestamp).lower()), None)
        if column is None:
            return f"its application time {self.timestamp} is not among the columns that could be read"
        kind = parse_type(column.type)
        if kind is None or kind.family not in _TIMES:
            return f"its application time {column.name} is a {column.type}, not an integer or a timestamp"
        return ""


def _whole(table: ImportedTable) -> ImportedTable:
    """A table that is read at once: all there is of it, not what comes."""
    if not table.source or "startingOffsets" not in table.source.get("options", {}):
        return table
    options = {key: value for key, value in table.source["options"].items() if key != "startingOffsets"}
    return replace(table, source={**table.source, "options": options})


def decided(table: ImportedTable, timestamp: str | None, relation: bool) -> ImportedTable:
    """The table with what the command line says of it."""
    if table.changes is not None or table.unread:
        return replace(table, timestamp=timestamp or table.timestamp)
    if relation:
        return replace(_whole(table), relation=True, timestamp=None, lateness=None)
    if timestamp is None:
        return table
    other = table.timestamp is not None and table.timestamp.lower() != timestamp.lower()
    return replace(table, timestamp=timestamp, relation=False, lateness=None if other else table.lateness)


def column(name: str, type_name: str, values: tuple[str, ...] = ()) -> ImportedColumn | str:
    """A column, or why it is left out."""
    if parse_type(type_name) is None:
        return f"column {name} is left out: there is no Spark SQL type {type_name}"
    return ImportedColumn(name, type_name, values)


def toml_text(tables: Iterable[ImportedTable], origin: str) -> str:
    """The tables as a part of a catalog, those that cannot be declared yet in comments.

    Raises UsageError when two of them have one name, since a catalog cannot hold both.
    """
    found = list(tables)
    seen: dict[str, ImportedTable] = {}
    for table in found:
        other = seen.setdefault(table.name.lower(), table)
        if other is not table:
            message = f"two tables are called {table.name}: {other.place} and {table.place}"
            raise UsageError(message, remedy="import them one by one, with --name")
    text = f"# From {origin}, by streambound catalog import.\n\n" + "\n".join(map(_text, found))
    parse_catalog(text)
    return text


def _text(table: ImportedTable) -> str:
    comments = "".join(f"# {note}\n" for note in table.notes)
    body = "".join(f"{line}\n" for line in _lines(table))
    if not table.missing:
        return comments + body
    return (
        comments
        + f"# {table.name} is not declared: {table.missing}\n"
        + "".join(f"# {line}\n" for line in body.splitlines())
    )


def _lines(table: ImportedTable) -> Iterator[str]:
    yield f"[{'relations' if table.relation else 'streams'}.{toml_key(table.name)}]"
    if not table.relation and table.timestamp is not None:
        yield f"timestamp = {toml_value(table.timestamp)}"
    inline = ", ".join(f"{toml_key(c.name)} = {toml_value(c.type)}" for c in table.columns)
    short = len(inline) < _WIDTH
    if short:
        yield f"columns = {{ {inline} }}"
    for one in table.columns:
        if one.values:
            yield f"domain.{toml_key(one.name)} = {{ values = {toml_value(list(one.values))} }}"
    if table.changes is not None:
        yield f"changes = {toml_value({'timestamp': table.timestamp or '?', **table.changes})}"
    if (not table.relation or table.changes) and table.lateness is not None:
        yield f"lateness = {toml_value(table.lateness)}"
    if not table.relation and table.timestamp is not None and table.ttl is not None:
        yield f"ttl = {toml_value(table.ttl)}"
    if table.source is not None:
        yield f"source = {toml_value(dict(table.source))}"
    if not short:
        yield f"[{'relations' if table.relation else 'streams'}.{toml_key(table.name)}.columns]"
        yield from (f"{toml_key(c.name)} = {toml_value(c.type)}" for c in table.columns)


def toml_key(name: str) -> str:
    """A name as TOML's key, in quotes where it needs them."""
    return name if _BARE.match(name) else toml_value(name)


def toml_value(value: Any) -> str:
    """A value as TOML; JSON's strings are TOML's but for a few control characters."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def accepted(table: ImportedTable) -> ImportedTable:
    """The table, without a source that a catalog does not take; the reason becomes a note."""
    if table.source is None or table.missing:
        return table
    try:
        parse_catalog("\n".join(_lines(table)))
    except CatalogError as error:
        without = replace(table, source=None, notes=(*table.notes, f"its source is left out: {error.message}"))
        parse_catalog("\n".join(_lines(without)))
        return without
    return table
