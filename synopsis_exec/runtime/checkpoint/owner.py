"""Which job a checkpoint belongs to, and what tells it from another one, in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from streambound_runtime.arrays import Values
from streambound_runtime.endpoints import identity, in_short
from streambound_runtime.operators.formula import Relations
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, Relation, Stream
from streambound_runtime.text import printed

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 5
"""The layout of what is saved; a checkpoint with another one is refused."""
_BEFORE = "0.1"
"""The release that reads earlier ones."""
_SHORT = 12
"""Characters of a hash in messages, as in the header of a job."""


class Owner(TypedDict, total=False):
    """The content of `job.json`: hashes of what must stay the same, and the same in words for messages."""

    format: int
    query: str
    catalog: str
    tables: str
    engine: str
    placement: str
    sources: str
    relations: str
    version: str
    name: str
    declared: dict[str, dict[str, object]]
    places: dict[str, str]
    rows: dict[str, list[object]]


def of_job(job: JobSpec, settings: Settings, relations: Relations, engine: str) -> Owner:
    """The content of `job.json` for a job that starts with an empty checkpoint."""
    tables = job.tables
    rows = {name: [found.num_rows, _digest_of_rows(found)] for name, found in relations.items()}
    saved: Owner = {
        "format": FORMAT,
        "query": job.saved.query,
        "catalog": job.saved.catalog,
        "tables": job.saved.tables,
        "engine": engine,
        "placement": job.placement.where,
        "sources": _digest([identity(table, settings) for table in tables]),
        "relations": _digest([[name, *found] for name, found in rows.items()]),
        "version": job.runtime,
        "name": job.name,
        "declared": {table.name: _declared(table) for table in tables},
        "places": {table.name: in_short(table, settings) for table in tables},
        "rows": rows,
    }
    return cast("Owner", json.loads(json.dumps(saved)))


def sealed(saved: Owner) -> bytes:
    """The bytes of `job.json`: a JSON object with a hash of its other members."""
    return json.dumps({"checksum": _checksum(saved), **saved}).encode()


def opened(data: bytes | None) -> Owner | None:
    """The sealed object, or one of an earlier layout, without a hash; None if it is damaged."""
    try:
        saved = json.loads(data or b"")
    except ValueError:
        return None
    if not isinstance(saved, dict):
        return None
    checksum = saved.pop("checksum", None)
    whole = checksum == _checksum(cast("Owner", saved)) or (checksum is None and saved.get("format", FORMAT) < FORMAT)
    return cast("Owner", saved) if whole else None


def _checksum(saved: Owner) -> str:
    return sha256(json.dumps(saved, sort_keys=True).encode()).hexdigest()


def difference(theirs: Owner, mine: Owner) -> tuple[str, str] | None:
    """In what a checkpoint's job is another one, in words, and a way out; None where it is the same."""
    theirs = {"engine": "spark", **theirs}  # the only one there was
    part = next((name for name in _DIFFERENCES if theirs.get(name) != mine.get(name)), None)
    return None if part is None else _DIFFERENCES[part](theirs, mine)


def _declared(table: Stream | Relation) -> dict[str, object]:
    """The catalog's declaration of a stream or relation, by its keys."""
    columns = {column.name: column.type for column in table.columns}
    domains = {column.name: printed(column.domain) for column in table.columns if column.domain is not None}
    if isinstance(table, Relation):
        return {"columns": columns, "domain": domains, "rows": table.rows, "unique": printed(table.unique)}
    arrival = table.arrival
    return {
        "columns": columns,
        "domain": domains,
        "timestamp": table.timestamp,
        "max_per_timestamp": table.per_timestamp,
        "max_rate": printed(table.rate),
        "unique": printed(table.unique),
        "lateness": arrival.lateness,
        "idle_after": arrival.idle_after,
        "punctuation": printed(arrival.mark),
        "partitions": printed(arrival.partitions),
    }


def _other_format(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """Saved by another version."""
    by = f"streambound {theirs['version']}" if "version" in theirs else "an earlier version of streambound"
    found = f"it was saved by {by} in layout {theirs.get('format', 1)}"
    way_out = f"run it with streambound {_BEFORE}" if theirs.get("format", 1) < FORMAT else "run it with that version"
    return f"{found}, and this job (streambound {mine['version']}) has layout {mine['format']}", way_out


def _other_query(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """Of another query, or of the same before it was changed."""
    there, here = theirs["name"], mine["name"]
    was = "it was changed since" if there == here else f"it is of the query {there}"
    found = f"{was} (sha256 {theirs['query'][:_SHORT]}), and this job is of {here} (sha256 {mine['query'][:_SHORT]})"
    return found, "run the job that it belongs to"


def _other_catalog(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """The catalog declares something otherwise: the first key that differs says what."""
    for name, now in mine["declared"].items():
        before = theirs["declared"].get(name, now)
        key = next((key for key in now if before.get(key, now[key]) != now[key]), None)
        if key is not None:
            was, is_now = _differing(before[key], now[key])
            return f"the catalog declared {key} of {name} as {was}, and now as {is_now}", "declare it as before"
    hashes = f"sha256 {theirs['catalog'][:_SHORT]} before, {mine['catalog'][:_SHORT]} now"
    return f"the catalog declares its streams and relations otherwise ({hashes})", "take the catalog as it was"


def _differing(before: object, now: object) -> tuple[object, object]:
    """Two values; of two objects what differs between them, with None for what is not there."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return before, now
    keys = [key for key in before | now if before.get(key) != now.get(key)]
    return {key: before.get(key) for key in keys}, {key: now.get(key) for key in keys}


def _other_tables(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """Another version keeps other tables for the same query and catalog."""
    hashes = f"sha256 {theirs['tables'][:_SHORT]} there, {mine['tables'][:_SHORT]} here"
    there, here = f"streambound {theirs['version']}", f"streambound {mine['version']}"
    found = f"{there} kept other tables for this query than {here} does ({hashes})"
    return found, "run it with that version"


def _other_engine(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """Spark keeps which input has been read, or the run without Spark did."""
    there = theirs.get("engine", "spark")
    words = {"spark": "on Spark", "embedded": "without Spark"}
    return (
        f"the job ran {words.get(there, there)}, and now runs {words[mine['engine']]}",
        f"run it with --engine {there}",
    )


def _other_placement(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """The same query was compiled with another placement."""
    there, here = (_PLACES.get(str(saved.get("placement")), "elsewhere") for saved in (theirs, mine))
    return f"its state is {there}, and this job's {here}", f"compile it with --placement {theirs.get('placement')}"


_PLACES = {"driver": "on the driver", "buckets": "in buckets", "stateless": "nowhere"}


def _other_sources(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """Rows came from somewhere else."""
    for name, now in mine["places"].items():
        before = theirs["places"].get(name, now)
        if before != now:
            return f"{name} was read from {before}, and is now read from {now}", "read it from there"
    return "its streams and relations were read from somewhere else", "read them from there"


def _other_relations(theirs: Owner, mine: Owner) -> tuple[str, str]:
    """A relation has changed, on which what is remembered depends."""
    for name, (rows, hashed) in mine["rows"].items():
        before = theirs["rows"].get(name, [rows, hashed])
        if before != [rows, hashed]:
            others = "others" if before[0] == rows else str(rows)
            return f"the relation {name} had {before[0]} good rows, and now has {others}", "put those rows back"
    return "its relations had other rows", "put those rows back"


_DIFFERENCES: dict[str, Callable[[Owner, Owner], tuple[str, str]]] = {
    "format": _other_format,
    "query": _other_query,
    "catalog": _other_catalog,
    "tables": _other_tables,
    "engine": _other_engine,
    "placement": _other_placement,
    "sources": _other_sources,
    "relations": _other_relations,
}
"""Where a part is another, those after it may be, too, and it is to blame."""


_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def _digest_of_rows(rows: pa.Table) -> str:
    """A hash of the rows of a relation, whatever their order: what the hashes of each add up to."""
    found = np.full(rows.num_rows, _ODD)
    for column in rows.columns:
        found = (found ^ _numbers(column)) * _ODD
        found ^= found >> _SHIFT
    return f"{int(found.sum(dtype=np.uint64)):016x}"


def _numbers(column: pa.ChunkedArray) -> Values:
    """A number of 64 bits for each value."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and not column.null_count:
        found: Values = column.to_numpy().astype(np.int64).view(np.uint64)
        return found
    distinct = column.combine_chunks().dictionary_encode(null_encoding="encode")
    texts = (repr(value).encode() for value in distinct.dictionary.to_pylist())
    hashes = [int.from_bytes(sha256(text).digest()[:8]) for text in texts]
    found = np.array(hashes, dtype=np.uint64)[distinct.indices.to_numpy(zero_copy_only=False)]
    return found


def _digest(rows: Iterable[object]) -> str:
    """A hash of what JSON can hold, whatever the order of its rows."""
    texts = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return sha256("\n".join(texts).encode()).hexdigest()
