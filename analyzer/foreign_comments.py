"""Comments that Spark reads otherwise than the parser: whoever reads the query would take one text for another."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.spans import SourceText
from streambound.analyzer.syntax_errors import syntax_error

_TEMPLATE = "{#"


def foreign_comments(source: SourceText) -> tuple[Diagnostic, ...]:
    """An ``SB001`` at each comment that goes on in the next line for Spark, or that is none for it.

    Spark continues a ``--`` comment whose line ends with a backslash, and refuses ``{# … #}``.
    """
    if "\\\n" not in source.text and _TEMPLATE not in source.text:
        return ()
    return tuple(_found(source))


def _found(source: SourceText) -> Iterator[Diagnostic]:
    text, at = source.text, 0
    for stretch in stretches(text):
        yield from _templates(source, at, stretch.start)
        at = stretch.end
        if stretch.kind is LexicalKind.LINE_COMMENT and text[at - 1 : at + 1] == "\\\n":
            message = "this comment ends with a backslash, so Spark reads the next line as a part of it"
            yield syntax_error(source, source.span(at - 1, at), message, "leave out the backslash")
    yield from _templates(source, at, len(text))


def _templates(source: SourceText, start: int, end: int) -> Iterator[Diagnostic]:
    found = source.text.find(_TEMPLATE, start, end)
    if found >= 0:
        message = "this is a comment of a template, not of SQL"
        yield syntax_error(source, source.span(found, found + 2), message, "write -- … or /* … */")
