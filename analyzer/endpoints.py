"""Where rows come from and where results go: the catalog's `source` and `[sinks.QUERY]`, in Spark's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from streambound.analyzer.catalog_model import SinkDocument, SourceDocument, TargetDocument, keys
from streambound.analyzer.toml_reader import Path, TomlReader, suggest

Options = tuple[tuple[str, str], ...]

LINES = ("json", "text", "kafka")
"""Sources whose column `value` holds a row, as a JSON object."""
FILES = ("avro", "csv", "json", "orc", "parquet", "text")
"""Sources that are nothing without a path, and have no columns but those that they are told."""
_SOURCE_KEYS = keys(SourceDocument)
_SINK_KEYS = keys(SinkDocument)
_TARGET_KEYS = keys(TargetDocument)
_FILE_SINKS = ("avro", "csv", "json", "orc", "parquet")
_DATABASES = ("sqlite", "duckdb")
"""Databases that are files."""
_TABLES = (*_DATABASES, "postgres")
"""What has tables, whose rows upserts replace by their key."""
_SINKS = (*_FILE_SINKS, *_TABLES, "kafka", "noop")
_KAFKA_NEEDS = ("kafka.bootstrap.servers", "topic")
_CALL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_LOSES = ("ignorecorruptfiles", "ignoremissingfiles", "mode", "columnnameofcorruptrecord", "badrecordspath")
"""Reading options that drop rows, or decide what becomes of bad ones, in the place of the quarantine."""
_PARSES = (
    "allowbackslashescapinganycharacter", "allowcomments", "allownonnumericnumbers", "allownumericleadingzeros",
    "allowsinglequotes", "allowunquotedcontrolchars", "allowunquotedfieldnames", "charset", "dateformat", "encoding",
    "enabledatetimeparsingfallback", "multiline", "prefersdecimal", "primitivesasstring", "timestampformat",
    "timestampntzformat", "timezone", "wholetext",
)  # fmt: skip
"""Options of Spark's JSON reader: the job reads lines of text and parses them itself, always in the same way."""


class SourceOptions(Struct, frozen=True):
    """Where rows come from: a Spark source's format, path and options.

    ``payload`` is the column that holds a row as a JSON object; without one the columns are the row's. ``metadata`` are
    declared columns that are not in that object, each with the source's column that it is.
    """

    format: str
    path: str = ""
    options: Options = ()
    payload: str = ""
    metadata: Options = ()


class Target(Struct, frozen=True):
    """A destination: a format, a path (empty for Kafka) and options; for a database the ``table``."""

    format: str
    path: str = ""
    options: Options = ()
    table: str = ""


class Sink(Struct, frozen=True):
    """Where a query's results go: to a ``target``, or to a function ``call`` = ``module:function``.

    ``quarantine`` is where the rows go that cannot be used. With ``punctuations`` it is told which results are over.
    """

    query: str
    target: Target | None = None
    call: str = ""
    quarantine: Target | None = None
    punctuations: bool = False


def read_source(reader: TomlReader, value: object, columns: Iterable[str], path: Path) -> SourceOptions:
    """The key `source` of a stream or relation with these columns."""
    body = reader.mapping(value, path)
    reader.known_keys(body, _SOURCE_KEYS, path)
    if not isinstance(body.get("format"), str) or not isinstance(body.get("path", ""), str):
        raise reader.fail('a source needs a format, as in { format = "json", path = "…" }', path)
    kind = body["format"].lower()
    payload = body.get("payload", "")
    if "payload" in body and (not isinstance(payload, str) or not payload or kind in FILES):
        message = "payload names the column that holds a row as JSON text, for sources other than files"
        raise reader.fail(message, (*path, "payload"))
    payload = payload or ("value" if kind in LINES else "")
    return SourceOptions(
        body["format"] if kind not in (*LINES, *FILES) else kind,
        body.get("path", ""),
        _options(reader, body, path, _unfit(kind)),
        payload,
        _metadata(reader, body, columns, bool(payload) and kind not in FILES, (*path, "metadata")),
    )


def _metadata(reader: TomlReader, body: Mapping[str, Any], columns: Iterable[str], fits: bool, path: Path) -> Options:
    """Declared columns, as they are declared, with the source's columns that they are."""
    if "metadata" not in body:
        return ()
    if not fits:
        message = "metadata are what a source has beside a row as JSON text, as kafka and sources with a payload do"
        raise reader.fail(message, path)
    declared = {name.lower(): name for name in columns}
    found = {}
    for name, theirs in reader.mapping(body["metadata"], path).items():
        if name.lower() not in declared:
            raise reader.fail(f"metadata for unknown column {name!r}", (*path, name), suggest(name, declared.values()))
        if not isinstance(theirs, str) or not theirs:
            raise reader.fail('metadata names a column of the source, as in { shard = "partition" }', (*path, name))
        if declared[name.lower()] in found:
            raise reader.fail(f"metadata for {declared[name.lower()]} twice", (*path, name))
        found[declared[name.lower()]] = theirs
    return tuple(found.items())


def _unfit(kind: str) -> dict[str, str]:
    """Option -> why a source does not take it."""
    unfit = dict.fromkeys(_LOSES, "bad rows are quarantined or stop the job, see on_violation")
    unfit["maxfileage"] = "every file is read once, however old it is"
    if kind in ("json", "text"):
        unfit |= dict.fromkeys(_PARSES, "each line is one JSON object, in UTF-8, read as strictly as JSON is")
    return unfit


def read_sink(reader: TomlReader, query: str, value: object, path: Path) -> Sink:
    """A section `[sinks.QUERY]`."""
    body = reader.mapping(value, path)
    reader.known_keys(body, _SINK_KEYS, path)
    quarantine = None
    if "quarantine" in body:
        where = (*path, "quarantine")
        inner = reader.mapping(body["quarantine"], where)
        reader.known_keys(inner, _TARGET_KEYS, where)
        quarantine = _target(reader, inner, where, _FILE_SINKS)
    punctuations = body.get("punctuations", False)
    if not isinstance(punctuations, bool):
        raise reader.fail("punctuations is true or false", (*path, "punctuations"))
    if "call" not in body:
        elsewhere = body.keys() == {"punctuations"}  # where --output says
        target = None if elsewhere else _target(reader, body, path, _SINKS)
        return Sink(query, target, "", quarantine, punctuations)
    if body.keys() & {*_TARGET_KEYS, "table"}:
        raise reader.fail("a sink has either a format, path and options or a call", path)
    call = body["call"]
    if not (isinstance(call, str) and _CALL.fullmatch(call)):
        raise reader.fail('call names a Python function, as in "package.module:function"', (*path, "call"))
    return Sink(query, None, call, quarantine, punctuations)


def _target(reader: TomlReader, body: Mapping[str, Any], path: Path, formats: tuple[str, ...]) -> Target:
    """Format, path and options of what is written."""
    kind, where = body.get("format"), body.get("path", "")
    if kind not in formats:
        remedy = 'for anything else write a function: call = "module:function"' if formats == _SINKS else ""
        raise reader.fail(f"the format of a sink must be one of {', '.join(formats)}", (*path, "format"), remedy)
    files = (*_FILE_SINKS, *_DATABASES)
    if not isinstance(where, str) or bool(where) != (kind in files):
        need = f"a sink of the format {kind} needs a path" if kind in files else f"{kind} has no path"
        raise reader.fail(need, (*path, "path"))
    table = body.get("table", "")
    if not isinstance(table, str) or bool(table) != (kind in _TABLES):
        need = f"a sink of the format {kind} needs a table" if kind in _TABLES else f"{kind} has no table"
        raise reader.fail(need, (*path, "table"))
    options = _options(reader, body, path, {"path": "it is a key of the sink"})
    given = {key.lower() for key, _ in options}  # Spark takes them in any case
    missing = [key for key in _KAFKA_NEEDS if kind == "kafka" and key not in given]
    if missing:
        raise reader.fail(f"a kafka sink needs the option {missing[0]!r}", (*path, "options"))
    return Target(kind, where, options, table)


def _options(reader: TomlReader, body: Mapping[str, Any], path: Path, unfit: Mapping[str, str]) -> Options:
    """Spark's options as texts."""
    options = reader.mapping(body.get("options", {}), (*path, "options"))
    for key, item in options.items():
        where = (*path, "options", key)
        if not isinstance(item, str | int | float):
            raise reader.fail(f"the option {key!r} must be a text, a number or true or false", where)
        if key.lower() in unfit:
            raise reader.fail(f"the option {key!r} is not for you to set: {unfit[key.lower()]}", where)
    return tuple((key, str(item).lower() if isinstance(item, bool) else str(item)) for key, item in options.items())
