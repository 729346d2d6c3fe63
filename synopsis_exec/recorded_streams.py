"""Encoded rows as recorded streams: lines of JSON, and directories that a job reads micro-batch by micro-batch.

Changes of a relation may be lines of Debezium's envelopes, or upserts with a key and a value.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.analyzer.types import Family
from streambound.analyzer.values import to_json
from streambound.synopsis_exec.ended_rows import is_punctuation
from streambound.synopsis_exec.expression_values import as_text
from streambound.synopsis_exec.feeds import Feed
from streambound.synopsis_exec.plan_ir import Input, JobPlan
from streambound_runtime.promises import UPDATE, ChangeRecords

if TYPE_CHECKING:
    pass

FIRST_MODIFIED = 1_000_000_000
"""When the first file of a stream was modified, in seconds since 1970; each later one a second after it.

Spark reads files in the order of their modification times."""

_ROWS = "rows"


def line_writer(item: Input) -> Callable[[Mapping[str, Any]], str]:
    """A function from an encoded row of a stream or relation to its line of JSON."""
    if item.records is not None:
        return change_writer(item)
    kinds = {column.name: column.type for column in item.declared}
    known: dict[tuple[str, Any], str] = {}

    def cell(name: str, value: Any) -> str:
        kind = kinds[name]
        nested = value is not None and kind.family is Family.OTHER
        said = as_text(value, kind) if nested else json.dumps(to_json(value, kind), ensure_ascii=False)
        text = f"{json.dumps(name, ensure_ascii=False)}: {said}"
        if len(known) < 100_000:
            known[name, value] = text
        return text

    def line(row: Mapping[str, Any]) -> str:
        return "{" + ", ".join(known.get((name, row[name])) or cell(name, row[name]) for name in kinds) + "}\n"

    return line


def write_part(folder: Path, name: str, number: int, lines: Sequence[str]) -> None:
    """File ``number`` of a stream; what is not text (a recorded line of broken bytes) is written back as it was."""
    directory = folder / name
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"part-{number:06d}.jsonl"
    file.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    os.utime(file, (FIRST_MODIFIED + number, FIRST_MODIFIED + number))


def write_relations(folder: Path, plan: JobPlan, relations: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """The relations, each as one file in a directory of its own."""
    for item in plan.relations:
        line = line_writer(item)
        write_part(folder, item.name, 0, [line(row) for row in relations.get(item.name, ())])


def write_feed(
    folder: Path,
    plan: JobPlan,
    feed: Feed,
    tuples: int,
    batches: int,
    on_rows: Callable[[int], None] = lambda rows: None,
) -> dict[str, int]:
    """Write ``tuples`` of a feed as ``batches`` micro-batches to ``folder / "in"``; returns the rows per stream.

    The feed's endings are in the last one. In a batch, every stream has a file, though it may be empty, so that the
    streams stay side by side. Where some tuples are punctuations of keys, the others are in `rows_in`, too.
    """
    ending = {item.name: item for item in plan.streams if item.ends_keys}
    places = [folder / "in", folder / _ROWS] if ending else [folder / "in"]
    for place in places:
        write_relations(place, plan, feed.relations)
    writers = {item.name: line_writer(item) for item in plan.streams}
    total = dict.fromkeys(writers, 0)
    for number in range(batches):
        size = tuples * (number + 1) // batches - tuples * number // batches
        lines: dict[str, list[tuple[str, bool]]] = {name: [] for name in writers}
        last = feed.endings() if feed.endings is not None and number == batches - 1 else ()
        for name, row in chain(islice(feed.rows, size), last):
            counts = name not in ending or not is_punctuation(ending[name], row)
            lines[name].append((writers[name](row), counts))
        for name, mine in lines.items():
            for place in places:
                write_part(place, name, number, [line for line, counts in mine if counts or place == places[0]])
            total[name] += len(mine)
        on_rows(size)
    return total


def rows_in(folder: Path) -> Path:
    """Where the rows of the tuples are that `write_feed` wrote: without punctuations of keys, which are none."""
    return folder / _ROWS if (folder / _ROWS).is_dir() else folder / "in"


_MICROSECONDS = {"ts_ms": 1000, "ts_us": 1}


def change_writer(item: Input) -> Callable[[Mapping[str, Any]], str]:
    """A function from an encoded change to its line, for a relation whose changes are in records."""
    records = item.records
    assert records is not None, "a relation whose changes are in records"
    kinds = {column.name: column.type for column in item.declared}

    def text(name: str, value: Any) -> str:
        nested = value is not None and kinds[name].family is Family.OTHER
        return as_text(value, kinds[name]) if nested else json.dumps(to_json(value, kinds[name]), ensure_ascii=False)

    def image(row: Mapping[str, Any], names: Iterable[tuple[str, str]]) -> str:
        return _object((shown, text(name, row[name])) for shown, name in names)

    plain = [(name, name) for name in records.columns if name not in _beside(records)]
    old = [(name, mine) for name, mine in zip(records.columns, records.before, strict=False) if (name, name) in plain]
    key = [(name, name) for name in records.key]

    def line(row: Mapping[str, Any]) -> str:
        beside = [(name, text(name, row[name])) for name in records.beside]
        deleted = row[records.op] == records.delete
        if not records.debezium:
            value = "null" if deleted else image(row, plain)
            return _object([("key", image(row, key)), ("value", value), *beside]) + "\n"
        kind = "d" if deleted else "u" if row[records.op] == UPDATE else "c"
        before = {"d": image(row, plain), "u": image(row, old), "c": "null"}[kind]
        after = "null" if deleted else image(row, plain)
        envelope = [("before", before), ("after", after), ("op", json.dumps(kind)), *_time(row, records)]
        return _object([*envelope, *beside]) + "\n"

    return line


def _beside(records: ChangeRecords) -> tuple[str, ...]:
    """The columns that only a record has, not its row."""
    return (*records.beside, records.time)


def _time(row: Mapping[str, Any], records: ChangeRecords) -> list[tuple[str, str]]:
    """The time that the envelope has."""
    if records.time in records.beside:
        return []
    *path, name = records.time.split(".")
    value = row[records.time]
    if records.moment:
        value = value * 1000 if name == "ts_ns" else value // _MICROSECONDS[name]
    return [(path[0], _object([(name, str(value))]))] if path else [(name, str(value))]


def _object(members: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in members) + "}"
