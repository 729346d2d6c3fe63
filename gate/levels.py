"""What the catalog's `[check]` sets for single files: which severity findings have, and from which on they fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from analyzer.catalog import Catalog
from analyzer.diagnostics import Diagnostic, Severity
from analyzer.settings import OFF, Override, Setting
from gate.globs import matches
from reports.outcome import Outcome


def overrides(catalog: Catalog, file: str) -> Iterator[tuple[str, Override]]:
    """The overrides that a file fits, each with the pattern, in their order: the last one counts."""
    here = Path(os.path.relpath(file, Path(catalog.file).parent)).as_posix()
    for override in catalog.settings.overrides:
        pattern = next((pattern for pattern in override.files if matches(pattern, here)), None)
        if pattern is not None:
            yield pattern, override


def severities(catalog: Catalog, file: str) -> dict[str, tuple[Setting, str]]:
    """The severity that each code has in a file, if the catalog sets one, with the pattern that an override has."""
    found = {code: (setting, "") for code, setting in catalog.settings.severity.items()}
    for pattern, override in overrides(catalog, file):
        found.update((code, (setting, pattern)) for code, setting in override.severity.items())
    return found


def leveled(outcomes: Iterable[Outcome], catalog: Catalog | None) -> tuple[Outcome, ...]:
    """The statements with the severities that the catalog sets; what it switches off is not reported."""
    if catalog is None or not (catalog.settings.severity or catalog.settings.overrides):
        return tuple(outcomes)
    return tuple(replace(item, diagnostics=tuple(_leveled(item, catalog))) for item in outcomes)


def _leveled(item: Outcome, catalog: Catalog) -> Iterator[Diagnostic]:
    set_here = severities(catalog, item.source.file)
    for found in item.diagnostics:
        setting = set_here.get(found.code)
        if setting is None:
            yield found
        elif setting[0].value != OFF:
            yield replace(found, level=Severity(setting[0].value))


def threshold(catalog: Catalog | None, fail_on: Severity) -> Callable[[str], Severity]:
    """From which severity on findings in a file fail: as overrides of the catalog say, or else ``fail_on``."""
    if catalog is None or not catalog.settings.overrides:
        return lambda _: fail_on
    found = catalog

    def of_file(file: str) -> Severity:
        values = [override.values["fail-on"] for _, override in overrides(found, file) if "fail-on" in override.values]
        return Severity(values[-1].value) if values else fail_on

    return of_file
