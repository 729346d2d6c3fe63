"""Which criteria report a code: a run by the one kind says nothing of what only the other kind finds."""

from __future__ import annotations

_EXACT = ("SB201", "SB202", "SB203", "SB204", "SB205", "SB206", "SB207", "SB208", "SB211")
_PAPER = ("SB301", "SB302", "SB303")


def criteria_of(code: str) -> str | None:
    """``exact`` or ``paper`` for what only these criteria find; None for what both do.

    >>> criteria_of("SB201"), criteria_of("SB301"), criteria_of("SB210")
    ('exact', 'paper', None)
    """
    return "exact" if code in _EXACT else "paper" if code in _PAPER else None
