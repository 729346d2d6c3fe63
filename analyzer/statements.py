"""Splitting a SQL file into statements: tokens, syntax tree, name and span of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from analyzer.diagnostics import Diagnostic
from analyzer.errors import InputError
from analyzer.spans import SourceText, Span

_NAME = re.compile(r"--[ \t]*name:[ \t]*([^\s]+)[ \t]*\r?$", re.M)
_RAW_TOKEN = re.compile(r"<Token token_type: \S+, text: (.*?), line: .*?>", re.S)
_MISSING = re.compile(r"Required keyword: .* missing for <class '(?:\w+\.)*(\w+)'>")
_DIALECT = Spark()


@dataclass(frozen=True)
class Statement:
    """One SQL statement of a file: name, span, tokens, and its tree or the diagnostic that says why not."""

    name: str
    source: SourceText
    span: Span
    tokens: tuple[Token, ...]
    tree: exp.Expr | None
    diagnostics: tuple[Diagnostic, ...] = ()


def read_sql(path: Path) -> SourceText:
    """A SQL file's text; raises InputError when it cannot be read or is not UTF-8 text."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8 text", file=str(path), remedy="is it a SQL file?") from error
    if "\0" in text:
        raise InputError("the file is binary", file=str(path), remedy="is it a SQL file?")
    return SourceText(str(path), text)


def split_statements(source: SourceText) -> tuple[Statement, ...]:
    """The statements of a file, in order; a statement that does not parse carries an ``SB001`` diagnostic."""
    try:
        tokens = _DIALECT.tokenize(source.text)
    except TokenError:
        return (_untokenizable(source),)
    chunks = list(_chunks(tokens))
    stem = Path(source.file).stem or "query"
    names = [stem] if len(chunks) == 1 else [f"{stem}:{i}" for i in range(1, len(chunks) + 1)]
    previous_end = 0
    statements = []
    for default, chunk in zip(names, chunks, strict=True):
        start, end = chunk[0].start, chunk[-1].end + 1
        named = _NAME.findall(source.text[previous_end:start])
        statements.append(_statement(named[-1] if named else default, source, chunk))
        previous_end = end
    return tuple(statements)


def _chunks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    chunk: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            if chunk:
                yield chunk
            chunk = []
        else:
            chunk.append(token)
    if chunk:
        yield chunk


def _statement(name: str, source: SourceText, chunk: list[Token]) -> Statement:
    span = source.span(chunk[0].start, chunk[-1].end + 1)
    try:
        trees = _DIALECT.parser().parse(chunk, source.text)
    except ParseError as error:
        return Statement(name, source, span, tuple(chunk), None, (_syntax_error(source, chunk, error),))
    except RecursionError:
        trees = []
    if trees and trees[0] is not None:
        return Statement(name, source, span, tuple(chunk), trees[0])
    message = "syntax error: this is not a statement, or it is nested too deeply"
    first = source.span(chunk[0].start, chunk[0].end + 1)
    return Statement(name, source, span, tuple(chunk), None, (Diagnostic("SB001", message, source.file, first),))


def _syntax_error(source: SourceText, chunk: list[Token], error: ParseError) -> Diagnostic:
    detail = error.errors[0] if error.errors else {}
    line, column = detail.get("line") or 0, detail.get("col") or 0
    token = next((t for t in chunk if t.line == line and t.col == column), chunk[-1])
    description = str(detail.get("description") or error)
    missing = _MISSING.match(description)
    message = (
        f"{missing.group(1).upper()} is incomplete" if missing else _RAW_TOKEN.sub(_quoted, description).rstrip(".")
    )
    return Diagnostic("SB001", f"syntax error: {message}", source.file, source.span(token.start, token.end + 1))


def _quoted(raw: re.Match[str]) -> str:
    return repr(raw.group(1))


def _untokenizable(source: SourceText) -> Statement:
    whole = source.span(0, len(source.text))
    at = source.span(len(source.text.rstrip()) - 1, len(source.text.rstrip()))
    message = "the text ends inside a string, quoted name or comment"
    detail = Diagnostic("SB001", f"syntax error: {message}", source.file, at)
    return Statement(Path(source.file).stem, source, whole, (), None, (detail,))
