"""How a stream's rows arrive: how far out of order, from which partitions, and which records are punctuations.

These are promises of the source, from which a job knows when no more rows of a timestamp will come (`punctuation`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from streambound.analyzer.catalog_model import MarkDocument, PartitionsDocument, RateDocument, keys
from streambound.analyzer.columns import Column
from streambound.analyzer.durations import parse_duration
from streambound.analyzer.models import Described
from streambound.analyzer.toml_reader import Path, TomlReader
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value, encode_toml
from streambound_runtime.promises import Arrival, Mark, Partitions, Rate

_MARK_KEYS = keys(MarkDocument)
_MARK_FORMS = 'as in { column = "kind", value = "end" } or { column = "note", like = "end of %" }'
_LIKE = re.compile(r"([^\\]|\\[%_\\])*", re.DOTALL)
_PARTITION_KEYS = keys(PartitionsDocument)
_PARTITION_FORMS = 'as in { column = "shard", values = [0, 1, 2] }'


def read_arrival(
    reader: TomlReader, entry: Mapping[str, Any], columns: tuple[Column, ...], time: Column, path: Path
) -> Arrival[Value]:
    """The keys `order`, `lateness`, `idle_after`, `punctuation` and `partitions` of a stream; raises CatalogError."""
    mark, partitions = None, None
    if "punctuation" in entry:
        mark = _mark(reader, entry["punctuation"], columns, time, (*path, "punctuation"))
    if "partitions" in entry:
        partitions = _partitions(reader, entry["partitions"], columns, time, (*path, "partitions"))
    return Arrival(
        _lateness(reader, entry, time, path, strict=mark is None),
        read_duration(reader, entry, "idle_after", time, path),
        mark,
        partitions,
    )


def _lateness(reader: TomlReader, entry: Mapping[str, Any], time: Column, path: Path, strict: bool) -> int | None:
    """``order = "strict"`` is a lateness of 0, ``"none"`` no promise; the default is strict without punctuations."""
    order = entry.get("order")
    if order not in (None, "strict", "none"):
        remedy = 'for rows that may be somewhat late declare lateness instead, as in lateness = "10 seconds"'
        raise reader.fail('order must be "strict" or "none"', (*path, "order"), remedy)
    if order is not None and "lateness" in entry:
        raise reader.fail(f'lateness contradicts order = "{order}"', (*path, "lateness"), "declare one of the two")
    if "lateness" in entry:
        return read_duration(reader, entry, "lateness", time, path)
    return 0 if order == "strict" or (order is None and strict) else None


def read_duration(reader: TomlReader, entry: Mapping[str, Any], key: str, time: Column, path: Path) -> int | None:
    """A length of time in the encoding of a stream's timestamps; None if the key is missing. Raises CatalogError."""
    if key not in entry:
        return None
    try:
        return parse_duration(entry[key], time.type)
    except ValueError as error:
        raise reader.fail(f"{key} must be a length of time", (*path, key), str(error)) from error


def _column(reader: TomlReader, body: Mapping[str, Any], key: str, columns: tuple[Column, ...], path: Path) -> Column:
    name = body.get(key)
    found = next((c for c in columns if isinstance(name, str) and c.name.lower() == name.lower()), None)
    if found is None:
        remedy = f"its columns are {', '.join(column.name for column in columns)}"
        raise reader.fail(f"{'.'.join(path[2:])}.{key} must name a column of {path[1]}", (*path, key), remedy)
    return found


def _encoded(reader: TomlReader, value: object, column: Column, path: Path) -> Value:
    try:
        return encode_toml(value, column.type)
    except ValueError as error:
        raise reader.fail(f"not a value of {column.name}: {error}", path) from error


def _mark(reader: TomlReader, value: object, columns: tuple[Column, ...], time: Column, path: Path) -> Mark[Value]:
    body = reader.mapping(value, path)
    reader.known_keys(body, _MARK_KEYS, path)
    if ("value" in body) == ("like" in body):
        raise reader.fail("a punctuation is told by the value of a column or by a pattern", path, _MARK_FORMS)
    column = _column(reader, body, "column", columns, path)
    since = _column(reader, body, "since", columns, path) if "since" in body else None
    if since is not None and (since.type.family is not time.type.family or since.name == time.name):
        message = f"{since.name} cannot be the start of what a punctuation ends: it must have a type like {time.name}'s"
        raise reader.fail(message, (*path, "since"))
    if "value" in body:
        return Mark(column.name, value=_encoded(reader, body["value"], column, (*path, "value")), since=_name(since))
    if not isinstance(body["like"], str) or column.type.family is not Family.STRING:
        raise reader.fail("like takes a pattern of LIKE, for a column of strings", (*path, "like"), _MARK_FORMS)
    if not _LIKE.fullmatch(body["like"]):
        raise reader.fail("a backslash in a pattern must come before %, _ or a backslash", (*path, "like"))
    return Mark(column.name, like=body["like"], since=_name(since))


def _name(column: Column | None) -> str | None:
    return None if column is None else column.name


def _partitions(
    reader: TomlReader, value: object, columns: tuple[Column, ...], time: Column, path: Path
) -> Partitions[Value]:
    body = reader.mapping(value, path)
    reader.known_keys(body, _PARTITION_KEYS, path)
    column = _column(reader, body, "column", columns, path)
    values = body.get("values")
    if column.name == time.name or not isinstance(values, list) or not values:
        raise reader.fail("partitions need a column and the list of its values", path, _PARTITION_FORMS)
    encoded = tuple(_encoded(reader, item, column, (*path, "values")) for item in values)
    if len(set(encoded)) < len(encoded):
        raise reader.fail("a partition is listed twice", (*path, "values"))
    return Partitions(column.name, encoded)


class Ttl(Described, frozen=True):
    """How long a row of a stream matters to joins, in the encoding of its timestamps, ``written`` so there."""

    DESCRIPTION = ("written",)

    length: int
    written: str = ""

    def __str__(self) -> str:
        return self.written or str(self.length)


def read_ttl(reader: TomlReader, entry: Mapping[str, Any], time: Column, path: Path) -> Ttl | None:
    """The key `ttl` of a stream; raises CatalogError."""
    length = read_duration(reader, entry, "ttl", time, path)
    if length is not None and "period" in entry:
        raise reader.fail("rows with periods are joined while they are valid, whatever their ttl", (*path, "ttl"))
    return None if length is None else Ttl(length, str(entry["ttl"]))


_KEYS = keys(RateDocument)
_FORM = 'as in max_rate = { rows = 1000, per = "1 second" }'


def read_rate(reader: TomlReader, entry: Mapping[str, Any], time: Column, path: Path) -> Rate | None:
    """The key `max_rate` of a stream, whose ``time`` says in which units ``per`` is; raises CatalogError."""
    where = (*path, "max_rate")
    if "max_rate" not in entry:
        return None
    if not isinstance(entry["max_rate"], Mapping):
        raise reader.fail("max_rate says how many rows may come per length of time", where, _FORM)
    body = reader.mapping(entry["max_rate"], where)
    reader.known_keys(body, _KEYS, where)
    rows = reader.positive(body, "rows", where, 1)
    missing = next((key for key in _KEYS if key not in body), None)
    if rows is None or missing is not None:
        raise reader.fail(f"max_rate lacks {missing}", where, _FORM)
    try:
        per = parse_duration(body["per"], time.type)
    except ValueError as error:
        raise reader.fail("per must be a length of time", (*where, "per"), str(error)) from error
    if per == 0:
        raise reader.fail("per must be longer than nothing", (*where, "per"), _FORM)
    return Rate(rows, per, str(body["per"]))
