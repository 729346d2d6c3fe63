"""The catalog's table `[engine]`: what runs the queries elsewhere, and how."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.catalog_model import EngineDocument, keys
from streambound.analyzer.durations import parse_duration
from streambound.analyzer.toml_reader import TomlReader, suggest
from streambound.analyzer.types import DataType, Family

Micros = int
"""A length of time in microseconds."""
NO_WATERMARK = "none"
_PATH = ("engine",)
_KEYS = keys(EngineDocument)
_TIMESTAMP = DataType("timestamp", Family.TIMESTAMP)


class StreamEngine(StrEnum):
    """An engine that there is a model of."""

    SPARK = "spark"
    FLINK = "flink"

    @property
    def version(self) -> str:
        """The version whose operators were measured."""
        return {StreamEngine.SPARK: "Spark 4.3", StreamEngine.FLINK: "Flink SQL 2.3"}[self]


class OutputMode(StrEnum):
    """The rows that a Spark query writes at each batch: final ones, changed ones, or the whole result."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


class EngineProfile(Struct, frozen=True):
    """An engine, and how a query is run on it.

    ``delays`` maps streams, by their lower-case names, to the delay of their watermark, or None if there is none;
    other streams have the catalog's `lateness`. ``ttl`` is Flink's `table.exec.state.ttl`. ``behind`` is how far the
    watermark lags behind its delay, as it does within a batch.
    """

    engine: StreamEngine
    mode: OutputMode = OutputMode.APPEND
    delays: Mapping[str, Micros | None] = field(default_factory=dict)
    ttl: Micros | None = None
    behind: Micros = 0


def asked_profile(declared: EngineProfile | None, engine: str | None) -> EngineProfile | None:
    """The catalog's profile, for the chosen engine if there is one; None if neither names an engine."""
    if engine is None:
        return declared
    return EngineProfile(StreamEngine(engine)) if declared is None else replace(declared, engine=StreamEngine(engine))


def read_engine(reader: TomlReader, value: object, streams: tuple[str, ...]) -> EngineProfile | None:
    """The table `[engine]`; raises CatalogError at the key that is wrong."""
    body = reader.mapping(value, _PATH)
    reader.known_keys(body, _KEYS, _PATH)
    if not body:
        return None
    names = {name.lower() for name in streams}
    delays = reader.mapping(body.get("delays", {}), (*_PATH, "delays"))
    for name in delays:
        if name.lower() not in names:
            where = (*_PATH, "delays", name)
            raise reader.fail(f"there is no stream {name!r}", where, suggest(name, streams))
    return EngineProfile(
        StreamEngine(reader.choice(body, "name", _PATH, tuple(StreamEngine))),
        OutputMode(reader.choice(body, "output_mode", _PATH, tuple(OutputMode))),
        {
            name.lower(): None if delay == NO_WATERMARK else _length(reader, delays, name, (*_PATH, "delays"))
            for name, delay in delays.items()
        },
        _length(reader, body, "ttl", _PATH) if "ttl" in body else None,
    )


def _length(reader: TomlReader, body: Mapping[str, Any], key: str, path: tuple[str, ...]) -> Micros:
    try:
        return parse_duration(body[key], _TIMESTAMP)
    except ValueError as error:
        raise reader.fail(f"{key} is no length of time", (*path, key), str(error)) from error
