"""What is wrong with the syntax of a statement, in the words of SQL rather than of the parser."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import pairwise
from string import ascii_letters

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import unclosed
from streambound.analyzer.spans import SourceText, Span

_KEYWORDS = ("SELECT", "DISTINCT", "FROM", "WHERE", "JOIN", "UNION", "WITH", "BETWEEN", "INTERVAL")
_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.FROM)
_NAMED_AFTER = (TokenType.JOIN, TokenType.ALIAS, TokenType.DOT, TokenType.VAR)
_AFTER_LIST = (TokenType.FROM, TokenType.WHERE, TokenType.R_PAREN, TokenType.UNION, TokenType.JOIN)
_MISSING = re.compile(r"Required keyword: .* missing for <class '(?:\w+\.)*(\w+)'>")
_EXPECTING = re.compile(r"Expecting (\S+)")
_TABLE = "Expected table name"
_WITHIN = "write the window in ON: ON p.k = r.k AND p.ts BETWEEN r.ts - INTERVAL 1 HOUR AND r.ts + INTERVAL 1 HOUR"
_IN_ON = "compare the times in ON, too: S ASOF JOIN T ON T.k = S.k AND T.ts <= S.ts"


def syntax_error(source: SourceText, at: Span, message: str, help: str = "") -> Diagnostic:
    """An ``SB001`` diagnostic."""
    return Diagnostic(Code.SYNTAX_ERROR, f"syntax error: {message}", source.file, at, help)


def unreadable_text(source: SourceText) -> Diagnostic:
    """Why a text cannot be split into tokens: nearly always a quote or comment that nothing closes."""
    cut = unclosed(source.text)
    if cut is None:
        whole = source.text.rstrip()
        return syntax_error(source, source.span(max(len(whole) - 1, 0), len(whole)), "this is not SQL")
    opening = 2 if source.text[cut.start] in "/rR{" else 1
    return syntax_error(source, source.span(cut.start, cut.start + opening), f"this {cut.kind} is never closed")


def string_as_name(source: SourceText, chunk: Sequence[Token]) -> Diagnostic | None:
    """A string where Spark wants a name, which the parser would take for one."""
    for index, token in enumerate(chunk):
        if token.token_type is TokenType.STRING and _stands_for_name(source, chunk, index):
            text = source.text[token.start : token.end + 1]
            help = f"a name that needs quotes has backticks: `{token.text}`"
            return syntax_error(source, _span(source, token), f"{text} is a string and cannot be a name", help)
    return None


def interval_of_no_number(source: SourceText, chunk: Sequence[Token]) -> Diagnostic | None:
    """A number with a suffix after INTERVAL, as in ``INTERVAL 5L MINUTES``, which Spark refuses."""
    for before, token in pairwise(chunk):
        if before.token_type is TokenType.INTERVAL and token.token_type is TokenType.NUMBER:
            plain = token.text.rstrip(ascii_letters)
            if plain != token.text:
                message = f"the number of an interval has no suffix, as {token.text} has"
                return syntax_error(source, _span(source, token), message, f"write INTERVAL {plain}")
    return None


def short_list(source: SourceText, chunk: Sequence[Token]) -> Diagnostic | None:
    """A list that ends too early, as in ``SELECT a, FROM S``, which Spark refuses and the parser lets pass."""
    previous = None
    for token, following in zip(chunk, (*chunk[1:], None), strict=True):
        if following is None or following.token_type in _AFTER_LIST:
            if token.token_type is TokenType.COMMA:
                return syntax_error(source, _span(source, token), "nothing follows this comma")
            if TokenType.SELECT in (token.token_type, token.token_type is TokenType.DISTINCT and previous):
                return syntax_error(source, _span(source, token), "the select list is empty")
        previous = token.token_type
    return None


def _stands_for_name(source: SourceText, chunk: Sequence[Token], index: int) -> bool:
    before = chunk[index - 1].token_type if index else None
    after = chunk[index + 1].token_type if index + 1 < len(chunk) else None
    if before is TokenType.FROM:  # not EXTRACT(… FROM '…'), and not IS DISTINCT FROM '…'
        depth = sum({TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0) for token in chunk[:index])
        return chunk[index - 2].token_type is not TokenType.DISTINCT and (
            depth == 0 or source.text[chunk[index].start] == '"'
        )
    timed = index > 0 and chunk[index - 1].text.upper() == "OF"  # TIMESTAMP AS OF '…'
    return (before in _NAMED_AFTER and not timed) or after is TokenType.DOT


def parse_error(source: SourceText, chunk: Sequence[Token], error: ParseError) -> Diagnostic:
    """The parser's complaint, at its token."""
    first = next((token for token in chunk if token.token_type is not TokenType.L_PAREN), chunk[0])
    if first.token_type not in _STARTS:
        message = f"a statement starts with SELECT or WITH, not with {first.text!r}"
        return syntax_error(source, _span(source, first), message, _did_you_mean(first))
    for token in chunk:
        if token.text.upper() == "MATCH_CONDITION":
            return syntax_error(source, _span(source, token), f"unexpected {token.text!r}", _IN_ON)
    detail = error.errors[0] if error.errors else {}
    place = detail.get("line"), detail.get("col")
    index = next((i for i, token in enumerate(chunk) if (token.line, token.col) == place), len(chunk) - 1)
    message = _message(str(detail.get("description") or error), chunk, index)
    help = next(filter(None, map(_did_you_mean, reversed(chunk[max(index - 1, 0) : index + 1]))), "")
    return syntax_error(source, _span(source, chunk[index]), message, help)


def _message(description: str, chunk: Sequence[Token], index: int) -> str:
    token = chunk[index].text
    if missing := _MISSING.match(description):
        keyword = missing.group(1).upper()
        named = any(part.text.upper() == keyword for part in chunk)
        return f"{keyword} is incomplete" if named else f"something is missing after {token!r}"
    if expecting := _EXPECTING.match(description):
        where = f"before {token!r}" if index + 1 < len(chunk) else "at the end"
        return f"{expecting.group(1)} is missing {where}"
    if description.startswith(_TABLE):
        return f"the name of a stream or relation is missing {'at' if index + 1 < len(chunk) else 'after'} {token!r}"
    return f"unexpected {token!r}"


def _did_you_mean(token: Token) -> str:
    """A keyword that a name resembles and may have been meant to be."""
    if token.text.upper() == "WITHIN":
        return _WITHIN
    if token.token_type is not TokenType.VAR or token.text.upper() in _KEYWORDS:
        return ""
    similar = difflib.get_close_matches(token.text.upper(), _KEYWORDS, n=1, cutoff=0.7)
    return f"did you mean {similar[0]}?" if similar else ""


def _span(source: SourceText, token: Token) -> Span:
    return source.span(token.start, token.end + 1)
