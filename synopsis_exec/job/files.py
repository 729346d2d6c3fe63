"""Part of every job: a directory of small files, on this machine or on any file system that Spark reaches."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from streambound.synopsis_exec.job.output import written_atomically
from streambound.synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_uri(path: str) -> bool:
    """Whether a path names its file system, as in hdfs://…, s3a://… and file:/…."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path) is not None


class LocalFiles:
    """A directory on this machine."""

    def __init__(self, path: str) -> None:
        self.path = str(Path(path).absolute())

    def where(self, name: str) -> str:
        """A file or directory below it, as Spark takes it."""
        return str(Path(self.path) / name)

    def names(self, folder: str) -> list[str]:
        """What a directory below it holds; nothing when it is not there."""
        found = Path(self.where(folder))
        return sorted(entry.name for entry in found.iterdir()) if found.is_dir() else []

    def read(self, name: str) -> str | None:
        """A file's text; None when there is none. Raises ValueError when it is no text."""
        file = Path(self.where(name))
        return file.read_text(encoding="utf-8") if file.is_file() else None

    def copy(self, name: str, target: TextIO) -> None:
        """Append a file to another; of a directory that Spark has written, all its files in order."""
        found = Path(self.where(name))
        for each in parts_of(found) if found.is_dir() else [found]:
            with each.open(encoding="utf-8") as file:
                shutil.copyfileobj(file, target)

    @contextmanager
    def written(self, name: str) -> Iterator[TextIO]:
        """A file to write; raises JobError when that fails."""
        if Path(self.where(name)).is_dir():
            self.remove(name)
        with written_atomically(Path(self.where(name))) as file:
            yield file

    def remove(self, name: str) -> None:
        """Remove a file or directory, if it is there."""
        found = Path(self.where(name))
        if found.is_dir():
            shutil.rmtree(found)
        else:
            found.unlink(missing_ok=True)


class SharedFiles:
    """A directory on a file system of Hadoop's: HDFS, an object store, a mounted disk.

    Nothing here needs a rename, which object stores do not have: a file that a crash left half written belongs to a
    batch that Spark has not committed, or that `begun.json` names, and is written again.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.path = path.rstrip("/")
        self.hadoop: Any = spark._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
        self.system: Any = self.hadoop.Path(self.path).getFileSystem(spark._jsc.hadoopConfiguration())

    def where(self, name: str) -> str:
        """A file or directory below it, as Spark takes it."""
        return f"{self.path}/{name}"

    def names(self, folder: str) -> list[str]:
        """What a directory below it holds; nothing when it is not there."""
        found = self.hadoop.Path(self.where(folder) if folder else self.path)
        if not self.system.exists(found):
            return []
        return sorted(status.getPath().getName() for status in self.system.listStatus(found))

    def read(self, name: str) -> str | None:
        """A file's text; None when there is none. Raises ValueError when it is no text."""
        file = self.hadoop.Path(self.where(name))
        if not self.system.exists(file):
            return None
        stream = self.system.open(file)
        try:
            return bytes(stream.readAllBytes()).decode("utf-8")
        finally:
            stream.close()

    def copy(self, name: str, target: TextIO) -> None:
        """Append a file to another; of a directory that Spark has written, all its files in order."""
        with tempfile.TemporaryDirectory(prefix="streambound-") as folder:
            here = Path(folder) / "file"
            self.system.copyToLocalFile(self.hadoop.Path(self.where(name)), self.hadoop.Path(f"file:{here}"))
            for each in parts_of(here) if here.is_dir() else [here]:
                with each.open(encoding="utf-8") as file:
                    shutil.copyfileobj(file, target)

    @contextmanager
    def written(self, name: str) -> Iterator[TextIO]:
        """A file to write: here first, then copied; raises JobError when that fails."""
        with tempfile.TemporaryDirectory(prefix="streambound-") as folder:
            here = Path(folder) / "file"
            with here.open("w", encoding="utf-8") as file:
                yield file
            try:
                source, there = self.hadoop.Path(f"file:{here}"), self.hadoop.Path(self.where(name))
                if self.system.exists(there) and self.system.getFileStatus(there).isDirectory():
                    self.remove(name)
                self.system.copyFromLocalFile(False, True, source, there)
            except Exception as error:
                raise JobError("output", f"cannot write {self.where(name)}: {error}", 3) from error

    def remove(self, name: str) -> None:
        """Remove a file or directory, if it is there."""
        self.system.delete(self.hadoop.Path(self.where(name)), True)


Files = LocalFiles | SharedFiles


def parts_of(folder: Path) -> list[Path]:
    """The files that Spark has written into a directory, in order."""
    return sorted(folder.glob("part-*"))


def copy_parts(files: Files, folder: str, last: int, target: TextIO) -> None:
    """Append the files of all batches up to the last one, in order; raises JobError when some are gone."""
    there = {name.partition(".")[0]: name for name in files.names(folder)}
    for batch in range(last + 1):
        name = there.get(f"{batch:09d}")
        if name is None:
            message = (
                f"{files.where(folder)} has no batch {batch} any more: a run without this option left it to the sink"
            )
            raise JobError("usage", message, 2)
        files.copy(f"{folder}/{name}", target)
