"""The cache of outcomes: one SQLite file in the user's cache directory.

Not in the work tree: whoever can change what a gate reads there could change its verdicts. A key is a digest of all
that an outcome depends on, this program's own files among them. A cache that cannot be read or written is no cache;
it is never an error.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from streambound.analyzer.version import __version__

KEPT_DAYS = 30
"""An entry that was not used for so long is removed."""
_DAY = 86_400
_AT_ONCE = 500
"""Keys per query: SQLite allows no more than 999 parameters where it is old."""
PACKAGES = ("analyzer", "preprocess", "temporal", "criteria", "recheck", "synopsis_exec/runtime", "reports", "gate")
"""Where the modules are that say what an outcome is."""


def cache_directory() -> Path | None:
    """Where the cache is: ``STREAMBOUND_CACHE_DIR``, else ``streambound`` in the user's cache directory.

    None for a user that has no home, as in some containers.
    """
    if named := os.environ.get("STREAMBOUND_CACHE_DIR"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "streambound"
    except RuntimeError:
        return None


def digest(*parts: object) -> str:
    """A key: the digest of some values, told apart whatever they hold."""
    return hashlib.sha256(json.dumps([program(), *parts], sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


@cache
def program() -> str:
    """The identity of this version of the program, also while it is being developed."""
    root = Path(__file__).parent.parent
    there = [folder for package in PACKAGES if (folder := root / package).is_dir()]  # an installed runtime is elsewhere
    stamps = [stamp for folder in there for stamp in _stamps(str(folder))]
    about = [__version__, sys.version, _parser_version(), *stamps]
    return hashlib.sha256("\n".join(about).encode("utf-8", "surrogatepass")).hexdigest()


def _stamps(folder: str) -> Iterator[str]:
    """Name, size and time of every module below a folder: of some hundreds, for which `Path` would take long."""
    for entry in sorted(os.scandir(folder), key=attrgetter("name")):
        if entry.name.endswith(".py"):
            stat = entry.stat()
            yield f"{entry.name}:{stat.st_size}:{stat.st_mtime_ns}"
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _stamps(entry.path)


def _parser_version() -> str:
    """The version of the SQL parser, without importing it or a reader of its metadata."""
    spec = importlib.util.find_spec("sqlglot")
    if spec is None or spec.origin is None:
        return ""
    stat = Path(spec.origin).with_name("_version.py").stat()
    return f"{stat.st_size}:{stat.st_mtime_ns}"


class Cache:
    """JSON texts by key. Without a directory, or where SQLite fails, it holds nothing."""

    def __init__(self, directory: Path | None) -> None:
        self._file = None if directory is None else directory / "outcomes.sqlite"
        self._new: dict[str, str] = {}
        self._used: list[str] = []

    def find(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """The values of those keys that are there."""
        wanted, found = list(dict.fromkeys(keys)), dict[str, Any]()
        if self._file is not None and self._file.is_file():
            self._with_database(lambda database: self._read(database, wanted, found))
        return found

    def _read(self, database: sqlite3.Connection, wanted: list[str], found: dict[str, Any]) -> None:
        stale = time.time() - _DAY
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            for key, value, used in database.execute(f"SELECT * FROM outcome WHERE key IN ({marks})", part):
                with suppress(ValueError):
                    found[key] = json.loads(value)
                    self._used += [key] if used < stale else []

    def add(self, key: str, value: Any) -> None:
        """Remember a value; `close` writes it."""
        if self._file is not None:
            self._new[key] = json.dumps(value, separators=(",", ":"))

    def close(self) -> None:
        """Write what is new, and remove what nobody has used for long."""
        if self._file is None or not (self._new or self._used):
            return
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
        self._with_database(self._write)
        self._new, self._used = {}, []

    def _write(self, database: sqlite3.Connection) -> None:
        now = int(time.time())
        with database:
            database.execute("CREATE TABLE IF NOT EXISTS outcome (key TEXT PRIMARY KEY, value TEXT, used INTEGER)")
            rows = [(key, value, now) for key, value in self._new.items()]
            database.executemany("INSERT OR REPLACE INTO outcome VALUES (?, ?, ?)", rows)
            database.executemany("UPDATE outcome SET used = ? WHERE key = ?", [(now, key) for key in self._used])
            database.execute("DELETE FROM outcome WHERE used < ?", (now - KEPT_DAYS * _DAY,))

    def _with_database(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do something with the database; what fails, fails silently, and a file that is no database is removed."""
        assert self._file is not None
        try:
            with closing(sqlite3.connect(self._file, timeout=5)) as database:
                work(database)
        except (sqlite3.OperationalError, OSError):
            return
        except sqlite3.DatabaseError:
            with suppress(OSError):
                self._file.unlink()
