"""`check --watch`: checks again whenever a query or a catalog changes."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from streambound.commands.failures import tell

PAUSE = 0.5
"""Seconds between two looks at the files."""
_ARGUMENTS = "streambound.arguments"


class Watchable(click.Command):
    """A command that can be run again as it was called, with the catalog's settings as they are then."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments for `watched`."""
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


def watched(context: click.Context) -> NoReturn:
    """Run the command now and whenever a file that it reads changes, comes or goes, until interrupted.

    What is wrong with the input is printed and waits for the next change, like any finding.
    """
    from streambound.analyzer.errors import UsageError
    from streambound.analyzer.query_files import STDIN

    if Path(STDIN) in context.params["paths"] or context.params["fix"]:
        raise UsageError("--watch waits for changes of files: it goes neither with - nor with --fix")
    arguments = context.meta[_ARGUMENTS]
    params: Mapping[str, Any] = context.params
    interrupts = _Interrupts()
    while True:
        before = _stamps(params)
        click.clear()
        params = _round(context, arguments) or params
        interrupts.check()
        sys.stdout.flush()
        click.echo("\nwatching for changes; Ctrl+C ends", err=True)
        while _stamps(params) == before:
            interrupts.check()
            time.sleep(PAUSE)


class _Interrupts:
    """Remembers that there was a Ctrl+C: what Python runs between statements may swallow the exception of one."""

    def __init__(self) -> None:
        self.seen = False
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        signal.default_int_handler(number, frame)

    def check(self) -> None:
        """Raise KeyboardInterrupt if there was one."""
        if self.seen:
            raise KeyboardInterrupt


def _round(context: click.Context, arguments: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Read the settings and check once; the parameters, or None where the settings are wrong."""
    from streambound.analyzer.errors import StreamboundError

    again = None
    try:
        again = context.command.make_context(context.info_name, list(arguments), context.parent)
        again.params["watch"] = False
        with again:
            context.command.invoke(again)
    except SystemExit:
        pass  # the status of one round
    except click.ClickException as error:
        error.show()
    except StreamboundError as error:
        tell(error)
    return again.params if again is not None else None


def _stamps(params: Mapping[str, Any]) -> dict[Path, tuple[int, ...]]:
    """When the files were changed, and their sizes; nothing of those that are named, or found, and not there."""
    found: dict[Path, tuple[int, ...]] = {}
    for file in _files(params["paths"], params["catalog_file"], params["baseline_file"]):
        found[file] = ()
        with suppress(OSError):
            stat = file.stat()
            found[file] = (stat.st_mtime_ns, stat.st_size)
    return found


def _files(paths: tuple[Path, ...], catalog_file: Path | None, baseline_file: Path | None) -> Iterator[Path]:
    """The catalog, the baseline and the queries, as far as they can be found now."""
    from streambound.analyzer.catalog import find_catalog
    from streambound.analyzer.errors import StreamboundError
    from streambound.analyzer.query_files import query_files
    from streambound.analyzer.workspace import Workspace

    with suppress(StreamboundError):
        yield catalog_file or find_catalog(Path.cwd())
    if baseline_file is not None:
        yield baseline_file
    with suppress(StreamboundError):
        files = query_files(paths, True) if paths else Workspace(catalog_file).registered(True)
        yield from files
        for file in files:
            with suppress(StreamboundError):
                yield find_catalog(file.resolve().parent)
