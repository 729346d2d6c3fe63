"""Which files a catalog registers: those that fit one of its ``queries``, but not one of ``[check] exclude``.

What a catalog names lies in its own directory or below: whoever checks a catalog of others lets it read and write
nothing else, unless an option says so. So it is with a report and the working directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.errors import UsageError
from streambound.analyzer.globs import matches

ALLOW_OUTSIDE = "--allow-outside"
"""The option that lets a catalog name files elsewhere."""


def registers(catalog: Catalog, file: Path) -> bool:
    """Whether a catalog registers a file; all that are not excluded where it has no ``queries``."""
    here = _relative(catalog, file)
    named = not catalog.queries or any(matches(pattern, here) for pattern in catalog.queries)
    return named and not excludes(catalog, file)


def excludes(catalog: Catalog, file: Path) -> bool:
    """Whether a file is among those that a catalog excludes."""
    here = _relative(catalog, file)
    return any(matches(pattern, here) for pattern in catalog.settings.exclude)


def require_inside(catalog: Catalog, path: Path, what: str) -> None:
    """Raise UsageError for a path that leads out of the catalog's directory, be it by a link; ``what`` names it."""
    remedy = f"check and baseline take {ALLOW_OUTSIDE}, where that is meant; or move the catalog up"
    require_below((Path(catalog.file).parent,), path, f"{what} leads out of the directory of {catalog.file}", remedy)


def require_below(directories: Iterable[Path], path: Path, message: str, remedy: str) -> None:
    """Raise UsageError for a path that leads out of all of some directories, be it by a link."""
    there = path.resolve()
    if not any(there.is_relative_to(directory.resolve()) for directory in directories):
        raise UsageError(f"{message}, to {there}", remedy=remedy)


def _relative(catalog: Catalog, file: Path) -> str:
    """A file as the catalog's patterns name it, whether or not links lead there."""
    return Path(os.path.relpath(file, Path(catalog.file).parent)).as_posix()
