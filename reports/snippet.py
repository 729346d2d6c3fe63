"""A source line with carets under a span, as compilers show it."""

from __future__ import annotations

import unicodedata

from analyzer.spans import SourceText, Span
from reports.style import paint

TAB = 4


def snippet(source: SourceText, span: Span, severity: str, color: bool) -> list[str]:
    """The line a span starts on, numbered, and the carets under it; wide characters and tabs are accounted for."""
    line = source.line(span.line)
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    before, marked = line[: span.column - 1], line[span.column - 1 : max(end, span.column)]
    carets = "^" * max(1, _width(marked, _width(before)))
    number = str(span.line)
    gutter = " " * len(number)
    bar = paint("|", "frame", color)
    more = paint(" …", "dim", color) if span.end_line > span.line else ""
    return [
        f"{gutter} {bar}",
        f"{paint(number, 'frame', color)} {bar} {_expanded(line)}{more}",
        f"{gutter} {bar} {' ' * _width(before)}{paint(carets, severity, color)}",
    ]


def _expanded(line: str) -> str:
    shown: list[str] = []
    for character in line:
        shown.append(" " * (TAB - _width("".join(shown)) % TAB) if character == "\t" else character)
    return "".join(shown)


def _width(text: str, start: int = 0) -> int:
    """Terminal columns of a text that starts at a column."""
    column = start
    for character in text:
        if character == "\t":
            column += TAB - column % TAB
        elif not unicodedata.combining(character):
            column += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return column - start
