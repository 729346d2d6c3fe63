"""A job's own directory: on a file system that this machine opens, or written and read as data sets by Spark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, TextIO
from uuid import uuid4

from streambound_runtime.endpoints import local_path
from streambound_runtime.errors import JobError, unwritable, usage
from streambound_runtime.failures import in_one_line
from streambound_runtime.scratch import scratch_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LINES_AT_ONCE = 1 << 26
"""Characters of a file of lines that Spark writes at a time."""


def _unguarded() -> None:
    """Nothing hinders a write."""


class Store(Protocol):
    """Files below a directory, by name; one that is written is there completely or not at all.

    ``guard`` is called before each file takes its place; it raises JobError where this run may not write any more.
    """

    path: str
    guard: Callable[[], None]

    def where(self, name: str) -> str:
        """A file or directory, as Spark takes it."""
        ...

    def names(self, folder: str = "") -> list[str]:
        """The names in a directory; empty if it does not exist."""
        ...

    def read(self, name: str) -> bytes | None:
        """A file; None where there is none."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file, in place of one that is there."""
        ...

    def swap(self, name: str, before: bytes | None, data: bytes) -> bool:
        """Write a file without a guard, unless it no longer holds what it did ``before``; whether it was written."""
        ...

    def lines(self, name: str) -> AbstractContextManager[TextIO]:
        """A file of lines to write, in place of one that is there; Spark reads it as text."""
        ...

    def copy_lines(self, name: str, target: TextIO) -> bool:
        """Append a file of lines to ``target``; returns whether the file exists."""
        ...


def store_of(spark: SparkSession | None, path: str) -> Store:
    """The directory or URI that a job was given; raises JobError for a URI without Spark."""
    if local_path(path) is not None:
        return LocalStore(path)
    if spark is None:
        raise usage(f"the checkpoint {path} is on a file system that only Spark reaches: --engine spark")
    return SparkStore(spark, path)


def missing_batch(store: Store, folder: str, batch: int) -> JobError:
    """The error for a batch's file that another one has taken the place of."""
    what = f"{store.where(folder)} has no batch {batch} any more"
    return usage(f"{what}: a run without this option left it to the sink")


class LocalStore:
    """A directory that this machine opens."""

    def __init__(self, path: str) -> None:
        self.folder = local_path(path) or Path(path)
        self.path = path.rstrip("/") if path.startswith("file:") else str(self.folder)
        self.guard = _unguarded

    def where(self, name: str) -> str:
        """A file or directory, as Spark takes it."""
        return f"{self.path}/{name}"

    def names(self, folder: str = "") -> list[str]:
        """The names in a directory; empty if it does not exist."""
        found = self.folder / folder
        return sorted(entry.name for entry in found.iterdir()) if found.is_dir() else []

    def read(self, name: str) -> bytes | None:
        """A file; None where there is none."""
        file = self.folder / name
        return file.read_bytes() if file.is_file() else None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, in place of one that is there."""
        write_atomically(self.folder / name, data, self.guard)

    def swap(self, name: str, before: bytes | None, data: bytes) -> bool:
        """Write a file without a guard, unless it no longer holds what it did ``before``; whether it was written.

        Of several processes of this machine one at most does so.
        """
        import fcntl

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / f".{name}.lock").open("ab")
        except OSError as error:
            raise unwritable(f"cannot write {self.folder}: {error.strerror or error}") from error
        with file:
            with suppress(OSError):  # a file system without locks: the last one to write is who `guard` lets go on
                fcntl.flock(file, fcntl.LOCK_EX)
            if self.read(name) != before:
                return False
            write_atomically(self.folder / name, data)
            return True

    def clear(self) -> None:
        """Remove what a run has left that was killed while it, or Spark, wrote files."""
        for places in (".", "*", "buckets/*", "spark/*", "spark/sources/*"):
            for file in self.folder.glob(f"{places}/.*.tmp"):
                file.unlink(missing_ok=True)

    @contextmanager
    def lines(self, name: str) -> Iterator[TextIO]:
        """A file of lines to write, in place of one that is there; Spark reads it as text."""
        with written_atomically(self.folder / name, self.guard) as file:
            yield file

    def copy_lines(self, name: str, target: TextIO) -> bool:
        """Append a file of lines to ``target``; returns whether the file exists."""
        file = self.folder / name
        if not file.is_file():
            return False
        with file.open(encoding="utf-8") as opened:
            shutil.copyfileobj(opened, target)
        return True


class SparkStore:
    """A directory of a file system that only Spark reaches: each file is a data set of its own.

    A data set that a crash left half written is replaced: it is of a batch that Spark has not committed.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark, self.path = spark, path.rstrip("/")
        self.guard = _unguarded

    def where(self, name: str) -> str:
        """A file or directory, as Spark takes it."""
        return f"{self.path}/{name}"

    def names(self, folder: str = "") -> list[str]:
        """The names in a directory; empty if it does not exist."""
        top = self.where(folder).rstrip("/")
        try:
            every = self.spark.read.format("binaryFile").option("recursiveFileLookup", True).load(top)
            paths = every.select("path").toArrow().column("path").to_pylist()
        except Exception as error:
            if _is_missing(error):
                return []
            raise
        return sorted({path.partition(f"{_after_scheme(top)}/")[2].split("/")[0] for path in paths})

    def read(self, name: str) -> bytes | None:
        """A file; None where there is none."""
        try:
            rows = self.spark.read.schema("data BINARY").parquet(self.where(name)).toArrow().column("data")
        except Exception as error:
            if _is_missing(error):
                return None
            raise
        return rows[0].as_py() if len(rows) == 1 else None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, in place of one that is there; raises JobError when that fails."""
        self.guard()
        self._write(name, data)

    def swap(self, name: str, before: bytes | None, data: bytes) -> bool:
        """Write a file without a guard, unless it no longer holds what it did ``before``; whether it holds it now.

        Two that do so at the same moment both succeed: `guard` lets the last one go on.
        """
        if self.read(name) != before:
            return False
        self._write(name, data)
        return self.read(name) == data

    def _write(self, name: str, data: bytes) -> None:
        with _failing(self.where(name)):
            row = self.spark.createDataFrame([(data,)], "data BINARY").coalesce(1)
            row.write.mode("overwrite").parquet(self.where(name))

    @contextmanager
    def lines(self, name: str) -> Iterator[TextIO]:
        """A file of lines to write, in place of one that is there; Spark reads it as text, some lines at a time."""
        import pyarrow as pa

        with scratch_folder() as folder:
            here = folder / "lines"
            with here.open("w", encoding="utf-8") as file:
                yield file
            self.guard()
            with _failing(self.where(name)), here.open(encoding="utf-8") as file:
                mode, number = "overwrite", 0
                while (part := file.readlines(_LINES_AT_ONCE)) or not number:
                    table = pa.table({"value": pa.array([line.rstrip("\n") for line in part], pa.string())})
                    rows = self.spark.createDataFrame(table).coalesce(1)
                    rows.write.mode(mode).text(self.where(name) if not number else f"{self.where(name)}/{number:06d}")
                    mode, number = "error", number + 1

    def copy_lines(self, name: str, target: TextIO) -> bool:
        """Append a file of lines to ``target``; returns whether the file exists."""
        there = self.names(name)
        if not there:
            return False
        parts = [self.where(name), *(f"{self.where(name)}/{part}" for part in there if part.isdecimal())]
        for part in parts:
            for line in self.spark.read.text(part).toArrow().column("value").to_pylist():
                target.write(line + "\n")
        return True


@contextmanager
def written_atomically(path: Path, guard: Callable[[], None] = _unguarded) -> Iterator[TextIO]:
    """A text to write that is there completely or not at all, also after a power cut; raises JobError."""
    with replaced(path, guard) as opened:
        file = TextIOWrapper(opened, "utf-8", newline="")
        yield file
        file.detach()


def write_atomically(path: Path, data: bytes, guard: Callable[[], None] = _unguarded) -> None:
    """Write a file that is there completely or not at all, also after a power cut; raises JobError."""
    with replaced(path, guard) as file:
        file.write(data)


@contextmanager
def replaced(path: Path, guard: Callable[[], None] = _unguarded) -> Iterator[BinaryIO]:
    """A file that takes a place once it is whole and on the disk. Raises JobError.

    Several may write it at the same time, each a temporary file of its own. What is no file (`/dev/stdout`, a pipe)
    is written as it is: nothing may take its place. Where there is a link, the file takes the place that it names.
    """
    final = path.resolve()
    temporary = final.with_name(f".{final.name}.{uuid4().hex}.tmp")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        guard()
        temporary.replace(final)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise unwritable(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _is_missing(error: Exception) -> bool:
    """Whether Spark says that there is no such path, or nothing in it."""
    text = str(error)
    return "PATH_NOT_FOUND" in text or "UNABLE_TO_INFER_SCHEMA" in text


@contextmanager
def _failing(where: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise unwritable(f"cannot write {where}: {in_one_line(error)}") from error


def _after_scheme(uri: str) -> str:
    """A URI without what Spark may write otherwise: its scheme and its host.

    >>> _after_scheme("hdfs://h:9000/a/b")
    '/a/b'
    """
    rest = uri.partition(":")[2]
    return rest if not rest.startswith("//") else "/" + rest[2:].partition("/")[2]
