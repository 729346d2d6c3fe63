"""Messages of commands: on standard error, each as a reader should see it; and what a command is doing meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def say(text: str) -> None:
    """Print a message; what is hidden in a name, a path or a query is shown as signs."""
    from streambound.reports.visible import visible

    click.echo(visible(text), err=True)


class Activity:
    """What a command is doing now: a line on a terminal, with the time that all of it has taken; nothing elsewhere."""

    def __init__(self, shown: Progress | None = None, task: TaskID | None = None) -> None:
        self._shown, self._task = shown, task

    def now(self, what: str) -> None:
        """Show what is done from now on."""
        if self._shown is not None and self._task is not None:
            self._shown.update(self._task, description=what)

    def echo(self, text: str, err: bool = False) -> None:
        """Print lines that stay, above that line."""
        if self._shown is None:
            click.echo(text, err=err)
            return
        self._shown.stop()
        click.echo(text, err=err)
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
