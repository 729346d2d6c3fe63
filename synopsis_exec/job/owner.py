"""Part of every job: which job a checkpoint belongs to, and what tells it from another one, in words."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from streambound.synopsis_exec.job.endpoints import identity, in_short
from streambound.synopsis_exec.job.given import QUERY, RELATIONS, SAVED, STREAMS, VERSION
from streambound.synopsis_exec.job.source import Source

FORMAT = 3
"""The layout of what is saved; a checkpoint with another one is refused."""


def of_job(options: argparse.Namespace, relations: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What `job.json` says of this job: what must be the same, by hashes, and the same in words for messages."""
    sources = (*STREAMS, *RELATIONS)
    rows = [[name, row] for name, found in relations.items() for row in found]
    said = {
        "format": FORMAT,
        **SAVED,
        "sources": digest([identity(source, options) for source in sources]),
        "relations": digest(rows),
        "version": VERSION,
        "name": QUERY,
        "declared": {source.name: declared(source) for source in sources},
        "places": {source.name: in_short(source, options) for source in sources},
        "rows": {name: [len(found), digest(found)] for name, found in relations.items()},
    }
    return dict(json.loads(json.dumps(said)))


def declared(source: Source) -> dict[str, Any]:
    """What the catalog declares of a stream or relation, by its keys there."""
    return {
        "columns": source.schema,
        "timestamp": source.time,
        "rows": source.most,
        "max_per_timestamp": source.per_timestamp,
        "lateness": source.lateness,
        "idle_after": source.idle_after,
        "punctuation": source.mark,
        "partitions": source.parts,
        "contract": source.invalid,
    }


def other_format(theirs: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str]:
    """Saved by another version."""
    there = f"it was saved by {by(theirs)} in layout {theirs.get('format', 1)}"
    return f"{there}, and this job (streambound {VERSION}) has layout {mine['format']}", "run it with that version"


def other_query(theirs: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str]:
    """Of another query, or of the same before it was changed."""
    there, here = theirs.get("name", "another query"), mine["name"]
    was = "it was changed since" if there == here else f"it is of the query {there}"
    found = f"{was} (sha256 {short(theirs, 'query')}), and this job is of {here} (sha256 {short(mine, 'query')})"
    return found, "run the job that it belongs to"


def other_catalog(theirs: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str]:
    """The catalog declares something otherwise: the first key that differs says what."""
    for name, now in mine["declared"].items():
        before = theirs.get("declared", {}).get(name, now)
        key = next((key for key in now if before.get(key, now[key]) != now[key]), None)
        if key is not None:
            was, is_now = differing(before[key], now[key])
            return f"the catalog declared {key} of {name} as {was}, and now as {is_now}", "declare it as before"
    hashes = f"sha256 {short(theirs, 'catalog')} before, {short(mine, 'catalog')} now"
    return f"the catalog declares its streams and relations otherwise ({hashes})", "take the catalog as it was"


def differing(before: Any, now: Any) -> tuple[Any, Any]:
    """Two values; of two objects what differs between them."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return before, now
    keys = {key for key in before | now if before.get(key) != now.get(key)}
    return {key: before[key] for key in before if key in keys}, {key: now[key] for key in now if key in keys}


def other_tables(theirs: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str]:
    """Another version keeps other tables for the same query and catalog."""
    hashes = f"sha256 {short(theirs, 'tables')} there, {short(mine, 'tables')} here"
    found = f"{by(theirs)} kept other tables for this query than streambound {VERSION} does ({hashes})"
    return found, "run it with that version"


def other_sources(theirs: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str]:
    """Rows came from somewhere else."""
    for name, now in mine["places"].items():
        before = theirs.get("places", {}).get(name, now)
        if before != now:
            return f"{name} was read from {before}, and is now read from {now}", "read it from there"
    return "its streams and relations were read from somewhere else", "read them from there"


def other_relations(theirs: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str]:
    """A relation has changed, on which what is remembered depends."""
    for name, (rows, hashed) in mine["rows"].items():
        before = theirs.get("rows", {}).get(name, [rows, hashed])
        if before != [rows, hashed]:
            others = "others" if before[0] == rows else str(rows)
            return f"the relation {name} had {before[0]} good rows, and now has {others}", "put those rows back"
    return "its relations had other rows", "put those rows back"


DIFFERENCES: dict[str, Callable[[dict[str, Any], dict[str, Any]], tuple[str, str]]] = {
    "format": other_format,
    "query": other_query,
    "catalog": other_catalog,
    "tables": other_tables,
    "sources": other_sources,
    "relations": other_relations,
}
"""Part -> what differs between a checkpoint and a job, with both sides, and a way out.

Where a part is another, those after it may be, too, and it is to blame."""


def by(theirs: dict[str, Any]) -> str:
    """Who has saved a checkpoint."""
    return f"streambound {theirs['version']}" if "version" in theirs else "an earlier version of streambound"


def short(said: dict[str, Any], part: str) -> str:
    """The beginning of a hash, as the header of a job has it."""
    return str(said.get(part, ""))[:12] or "unknown"


def digest(value: Any) -> str:
    """A hash of what JSON can hold, whatever the order of its rows."""
    rows = sorted(json.dumps(row, sort_keys=True) for row in value)
    return sha256("\n".join(rows).encode()).hexdigest()
