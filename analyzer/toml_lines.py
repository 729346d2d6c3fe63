"""Where each key of a TOML file stands; `tomllib` parses but does not tell."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_INLINE = re.compile(r"""(?:^|[{,])\s*([A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*=""")


def toml_lines(text: str) -> dict[tuple[str, ...], int]:
    r"""The 1-based line of every table header, key and inline-table key.

    >>> toml_lines('[streams.S]\ncolumns = { a = "bigint" }')[("streams", "S", "columns", "a")]
    2
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = _path(header.group(1))
            for depth in range(1, len(table) + 1):
                lines.setdefault(table[:depth], number)
        elif key := _KEY.match(line):
            path = table + _path(key.group(1))
            for depth in range(len(table) + 1, len(path) + 1):
                lines.setdefault(path[:depth], number)
            for inline in _INLINE.finditer(line[key.end() :]):
                lines.setdefault((*path, _unquote(inline.group(1))), number)
    return lines


def _path(dotted: str) -> tuple[str, ...]:
    return tuple(_unquote(part) for part in _PART.findall(dotted))


def _unquote(part: str) -> str:
    return part[1:-1] if part[:1] in "\"'" else part
