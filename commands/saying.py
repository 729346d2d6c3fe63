"""What commands print and write: messages on standard error, texts, and what a command is doing meanwhile."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def say(text: str) -> None:
    """Print a message; what is hidden in a name, a path or a query is shown as signs."""
    from streambound.reports.visible import visible

    click.echo(visible(text), err=True)


def show(*lines: str) -> None:
    """Print lines for people on standard output, each as one line, whatever is in a name, a path or a row."""
    from streambound.reports.visible import visible_lines

    click.echo(visible_lines(lines))


def show_literal(text: str) -> None:
    """Print JSON, or a job, on standard output; it says the same, and nothing to the log of a CI job."""
    from streambound_runtime.visible import literal_without_commands

    click.echo(literal_without_commands(text))


class Activity:
    """The current activity of a command: a line on a terminal, with the time since its start; nothing elsewhere."""

    def __init__(self, shown: Progress | None = None, task: TaskID | None = None) -> None:
        self._shown, self._task = shown, task

    def now(self, what: str) -> None:
        """Show what is done from now on."""
        if self._shown is not None and self._task is not None:
            self._shown.update(self._task, description=what)

    def say(self, text: str) -> None:
        """Print a message that stays, above that line."""
        if self._shown is None:
            say(text)
            return
        self._shown.stop()
        say(text)
        self._shown.start()


@contextmanager
def doing(what: str, shown: bool = True) -> Iterator[Activity]:
    """While something runs, show what, unless that is unwanted or standard error is no terminal."""
    if not shown or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield Activity()
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # it would go where the progress goes
        redirect_stderr=False,
    )
    with progress:
        yield Activity(progress, progress.add_task(what, total=None))


@contextmanager
def spinner(what: str) -> Iterator[Callable[[], None]]:
    """A count that grows on a terminal while something runs, and nothing elsewhere."""
    numbers = count(1)
    with doing(f"0 {what}") as shown:
        yield lambda: shown.now(f"{next(numbers)} {what}")


def put(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file and say so."""
    if output is None:
        show_literal(text)
        return
    write_file(output, text + "\n")
    say(f"wrote {output}")


def write_file(path: Path, text: str) -> None:
    """Write a text; raises InputError where that fails."""
    with writing(path):
        path.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write below a path into InputError."""
    from streambound.analyzer.errors import InputError

    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(path)) from error


class Doing:
    """Says on standard error what is done next, and how long after the start; nothing where that is no terminal.

    Plain lines, since a bar that is drawn again and again would be among what a command prints meanwhile.
    """

    def __init__(self) -> None:
        self._shown, self._begun = sys.stderr.isatty(), time.monotonic()

    def __call__(self, step: str) -> None:
        """Say it."""
        if self._shown:
            click.secho(f"[{time.monotonic() - self._begun:5.1f} s] {step} …", err=True, dim=True)
