"""String literals as Spark reads them: a doubled quote is one, neighbours are one string, ``r'…'`` has no escapes."""

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
