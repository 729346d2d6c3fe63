"""Flink's DDL: `CREATE TABLE … (…, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (…)`.

RisingWave's `CREATE SOURCE` and ksqlDB's `CREATE STREAM` are written alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.errors import InputError
from streambound.analyzer.spans import SourceText
from streambound.importing.tables import ImportedColumn, ImportedTable, column, toml_value

_TOKEN = re.compile(r"\s+|--[^\n]*|/\*.*?\*/|(?P<text>/\*.*|'(?:[^']|'')*'|`(?:[^`]|``)*`|\w+|[^\s\w])", re.S)
_INTEGERS = {"TINYINT": "tinyint", "SMALLINT": "smallint", "INT": "int", "INTEGER": "int", "BIGINT": "bigint"}
_PLAIN = {
    **_INTEGERS, "STRING": "string", "VARCHAR": "string", "CHAR": "string", "BOOLEAN": "boolean", "BINARY": "binary",
    "VARBINARY": "binary", "BYTES": "binary", "FLOAT": "float", "DOUBLE": "double", "DATE": "date",
    "CHARACTER": "string", "TEXT": "string", "REAL": "float", "BYTEA": "binary", "TIMESTAMPTZ": "timestamp",
    "INT2": "smallint", "INT4": "int", "INT8": "bigint", "FLOAT4": "float", "FLOAT8": "double",
}  # fmt: skip
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
_NESTED = ("ARRAY", "MAP", "ROW", "STRUCT", "MULTISET")
_CREATED = ("TABLE", "SOURCE", "STREAM")
"""What a statement creates that has columns: tables, RisingWave's sources, ksqlDB's streams."""
_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY")
_KAFKA = {"properties.bootstrap.servers": "kafka.bootstrap.servers", "topic": "subscribe"}
_SAME_OPTIONS = {
    "properties.bootstrap.server": "properties.bootstrap.servers", "kafka_topic": "topic", "value_format": "format",
}  # fmt: skip
"""What RisingWave and ksqlDB call what Flink has."""
_KAFKA_METADATA = ("offset", "partition", "timestamp", "topic")
"""What Flink and Spark call alike among what Kafka knows of a record."""
_CHANGES = {"debezium-json": "debezium", "debezium-avro-confluent": "debezium"}
"""Formats whose rows are changes, by what a catalog calls them."""
_DEBEZIUM_TIMES = {"ingestion-timestamp": "ts_ms", "source.timestamp": "source.ts_ms"}
"""What Flink calls the times in Debezium's envelope."""
_JSON = ("json", "debezium-json")
"""The formats of Kafka's records that are read."""
_OTHER_CHANGES = ("canal-json", "maxwell-json", "ogg-json")
"""Formats of changes that a catalog has no word for; so have connectors that end with -cdc."""
_BEGINNINGS = {
    "earliest-offset": "earliest", "latest-offset": "latest", "earliest": "earliest", "latest": "latest",
}  # fmt: skip


_AT_REST = ("jdbc", "hbase", "mongodb", "hive")
"""Connectors, by how they begin, of tables whose rows Flink looks up."""


class _LeftOutPartError(Exception):
    """Why a column or a clause has no counterpart."""


class _Token(Struct, frozen=True):
    text: str
    at: int

    @property
    def word(self) -> str:
        return self.text.upper()

    @property
    def name(self) -> str:
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote) if quote in "'`" else self.text


_TTL, _LENGTH = "table.exec.state.ttl", re.compile(r"(\d+)\s*([a-zA-Z]*)")
_LENGTHS = {
    "day": ("d", "day", "days"), "hour": ("h", "hour", "hours"), "minute": ("m", "min", "minute", "minutes"),
    "second": ("s", "sec", "secs", "second", "seconds"), "millisecond": ("ms", "milli", "millis", "millisecond",
    "milliseconds"),
}  # fmt: skip
"""What Flink calls units of time."""
_QUERIES = ("SELECT", "WITH", "INSERT")


def flink_ddl(text: str, name: str, file: str) -> tuple[ImportedTable, ...]:
    """The tables of a script, in order; queries are for `check`, other statements are passed over, and said.

    Raises InputError, with line and column, for a CREATE TABLE that cannot be read, and where there is none.
    """
    source = SourceText(file, text)
    found: list[ImportedTable] = []
    passed: list[str] = []
    ttl: str | None = None
    for tokens in _statements(source):
        words = [token.word for token in tokens[:4]]
        if words[:1] == ["CREATE"] and {*_CREATED} & {*words[1:4]} and not _is_made_of_others(tokens):
            found.append(_CreateTableReader(source, tokens).table())
        elif words[0] == "SET" and (told := _ttl(tokens)) is not None:
            ttl = told or None
            if ttl is not None:
                passed.append(f"{_TTL} is of joins here: groups are kept, unless they are of a window or of now()")
        elif words[0] not in _QUERIES and "VIEW" not in words:
            passed.append(f"{' '.join(words[:2])} at {file}:{source.position(tokens[0].at)[0]} is passed over")
    if not found:
        raise InputError("there is no CREATE TABLE", file=file, line=1, remedy="is it DDL of Flink?")
    if name and len(found) == 1:
        found = [replace(found[0], name=name)]
    found = [replace(one, ttl=ttl) for one in found]
    return (replace(found[0], notes=(*passed, *found[0].notes)), *found[1:])


def _ttl(tokens: list[_Token]) -> str | None:
    """How long `SET` says that state is kept, empty for ever; None where it says something else."""
    if len(tokens) != 4 or tokens[1].name != _TTL or tokens[2].text != "=":
        return None
    match = _LENGTH.fullmatch(tokens[3].name.strip())
    unit = next((unit for unit, names in _LENGTHS.items() if match and (match[2] or "ms").lower() in names), None)
    if match is None or unit is None:
        return None
    return f"{match[1]} {unit}s" if int(match[1]) else ""


def _is_made_of_others(tokens: list[_Token]) -> bool:
    """Whether a CREATE TABLE has no columns of its own: ``CREATE TABLE t AS SELECT …``, ``CREATE TABLE t LIKE s``."""
    after = next((token.word for token in tokens if token.word in ("(", "AS", "LIKE")), "")
    return after in ("AS", "LIKE")


def _statements(source: SourceText) -> Iterator[list[_Token]]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(source.text):
        if match.group("text") is None:
            continue
        if match.group("text") == ";":
            if tokens:
                yield tokens
            tokens = []
        else:
            tokens.append(_Token(match.group("text"), match.start()))
    if tokens:
        yield tokens


def _metadata(words: list[str]) -> int | None:
    """Where METADATA is in a column's declaration; a field of a ROW may be called so."""
    depth = 0
    for at, word in enumerate(words):
        depth += (word in "<(") - (word in ">)")
        if word == "METADATA" and not depth:
            return at
    return None


class _CreateTableReader(Struct):
    """Reads one CREATE TABLE from left to right."""

    source: SourceText
    tokens: list[_Token]
    at: int = 0
    columns: list[ImportedColumn] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    required: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    timestamp: str | None = None
    lateness: str | None = None
    key: tuple[str, ...] = ()
    key_text: str = ""
    of_keys: bool = False
    """Whether it is a table of ksqlDB, whose records replace those of their key."""

    def table(self) -> ImportedTable:
        start = self.tokens[0]
        self.until(*_CREATED)
        created = self.tokens[self.at - 1].word
        for word in ("IF", "NOT", "EXISTS"):
            self.take(word)
        parts = [self.next("a name").name]
        while self.take("."):
            parts.append(self.next("a name").name)
        if len(parts) > 1:
            self.notes.append(f"{'.'.join(parts)} is called {parts[-1]}: a catalog has no databases")
        self.need("(")
        while not self.take(")"):
            self.element()
            if not self.take(","):
                self.need(")")
                break
        options = self.tail()
        self.of_keys = created == "TABLE" and "topic" in options and "connector" not in options
        self.timestamp = options.pop("timestamp", self.timestamp)
        if self.required:
            joined = ", ".join(self.required)
            self.notes.append(f"NOT NULL of {joined} is left out: a catalog does not say so")
        place = f"{self.source.file}:{self.source.position(start.at)[0]}"
        source = self.where(options)
        columns = self.with_metadata(source)
        changes, unread = self.changes(options)
        beside = source.get("metadata", {}) if source is not None else {}
        if changes is not None and self.timestamp is not None and self.timestamp not in beside:
            self.timestamp = self.time_of_changes(changes["format"], self.timestamp)
        connector = options.get("connector", "")
        at_rest = connector.startswith(_AT_REST) and self.timestamp is None and changes is None
        if at_rest:
            self.notes.append(f"a table of {connector} is a relation: its rows are those at the start of a job")
        if changes is None and self.key:
            within = "" if at_rest else ' and within = "30 days", or how long a key is remembered'
            suggested = f"unique = {toml_value(list(self.key))}{within}"
            self.notes.append(f"{self.key_text} is a suggestion: declare {suggested}")
        return ImportedTable(
            parts[-1], columns, place, self.timestamp, self.lateness,
            True if changes or unread or at_rest else None, source, tuple(self.notes), changes, unread,
        )  # fmt: skip

    def changes(self, options: dict[str, str]) -> tuple[dict[str, Any] | None, str]:
        """How the rows come and go, and why that cannot be said, if it cannot."""
        connector = options.get("connector", "upsert-kafka" if self.of_keys else "")
        kind = options.get("format") or options.get("value.format") or ""
        if connector.endswith("-cdc") or kind in _OTHER_CHANGES:
            return None, f"its rows come and go as {kind or connector} says, which a catalog has no word for"
        if connector != "upsert-kafka" and kind not in _CHANGES:
            return None, ""
        found: dict[str, Any] = {"format": "upsert" if connector == "upsert-kafka" else _CHANGES[kind]}
        return found | ({"key": list(self.key)} if self.key else {}), ""

    def time_of_changes(self, form: str, declared: str) -> str:
        """The time of changes whose rows have one: of Debezium's envelope, and of upserts that of the rows."""
        if form == "upsert":
            without = (
                f"a record that deletes has no {declared}, and is quarantined: let the topic's timestamp be the time"
            )
            self.notes.append(f"{without}, {declared} … METADATA FROM 'timestamp'")
            return declared
        told = self.metadata.get(declared, "").removeprefix("value.")
        time = _DEBEZIUM_TIMES.get(told, "ts_ms")
        self.notes.append(
            f"the time of changes is {time}, of Debezium's envelope: a delete has no {declared} of its own"
        )
        return time

    # --- between the parentheses --------------------------------------------------------------------------------

    def element(self) -> None:
        if self.ahead("WATERMARK", "FOR"):
            self.watermark()
        elif self.ahead("PRIMARY", "KEY") or self.ahead("UNIQUE", "(") or self.ahead("CONSTRAINT"):
            rest = self.rest()
            words = [token.word for token in rest]
            if "PRIMARY" in words and "(" in words and ")" in words:
                named = rest[words.index("(") + 1 : words.index(")")]
                self.key, self.key_text = tuple(token.name for token in named if token.text != ","), self.text(rest)
            else:
                self.notes.append(f"{self.text(rest)} is left out: declare it as unique = […], with within")
        else:
            self.column()

    def column(self) -> None:
        name = self.next("a column").name
        rest = self.rest()
        words = [token.word for token in rest]
        if not rest:
            raise self.fail("a column needs a type")
        if words[0] == "AS":
            self.notes.append(f"column {name} is left out: it is computed, {self.text(rest)}")
            return
        comment = words.index("COMMENT") if "COMMENT" in words else len(words)
        rest, words = rest[:comment], words[:comment]
        at, key = _metadata(words), ""
        if at is not None:
            key = rest[at + 2].name if words[at + 1 : at + 2] == ["FROM"] and rest[at + 2 :] else name
            rest, words = rest[:at], words[:at]
        if "PRIMARY" in words:
            self.key, self.key_text = (name,), self.text(rest[words.index("PRIMARY") :])
            rest, words = rest[: words.index("PRIMARY")], words[: words.index("PRIMARY")]
        if words[-1:] == ["KEY"]:  # ksqlDB's: the records of a topic have it
            rest, words = rest[:-1], words[:-1]
        if words[-2:] == ["NOT", "NULL"]:
            if not key:
                self.required.append(name)
            rest = rest[:-2]
        elif words[-1:] == ["NULL"]:
            rest = rest[:-1]
        try:
            kind = _Type(rest).read()
        except _LeftOutPartError as reason:
            self.notes.append(f"column {name} is left out: {reason}")
            return
        found = column(name, kind)
        if isinstance(found, str):
            self.notes.append(found)
            return
        self.columns.append(found)
        if key:
            self.metadata[name] = key
        if kind.startswith("timestamp") and any(token.text in "789" and len(token.text) == 1 for token in rest):
            self.notes.append(f"{name} has parts of a microsecond in Flink, and microseconds here")

    def watermark(self) -> None:
        rest = self.rest()[2:]
        words = [token.word for token in rest]
        if "AS" not in words or words.index("AS") != 1:
            self.notes.append(f"WATERMARK FOR {self.text(rest)} is left out: it is not of one column")
            return
        name, bound = rest[0].name, rest[2:]
        self.timestamp = name
        if [token.name for token in bound] == [name]:
            return
        match [token.word for token in bound]:
            case [_, "-", "INTERVAL", quantity, *units] if bound[0].name == name:
                amount, *inside = quantity.strip("'").split() or [""]
                match [unit.rstrip("S") for unit in (*inside, *units)]:
                    case [unit] if unit in _UNITS and re.fullmatch(r"\d+(\.\d+)?", amount):
                        self.lateness = f"{amount} {unit.lower()}s"
                        return
        self.notes.append(f"the watermark {self.text(bound)} is left out: declare lateness, or order")

    # --- behind them --------------------------------------------------------------------------------------------

    def tail(self) -> dict[str, str]:
        options: dict[str, str] = {}
        while self.at < len(self.tokens):
            if self.take("WITH"):
                self.need("(")
                while not self.take(")"):
                    key = self.next("an option").name
                    while self.take("."):
                        key += f".{self.next('an option').name}"
                    self.need("=")
                    options[_SAME_OPTIONS.get(key.lower(), key.lower())] = self.next("a value").name
                    self.take(",")
            elif self.take("FORMAT"):
                self.format(options)
            elif self.take("COMMENT"):
                self.next("a text")
            else:
                clause = self.tokens[self.at :]
                stop = next((i for i, token in enumerate(clause) if token.word == "WITH"), len(clause))
                self.notes.append(f"{self.text(clause[:stop])} is left out: a catalog has no counterpart")
                self.at += stop
        return options

    def format(self, options: dict[str, str]) -> None:
        """RisingWave's ``FORMAT PLAIN ENCODE JSON``."""
        form = self.next("a format").word
        self.need("ENCODE")
        encoding = self.next("an encoding").word.lower()
        kind = {"PLAIN": encoding, "DEBEZIUM": f"debezium-{encoding}"}.get(form, f"{form.lower()}-{encoding}")
        options["format"] = kind
        if form == "UPSERT":
            options |= {"format": encoding, "connector": "upsert-kafka"}

    def with_metadata(self, source: dict[str, Any] | None) -> tuple[ImportedColumn, ...]:
        """The columns, less those that are metadata which the source does not have in Spark; it gets the others."""
        kept = {}
        if source is not None and source["format"] == "kafka":
            kept = {name: key for name, key in self.metadata.items() if key in _KAFKA_METADATA}
            source |= {"metadata": kept} if kept else {}
        left = [name for name in self.metadata if name not in kept]
        for name in left:
            self.notes.append(f"column {name} is left out: it is metadata of the connector, no part of a row")
        return tuple(column for column in self.columns if column.name not in left)

    def where(self, options: dict[str, str]) -> dict[str, Any] | None:
        """Where the rows come from, for files and for JSON from Kafka; every other option is said to be left out."""
        left = dict(options)
        connector = left.get("connector", "kafka")
        kind = (left.get("format") or left.get("value.format") or "").lower()
        source: dict[str, Any] | None = None
        if connector == "filesystem" and "path" in left and kind in ("json", "csv", "parquet", "avro", "orc"):
            source = {"format": kind, "path": left.pop("path").removeprefix("file://")}
        elif (
            connector in ("kafka", "upsert-kafka")
            and kind in _JSON
            and _KAFKA.keys() <= left.keys()
            and (connector == "kafka" or left.get("key.format", "json") == "json")
        ):
            options = {ours: left.pop(theirs).replace(";", ",") for theirs, ours in _KAFKA.items()}
            if left.get("scan.startup.mode") in _BEGINNINGS:
                options["startingOffsets"] = _BEGINNINGS[left.pop("scan.startup.mode")]
            source = {"format": "kafka", "options": options}
        if source is not None:
            for key in ("connector", "format", "value.format", "key.format"):
                left.pop(key, None)
        if left:
            self.notes.append(f"options left out: {', '.join(sorted(left))}")
        return source

    # --- tokens -------------------------------------------------------------------------------------------------

    def rest(self) -> list[_Token]:
        """The tokens up to the comma or parenthesis that ends an element."""
        start, closing = self.at, list[str]()
        while self.at < len(self.tokens):
            text = self.tokens[self.at].text
            if not closing and text in (",", ")"):
                break
            if text == "(":
                closing.append(")")
            elif text == "<" and self.tokens[self.at - 1].word in _NESTED:  # else it compares
                closing.append(">")
            elif closing[-1:] == [text]:
                closing.pop()
            self.at += 1
        return self.tokens[start : self.at]

    def text(self, tokens: list[_Token]) -> str:
        if not tokens:
            return ""
        last = tokens[-1]
        return " ".join(self.source.text[tokens[0].at : last.at + len(last.text)].split())

    def ahead(self, *words: str) -> bool:
        return [token.word for token in self.tokens[self.at : self.at + len(words)]] == list(words)

    def take(self, word: str) -> bool:
        found = self.ahead(word)
        self.at += found
        return found

    def need(self, word: str) -> None:
        if not self.take(word):
            raise self.fail(f"{word} is missing")

    def next(self, what: str) -> _Token:
        if self.at >= len(self.tokens):
            raise self.fail(f"{what} is missing")
        self.at += 1
        return self.tokens[self.at - 1]

    def until(self, *words: str) -> None:
        while not any(self.take(word) for word in words):
            self.at += 1

    def fail(self, message: str) -> InputError:
        last = self.tokens[-1]
        at = self.tokens[self.at].at if self.at < len(self.tokens) else last.at + len(last.text)
        line, place = self.source.position(at)
        remedy = "is it a CREATE TABLE of Flink, with its columns in parentheses?"
        return InputError(message, file=self.source.file, line=line, column=place, remedy=remedy)


class _Type:
    """Reads a type, which may hold others."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0

    def read(self) -> str:
        """Its name in Spark SQL; raises _LeftOutError where there is none."""
        found = self.one()
        if self.at < len(self.tokens):
            raise _LeftOutPartError(f"{' '.join(token.text for token in self.tokens)} is not understood")
        return found

    def one(self) -> str:
        word = self.word()
        if word in _PLAIN:
            self.sizes()
            self.maybe({"DOUBLE": "PRECISION", "CHARACTER": "VARYING"}.get(word, ""))
            self.sizes()
            return self.nullable(_PLAIN[word])
        if word in _DECIMALS:
            sizes = [*self.sizes(), "10", "0"] if not self.ahead("(") else [*self.sizes(), "0"]
            return self.nullable(f"decimal({sizes[0]},{sizes[1]})")
        if word in ("TIMESTAMP", "TIMESTAMP_LTZ"):
            return self.nullable(self.timestamp(word))
        if word in ("ARRAY", "MAP", "ROW", "STRUCT"):
            return self.nullable(self.nested(word))
        raise _LeftOutPartError(f"Flink's {word} has no type in Spark SQL")

    def timestamp(self, word: str) -> str:
        self.sizes()
        if word == "TIMESTAMP_LTZ":
            return "timestamp"
        if self.maybe("WITHOUT"):
            self.at += 2
        elif self.maybe("WITH"):
            if not self.maybe("LOCAL"):
                raise _LeftOutPartError("a timestamp with a time zone of its own has no type in Spark SQL")
            self.at += 2
            return "timestamp"
        return "timestamp_ntz"

    def nested(self, word: str) -> str:
        if not self.maybe("<"):
            raise _LeftOutPartError(f"{word} is written in a way that is not understood")
        parts = []
        while not self.maybe(">"):
            name = f"`{self.token().name.replace('`', '``')}`:" if word in ("ROW", "STRUCT") else ""
            parts.append(name + self.one())
            self.maybe(",")
        return f"{'struct' if word in ('ROW', 'STRUCT') else word.lower()}<{','.join(parts)}>"

    def nullable(self, kind: str) -> str:
        if self.maybe("NOT"):
            self.maybe("NULL")
        else:
            self.maybe("NULL")
        return kind

    def sizes(self) -> list[str]:
        found: list[str] = []
        if self.maybe("("):
            while not self.maybe(")"):
                token = self.token()
                found += [token.text] if token.text.isdigit() else []
        return found

    def word(self) -> str:
        return self.token().word

    def token(self) -> _Token:
        if self.at >= len(self.tokens):
            raise _LeftOutPartError("its type is cut off")
        self.at += 1
        return self.tokens[self.at - 1]

    def ahead(self, word: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].word == word

    def maybe(self, word: str) -> bool:
        found = self.ahead(word)
        self.at += found
        return found
