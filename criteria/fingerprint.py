"""Fingerprints of findings: what a baseline and a code host know a finding by when its lines have moved.

A finding is its file, its code, its statement and the blamed text, none of them by position or by layout, so that
neither lines inserted above nor another line break nor another case of keywords changes it. A statement is known by
the name that a comment gives it, which survives edits of the query, or else by its words. Equal findings are counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from sqlglot.tokenizer_core import Token, TokenType

from analyzer.diagnostics import Diagnostic
from analyzer.spans import Span
from analyzer.statements import Statement
from criteria.check import Checked

VERSION = "streambound/v1"
"""The scheme; another one gives other fingerprints, so that a baseline of this one is not read as one of that."""

_LENGTH = 32


def stable_path(file: str) -> str:
    """A file's name on every machine: relative to the working directory, with slashes.

    >>> stable_path("queries/../queries/q.sql")
    'queries/q.sql'
    """
    return file if file.startswith("<") else Path(os.path.relpath(file)).as_posix()


def fingerprints(checked: Iterable[Checked], name: Callable[[str], str] = stable_path) -> tuple[tuple[str, ...], ...]:
    """For each statement the fingerprints of its diagnostics, in their order; those of one run are all different.

    ``name`` says what a file is called: another mapping follows renamed files or starts at another directory.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for item in checked:
        mine = []
        for diagnostic in item.diagnostics:
            identity = _identity(item, diagnostic, name)
            mine.append(_hash((*identity, str(seen[identity]))))
            seen[identity] += 1
        found.append(tuple(mine))
    return tuple(found)


def fingerprint(item: Checked, diagnostic: Diagnostic, twins: int = 0, name: Callable[[str], str] = stable_path) -> str:
    """The fingerprint of one diagnostic of which so many ``twins`` stand before it in the run."""
    return _hash((*_identity(item, diagnostic, name), str(twins)))


def _hash(parts: tuple[str, ...]) -> str:
    text = "".join(f"{len(part)}:{part}" for part in (VERSION, *parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def _identity(item: Checked, diagnostic: Diagnostic, name: Callable[[str], str]) -> tuple[str, ...]:
    if diagnostic.file != item.source.file:
        return name(diagnostic.file), diagnostic.code, name(item.source.file), "", _statement(item.statement)
    blamed = _blamed(item.statement, diagnostic.span)
    return name(diagnostic.file), diagnostic.code, "", blamed, _statement(item.statement)


def _statement(statement: Statement) -> str:
    """What a statement is known by: the name in its comment, or its words; nothing where it could not be split."""
    return f"name {statement.name}" if statement.named else _words(statement.tokens)


def _blamed(statement: Statement, span: Span) -> str:
    """The blamed words; where there are none the text, as of a comment, or of what an unclosed quote starts."""
    words = _words(token for token in statement.tokens if span.start <= token.start and token.end < span.end)
    if words or (span == statement.span and not statement.tokens):
        return words
    source = statement.source
    cut = statement.tokens == ()
    text = source.line(span.line)[span.column - 1 :] if cut else source.text[span.start : span.end]
    return " ".join(text.split())


def _words(tokens: Iterable[Token]) -> str:
    """Tokens without the blanks and comments between them; Spark tells no case apart, but in strings."""
    return "\x1f".join(_word(token) for token in tokens)


def _word(token: Token) -> str:
    return f"'{token.text}" if token.token_type is TokenType.STRING else token.text.lower()
