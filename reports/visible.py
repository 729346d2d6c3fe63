"""Texts as a terminal should show them (`streambound_runtime.visible`), with this program's own colours and links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from streambound.analyzer.codes import docs_address
from streambound_runtime.visible import as_line, seen, without_commands, without_hidden

_COLOR = r"\x1b\[(?:[0-2]|(?:1;)?3[1-6])m"
"""Bold, dim, and colours that can be seen on most backgrounds."""


def visible(text: str, color: bool = False) -> str:
    r"""A text with signs in place of what is not seen; with ``color``, this program's own colours and links are kept.

    >>> visible("a\x1b[2Kb\r\u202ec"), visible("\x1b[1;31merror\x1b[0m\x1b[2K", color=True)
    ('a␛[2Kb␍�c', '\x1b[1;31merror\x1b[0m␛[2K')
    """
    return "".join(_parts(without_commands(text))) if color else seen(text)


def visible_lines(lines: Iterable[str]) -> str:
    """Lines as a text of as many lines, whatever is in each."""
    return "\n".join(map(as_line, lines))


def _parts(text: str) -> Iterator[str]:
    own = re.compile(rf"{_COLOR}|\x1b\]8;;(?:{re.escape(docs_address())}/\w+\.md)?\x1b\\")
    at = 0
    for found in own.finditer(text):
        yield without_hidden(text[at : found.start()])
        yield found.group()
        at = found.end()
    yield without_hidden(text[at:])
