"""Where each key of a TOML file stands; `tomllib` parses but does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.spans import SourceText, Span

_HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_INLINE = re.compile(r"""(?:^|[{,])\s*([A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*=""")
_VALUE = re.compile(r"""\s*(?:"[^"]*"|'[^']*'|\[[^\]]*\]|\{[^}]*\}|[^\s,}#\]"'\[{]+)""")

_Found = tuple[tuple[str, ...], int, int]
"""A path, and where its key starts and its value ends in a line."""


def toml_spans(source: SourceText) -> dict[tuple[str, ...], Span]:
    r"""Where every table header, key and inline-table key stands, with its value where that ends on the same line.

    >>> spans = toml_spans(SourceText("c.toml", '[streams.S]\ncolumns = { a = "bigint" }'))
    >>> spans["streams", "S", "columns", "a"].column, spans["streams", "S", "columns", "a"].end_column
    (13, 25)
    """
    spans: dict[tuple[str, ...], Span] = {}
    table: tuple[str, ...] = ()
    offset = 0
    for line in source.text.split("\n"):
        if header := _HEADER.match(line):
            table = _path(header.group(1))
        for path, start, end in _in_line(table, line, header):
            spans.setdefault(path, source.span(offset + start, offset + end))
        offset += len(line) + 1
    return spans


def toml_lines(text: str) -> dict[tuple[str, ...], int]:
    r"""The 1-based line of every table header, key and inline-table key.

    >>> toml_lines('[streams.S]\ncolumns = { a = "bigint" }')[("streams", "S", "columns", "a")]
    2
    """
    return {path: span.line for path, span in toml_spans(SourceText("", text)).items()}


def _in_line(table: tuple[str, ...], line: str, header: re.Match[str] | None) -> Iterator[_Found]:
    if header:
        for depth in range(1, len(table) + 1):
            yield table[:depth], header.start(1) - 1, line.index("]", header.end(1)) + 1
    elif key := _KEY.match(line):
        path = table + _path(key.group(1))
        for depth in range(len(table) + 1, len(path) + 1):
            yield path[:depth], key.start(1), _end(line, key.end())
        for inline in _INLINE.finditer(line, key.end()):
            yield (*path, _unquote(inline.group(1))), inline.start(1), _end(line, inline.end())


def _end(line: str, equals: int) -> int:
    """Where the value behind an equals sign ends; where the key does if that is not on this line."""
    value = _VALUE.match(line, equals)
    return value.end() if value else len(line[: equals - 1].rstrip())


def _path(dotted: str) -> tuple[str, ...]:
    return tuple(_unquote(part) for part in _PART.findall(dotted))


def _unquote(part: str) -> str:
    return part[1:-1] if part[:1] in "\"'" else part
