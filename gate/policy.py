"""What applies to a file: what is asked for, or else what the catalog's overrides say, its `[check]`, the defaults."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Severity
from streambound.analyzer.globs import matches
from streambound.analyzer.settings import KEYS, Override, Setting
from streambound.analyzer.spans import SourceText, Span

_DEFAULTS = {key.name: key.default for key in KEYS}
_PER_FILE = tuple(key.name for key in KEYS if key.per_file)


class Policy(Struct, frozen=True):
    """The settings of a run, by file.

    ``asked`` has those of the command line, by key; ``run`` those that the run itself sets below overrides, such as the
    criteria of a baseline.
    """

    catalog: Catalog | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    _fitting: dict[str, tuple[tuple[str, Override], ...]] = field(default_factory=dict)
    """Of each file that was asked for, so that patterns are compared once a file."""

    def value(self, key: str, file: str | None = None) -> Any:
        """A setting in a file, or in those that no override fits."""
        if key in self.asked:
            return self.asked[key]
        found = self.overridden(file).get(key) if file is not None else None
        if found is not None:
            return found[0].value
        if key in self.run:
            return self.run[key]
        setting = self.catalog.settings.values.get(key) if self.catalog is not None else None
        return _DEFAULTS[key] if setting is None else setting.value

    def of_file(self, file: str) -> dict[str, Any]:
        """The settings of a file that are not those of the run, by key."""
        return {key: setting.value for key, (setting, _) in self.overridden(file).items() if key not in self.asked}

    def overridden(self, file: str) -> dict[str, tuple[Setting, str]]:
        """The settings that overrides have for a file, by key, each with its pattern: the last that fits counts."""
        return {
            key: (setting, pattern)
            for pattern, override in self._overrides(file)
            for key, setting in override.values.items()
            if key in _PER_FILE
        }

    def severities(self, file: str) -> dict[str, tuple[Setting, str]]:
        """The severity that each code has in a file, if the catalog sets one, with the pattern that an override has."""
        return self._by_code(file, "severity")

    def acceptance(self, file: str) -> dict[str, tuple[Setting, str]]:
        """Codes that the catalog allows in a file, for a reason, or denies there (None), with an override's pattern."""
        return self._by_code(file, "acceptance")

    def least(self, file: str) -> Severity:
        """From which severity on a finding in a file fails."""
        return Severity(self.value("fail-on", file))

    @property
    def baseline(self) -> Path | None:
        """The baseline that the catalog names, as a path from the working directory."""
        setting = self.catalog.settings.values.get("baseline") if self.catalog is not None else None
        return None if setting is None or self.catalog is None else from_catalog(self.catalog, setting.value)

    def _by_code(self, file: str, table: str) -> dict[str, tuple[Setting, str]]:
        if self.catalog is None:
            return {}
        found = {code: (setting, "") for code, setting in getattr(self.catalog.settings, table).items()}
        for pattern, override in self._overrides(file):
            found.update((code, (setting, pattern)) for code, setting in getattr(override, table).items())
        return found

    def _overrides(self, file: str) -> tuple[tuple[str, Override], ...]:
        """The overrides that a file fits, each with the pattern, in their order."""
        if self.catalog is None or not self.catalog.settings.overrides:
            return ()
        if file not in self._fitting:
            self._fitting[file] = tuple(_fitting(self.catalog, file))
        return self._fitting[file]


def relative_to_catalog(catalog: Catalog, file: str) -> str:
    """A file as the patterns of a catalog call it."""
    return Path(os.path.relpath(file, Path(catalog.file).parent)).as_posix()


def _fitting(catalog: Catalog, file: str) -> Iterator[tuple[str, Override]]:
    here = relative_to_catalog(catalog, file)
    for override in catalog.settings.overrides:
        pattern = next((pattern for pattern in override.files if matches(pattern, here)), None)
        if pattern is not None:
            yield pattern, override


def from_catalog(catalog: Catalog, name: str) -> Path:
    """A file that is named relative to the catalog, from the working directory."""
    return Path(os.path.relpath(Path(catalog.file).parent / name))


def line_of(catalog: Catalog, number: int) -> Span:
    """A line of a catalog, without the blanks around it."""
    source = SourceText(catalog.file, catalog.text)
    line = source.line(number)
    start = sum(len(part) + 1 for part in catalog.text.split("\n")[: number - 1])
    return source.span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))


NO_POLICY = Policy()
"""The defaults."""
