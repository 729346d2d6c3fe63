"""Spark's part of a checkpoint on this machine: the files it has seen, and the batches it has planned and committed.

Spark writes `metadata` when a query starts. For each batch it writes the new files of every source (`sources/I/K`, or
`K.compact` with those of all before), then how far it reads (`offsets/N`), and after the batch `commits/N`. It waits
for no disk: a full one, or a power cut, can leave any of these files empty, cut short or missing, and then Spark does
not start again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4
from zlib import crc32

from streambound_runtime.checkpoint.store import write_atomically

_HEADER = 8
"""Bytes of a file of checksums before the first one; each checksum is of the number of bytes that its last four say."""


class DamagedFileError(Exception):
    """Spark has lost what no one can tell again; ``name`` is the file, as `offsets/0`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class SparkLog:
    """Spark's files below a directory; their names are relative to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mend(self, newest: int) -> list[str]:
        """Make Spark start again; returns the files that were not whole and are removed, or made anew.

        ``newest`` is the last batch after which a state was saved, -1 for none. A batch whose commit is not whole is
        given again, with the same rows. A batch whose plan is not whole has not begun (`sync`), so it is planned again.
        Raises DamagedFileError for what is lost otherwise.
        """
        last = max(self._numbers("commits"), default=-1)
        removed = [f"commits/{last}"] if last >= 0 and not self.whole(f"commits/{last}") else []
        last -= len(removed)
        plan, before = f"offsets/{last + 1}", f"offsets/{last}"
        if last >= 0 and not self.whole(before):
            raise DamagedFileError(before)
        torn = [plan] if last + 1 in self._numbers("offsets") and not self.whole(plan) else []
        ends_before, ends = self._ends(before), {} if torn else self._ends(plan)
        planned = last >= 0 or self.whole(plan)
        for source in self._sources():
            if source in ends_before | ends or not planned:  # others, such as Kafka, keep there what they like
                torn += self._torn(source, ends_before.get(source, -1), ends.get(source, -1))
        if torn and newest > last:
            raise DamagedFileError(torn[0])
        for name in (*removed, *torn, *([plan] if torn else ())):
            self._remove(name)
        if not self.whole("metadata") and (self._file("metadata").exists() or self._numbers("offsets")):
            removed.append("metadata")  # it holds a random name for the query, which nothing else refers to
            self._remove("metadata")
            write_atomically(self._file("metadata"), json.dumps({"id": str(uuid4())}).encode())
        return [*removed, *torn]

    def sync(self, batch: int) -> None:
        """Wait until a batch's plan is on the disk: called before the batch begins."""
        ends_before, ends = self._ends(f"offsets/{batch - 1}"), self._ends(f"offsets/{batch}")
        names = [f"offsets/{batch}"]
        for source, end in ends.items():
            there = self._entries(source)
            names += [there[k] for k in range(ends_before.get(source, -1) + 1, end + 1) if k in there]
        for name in names:
            for file in filter(Path.is_file, (self._file(name), _checksums_of(self._file(name)))):
                with file.open("rb") as opened:
                    os.fsync(opened.fileno())

    def first_damaged(self) -> str | None:
        """The first file of committed batches that is not whole, which `mend` cannot do again; None where all are."""
        last = max((number for number in self._numbers("commits") if self.whole(f"commits/{number}")), default=-1)
        kinds = ("offsets", "commits")
        names = [f"{kind}/{n}" for kind in kinds for n in sorted(self._numbers(kind)) if n <= last]
        for source, end in self._ends(f"offsets/{last}").items():
            names += [name for number, name in sorted(self._entries(source).items()) if number <= end]
        return next((name for name in names if not self.whole(name)), None)

    def whole(self, name: str) -> bool:
        """Whether a file is as Spark writes it: a version, then JSON line by line, and the checksums beside it fit."""
        file = self._file(name)
        try:
            data = file.read_bytes()
            text = data.decode().lstrip("\0")  # Kafka's first offsets begin with this
            for line in text.split("\n"):
                if line not in ("", "-") and not re.fullmatch(r"v\d+", line):
                    json.loads(line)
        except (OSError, ValueError):
            return False
        checksums = _checksums_of(file)
        return bool(text) and (not checksums.is_file() or _fits(data, checksums.read_bytes()))

    def _torn(self, source: str, done: int, end: int) -> list[str]:
        """The entries of a source after ``done``, from the first on that is not whole, or, up to ``end``, not there.

        Raises DamagedFileError where an entry up to ``done`` is missing, and no compact one has its files.
        """
        there = self._entries(source)
        last = max((end, *there))
        first = next((k for k in range(done + 1, last + 1) if k not in there or not self.whole(there[k])), last + 1)
        kept = {k: name for k, name in there.items() if k < first}
        compact = max((k for k, name in kept.items() if name.endswith(".compact")), default=0)
        for k in range(compact, done + 1):
            if k not in kept:
                raise DamagedFileError(there.get(first, f"{source}/{k}"))
        return [there.get(k, f"{source}/{k}") for k in range(first, last + 1)]

    def _sources(self) -> list[str]:
        """The directories of the sources."""
        folder = self.folder / "sources"
        return sorted(f"sources/{entry.name}" for entry in folder.iterdir()) if folder.is_dir() else []

    def _entries(self, source: str) -> dict[int, str]:
        """The entries of a source: each number's file, the compact one where both are there."""
        names = sorted(entry.name for entry in self._file(source).iterdir()) if self._file(source).is_dir() else []
        return {int(name.removesuffix(".compact")): f"{source}/{name}" for name in names if name[0].isdecimal()}

    def _numbers(self, kind: str) -> list[int]:
        folder = self._file(kind)
        return [int(entry.name) for entry in folder.iterdir() if entry.name.isdecimal()] if folder.is_dir() else []

    def _ends(self, name: str) -> dict[str, int]:
        """Up to which entry a batch's plan reads each source of files."""
        try:
            _, _, *lines = self._file(name).read_text(encoding="utf-8").split("\n")
            offsets = enumerate(json.loads(line) if line not in ("", "-") else {} for line in lines)
            return {f"sources/{n}": int(it["logOffset"]) for n, it in offsets if "logOffset" in it}
        except (OSError, ValueError, TypeError):
            return {}

    def _file(self, name: str) -> Path:
        return self.folder / name

    def _remove(self, name: str) -> None:
        """Remove a file and the checksum beside it, which Spark would compare with a new one."""
        for file in (_checksums_of(self._file(name)), self._file(name)):
            file.unlink(missing_ok=True)


def _checksums_of(file: Path) -> Path:
    return file.with_name(f".{file.name}.crc")


def _fits(data: bytes, checksums: bytes) -> bool:
    """Whether data has these checksums; a file of checksums that was cut short says nothing."""
    size = int.from_bytes(checksums[4:_HEADER], "big")
    return not size or all(mine == theirs for mine, theirs in _pairs(data, checksums, size))


def _pairs(data: bytes, checksums: bytes, size: int) -> Iterator[tuple[bytes, bytes]]:
    for number, start in enumerate(range(0, len(data), size)):
        theirs = checksums[_HEADER + 4 * number : _HEADER + 4 * number + 4]
        yield crc32(data[start : start + size]).to_bytes(4, "big"), theirs
