"""Comments and quoted texts of a SQL text, by Spark's lexical rules, found before anything is parsed.

A doubled quote is a quote, also where the parser's tokenizer sees two strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

_OPENS = re.compile(r"""--|/\*|\{#|\b[rR]['"]|['"`]""")
_SEMICOLON = re.compile(";")
_LINE_END = re.compile(r"[\r\n]")
_TEMPLATE_END = "#}"
_NESTING = re.compile(r"/\*|\*/")
_CLOSES = {
    "'": re.compile(r"(?:[^\\']|\\.|'')*+'", re.S),
    '"': re.compile(r'(?:[^\\"]|\\.|"")*+"', re.S),
    "`": re.compile(r"(?:[^`]|``)*+`"),
}
_RAW_CLOSES = {quote: re.compile(f"[^{quote}]*{quote}") for quote in "'\""}


class LexicalKind(StrEnum):
    """The kinds of stretches of text."""

    LINE_COMMENT = "comment"
    BLOCK_COMMENT = "block comment"
    TEMPLATE_COMMENT = "comment of a template"
    STRING = "string"
    NAME = "quoted name"


_COMMENTS = (LexicalKind.LINE_COMMENT, LexicalKind.BLOCK_COMMENT, LexicalKind.TEMPLATE_COMMENT)


class Stretch(Struct, frozen=True):
    """A comment or quoted text with its delimiters; ``closed`` is whether the closing one is there."""

    kind: LexicalKind
    start: int
    end: int
    closed: bool = True


def stretches(text: str, at: int = 0) -> Iterator[Stretch]:
    """The comments and quoted texts from a place on, in order; an unclosed one is the last and reaches to the end.

    >>> [(s.kind.value, s.start, s.end) for s in stretches("a 'b--' /* '`' */ -- c")]
    [('string', 2, 7), ('block comment', 8, 17), ('comment', 18, 22)]
    """
    while opening := _OPENS.search(text, at):
        found = _stretch(text, opening)
        yield found
        at = found.end


def semicolons(text: str) -> Iterator[int]:
    """Where the semicolons are that stand in no comment and no quoted text, in order.

    >>> list(semicolons("a; ';' -- ;"))
    [1]
    """
    at = 0
    for stretch in stretches(text):
        yield from (mark.start() for mark in _SEMICOLON.finditer(text, at, stretch.start))
        at = stretch.end
    yield from (mark.start() for mark in _SEMICOLON.finditer(text, at))


def unclosed(text: str) -> Stretch | None:
    """The comment or quoted text that the end of a text cuts off; None when there is none."""
    return next((stretch for stretch in stretches(text) if not stretch.closed), None)


def is_blank(text: str) -> bool:
    r"""Whether a text holds nothing but blanks, comments and semicolons.

    >>> is_blank("-- SELECT 1\n;"), is_blank("SELECT 1")
    (True, False)
    """
    at, left = 0, []
    for stretch in stretches(text):
        comment = stretch.closed and stretch.kind in _COMMENTS
        left += [text[at : stretch.start], "" if comment else "x"]
        at = stretch.end
    return not "".join((*left, text[at:])).replace(";", "").strip()


def _stretch(text: str, opening: re.Match[str]) -> Stretch:
    start, inside, mark = opening.start(), opening.end(), opening.group()
    if mark == "--":
        newline = _LINE_END.search(text, inside)
        return Stretch(LexicalKind.LINE_COMMENT, start, newline.start() if newline else len(text))
    if mark == "{#":
        close = text.find(_TEMPLATE_END, inside)
        behind = len(text) if close < 0 else close + len(_TEMPLATE_END)
        return Stretch(LexicalKind.TEMPLATE_COMMENT, start, behind, close >= 0)
    if mark == "/*":
        end = _block_end(text, inside)
        return Stretch(LexicalKind.BLOCK_COMMENT, start, len(text) if end is None else end, end is not None)
    closing = (_RAW_CLOSES if len(mark) == 2 else _CLOSES)[mark[-1]].match(text, inside)
    kind = LexicalKind.NAME if mark == "`" else LexicalKind.STRING
    return Stretch(kind, start, closing.end() if closing else len(text), closing is not None)


def _block_end(text: str, inside: int) -> int | None:
    """Where a block comment ends; they nest. None when it does not."""
    depth = 1
    for mark in _NESTING.finditer(text, inside):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return None
