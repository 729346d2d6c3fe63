"""Patterns of files, as the catalog writes them: ``*``, ``?`` and ``[…]`` within a name, ``**`` for directories."""

from __future__ import annotations

import re
from functools import cache


def matches(pattern: str, path: str) -> bool:
    """Whether a path with slashes fits a pattern as `pathlib.Path.glob` reads it.

    >>> matches("queries/**/*.sql", "queries/a.sql"), matches("queries/*.sql", "queries/old/a.sql")
    (True, False)
    """
    return _compiled(pattern).fullmatch(path) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    text = ""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            text += ".*" if last else "(?:[^/]+/)*"
        else:
            text += _name(part) + ("" if last else "/")
    return re.compile(text, re.S)


def _name(part: str) -> str:
    text, at = "", 0
    while at < len(part):
        end = part.find("]", at + 2) if part[at] == "[" else -1
        if end > 0:
            inside = part[at + 1 : end].replace("\\", "\\\\")
            text += f"[{'^' + inside[1:] if inside[0] == '!' else inside}]"
            at = end + 1
            continue
        text += {"*": "[^/]*", "?": "[^/]"}.get(part[at], re.escape(part[at]))
        at += 1
    return text
