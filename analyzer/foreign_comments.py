"""Comments that Spark reads otherwise than the parser: whoever reads the query would take one text for another."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.spans import SourceText
from streambound.analyzer.syntax_errors import syntax_error


def foreign_comments(source: SourceText, templates: bool = False) -> tuple[Diagnostic, ...]:
    """An ``SB001`` at each comment that goes on in the next line for Spark, or that is none for it.

    Spark continues a ``--`` comment whose line ends with a backslash, and refuses ``{# … #}``, which is welcome where
    ``templates`` are.
    """
    if "\\\n" not in source.text and "{#" not in source.text:
        return ()
    return tuple(_found(source, templates))


def _found(source: SourceText, templates: bool) -> Iterator[Diagnostic]:
    text = source.text
    for stretch in stretches(text):
        if stretch.kind is LexicalKind.LINE_COMMENT and text[stretch.end - 1 : stretch.end + 1] == "\\\n":
            message = "this comment ends with a backslash, so Spark reads the next line as a part of it"
            yield syntax_error(source, source.span(stretch.end - 1, stretch.end), message, "leave out the backslash")
        elif stretch.kind is LexicalKind.TEMPLATE_COMMENT and not (templates and stretch.closed):
            message = "this is a comment of a template, not of SQL"
            yield syntax_error(source, source.span(stretch.start, stretch.start + 2), message, "write -- … or /* … */")
