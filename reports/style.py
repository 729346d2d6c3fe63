"""Colour for terminals, without a dependency: a style is a pair of escape codes or nothing."""

from __future__ import annotations

import sys

_CODES = {"error": "1;31", "warning": "1;33", "note": "1;36", "good": "1;32", "bold": "1", "dim": "2", "frame": "1;34"}


def paint(text: str, style: str, color: bool) -> str:
    """The text in a style, or as it is.

    >>> paint("x", "error", False)
    'x'
    """
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color and text else text


def link(text: str, url: str, color: bool) -> str:
    """The text as a hyperlink (OSC 8) where there is an address and a terminal in colour, or as it is."""
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if url and links(color) else text


def links(color: bool) -> bool:
    """Whether hyperlinks are shown: escape codes are wanted, and nothing but a terminal reads them."""
    return color and sys.stdout.isatty()
