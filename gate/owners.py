"""Which statement a comment is about: the one between whose semicolons it stands, or behind whose semicolon."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from streambound.analyzer.lexical import semicolons
from streambound.analyzer.spans import SourceText, Span


@dataclass(frozen=True, slots=True)
class Owners:
    """The statements of a text, by their places in it, and the semicolons between them."""

    source: SourceText
    statements: tuple[Span, ...]
    ends: tuple[int, ...]
    """Where the semicolons are; there may be more of them than statements."""

    @classmethod
    def of(cls, source: SourceText, statements: Sequence[Span]) -> Owners:
        """The owners in a text whose statements stand there, in order."""
        return cls(source, tuple(statements), tuple(semicolons(source.text)))

    def of_comment(self, comment: Span) -> int | None:
        """The number of the statement that a comment is about; None where it stands between semicolons alone.

        It is the statement before where the comment follows its semicolon, and the next one starts below.
        """
        piece = bisect_right(self.ends, comment.start)
        around = bisect_right(self.statements, comment.start, key=lambda span: span.start) - 1
        if around >= 0 and comment.start < self.statements[around].end:
            return around
        mine = self._statement(piece)
        if piece and self.source.position(self.ends[piece - 1])[0] == comment.line:
            beside = mine is not None and self.statements[mine].line <= comment.end_line
            return mine if beside else self._statement(piece - 1)
        return mine

    def _statement(self, piece: int) -> int | None:
        """The statement that ends with a semicolon, by its number, or behind the last one; None where none does."""
        start = self.ends[piece - 1] if piece else -1
        end = self.ends[piece] if piece < len(self.ends) else len(self.source.text)
        first = bisect_right(self.statements, start, key=lambda span: span.start)
        return first if first < len(self.statements) and self.statements[first].start < end else None
