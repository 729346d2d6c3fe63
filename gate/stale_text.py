"""What is said of entries of a baseline that nothing needs any more, on the command line and in editors."""

from __future__ import annotations

from pathlib import Path

from streambound.gate.baseline import BaselineEntry


def stale_text(entry: BaselineEntry) -> str:
    """What is wrong with a stale entry."""
    return f"stale: there is no {entry.code} of {entry.query} in {entry.file} any more"


def stale_remedy(baseline: Path) -> str:
    """The way out."""
    return f"streambound baseline update --baseline {baseline} removes them"
