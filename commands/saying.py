"""Messages of commands: on standard error, each as a reader should see it."""

from __future__ import annotations

import click


def say(text: str) -> None:
    """Print a message; what is hidden in a name, a path or a query is shown as signs."""
    from reports.visible import visible

    click.echo(visible(text), err=True)
