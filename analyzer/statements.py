"""Splitting a SQL file into statements: tokens, syntax tree, name and span of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.errors import InputError
from streambound.analyzer.expressions.dialect import SparkAsWritten
from streambound.analyzer.foreign_comments import foreign_comments
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.numerals import whole_numerals
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.strings import whole_strings
from streambound.analyzer.syntax_errors import parse_error, short_list, string_as_name, syntax_error, unreadable_text
from streambound.analyzer.work import spend

_NAME = re.compile(r"--[ \t]*name:[ \t]*([^\s]+)\s*")
_DIALECT = SparkAsWritten()
_STEPS = 20
"""What it takes to parse a token."""


@dataclass(frozen=True)
class Statement:
    """One SQL statement of a file: name, span, tokens, and its tree or the diagnostic that says why not.

    ``named`` is where a comment names it; None where the file's name does.
    """

    name: str
    source: SourceText
    span: Span
    tokens: tuple[Token, ...]
    tree: exp.Expr | None
    diagnostics: tuple[Diagnostic, ...] = ()
    named: Span | None = None


def split_statements(source: SourceText, only: Sequence[int] | None = None) -> tuple[Statement, ...]:
    """The statements of a file, in order, or some, by their numbers from 0.

    A statement that does not parse carries an ``SB001`` diagnostic.
    """
    try:
        tokens = whole_strings(whole_numerals(_DIALECT.tokenize(source.text), source.text), source.text)
    except TokenError:
        whole = source.span(0, len(source.text))
        return (Statement(Path(source.file).stem, source, whole, (), None, (unreadable_text(source),)),)
    chunks = list(_chunks(tokens))
    stem = Path(source.file).stem or "query"
    names = [stem] if len(chunks) == 1 else [f"{stem}:{i}" for i in range(1, len(chunks) + 1)]
    wanted = range(len(chunks)) if only is None else only
    ends = [*(before for before, _ in chunks[1:]), len(source.text)]
    foreign = foreign_comments(source)
    found = (_named(_statement(names[i], source, chunks[i][1]), chunks[i][0]) for i in wanted)
    return tuple(
        _refused(statement, [one for one in foreign if chunks[i][0] <= one.span.start < ends[i]])
        for i, statement in zip(wanted, found, strict=True)
    )


def _refused(statement: Statement, wrong: Sequence[Diagnostic]) -> Statement:
    """A statement with what is wrong in the comments around it; it is not read any further then."""
    return replace(statement, tree=None, diagnostics=(wrong[0],)) if wrong else statement


def some_statements(source: SourceText, only: Sequence[int] | None = None) -> tuple[Statement, ...]:
    """As `split_statements`; raises InputError for a text that holds none."""
    found = split_statements(source, only)
    if not found:
        raise InputError("the file holds no SQL statement", file=source.file, remedy="remove it, or add a query")
    return found


def _chunks(tokens: Sequence[Token]) -> Iterator[tuple[int, list[Token]]]:
    """The tokens of each statement, with the offset at which the one before it ends."""
    before, chunk = 0, list[Token]()
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            chunk.append(token)
            continue
        if chunk:
            yield before, chunk
        before, chunk = token.end + 1, []
    if chunk:
        yield before, chunk


def _named(statement: Statement, before: int) -> Statement:
    """The statement with the name that the last ``-- name: …`` before it gives."""
    text = statement.source.text[before : statement.span.start]
    for comment in reversed([c for c in stretches(text) if c.kind is LexicalKind.LINE_COMMENT]):
        start = before + comment.start
        if match := _NAME.fullmatch(text[comment.start : comment.end]):
            span = statement.source.span(start + match.start(1), start + match.end(1))
            return replace(statement, name=match.group(1), named=span)
    return statement


def _statement(name: str, source: SourceText, chunk: list[Token]) -> Statement:
    span = source.span(chunk[0].start, chunk[-1].end + 1)
    tree = _parsed(source, chunk)
    if isinstance(tree, Diagnostic):
        return Statement(name, source, span, tuple(chunk), None, (tree,))
    return Statement(name, source, span, tuple(chunk), tree)


def _parsed(source: SourceText, chunk: list[Token]) -> exp.Expr | Diagnostic:
    """A statement's tree, or what is wrong with its syntax."""
    spend(_STEPS * len(chunk))
    if wrong := string_as_name(source, chunk):
        return wrong
    try:
        trees = _DIALECT.parser().parse(chunk, source.text)
    except ParseError as error:
        return parse_error(source, chunk, error)
    except RecursionError:
        trees = []
    if trees and trees[0] is not None:
        return short_list(source, chunk) or trees[0]
    first = source.span(chunk[0].start, chunk[0].end + 1)
    return syntax_error(source, first, "this is not a statement, or it is nested too deeply")
