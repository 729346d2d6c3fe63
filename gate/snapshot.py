"""Query files and catalogs as they would be, over what they are: what a repair is judged on before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streambound.analyzer.catalog import Catalog, parse_catalog
from streambound.analyzer.spans import SourceText
from streambound.analyzer.workspace import Sources


class Snapshot:
    """Sources with other texts for some files, by the names that findings call them by.

    Raises CatalogError where a catalog's new text is none.
    """

    def __init__(self, base: Sources, texts: Mapping[str, str]) -> None:
        self._base = base
        self._texts = dict(texts)
        self._catalogs: dict[str, Catalog] = {}

    def read(self, file: Path) -> SourceText:
        """The new text of a query file, or else the one it has."""
        text = self._texts.get(str(file))
        return self._base.read(file) if text is None else SourceText(str(file), text)

    def catalog(self, file: Path | None = None) -> Catalog:
        """The catalog that a query file is checked against, with its new text."""
        found = self._base.catalog(file)
        if found.file not in self._texts:
            return found
        if found.file not in self._catalogs:
            self._catalogs[found.file] = parse_catalog(self._texts[found.file], found.file)
        return self._catalogs[found.file]
