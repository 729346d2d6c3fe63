"""The queries and catalogs of a commit, as sources of a check: what `check --against` compares with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.catalog import Catalog, parse_catalog
from streambound.analyzer.errors import CatalogError, InputError
from streambound.analyzer.other_files import among
from streambound.analyzer.registration import registers
from streambound.analyzer.spans import SourceText
from streambound.analyzer.workspace import Workspace, sql_text
from streambound.gate.repository import Repository


class Past(Struct, frozen=True):
    """The state of a commit: the query files that it had, named as the working directory would call them.

    ``older`` maps files as they are called now to their names then; ``broken`` has what is wrong with catalogs of the
    commit, whose queries then count as new. ``registered`` has the texts that each catalog registered, by its file.
    """

    older: Mapping[str, str]
    contents: Mapping[str, bytes]
    catalogs: Mapping[str, Catalog]
    broken: tuple[CatalogError, ...] = ()
    registered: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, ...]:
        """The query files of the commit."""
        return tuple(map(Path, self.contents))

    def read(self, file: Path) -> SourceText:
        """The text of a query file in the commit; raises InputError where it is not UTF-8 text."""
        return sql_text(str(file), self.contents[str(file)])

    def catalog(self, file: Path | None = None) -> Catalog:
        """The catalog of a query file in the commit."""
        return self.catalogs[str(file)]

    def texts(self, catalog: Catalog) -> Iterator[SourceText]:
        """The texts of the commit that may read each other's views."""
        for file, content in {**self.contents, **self.registered[catalog.file]}.items():
            with suppress(InputError):
                yield sql_text(file, content)


def past(
    repository: Repository, commit: str, workspace: Workspace, files: Sequence[Path], paths: Sequence[Path]
) -> Past:
    """A commit's versions of the files that are checked now, and the files that it would have checked but are gone.

    ``paths`` are the arguments: what is gone is looked for below directories among them, or else by the ``queries`` of
    the commit's catalog.
    """
    names = _Names(repository.root.resolve(), repository.renames(commit), repository.files(commit))
    older = {str(file): old for file in files if (old := names.old(file)) is not None}
    used = {file: workspace.catalog(Path(file)).file for file in older}
    default = workspace.default
    reader = _Catalogs(repository, commit, names)
    catalogs = reader.read({*used.values(), *([default.file] if default else [])})
    then = {names.shown(old): (old, catalogs[used[file]]) for file, old in older.items() if used[file] in catalogs}
    if default is not None and default.file in catalogs:
        for old in names.gone(older.values()):
            if _checked(names.shown(old), catalogs[default.file], paths):
                then[names.shown(old)] = (old, catalogs[default.file])
    others = {catalog.file: _registered(names, catalog) for catalog in catalogs.values()}
    wanted = dict.fromkeys((*(old for old, _ in then.values()), *(old for mine in others.values() for old in mine)))
    contents = repository.contents(commit, wanted, names.then)
    then = {shown: found for shown, found in then.items() if found[0] in contents}
    found = Past(
        {file: names.shown(old) for file, old in older.items() if names.shown(old) in then},
        {shown: contents[old] for shown, (old, _) in then.items()},
        {},
        tuple(reader.broken),
        {file: {names.shown(old): contents[old] for old in mine if old in contents} for file, mine in others.items()},
    )
    with_others = {catalog.file: among(catalog, found.texts) for catalog in catalogs.values()}
    return replace(found, catalogs={shown: with_others[catalog.file] for shown, (_, catalog) in then.items()})


def _registered(names: _Names, catalog: Catalog) -> list[str]:
    """The files of the commit that its catalog registered: a query may read their views."""
    return [old for old in names.then if catalog.queries and _checked(names.shown(old), catalog, ())]


def _checked(file: str, catalog: Catalog, paths: Sequence[Path]) -> bool:
    """Whether a file would be checked: it is below a directory among the arguments, or the catalog registers it."""
    if paths:
        return file.endswith(".sql") and any(_within(file, path) for path in paths)
    if not _within(file, Path(catalog.file).parent):
        return False
    return bool(catalog.queries) and registers(catalog, Path(file))


def _within(file: str, directory: Path) -> bool:
    return not os.path.relpath(file, directory).startswith("..")


class _Catalogs(Struct):
    """Reads catalogs of a commit, by the names of those now."""

    repository: Repository
    commit: str
    names: _Names
    broken: list[CatalogError] = field(default_factory=list)

    def read(self, files: Iterable[str]) -> dict[str, Catalog]:
        """The catalogs that were there and can be used; what is wrong with others goes to ``broken``."""
        old = {file: name for file in files if (name := self.names.old(Path(file))) is not None}
        contents = self.repository.contents(self.commit, old.values(), self.names.then)
        there = {file: name for file, name in old.items() if name in contents}
        return {file: catalog for file, name in there.items() for catalog in self._parsed(name, contents[name])}

    def _parsed(self, name: str, content: bytes) -> Iterator[Catalog]:
        try:
            yield parse_catalog(content.decode("utf-8-sig", errors="replace"), self.names.shown(name))
        except CatalogError as error:
            self.broken.append(error)


class _Names(Struct, frozen=True):
    """The names of files: in the working directory, relative to the repository, and in the commit."""

    root: Path
    renames: Mapping[str, str]
    then: Mapping[str, str]

    def old(self, file: Path) -> str | None:
        """The name of a file in the commit; None where it was not there, or is outside the repository."""
        here = file.absolute()
        name = Path(os.path.relpath(here.parent.resolve() / here.name, self.root)).as_posix()
        old = self.renames.get(name, name)
        return old if old in self.then else None

    def gone(self, known: Iterable[str]) -> Iterator[str]:
        """The files of the commit but for those known, and for those that only have another name now."""
        elsewhere = {*known, *self.renames.values()}
        return (name for name in sorted(self.then) if name not in elsewhere)

    def shown(self, name: str) -> str:
        """How the working directory calls a file of the commit."""
        return os.path.relpath(self.root / name)
