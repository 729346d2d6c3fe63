"""What a catalog says of rows that come and go: changes of a relation, and records that say that a key is over.

changes = { timestamp = "ts", op = "op", insert = "insert", delete = "delete", key = ["k"], format = "op" }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from msgspec import Struct

from streambound.analyzer.arrival import read_duration
from streambound.analyzer.catalog_model import ChangesDocument, KeyPunctuationDocument, keys
from streambound.analyzer.columns import Column
from streambound.analyzer.endpoints import LINES
from streambound.analyzer.toml_reader import Path, TomlReader, suggest
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.analyzer.values import Value, encode_toml
from streambound_runtime.promises import KeyMark, UniqueKey

_KEYS = keys(ChangesDocument)
_PUNCTUATION_KEYS = keys(KeyPunctuationDocument)
_FORM = 'as in changes = { timestamp = "ts", op = "op", key = ["id"] }'
_STRING = DataType("string", Family.STRING)
_MOMENT = parse_type("timestamp")


class ChangeFormat(StrEnum):
    """How a change is written."""

    OP = "op"
    """A row, with a column that says whether it is inserted or deleted."""
    DEBEZIUM = "debezium"
    """Debezium's envelope: the row before and after, ``op``, which is c, r, u or d, and the time, ``ts_ms``."""
    UPSERT = "upsert"
    """A record with a key and a value, the row that there is of the key from now on, as in Flink's upsert-kafka; NULL
    for none."""


ENVELOPE_TIMES = tuple(f"{where}ts_{unit}" for where in ("", "source.") for unit in ("ms", "us", "ns"))
"""The times that Debezium's envelope has: of the connector, and of the database."""


class DeclaredChanges(Struct, frozen=True):
    """How the rows of a relation come and go.

    ``timestamp`` is the time of a change; it and ``op`` may be none of the relation's columns: SQL does not see them
    then. ``insert`` and ``delete`` are the values of ``op``, which other formats than `ChangeFormat.OP` are decoded to;
    a row without a value comes. ``key`` names the columns in which no two rows agree: an insert of a key that is there
    replaces its row, and a delete needs the key only. Without one, a delete needs the whole row.
    """

    timestamp: Column
    op: Column
    insert: Value
    delete: Value
    key: tuple[str, ...] = ()
    format: ChangeFormat = ChangeFormat.OP


@dataclass(frozen=True, slots=True)
class KeyPunctuation(KeyMark[Value]):
    """Which records of a stream end keys, or ranges of them, also in other streams.

    The record ``ends`` the key in other streams where it is in these columns; it counts once. With streams ``together``
    it ends it when these have ended it, too. Of the streams ``once`` a key has one row at most.
    """

    ends: tuple[tuple[str, tuple[str, ...]], ...] = ()
    once: tuple[str, ...] = ()
    together: tuple[tuple[str, tuple[str, ...]], ...] = ()


class StreamKey(Struct, frozen=True):
    """The columns of a stream that a punctuation ends: one of its own, or one that comes in another ``stream``.

    ``marked`` are the columns of that stream, in the same order; ``once`` says that each key has one row at most.
    """

    attributes: tuple[str, ...]
    stream: str
    marked: tuple[str, ...]
    max_open: int | None
    once: bool = False

    @property
    def name(self) -> str:
        """Its name among punctuations, the same in all streams that share it."""
        return f"{self.stream} by {', '.join(self.marked)}"


def stream_keys(tables: Mapping[str, Sequence[KeyPunctuation]], stream: str) -> tuple[StreamKey, ...]:
    """The keys of a stream that end, of the punctuations of all streams."""
    found = list[StreamKey]()
    for brings, punctuations in tables.items():
        for one in punctuations:
            mine = dict((*one.ends, *one.together)) | {brings: one.attributes}
            if stream in mine and (one.since is None or one.max_open is not None):
                found.append(StreamKey(mine[stream], brings, one.attributes, one.max_open, stream in one.once))
    return tuple(found)


def read_changes(
    reader: TomlReader, entry: Mapping[str, Any], columns: Sequence[Column], clock: DataType | None, path: Path
) -> DeclaredChanges | None:
    """The key `changes` of a relation; ``clock`` is the type of the streams' times. Raises CatalogError."""
    if "changes" not in entry:
        return None
    where = (*path, "changes")
    if not isinstance(entry["changes"], Mapping):
        raise reader.fail("changes says how rows come and go", where, _FORM)
    if "period" in entry:
        message = "a relation with a period has no changes: its rows say when they hold"
        remedy = "leave period out: r FOR SYSTEM_TIME AS OF s.ts is what is known at a time, and r.since <= s.day AND "
        remedy += "s.day < r.until what holds on a day"
        raise reader.fail(message, where, remedy)
    body = reader.mapping(entry["changes"], where)
    reader.known_keys(body, _KEYS, where)
    form = ChangeFormat(reader.choice(body, "format", where, tuple(ChangeFormat)))
    key = _key(reader, body, columns, where)
    if form is ChangeFormat.UPSERT and not key:
        raise reader.fail("upserts need a key: it says whose row a new one is", where, 'add key = ["id"]')
    if form is ChangeFormat.DEBEZIUM:
        clock = clock or _MOMENT
    time = _timestamp(reader, body, columns, clock, where)
    if form is not ChangeFormat.OP:
        extra = next((name for name in ("op", "insert", "delete") if name in body), None)
        if extra is not None:
            raise reader.fail(f'{extra} is for changes with format = "op"', (*where, extra), "leave it out")
        _check_records(reader, entry, time, form, path)
        return DeclaredChanges(time, _unnamed("op", columns, time), "insert", "delete", key, form)
    op = _op(reader, body, columns, where)
    if op.name.lower() == time.name.lower():
        raise reader.fail("a column cannot be both the time and the kind of a change", (*where, "op"))
    insert, delete = (_value(reader, body, name, op, where) for name in ("insert", "delete"))
    if insert == delete:
        raise reader.fail("an insert and a delete must be told apart", where, "give insert and delete two values")
    return DeclaredChanges(time, op, insert, delete, key, form)


def _check_records(reader: TomlReader, entry: Mapping[str, Any], time: Column, form: ChangeFormat, path: Path) -> None:
    """Raise CatalogError for a source that has no such records, and for a time that they do not have."""
    source = entry.get("source")
    source = source if isinstance(source, Mapping) else {}
    kind = str(source.get("format", LINES[0])).lower()
    if kind not in LINES and "payload" not in source:
        message = f"changes in the format {form} are objects of JSON, and {kind} has columns"
        raise reader.fail(message, (*path, "source"), "name the column that holds them: payload = …")
    beside = source.get("metadata", {})
    known = isinstance(beside, Mapping) and time.name.lower() in {str(name).lower() for name in beside}
    if form is ChangeFormat.DEBEZIUM and not known and time.name not in ENVELOPE_TIMES:
        message = f"{time.name} is of a row, not of its change: a delete would have the time at which its row came"
        remedy = f"name a time of Debezium's envelope: {', '.join(ENVELOPE_TIMES)}; or one of the source's metadata"
        raise reader.fail(message, (*path, "changes", "timestamp"), remedy)


def _unnamed(name: str, columns: Sequence[Column], time: Column) -> Column:
    """A column of texts that no declared one is called like."""
    names = {column.name.lower() for column in (*columns, time)}
    while name in names:
        name = f"_{name}"
    return Column(name, _STRING)


def _declared(name: str, columns: Sequence[Column]) -> Column | None:
    return next((column for column in columns if column.name.lower() == name.lower()), None)


def _timestamp(
    reader: TomlReader, body: Mapping[str, Any], columns: Sequence[Column], clock: DataType | None, path: Path
) -> Column:
    """The column with the time of a change; of the type that the streams' times have, where none is declared."""
    name, where = body.get("timestamp"), (*path, "timestamp")
    if not isinstance(name, str) or not name:
        raise reader.fail("changes need a timestamp: when does each of them happen?", where, _FORM)
    found = _declared(name, columns)
    if found is None:
        if clock is None:
            remedy = f'declare it: columns = {{ {name} = "timestamp", … }}'
            if not body.get("key"):  # without one no column of a row says when it changes
                remedy += ', and a key of the rows: changes = { …, key = ["…"] }; or declare a stream with such times'
            raise reader.fail(f"{name!r} has no type: it is no column, and there is no stream", where, remedy)
        return Column(name, clock)
    if found.type.family not in (Family.INTEGER, Family.TIMESTAMP) or found.type.range is not None:
        raise reader.fail(f"the timestamp {name!r} must be a bigint, an int or a timestamp", where)
    if found.domain is not None:
        raise reader.fail(f"the timestamp {name!r} cannot have a domain: time never ends", where)
    return found


def _op(reader: TomlReader, body: Mapping[str, Any], columns: Sequence[Column], path: Path) -> Column:
    name = body.get("op")
    if not isinstance(name, str) or not name:
        raise reader.fail("changes need a column that tells inserts from deletes", (*path, "op"), _FORM)
    return _declared(name, columns) or Column(name, _STRING)


def _value(reader: TomlReader, body: Mapping[str, Any], name: str, op: Column, path: Path) -> Value:
    try:
        return encode_toml(body.get(name, name), op.type)
    except ValueError as error:
        remedy = f"{name} is the value of {op.name} in such a row"
        raise reader.fail(f"not a value of {op.name}: {error}", (*path, name), remedy) from error


def _key(reader: TomlReader, body: Mapping[str, Any], columns: Sequence[Column], path: Path) -> tuple[str, ...]:
    if "key" not in body:
        return ()
    names = reader.strings(body["key"], (*path, "key"))
    return _columns(reader, names, columns, (*path, "key"))


def _columns(
    reader: TomlReader, names: Sequence[str], columns: Sequence[Column], path: Path, table: str = ""
) -> tuple[str, ...]:
    """Names of columns of a table as they are declared, each once; at least one."""
    found = list[str]()
    for name in names:
        column = _declared(name, columns)
        if column is None:
            remedy = suggest(name, [one.name for one in columns])
            raise reader.fail(f"{name!r} is no column of {table or path[1]}", path, remedy)
        if column.name in found:
            raise reader.fail(f"{name!r} is named twice", path)
        found.append(column.name)
    if not found:
        raise reader.fail(f"{path[-1]} names no column", path)
    return tuple(found)


_UNIQUE_FORM = (
    'as in unique = ["order_id"], within = "30 days"; several keys are unique = [["order_id"], ["shop", "no"]]'
)


def read_unique(
    reader: TomlReader, entry: Mapping[str, Any], columns: Sequence[Column], time: Column | None, path: Path
) -> tuple[UniqueKey, ...]:
    """The keys `unique` and `within` of a stream, or `unique` of a relation; raises CatalogError."""
    within, where = None if time is None else read_duration(reader, entry, "within", time, path), (*path, "unique")
    if "unique" not in entry:
        if within is not None:
            raise reader.fail("within says how long a unique key is remembered", (*path, "within"), _UNIQUE_FORM)
        return ()
    if "period" in entry:
        remedy = 'declare snapshot_key = ["id"]' if time is not None else ""
        raise reader.fail("rows with periods are unique while they are valid", where, remedy)
    if "changes" in entry:
        raise reader.fail("the key of a relation that changes is that of its changes", where, "changes = { key = […] }")
    if within == 0:
        raise reader.fail("within must be longer than nothing", (*path, "within"), _UNIQUE_FORM)
    value, found = entry["unique"], list[UniqueKey]()
    several = isinstance(value, list) and bool(value) and isinstance(value[0], list)
    for names in value if several else [value]:
        key = _columns(reader, reader.strings(names, where), columns, where)
        mine = [column for column in columns if column.name in key]
        if nested := [column.name for column in mine if column.type.family is Family.OTHER]:
            raise reader.fail(f"{nested[0]} is no simple value, and so in no key", where)
        free = next((column.name for column in mine if column.number is None), None)
        if within is None and free is not None and time is not None:
            remedy = f'add within = "30 days", or a domain of {free}, whose keys are remembered for ever'
            raise reader.fail(f"nothing says how long a key of {', '.join(key)} is remembered", where, remedy)
        found.append(UniqueKey(key, within, str(entry.get("within", ""))))
    return tuple(found)


_OF_OPEN_KEYS = {
    "once": "that a key has one row is told of",
    "together": "which streams have ended a key is told of",
}


def read_key_punctuations(
    reader: TomlReader, entry: Mapping[str, Any], columns: Sequence[Column], time: Column, path: Path
) -> tuple[KeyPunctuation, ...]:
    """The tables `[[streams.X.punctuations]]`; raises CatalogError."""
    tables, where = entry.get("punctuations", []), (*path, "punctuations")
    if not isinstance(tables, list):
        raise reader.fail(f"punctuations must be tables: [[{'.'.join(where)}]]", where)
    found = list[KeyPunctuation]()
    for number, one in enumerate(tables):
        found.append(_key_punctuation(reader, one, columns, time, (*where, str(number))))
        if any({*other.attributes} == {*found[-1].attributes} for other in found[:-1]):
            message = f"two punctuations of {path[1]} are about {', '.join(found[-1].attributes)}"
            raise reader.fail(message, (*where, str(number), "attributes"), "give all such records one value")
    return tuple(found)


def _key_punctuation(
    reader: TomlReader, value: object, columns: Sequence[Column], time: Column, path: Path
) -> KeyPunctuation:
    body = reader.mapping(value, path)
    reader.known_keys(body, _PUNCTUATION_KEYS, path)
    missing = next((name for name in ("attributes", "column", "value") if name not in body), None)
    if missing is not None:
        remedy = 'as in attributes = ["auction"], column = "kind", value = "closed"'
        raise reader.fail(f"a punctuation lacks {missing}", (*path, missing), remedy)
    names = reader.strings(body["attributes"], (*path, "attributes"))
    attributes = _columns(reader, names, columns, (*path, "attributes"))
    if time.name in attributes:
        remedy = f"promises of time are punctuation = {{ … }}, in [{'.'.join(path[:2])}]"
        raise reader.fail(f"{time.name} is the stream's time", (*path, "attributes"), remedy)
    named = body["column"]
    column = _declared(named, columns) if isinstance(named, str) else None
    if column is None:
        raise reader.fail(f"{named!r} is no column of {path[1]}", (*path, "column"))
    if column.name in attributes:
        message = f"{column.name} cannot both tell a punctuation and be what it is about"
        raise reader.fail(message, (*path, "column"))
    try:
        told = encode_toml(body["value"], column.type)
    except ValueError as error:
        raise reader.fail(f"not a value of {column.name}: {error}", (*path, "value")) from error
    once = tuple(reader.strings(body.get("once", []), (*path, "once")))
    others, together = (
        tuple((name, tuple(reader.strings(names, (*path, said, name)))) for name, names in given.items())
        for said in ("ends", "together")
        for given in (reader.mapping(body.get(said, {}), (*path, said)),)
    )
    for said, words in _OF_OPEN_KEYS.items():
        if body.get(said) and "max_open" not in body:
            raise reader.fail(f"{words} those that are open", (*path, said), "add max_open = …")
    since = None
    if "since" in body:
        since = _since(reader, body["since"], columns, time, (*attributes, column.name), (*path, "since"))
    return KeyPunctuation(
        attributes, column.name, told, reader.positive(body, "max_open", path, 1), since, others, once, together
    )


def _since(
    reader: TomlReader, value: object, columns: Sequence[Column], time: Column, others: Sequence[str], path: Path
) -> str:
    """The column of the first key that a record ends; ``others`` are the attributes, and the record's own column."""
    found = _declared(value, columns) if isinstance(value, str) else None
    if found is None:
        raise reader.fail(f"{value!r} is no column of {path[1]}", path)
    last = next(column for column in columns if column.name == others[-2])
    if found.name in (*others, time.name) or found.type.name != last.type.name:
        message = (
            f"{found.name} cannot be where keys begin that end with {last.name}: it must be another {last.type.name}"
        )
        raise reader.fail(message, path)
    if found.type.family in (Family.FLOAT, Family.OTHER):
        raise reader.fail(f"{last.name} has no ranges: it is {last.type.name}", path, "end its values one by one")
    return found.name


def shared_keys(
    reader: TomlReader, streams: Mapping[str, tuple[Sequence[Column], str | None, Sequence[KeyPunctuation]]]
) -> dict[str, tuple[KeyPunctuation, ...]]:
    """The punctuations of all streams, given their columns, times and own punctuations; raises CatalogError.

    Other streams that a punctuation names get the spelling of their declaration.
    """
    places = {(name, n): one for name, (_, _, of) in streams.items() for n, one in enumerate(of)}
    paths = {(name, n): ("streams", name, "punctuations", str(n)) for name, n in places}
    found = {place: _shared(reader, one, place[0], streams, paths[place]) for place, one in places.items()}
    together = {of for one in found.values() for of in one.together}
    for (name, n), one in found.items():
        if one.since is not None and one.max_open is None and (name, one.attributes) not in together:
            path = (*paths[name, n], "since")
            raise reader.fail("a range ends keys of those that are open", path, "add max_open = …")
    return {name: tuple(one for place, one in found.items() if place[0] == name) for name in streams}


def _shared(
    reader: TomlReader,
    one: KeyPunctuation,
    stream: str,
    streams: Mapping[str, tuple[Sequence[Column], str | None, Sequence[KeyPunctuation]]],
    path: Path,
) -> KeyPunctuation:
    mine = streams[stream][0]
    said = {"ends": list[tuple[str, tuple[str, ...]]](), "together": list[tuple[str, tuple[str, ...]]]()}
    for how, name, names in (*(("ends", *of) for of in one.ends), *(("together", *of) for of in one.together)):
        where = (*path, how, name)
        other = _stream(reader, name, streams, where)
        if other == stream:
            raise reader.fail(f"{stream} is the stream itself: its columns are the attributes", where, "leave it out")
        columns, time, punctuations = streams[other]
        found = _columns(reader, names, columns, where, other)
        if time in found:
            raise reader.fail(f"{time} is the time of {other}", where)
        if len(found) != len(one.attributes):
            told = f"{len(one.attributes)} columns, as attributes has"
            raise reader.fail(f"{other} needs {told}, in their order", where)
        for left, right in zip(one.attributes, found, strict=True):
            kinds = [next(c.type.name for c in of if c.name == n) for of, n in ((mine, left), (columns, right))]
            if kinds[0] != kinds[1]:
                message = f"{other}.{right} is {kinds[1]}, and {stream}.{left} is {kinds[0]}: no key of both"
                raise reader.fail(message, where)
        said[how].append((other, found))
        alike = [p.attributes for p in punctuations if (p.since is None) == (one.since is None)]
        if how == "together" and found not in alike:
            ranges = "" if one.since is None else " with since"
            columns_named = ", ".join(f'"{name}"' for name in found)
            remedy = f"add [[streams.{other}.punctuations]] with attributes = [{columns_named}]{ranges}"
            raise reader.fail(f"{other} has no such records that end {', '.join(found)}", where, remedy)
    known = (stream, *(name for of in said.values() for name, _ in of))
    twice = next((name for name in known if known.count(name) > 1), None)
    if twice is not None:
        raise reader.fail(f"{twice} is in ends and in together", (*path, "together"), "leave it out of ends")
    once = tuple(_stream(reader, name, streams, (*path, "once")) for name in one.once)
    stranger = next((name for name in once if name not in known), None)
    if stranger is not None:
        remedy = f"add ends = {{ {stranger} = […] }}, or name {' or '.join(known)}"
        raise reader.fail(f"the punctuation says nothing of {stranger}", (*path, "once"), remedy)
    return replace(one, ends=tuple(said["ends"]), together=tuple(said["together"]), once=once)


def _stream(reader: TomlReader, name: str, streams: Mapping[str, object], path: Path) -> str:
    """The name of a stream as it is declared."""
    found = next((one for one in streams if one.lower() == name.lower()), None)
    if found is None:
        raise reader.fail(f"{name!r} is no stream of this catalog", path, suggest(name, list(streams)))
    return found
