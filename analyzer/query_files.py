"""Which query files are meant: by paths, and by the patterns of a catalog. What cannot be searched is an error."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePath

from streambound.analyzer.errors import InputError, UsageError

STDIN = "-"
_LOOKED_INTO = 1_000
"""Directories behind a link in which SQL files are looked for: there may be a whole disk."""


def query_files(paths: tuple[Path, ...], allow_empty: bool = False) -> list[Path]:
    """The files that some paths name, each once: files, every .sql below a directory, - for standard input.

    Raises UsageError for a directory without a .sql file unless that is allowed, and InputError for one that cannot be
    listed; whether a file can be read is for its reader to say.
    """
    found: dict[str, Path] = {}
    for path in paths:
        inside = _below(path) if path.is_dir() else [path]
        if not inside and not allow_empty:
            remedy = "nothing was checked, so nothing passed; --allow-empty lets it"
            raise UsageError(f"no .sql file in {path} or below it", remedy=remedy)
        for file in inside:
            found.setdefault(str(file) if str(file) == STDIN else os.path.normpath(Path.cwd() / file), file)
    return list(found.values())


def fitting(directory: Path, pattern: str) -> list[Path]:
    """The files below a directory that fit a pattern, in order.

    Raises InputError for a directory that cannot be listed, in which there may be others, and UsageError for a pattern
    that is none.
    """
    start, depth = _searched(directory, pattern)
    for _ in _listed(start, depth):
        pass
    try:
        return _no_pipes(sorted(directory.glob(pattern)))
    except (ValueError, IndexError, NotImplementedError) as error:
        remedy = "write it from where the catalog is, as in queries/**/*.sql"
        raise UsageError(f"queries = [{pattern!r}] is no pattern: {error}", remedy=remedy) from error


def linked(directory: Path, pattern: str) -> Iterator[Path]:
    """Links to directories that a recursive pattern does not follow, if there are SQL files behind them.

    Not those that lead to where the pattern looks anyway.
    """
    start, depth = _searched(directory, pattern)
    if depth is not None:
        return
    whole = start.resolve()
    for folder, folders, _ in os.walk(start):
        for link in (Path(folder, name) for name in sorted(folders)):
            if not link.is_symlink() or link.resolve().is_relative_to(whole):
                continue
            if any(_sql(names) for _, _, names in islice(os.walk(link), _LOOKED_INTO)):
                yield link


def _searched(directory: Path, pattern: str) -> tuple[Path, int | None]:
    """Where the search for a pattern starts, and how deep it goes; None for any depth."""
    parts = PurePath(pattern).parts
    fixed = next((i for i, part in enumerate(parts[:-1]) if any(sign in part for sign in "*?[")), len(parts[:-1]))
    return directory.joinpath(*parts[:fixed]), None if "**" in parts else len(parts) - 1 - fixed


def _listed(start: Path, depth: int | None) -> Iterator[tuple[str, list[str]]]:
    """The directories below one, each with its files; raises InputError for one that cannot be listed."""

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise InputError(f"cannot list the directory: {error.strerror}", file=str(error.filename)) from error

    for folder, folders, names in os.walk(start, onerror=unreadable):
        if depth is not None and len(Path(folder).parts) - len(start.parts) >= depth:
            folders.clear()
        yield folder, names


def _below(directory: Path) -> list[Path]:
    """Every .sql file below a directory, in order; raises InputError for a directory that cannot be listed."""
    return _no_pipes(sorted(Path(folder, name) for folder, names in _listed(directory, None) for name in _sql(names)))


def _sql(names: list[str]) -> list[str]:
    return [name for name in names if name.lower().endswith(".sql")]


def _no_pipes(files: list[Path]) -> list[Path]:
    """The files that were found; raises InputError for a pipe or a device, which nobody named: it might never end."""
    for file in files:
        with suppress(OSError):
            if not stat.S_ISREG(mode := file.stat().st_mode) and not stat.S_ISDIR(mode):
                raise InputError("neither a file nor a directory", file=str(file), remedy="move it elsewhere")
    return files
