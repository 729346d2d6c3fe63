"""Colour for terminals, without a dependency: a style is a pair of escape codes or nothing."""

from __future__ import annotations

_CODES = {"error": "1;31", "warning": "1;33", "note": "1;36", "good": "1;32", "bold": "1", "dim": "2", "frame": "1;34"}


def paint(text: str, style: str, color: bool) -> str:
    """The text in a style, or as it is.

    >>> paint("x", "error", False)
    'x'
    """
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color and text else text
