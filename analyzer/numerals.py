"""Numerals as Spark reads them: a point may come first, and a suffix, which gives the type, is a part of them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

_BEFORE_FIELDS = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.DOT)


def whole_numerals(tokens: Sequence[Token], text: str) -> list[Token]:
    """Tokens with each numeral as one: the parser's tokenizer makes casts of suffixes.

    ``. 5 :: FLOAT  ->  .5F``
    """
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if last is not None and last.token_type is TokenType.NUMBER and last.start <= token.start <= last.end:
            continue  # the cast that stands for a suffix is where the numeral is
        if token.token_type is not TokenType.NUMBER:
            joined.append(token)
            continue
        start = token.start
        if last is not None and last.token_type is TokenType.DOT and last.end + 1 == start and not _is_field(joined):
            start = joined.pop().start
        joined.append(_numeral(text[start : token.end + 1], token, start))
    return joined


def _is_field(tokens: Sequence[Token]) -> bool:
    """Whether the point that comes last is one between names."""
    return len(tokens) > 1 and tokens[-2].token_type in _BEFORE_FIELDS and tokens[-2].end + 1 == tokens[-1].start


def _numeral(written: str, token: Token, start: int) -> Token:
    return Token(
        TokenType.NUMBER, written, line=token.line, col=token.col, start=start, end=token.end, comments=token.comments
    )
