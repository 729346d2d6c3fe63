"""What commands do with texts: to a file or to the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click


def put(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file and say so."""
    if output is None:
        click.echo(text)
        return
    write_file(output, text + "\n")
    click.echo(f"wrote {output}", err=True)


def write_file(path: Path, text: str) -> None:
    """Write a text; raises InputError where that fails."""
    from streambound.analyzer.errors import InputError

    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(path)) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write below a path into InputError."""
    from streambound.analyzer.errors import InputError

    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(path)) from error
