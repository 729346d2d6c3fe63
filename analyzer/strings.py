"""String and number literals as Spark reads them: neighbours are one string, and a number's suffix gives its type."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)
_TYPED = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "INTERVAL")


def whole_strings(tokens: Sequence[Token], text: str) -> list[Token]:
    """Tokens with each run of string tokens as one: ``'it''s'  ->  it's``, ``'it' 's'  ->  its`` (Spark 4).

    The value of a typed literal (``DATE '…'``) is one string, as in Spark; what follows it stays apart.
    """
    joined: list[Token] = []
    for token in tokens:
        previous = joined[-1] if joined else None
        if token.token_type not in _STRINGS:
            joined.append(token)
        elif previous is None or previous.token_type is not TokenType.STRING:
            joined.append(_string(token.text, token, token))
        elif _doubled(previous, token, text):
            joined[-1] = _string(previous.text + text[token.start] + token.text, previous, token)
        elif len(joined) > 1 and joined[-2].text.upper() in _TYPED:
            joined.append(token)
        else:
            joined[-1] = _string(previous.text + token.text, previous, token)
    return joined


def _doubled(first: Token, second: Token, text: str) -> bool:
    """Whether two string tokens are one literal with a doubled quote inside."""
    adjacent = first.end + 1 == second.start and text[first.end] == text[second.start]
    return adjacent and text[first.start] not in "rR"


def _string(value: str, first: Token, last: Token) -> Token:
    return Token(
        TokenType.STRING, value, line=last.line, col=last.col, start=first.start, end=last.end, comments=last.comments
    )


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
