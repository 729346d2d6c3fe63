"""Places in a text as the language server protocol counts them."""

from __future__ import annotations

import re
from collections.abc import Callable

from lsprotocol import types

from streambound.analyzer.spans import Span

_LINE_END = re.compile(r"\r\n|\r|\n")


def place(text: str, span: Span, units: Callable[[str], int]) -> types.Range:
    r"""A span, which counts lines that \n ends and code points from 1, in the client's lines and units, from 0.

    ``units`` counts the units of a text. A byte-order mark that a client keeps is in its first line.

    >>> place("\ufeffab\rc", Span(3, 4, 1, 4, 1, 5), len).start, place("\ufeffab", Span(1, 2, 1, 2, 1, 3), len).start
    (1:0, 0:2)
    """
    mark = len(text) - len(text.removeprefix("\ufeff"))
    return types.Range(
        _position(text, _offset(text, span.line, span.column) + mark, units),
        _position(text, _offset(text, span.end_line, span.end_column) + mark, units),
    )


def _offset(text: str, line: int, column: int) -> int:
    """Where a line and column are, from 0, as if there were no byte-order mark."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return start + column - 1


def _position(text: str, offset: int, units: Callable[[str], int]) -> types.Position:
    start = number = 0
    for end in _LINE_END.finditer(text, 0, offset):
        start, number = end.end(), number + 1
    return types.Position(number, units(text[start:offset]))
