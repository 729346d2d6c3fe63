"""How fast a stream's rows may come: ``max_rate = { rows = 1000, per = "1 second" }``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streambound.analyzer.catalog_model import RateDocument, keys
from streambound.analyzer.columns import Column
from streambound.analyzer.durations import parse_duration
from streambound.analyzer.toml_reader import TomlReader
from streambound_runtime.promises import Rate

Path = tuple[str, ...]
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
