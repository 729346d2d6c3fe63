"""How a command fails: one message on standard error and the documented exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

MOST_DIGITS = 1_000_000
"""Of a number in decimal: a proved bound may have more than the 4,300 that Python writes by default."""


def guarded(call: Callable[[], Any]) -> Any:
    """Call a command; a failure ends the process with one message and its exit status, or raises with ``--debug``."""
    import logging

    from analyzer.errors import StreamboundError
    from synopsis_exec.java import JavaError

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
        what = error.filename or "cannot write the output"
        click.echo(f"streambound: error: {what}: {error.strerror or error}", err=True)
        sys.exit(3)
    except (StreamboundError, JavaError) as error:
        if debug:
            raise
        where = f"{error.where}: " if isinstance(error, StreamboundError) and error.where else ""
        click.echo(f"streambound: error: {where}{error.message}", err=True)
        if error.remedy:
            click.echo(f"  help: {error.remedy}", err=True)
        sys.exit(error.exit_status if isinstance(error, StreamboundError) else 2)
    except Exception as error:
        if debug:
            raise
        click.echo(f"streambound: internal error: {type(error).__name__}: {error}", err=True)
        click.echo("  help: please report it with the query, the catalog and the output of --debug", err=True)
        sys.exit(4)


def discard_output() -> None:
    """Send what is still buffered for an output that takes no more to nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
