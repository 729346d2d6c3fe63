"""What other files of a project create: the views that statements read by name, and the models of dbt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.catalog import Catalog, CatalogNames
from streambound.analyzer.spans import SourceText

if TYPE_CHECKING:
    from streambound.analyzer.file_views import Created, FileView

_CREATED = re.compile(r"\b(?:VIEW|TABLE)\s++(?:IF\s++NOT\s++EXISTS\s++)?+[`\"]?+(\w++)", re.I)
_WORD = re.compile(r"\w++")


class OtherFiles(Struct, eq=False, dict=True):
    """The texts of a project's files, which are ``listed`` when a statement first reads what its catalog has not.

    A name stands for the view that one file creates; `ref('m')` for the file ``m.sql``.
    """

    listed: Callable[[], Iterable[SourceText]]
    names: CatalogNames
    _read: dict[str, Created] = field(default_factory=dict)
    _reading: list[str] = field(default_factory=list)
    _direct: dict[str, tuple[SourceText, ...]] = field(default_factory=dict)

    @cached_property
    def _texts(self) -> dict[str, SourceText]:
        return {one.file: one for one in self.listed()}

    @cached_property
    def _named(self) -> dict[str, list[SourceText]]:
        """The files in which a name, in small letters, may be that of a view; the catalog's names are never."""
        found: dict[str, list[SourceText]] = {}
        for source in self._texts.values():
            for name in {*map(str.lower, _CREATED.findall(source.text))} - self.names.tables:
                found.setdefault(name, []).append(source)
        return found

    @cached_property
    def _models(self) -> dict[str, list[SourceText]]:
        """The files by their names as models, in small letters."""
        found: dict[str, list[SourceText]] = {}
        for source in self._texts.values():
            found.setdefault(Path(source.file).stem.lower(), []).append(source)
        return found

    def _sources(self, name: str, model: bool) -> list[SourceText]:
        """The files that may create something of that name, in small letters."""
        found = self._named.get(name, [])
        return [*found, *(one for one in self._models.get(name, []) if one not in found)] if model else found

    def view(self, name: str, reader: str, model: bool = False) -> FileView | str | None:
        """The view of a name that the file ``reader`` reads, or why it cannot; None if no other file creates it."""
        from streambound.analyzer.statements import created

        found: dict[str, FileView] = {}
        for source in self._sources(name.lower(), model):
            if source.file == reader:
                continue
            if source.file in self._reading:
                return f"{name} of {source.file} is read by what it reads itself"
            self._reading.append(reader)
            try:
                if source.file not in self._read:
                    self._read[source.file] = created(source, replace(self.names, elsewhere=self))
            finally:
                self._reading.pop()
            mine = self._read[source.file]
            one = mine.views.get(name.lower())
            if one is None and model and Path(source.file).stem == name:
                one = mine.whole
            if one is not None:
                found[source.file] = one
        if len(found) > 1:
            return f"{name} is created in {' and in '.join(found)}"
        return next(iter(found.values()), None)

    def is_model(self, name: str) -> bool:
        """Whether a file is called by the name of a model."""
        return any(Path(one.file).stem == name for one in self._models.get(name.lower(), ()))

    def read_by(self, source: SourceText) -> tuple[SourceText, ...]:
        """The other files that a text may read, and those that these may read, in order of their names."""
        found, left = dict[str, SourceText](), list(self._named_in(source))
        while left:
            one = left.pop()
            if one.file in found or one.file == source.file:
                continue
            found[one.file] = one
            if one.file not in self._direct:
                self._direct[one.file] = self._named_in(one)
            left += self._direct[one.file]
        return tuple(found[file] for file in sorted(found))

    def _named_in(self, source: SourceText) -> tuple[SourceText, ...]:
        """The files that may create something whose name is in a text."""
        model = "{{" in source.text
        known = self._named.keys() | self._models.keys() if model else self._named.keys()
        words = {word.lower() for word in _WORD.findall(source.text)} & known if known else ()
        return tuple(one for word in words for one in self._sources(word, model))


def among(catalog: Catalog, listed: Callable[[Catalog], Iterable[SourceText]]) -> Catalog:
    """A catalog whose statements read what these texts create."""
    return replace(catalog, elsewhere=OtherFiles(partial(listed, catalog), catalog.readable))
