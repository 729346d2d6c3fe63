"""Encoded rows as recorded streams: lines of JSON, and directories that a job reads micro-batch by micro-batch."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.analyzer.types import Family
from streambound.analyzer.values import to_json
from streambound.synopsis_exec.change_lines import change_writer
from streambound.synopsis_exec.ended_rows import is_punctuation
from streambound.synopsis_exec.feeds import Feed
from streambound.synopsis_exec.nested_values import as_text
from streambound.synopsis_exec.plan_ir import Input, Plan

if TYPE_CHECKING:
    from streambound.synopsis_exec.circuit_plan import PlannedCircuit

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


def write_relations(
    folder: Path, plan: Plan | PlannedCircuit, relations: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """The relations, each as one file in a directory of its own."""
    for item in plan.relations:
        line = line_writer(item)
        write_part(folder, item.name, 0, [line(row) for row in relations.get(item.name, ())])


def write_feed(
    folder: Path,
    plan: Plan | PlannedCircuit,
    feed: Feed,
    tuples: int,
    batches: int,
    on_rows: Callable[[int], None] = lambda rows: None,
) -> dict[str, int]:
    """So many tuples of a feed as so many micro-batches in ``folder / "in"``; returns the rows per stream.

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
