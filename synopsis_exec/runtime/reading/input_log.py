"""The files that a run without Spark reads, batch by batch, and the log of which batch has read which.

A batch's files are written down, on the disk, before the batch runs: after a crash the same batch is made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streambound_runtime.checkpoint.store import Store
from streambound_runtime.endpoints import local_path, located, options_of
from streambound_runtime.errors import unreadable
from streambound_runtime.reading.files import Files, LocalFiles, Raw
from streambound_runtime.reading.inputs import ignored, input_files, is_hidden
from streambound_runtime.reading.lines import expansion
from streambound_runtime.reading.sources import CHOOSING, ListedFile, bytes_per_batch, in_order, is_pattern
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, Relation, Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FOLDER = "inputs"
Listed = dict[int, list[str]]
"""The files of each stream, by its number."""


class ListedFiles:
    """The rows of a batch's files (`reading.batch.Batch`)."""

    def __init__(self, listed: Listed, job: JobSpec, files: dict[str, Files]) -> None:
        self.listed, self.job, self.files = listed, job, files

    def paths(self, number: int) -> list[str]:
        """The files of a stream."""
        return self.listed.get(number, [])

    def rows(self, number: int) -> DataFrame:
        """Every stream is read file by file."""
        raise AssertionError(number)

    def raws(self, number: int) -> Iterator[Raw]:
        """The raw rows of a stream, some at a time; they may be read again."""
        yield from self.files[self.job.streams[number].name].raws(self.paths(number))


class InputLog:
    """The files of each batch in a checkpoint: `inputs/000000007` lists those of batch 7."""

    def __init__(self, store: Store, job: JobSpec, settings: Settings) -> None:
        self.store, self.job, self.settings = store, job, settings

    def batches(self, done: int | None) -> Iterator[tuple[int, Listed]]:
        """The batches after the one that is ``done``: those that were begun, then those of all files that are new."""
        logged = [self._read(name) for name in self.store.names(_FOLDER)]
        yield from list(enumerate(logged))[0 if done is None else done + 1 :]
        left = [self._new(number, logged) for number in range(len(self.job.streams))]
        batch = len(logged)
        while any(left):
            listed = {number: groups.pop(0) for number, groups in enumerate(left) if groups}
            self.store.write(f"{_FOLDER}/{batch:09d}", json.dumps(listed).encode())
            yield batch, listed
            batch += 1

    def _read(self, name: str) -> Listed:
        return {int(number): paths for number, paths in json.loads(self.store.read(f"{_FOLDER}/{name}") or b"").items()}

    def _new(self, number: int, logged: Sequence[Listed]) -> list[list[str]]:
        """The files of a stream that no batch has read, by batches."""
        stream = self.job.streams[number]
        known = {path for listed in logged for path in listed.get(number, ())}
        return _batches(
            [path for path in local_files(stream, self.settings) if path not in known], stream, self.settings
        )


def why_not_local(table: Stream | Relation, settings: Settings) -> str | None:
    """Why the files of a table cannot be read without Spark, in words; None where they can."""
    if settings.input:
        return None
    source = table.source
    if source is None:
        return None  # which is said as for any run
    local = LocalFiles(table, settings)
    path, kind = located(source.path, settings), source.format
    if not local.ours:
        options = ", ".join(local.options) if kind in ("json", "parquet") else ""
        return f"{table.name} is read from {kind}" + (f" with the options {options}" if options else "")
    chosen = [key for key in options_of(source, settings) if key.lower() in CHOOSING]
    if chosen:
        return f"the option {chosen[0]} of {table.name} chooses among files"
    folder = local_path(path)
    if folder is None or is_pattern(path):
        return f"{table.name} is read from {path}"
    if folder.is_dir() and any(entry.is_dir() and "=" in entry.name for entry in folder.iterdir()):
        return f"directories in {path} say values of columns of {table.name}"
    return None


def local_files(table: Stream | Relation, settings: Settings) -> list[str]:
    """The files that a table has now, by the time of their last change, then by name; hidden ones are no input."""
    if settings.input:
        return [f"file:{file.absolute()}" for file in input_files(table.name, Path(settings.input))]
    assert table.source is not None, "a run without a source is refused before"
    place = local_path(located(table.source.path, settings))
    assert place is not None, "other file systems need Spark"
    if place.is_file() and is_hidden(place):
        raise unreadable(f"{table.name} cannot be read: {ignored(place)}")
    entries = [place] if place.is_file() else place.iterdir()
    found = [file for file in entries if file.is_file() and not is_hidden(file)]
    return [f"file:{file}" for file in sorted(found, key=lambda file: (file.stat().st_mtime_ns, file.name))]


def _batches(paths: list[str], stream: Stream, settings: Settings) -> list[list[str]]:
    """Files by batches: as Spark makes them, in order of their last change if that is an order of theirs."""
    places = [file for file in map(local_path, paths) if file is not None]
    times = [ListedFile(path, file.stat().st_mtime_ns // 1_000_000) for path, file in zip(paths, places, strict=True)]
    if not in_order(stream, settings, times):
        return [paths]
    sizes = [file.stat().st_size * expansion(file) for file in places]
    most = settings.files_per_batch or len(paths)
    most_bytes = bytes_per_batch(stream, settings) if settings.files_per_batch is None else sum(sizes)
    found: list[list[str]] = []
    room = 0.0
    for path, size in zip(paths, sizes, strict=True):
        if not found or len(found[-1]) >= most or size > room:
            found.append([])
            room = most_bytes
        found[-1].append(path)
        room -= size
    return found
