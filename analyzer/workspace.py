"""Which files a command means and which catalog each is checked against."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from streambound.analyzer.catalog import Catalog, find_catalog, load_catalog
from streambound.analyzer.errors import CatalogError, InputError, UsageError
from streambound.analyzer.other_files import among
from streambound.analyzer.query_files import STDIN, fitting, linked, searched
from streambound.analyzer.registration import excludes, registers, require_inside
from streambound.analyzer.spans import SourceText


class Sources(Protocol):
    """Where query files and their catalogs come from: the files as they are, or another state of them."""

    def read(self, file: Path) -> SourceText:
        """The text of a query file; raises InputError where it cannot be read."""

    def catalog(self, file: Path | None = None) -> Catalog:
        """The catalog that a query file is checked against; raises CatalogError when there is none."""

    def texts(self, catalog: Catalog) -> Iterator[SourceText]:
        """The texts that may read each other's views, beside this catalog's streams and relations."""


class Workspace:
    """The catalogs of one invocation: the named one, else the nearest to each file, else to the working directory.

    ``stdin_name`` is the file that standard input stands for: its name in reports, and whose catalog is meant.
    Raises CatalogError when the named catalog, or the one found, cannot be used.
    """

    def __init__(self, named: Path | None = None, stdin_name: Path | None = None) -> None:
        self._stdin_name = stdin_name
        self._named = named is not None
        self._loaded: dict[Path, Catalog] = {}
        self._default: Catalog | None = None
        self._missing: CatalogError | None = None
        self.checked: tuple[Path, ...] = ()
        """Files that are checked beside those that catalogs register: they may read each other's views, too."""
        self._held: tuple[SourceText, ...] | None = None
        if named is not None:
            self._default = self._load(named)
            return
        try:
            self._default = self._load(relative(find_catalog(Path.cwd())))
        except CatalogError as error:
            if error.file:
                raise
            self._missing = error

    def hold(self, texts: tuple[SourceText, ...]) -> None:
        """Let views be those of these texts, not of files, until others are held."""
        if texts != self._held:
            self._held = texts
            again = {one.file: among(one, self.texts) for one in (self._default, *self._loaded.values()) if one}
            self._default = None if self._default is None else again[self._default.file]
            self._loaded = {directory: again[one.file] for directory, one in self._loaded.items()}

    def _load(self, path: Path) -> Catalog:
        return among(load_catalog(path), self.texts)

    def texts(self, catalog: Catalog) -> Iterator[SourceText]:
        """The texts that may read each other's views; what is wrong with a file is said where it is checked."""
        if self._held is not None:
            yield from self._held
            return
        files = [*self._files(catalog), *(file for file in self.checked if file.suffix == ".sql")]
        for file in dict.fromkeys(map(_normal, files)):
            with suppress(InputError):
                yield self.read(file)

    def _files(self, catalog: Catalog) -> Iterator[Path]:
        """The files that a catalog registers, below it."""
        directory = Path(catalog.file).parent
        for pattern in catalog.queries:
            with suppress(InputError, UsageError):
                require_inside(catalog, searched(directory, pattern), pattern)
                yield from (file for file in fitting(directory, pattern) if not excludes(catalog, file))

    def read(self, file: Path) -> SourceText:
        """The text of a query file, or of standard input for -, under the name that it was given."""
        found = read_query(file)
        renamed = str(file) == STDIN and self._stdin_name is not None
        return SourceText(str(self._stdin_name), found.text) if renamed else found

    def catalog(self, file: Path | None = None) -> Catalog:
        """The catalog that a query file is checked against; raises CatalogError when there is none."""
        if not self._named and file is not None and str(file) != STDIN:
            nearest = self._nearest(_normal(Path.cwd() / file).parent)
            if nearest is not None:
                return nearest
        if self._default is None:
            raise self._missing or CatalogError("no catalog")
        return self._default

    def _nearest(self, directory: Path) -> Catalog | None:
        """The catalog nearest to a directory; None where there is none. Raises CatalogError for one that is wrong."""
        if directory not in self._loaded:
            try:
                path = relative(find_catalog(directory))
            except CatalogError:
                return None
            known = [one for one in (self._default, *self._loaded.values()) if one is not None]
            found = next((one for one in known if one.file == str(path)), None)
            self._loaded[directory] = self._load(path) if found is None else found
        return self._loaded[directory]

    @property
    def catalogs(self) -> list[Path]:
        """The catalogs that have been read."""
        return [Path(file) for file in sorted({one.file for one in self._loaded.values()})]

    @property
    def default(self) -> Catalog | None:
        """The catalog that was named, or found from the working directory upwards; None where there is none."""
        return self._default

    def unseen(self, paths: tuple[Path, ...]) -> list[Path]:
        """Links to directories with SQL files that a search does not follow: below the paths, or by the catalog."""
        if paths or self._default is None:
            return [found for path in paths if str(path) != STDIN for found in linked(path, "**")]
        parent = Path(self._default.file).parent
        return list(dict.fromkeys(found for pattern in self._default.queries for found in linked(parent, pattern)))

    def registered(self, allow_empty: bool = False, allow_outside: bool = False) -> list[Path]:
        """The files that the catalog's ``queries`` globs name.

        Raises UsageError for none, and for one outside of the catalog's directory, unless that is allowed.
        """
        catalog = self.catalog()
        if not catalog.queries and not allow_empty:
            remedy = 'name files or directories, or add queries = ["queries/*.sql"] to the catalog'
            raise UsageError(f"nothing to check: {catalog.file} registers no queries", remedy=remedy)
        files: dict[Path, None] = {}
        for pattern in catalog.queries:
            directory, what = Path(catalog.file).parent, f"queries = [{pattern!r}]"
            if not allow_outside and not Path(pattern).is_absolute():  # which is no pattern
                require_inside(catalog, searched(directory, pattern), what)
            matches = fitting(directory, pattern)
            for file in () if allow_outside else matches:
                require_inside(catalog, file, f"{what}: {file}")
            if not matches and not allow_empty:
                raise UsageError(f"queries = [{pattern!r}] in {catalog.file} matches no file")
            files.update(dict.fromkeys(file for file in matches if not excludes(catalog, file)))
        if not files and not allow_empty:
            raise UsageError(f"nothing to check: [check] exclude in {catalog.file} leaves out all that queries name")
        return list(files)

    def is_registered(self, file: Path) -> bool:
        """Whether a catalog registers a file: its own, or the working directory's; standard input always is.

        Raises CatalogError where there is no catalog.
        """
        catalogs = (self._default or self.catalog(file), self.catalog(file))
        return str(file) == STDIN or any(registers(catalog, file) for catalog in catalogs)


def read_query(path: Path) -> SourceText:
    """The text of a query file, or of standard input for -; raises InputError when it is not UTF-8 text."""
    if str(path) != STDIN:
        return read_sql(path)
    if sys.stdin is None:
        raise InputError("there is no standard input")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("standard input is not UTF-8 text") from error
    if "\0" in text:
        raise InputError("standard input is binary")
    return SourceText("<stdin>", text)


def _normal(file: Path) -> Path:
    return Path(os.path.normpath(file))


def relative(path: Path) -> Path:
    """A path as a user in the working directory would write it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def read_sql(path: Path) -> SourceText:
    """A SQL file's text; raises InputError when it cannot be read or is not UTF-8 text."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(path)) from error
    return sql_text(str(path), content)


def sql_text(file: str, content: bytes) -> SourceText:
    """The text of a SQL file's content; raises InputError when it is not UTF-8 text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8 text", file=file, remedy="is it a SQL file?") from error
    if "\0" in text:
        raise InputError("the file is binary", file=file, remedy="is it a SQL file?")
    return SourceText(file, text)
