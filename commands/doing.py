"""What a command that takes long is doing, on a terminal."""

from __future__ import annotations

import sys
import time

import click


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
