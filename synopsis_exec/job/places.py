"""Part of every job: quarantined rows, and where they were read. Nothing is looked up unless there are some."""

from __future__ import annotations

import argparse
import gzip
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from streambound.synopsis_exec.job.endpoints import of_files
from streambound.synopsis_exec.job.given import RELATIONS, STREAMS
from streambound.synopsis_exec.job.reasons import code_and_detail

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = dict[str, Any]
QUARANTINED = ("stream", "relation", "reason", "detail", "file", "line", "partition", "offset", "batch", "row")
"""What a quarantined row has, in this order; what is not known of it is left out."""
PLAIN = ("", ".json", ".jsonl", ".log", ".ndjson", ".txt")
"""Ends of the names of files that are not compressed."""


def place_columns(frame: DataFrame, wrong: str) -> list[str]:
    """The file of a wrong row, and its place in a queue, in Spark SQL over the columns of `tagged`.

    Spark knows the file that a task is reading, so that it need not travel with all rows.
    """
    texts = {"file": "input_file_name()"} | ({"place": "place"} if "place" in frame.columns else {})
    return [f"CASE WHEN {wrong} THEN {text} END AS {name}" for name, text in texts.items()]


def quarantined(
    kind: str, name: str, reason: str, text: str | None, file: str | None = None, place: Row | None = None
) -> Row:
    """A row that cannot be used, of a "stream" or "relation", as it is written."""
    code, detail = code_and_detail(reason)
    known = {kind: name, "reason": code, "detail": detail, "row": text, "file": local(file or ""), **(place or {})}
    return without_unknown(known)


def name_of(row: Row) -> str:
    """Of which stream or relation a quarantined row is."""
    return str(row.get("stream") or row["relation"])


def without_unknown(known: Row) -> Row:
    """What is known of a row; its text is there even if it is NULL."""
    return {key: known[key] for key in QUARANTINED if key == "row" or known.get(key) not in (None, "")}


def local(file: str) -> str:
    """A file of this machine by its path, any other by its URI; both as people write them.

    >>> local("file:///a%20b/c.jsonl"), local("hdfs://h/x%23"), local("/a%20b")
    ('/a b/c.jsonl', 'hdfs://h/x#', '/a%20b')
    """
    uri = urlparse(file)
    if not uri.scheme:
        return file
    return unquote(uri.path) if uri.scheme == "file" else unquote(file)


def with_lines(bad: list[Row], options: argparse.Namespace, near: list[dict[str, int]] | None = None) -> list[Row]:
    """The rows with the numbers of their lines, of files that can be opened here.

    Rows without a file are of ``near``, each stream's files in the order of `STREAMS`.
    """
    lines = {source.name: source for source in (*STREAMS, *RELATIONS) if of_files(source, options)}
    files = {source.name: [*mine] for source, mine in zip(STREAMS, near or (), strict=False)}
    groups = defaultdict[tuple[str, tuple[str, ...], str], list[int]](list)
    for number, row in enumerate(bad):
        name = name_of(row)
        if name in lines and isinstance(row["row"], str):
            groups[name, tuple([row["file"]] if "file" in row else files.get(name, ())), row["row"]].append(number)
    texts = defaultdict[str, set[str]](set)
    for _, mine, text in groups:
        for file in mine:
            texts[file].add(text)
    numbers = {file: numbers_of(file, wanted) for file, wanted in texts.items()}
    found = [*bad]
    for (_, mine, text), rows in groups.items():
        there = [(file, line) for file in mine for line in numbers[file].get(text, ())]
        for number, (file, line) in zip(rows, there[-len(rows) :], strict=False):  # of equal rows the last are too many
            found[number] = without_unknown({**bad[number], "file": file, "line": line})
    return found


def numbers_of(file: str, texts: set[str]) -> dict[str, list[int]]:
    """Text -> the numbers of the lines of a file that are this text, from 1; nothing where it cannot be opened here."""
    found: dict[str, list[int]] = {}
    wanted = {comparable(text): text for text in texts}
    try:
        for number, line in enumerate(opened(file), 1):
            text = line if line in texts else wanted.get(comparable(line))
            if text is not None:
                found.setdefault(text, []).append(number)
    except (OSError, EOFError):
        return {}
    return found


def opened(file: str) -> Iterator[str]:
    """The lines of a file as Spark splits them; none of one that is compressed otherwise than by gzip."""
    suffix = Path(file).suffix
    if suffix != ".gz" and suffix not in PLAIN:
        return
    opener: Any = gzip.open if suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8-sig", errors="replace") as lines:
        for line in lines:
            yield line.removesuffix("\n")


def comparable(text: str) -> str:
    """A line as Java and Python both decode it: they differ in how many signs stand for broken bytes."""
    return re.sub("\ufffd+", "\ufffd", text)


def in_batch(bad: Iterable[Row], batch: int) -> list[Row]:
    """The rows with the number of the micro-batch that brought them."""
    return [without_unknown({**row, "batch": batch}) for row in bad]


def where_read(row: Row) -> str:
    """Where a row was read, as far as that is known.

    >>> where_read({"file": "a.jsonl", "line": 3}), where_read({"partition": 0, "offset": 7}), where_read({})
    (' in a.jsonl, line 3', ' at partition 0, offset 7', '')
    """
    if "file" in row:
        return f" in {row['file']}" + (f", line {row['line']}" if "line" in row else "")
    known = [f"{key} {row[key]}" for key in ("partition", "offset") if key in row]
    return f" at {', '.join(known)}" if known else ""
