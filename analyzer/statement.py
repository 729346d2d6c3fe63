"""One SQL statement of a file."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.spans import SourceText, Span


@dataclass(frozen=True)
class Statement:
    """One SQL statement of a file: name, and the span, tokens and tree of its query, or why it has none.

    ``named`` is where a comment or the target of CREATE or INSERT names it; None where the file's name does. ``before``
    are the tokens of the views of the same file that it reads; they are common table expressions of the tree. ``sql``
    is the query as Spark runs it by itself.
    """

    name: str
    source: SourceText
    span: Span
    tokens: tuple[Token, ...]
    tree: exp.Expr | None
    diagnostics: tuple[Diagnostic, ...] = ()
    named: Span | None = None
    before: tuple[Token, ...] = ()
    sql: str = ""

    @property
    def is_query(self) -> bool:
        """Whether there is something to decide, or to repair: it is not a statement that reads no stream."""
        return not any(found.code is Code.NO_QUERY for found in self.diagnostics)
