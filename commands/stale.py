"""Entries of a baseline that nothing needs any more, as messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gate.baseline import Entry

_LISTED = 10


def say_stale(file: Path, stale: Sequence[Entry]) -> None:
    """Name the stale entries on standard error, the first of them one by one."""
    from gate.stale_text import stale_remedy, stale_text
    from reports.visible import visible

    for entry in stale[:_LISTED]:
        click.echo(visible(f"streambound: error: {file}:{entry.line}: {stale_text(entry)}"), err=True)
    if len(stale) > _LISTED:
        click.echo(f"streambound: error: {file}: {len(stale) - _LISTED} more entries are stale", err=True)
    if stale:
        click.echo(f"  help: {stale_remedy(file)}", err=True)
