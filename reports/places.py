"""Where files are as code hosts see them: relative to the root of the repository, with slashes."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from urllib.parse import quote


def repository_path(file: str) -> str:
    """A file's path from the repository's root, or from the working directory where there is no repository.

    A file outside keeps its absolute path; standard input is ``<stdin>``.
    """
    if file.startswith("<"):
        return file
    path, root = Path(os.path.normpath(Path.cwd() / file)), _root(Path.cwd())
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def uri(file: str) -> str:
    """The path as a URI reference: relative where the file is in the repository, else ``file:///…``."""
    path = repository_path(file)
    text = quote(path.strip("<>") if file.startswith("<") else path, errors="surrogateescape")
    return f"file://{text}" if text.startswith("/") else text


@cache
def _root(here: Path) -> Path:
    """The nearest directory upwards that holds ``.git``, which is a file in a work tree."""
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
