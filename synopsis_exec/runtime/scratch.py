"""Temporary directories: what a process that was killed has left, the next one that makes one removes.

A directory belongs to whoever holds the lock on a file in it. The system gives up the lock when a process ends, however
it ends; so no number of a process is looked at, which another process may have by then.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

PREFIX = "streambound-"
LOCK = ".lock"
_UNLOCKED = ".unlocked"
JAVA_OPTIONS = "spark.driver.defaultJavaOptions"
"""Spark's setting for `java_options`: it replaces no option that somebody gives."""


class Scratch:
    """A temporary directory of this process; ``lock`` is None where its disk has no locks: then nobody clears it."""

    def __init__(self, folder: Path, lock: int | None) -> None:
        self.folder, self.lock = folder, lock

    @property
    def shared(self) -> tuple[int, ...]:
        """The lock, for a process that uses the directory, too, and may outlive this one."""
        return () if self.lock is None else (self.lock,)

    def remove(self) -> None:
        """Remove the directory and what is in it."""
        _remove(self.folder)
        self._give_up()

    def keep(self) -> None:
        """Leave the directory to the user: it is not cleared later."""
        with suppress(OSError):
            (self.folder / LOCK).unlink()
        self._give_up()

    def _give_up(self) -> None:
        if self.lock is not None:
            os.close(self.lock)
        self.lock = None


def new_scratch(kind: str = "") -> Scratch:
    """A new temporary directory, after those that dead processes of this user have left are removed.

    Raises OSError where there is no place for one.
    """
    clear_left(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}"))
    return Scratch(folder, _locked(folder))


@contextmanager
def scratch_folder(kind: str = "") -> Iterator[Path]:
    """A temporary directory as long as it is needed."""
    scratch = new_scratch(kind)
    try:
        yield scratch.folder
    finally:
        scratch.remove()


@cache
def process_folder() -> Path:
    """The temporary directory that this process has until it ends."""
    scratch = new_scratch()
    atexit.register(scratch.remove)
    return scratch.folder


def java_options() -> str:
    """Options with which Spark's Java has its temporary files there, too, if this process starts it."""
    return f'"-Djava.io.tmpdir={process_folder()}"'


@contextmanager
def temporary_files_there() -> Iterator[None]:
    """While what others make in Python goes to the directory of this process."""
    before, tempfile.tempdir = tempfile.tempdir, str(process_folder())
    try:
        yield
    finally:
        tempfile.tempdir = before


def clear_left(where: Path) -> None:
    """Remove the temporary directories of dead processes of this user; what cannot be is left."""
    for folder in where.glob(f"{PREFIX}*"):
        with suppress(OSError):
            about = folder.lstat()
            if stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid():
                _clear(folder)


def _clear(folder: Path) -> None:
    """Remove a directory; raises OSError where it has no lock, or a process holds it."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(folder)
    finally:
        os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a directory, its lock last: who is killed meanwhile leaves what can be cleared."""
    with suppress(OSError):
        for entry in [*folder.iterdir()]:
            if entry.name == LOCK:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> int | None:
    """Lock a new directory: the file has its name when it is locked, so that nobody takes it for a dead one's."""
    lock = os.open(folder / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (folder / _UNLOCKED).rename(folder / LOCK)
    except OSError:
        os.close(lock)
        with suppress(OSError):
            (folder / _UNLOCKED).unlink()
        return None
    return lock
