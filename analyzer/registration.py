"""Which files a catalog registers: those that fit one of its ``queries``, but not one of ``[check] exclude``."""

from __future__ import annotations

import os
from pathlib import Path

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.globs import matches


def registers(catalog: Catalog, file: Path) -> bool:
    """Whether a catalog registers a file; all that are not excluded where it has no ``queries``."""
    here = _relative(catalog, file)
    named = not catalog.queries or any(matches(pattern, here) for pattern in catalog.queries)
    return named and not excludes(catalog, file)


def excludes(catalog: Catalog, file: Path) -> bool:
    """Whether a file is among those that a catalog excludes."""
    here = _relative(catalog, file)
    return any(matches(pattern, here) for pattern in catalog.settings.exclude)


def _relative(catalog: Catalog, file: Path) -> str:
    """A file as the catalog's patterns name it, whether or not links lead there."""
    return Path(os.path.relpath(file, Path(catalog.file).parent)).as_posix()
