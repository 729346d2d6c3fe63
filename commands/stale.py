"""Entries of a baseline that nothing needs any more, as messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from streambound.commands.saying import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streambound.gate.baseline import BaselineEntry

_LISTED = 10


def say_stale(file: Path, stale: Sequence[BaselineEntry]) -> None:
    """Name the stale entries on standard error, the first of them one by one."""
    from streambound.gate.stale_text import stale_remedy, stale_text

    for entry in stale[:_LISTED]:
        say(f"streambound: error: {file}:{entry.line}: {stale_text(entry)}")
    if len(stale) > _LISTED:
        say(f"streambound: error: {file}: {len(stale) - _LISTED} more entries are stale")
    if stale:
        say(f"  help: {stale_remedy(file)}")
