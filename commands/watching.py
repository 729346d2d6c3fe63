"""`check --watch`: checks again whenever a query or a catalog changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import click

from commands.failures import tell

PAUSE = 0.5
"""Seconds between two looks at the files."""


def watched(context: click.Context, paths: tuple[Path, ...], catalog_file: Path | None) -> NoReturn:
    """Run the command now and whenever a file that it reads changes, comes or goes, until interrupted.

    What is wrong with the input is printed and waits for the next change, like any finding.
    """
    from analyzer.errors import StreamboundError, UsageError
    from analyzer.workspace import STDIN

    if Path(STDIN) in paths or context.params["fix"]:
        raise UsageError("--watch waits for changes of files: it goes neither with - nor with --fix")
    context.params["watch"] = False  # of this context, which knows what the command line gave
    while True:
        before = _stamps(paths, catalog_file)
        click.clear()
        try:
            context.command.invoke(context)
        except SystemExit:
            pass  # the status of one round
        except StreamboundError as error:
            tell(error)
        sys.stdout.flush()
        click.echo("\nwatching for changes; Ctrl+C ends", err=True)
        while _stamps(paths, catalog_file) == before:
            time.sleep(PAUSE)


def _stamps(paths: tuple[Path, ...], catalog_file: Path | None) -> dict[Path, tuple[int, int]]:
    """When the files were changed, and their sizes; what cannot be read is not there."""
    found = {}
    for file in _files(paths, catalog_file):
        with suppress(OSError):
            stat = file.stat()
            found[file] = (stat.st_mtime_ns, stat.st_size)
    return found


def _files(paths: tuple[Path, ...], catalog_file: Path | None) -> Iterator[Path]:
    """The catalog and the queries, as far as they can be found now."""
    from analyzer.catalog import find_catalog
    from analyzer.errors import StreamboundError
    from analyzer.workspace import Workspace, query_files

    with suppress(StreamboundError):
        yield catalog_file or find_catalog(Path.cwd())
    with suppress(StreamboundError):
        files = query_files(paths) if paths else Workspace(catalog_file).registered()
        yield from files
        for file in files:
            with suppress(StreamboundError):
                yield find_catalog(file.resolve().parent)
