"""How a command fails: one message on standard error and the documented exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from analyzer.errors import StreamboundError
    from reports.outcome import Outcome

MOST_DIGITS = 1_000_000
"""Of a number in decimal: a proved bound may have more than the 4,300 that Python writes by default."""


def guarded(call: Callable[[], Any]) -> Any:
    """Call a command; a failure ends the process with one message and its exit status, or raises with ``--debug``."""
    import logging

    from analyzer.errors import StreamboundError

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it warns of is reported as unsupported
    debug = "--debug" in sys.argv[1:]
    sys.set_int_max_str_digits(MOST_DIGITS)
    try:
        return call()
    except BrokenPipeError:
        discard_output()
        sys.exit(1)
    except OSError as error:
        if debug:
            raise
        discard_output()
        what = error.filename or _unnamed()
        click.echo(f"streambound: error: {what}: {error.strerror or error}", err=True)
        sys.exit(3)
    except StreamboundError as error:
        if debug:
            raise
        tell(error)
        sys.exit(error.exit_status)
    except Exception as error:
        if debug:
            raise
        sys.exit(_unexpected(error))


def _unnamed() -> str:
    """What failed where the system names no file: most often a pipe or a full device; or there is no directory here."""
    try:
        Path.cwd()
    except OSError:
        return "the working directory"
    return "cannot write the output"


def _unexpected(error: Exception) -> int:
    """Print what no command foresaw, and Java's absence, which is known only where something runs; the exit status."""
    from synopsis_exec.java import JavaError  # takes as long to import as a tenth of a check

    if isinstance(error, JavaError):
        click.echo(f"streambound: error: {error.message}", err=True)
        if error.remedy:
            click.echo(f"  help: {error.remedy}", err=True)
        return 2
    click.echo(f"streambound: internal error: {type(error).__name__}: {error}", err=True)
    click.echo("  help: please report it with the query, the catalog and the output of --debug", err=True)
    return 4


def tell(error: StreamboundError) -> None:
    """Print an error: where, what, the line of the file with marks, and the way out."""
    from reports.snippet import snippet

    click.echo(f"streambound: error: {error.placed}", err=True)
    if error.excerpt is not None:
        click.echo("\n".join(snippet(error.excerpt, "error", color=False)), err=True)
    if error.remedy:
        click.echo(f"  help: {error.remedy}", err=True)


def tell_defects(outcomes: Iterable[Outcome], debug: bool) -> None:
    """With ``--debug``, the traceback of each statement that a defect of this program kept from being judged."""
    for item in outcomes:
        if item.traceback and debug:
            click.echo(f"{item.source.file}:{item.span.line}: {item.name}:\n{item.traceback}", err=True, nl=False)


def discard_output() -> None:
    """Send what is still buffered for an output that takes no more to nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
