"""How a command fails: one message on standard error and the documented exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound.commands.saying import say
from streambound.commands.streams import OutputLost, watch_streams

if TYPE_CHECKING:
    from streambound.analyzer.errors import StreamboundError
    from streambound.reports.outcome import Outcome

MOST_DIGITS = 1_000_000
"""Of a number in decimal: a proved bound may have more than the 4,300 that Python writes by default."""

_GARBAGE = 100_000
"""Objects between two searches for garbage: what a command imports and reads is none, and there is room for more."""


def guarded(call: Callable[[], Any]) -> Any:
    """Call a command; a failure ends the process with one message and its exit status, or raises with ``--debug``."""
    import gc
    import logging

    from streambound.analyzer.errors import InputError, StreamboundError

    gc.set_threshold(_GARBAGE)
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it warns of is reported as unsupported
    debug = "--debug" in sys.argv[1:]
    sys.set_int_max_str_digits(MOST_DIGITS)
    watch_streams()
    try:
        return _flushed(call)
    except OutputLost as lost:
        if lost.message:
            tell(InputError(lost.message, remedy=lost.remedy))
        sys.exit(lost.status)
    except OSError as error:
        if debug:
            raise
        what = error.filename or _unnamed()
        _say_line(f"streambound: error: {what}: {error.strerror or error}")
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


def _flushed(call: Callable[[], Any]) -> Any:
    """Call, and print what is still buffered, so that a failure to do so is one of the command."""
    try:
        return call()
    finally:
        sys.stdout.flush()


def _unnamed() -> str:
    """The message where the system names no file: the working directory, or a started program, is gone."""
    try:
        Path.cwd()
    except OSError:
        return "the working directory"
    return "a file or another program"


def _unexpected(error: Exception) -> int:
    """Print what no command foresaw, and Java's absence, which is known only where something runs; the exit status."""
    from streambound.synopsis_exec.java import JavaError  # takes as long to import as a tenth of a check

    if isinstance(error, JavaError):
        _say_line(f"streambound: error: {error.message}")
        if error.remedy:
            say(f"  help: {error.remedy}")
        return 2
    _say_line(f"streambound: internal error: {type(error).__name__}: {error}")
    say("  help: please report it with the query, the catalog and the output of --debug")
    return 4


def tell(error: StreamboundError) -> None:
    """Print an error: where, what, the line of the file with marks, and the way out."""
    from streambound.reports.snippet import snippet

    _say_line(f"streambound: error: {error.placed}")
    if error.excerpt is not None:
        say("\n".join(snippet(error.excerpt, "error", color=False)))
    if error.remedy:
        say(f"  help: {error.remedy}")


def _say_line(text: str) -> None:
    """Print a message as one line: it may have a row's values in it, or a path."""
    from streambound_runtime.visible import as_line

    say(as_line(text))


def tell_defects(outcomes: Iterable[Outcome], debug: bool) -> None:
    """With ``--debug``, the traceback of each statement that a defect of this program kept from being judged."""
    for item in outcomes:
        if item.traceback and debug:
            say(f"{item.source.file}:{item.span.line}: {item.name}:\n{item.traceback}".rstrip("\n"))
