"""Source positions: 1-based lines and columns in Unicode code points, ends exclusive."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from msgspec import Struct


class Span(Struct, frozen=True, order=True):
    """A stretch of source text.

    ``start`` and ``end`` are 0-based code-point offsets; lines and columns are 1-based; ends are exclusive.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


class Excerpt(Struct, frozen=True):
    """A span of a file with the text of its first line, so that it can be shown without the file."""

    file: str
    span: Span
    text: str


class SourceText(Struct, frozen=True, dict=True):
    r"""A file's name and text, able to turn offsets into spans.

    >>> SourceText("q.sql", "a\nbcd").span(3, 5).column
    2
    """

    file: str
    text: str

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return (0, *(i + 1 for i, c in enumerate(self.text) if c == "\n"))

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based (line, column) of a 0-based code-point offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The span of ``text[start:end]``."""
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Span(start, end, line, column, end_line, end_column)

    def excerpt(self, span: Span) -> Excerpt:
        """A span with its line."""
        return Excerpt(self.file, span, self.line(span.line))

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line ending."""
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")
