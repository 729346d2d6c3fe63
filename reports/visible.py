"""Texts as a terminal, or the log of a CI job, should show them: whoever writes a query writes nothing else there.

A control character in a query, a name or a path could erase a finding, or move the cursor over it; one that turns the
direction of writing shows other SQL than was checked. Each becomes one visible sign, so marks stay in their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streambound.analyzer.codes import docs_address

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Controls, marks of direction, and signs without a width; not the joiners of emoji and of some scripts."""
_COLOR = r"\x1b\[(?:[0-2]|(?:1;)?3[1-6])m"
"""Bold, dim, and colours that can be seen on most backgrounds."""
_PICTURES = 0x2400
_DELETE = 0x7F
_REPLACED = "\ufffd"


def visible(text: str, color: bool = False) -> str:
    r"""A text with signs in place of what is not seen; with ``color``, this program's own colours and links are kept.

    >>> visible("a\x1b[2Kb\r\u202ec"), visible("\x1b[1;31merror\x1b[0m\x1b[2K", color=True)
    ('a␛[2Kb␍�c', '\x1b[1;31merror\x1b[0m␛[2K')
    """
    return "".join(_parts(text)) if color else _seen(text)


def _parts(text: str) -> Iterator[str]:
    own = re.compile(rf"{_COLOR}|\x1b\]8;;(?:{re.escape(docs_address())}/\w+\.md)?\x1b\\")
    at = 0
    for found in own.finditer(text):
        yield _seen(text[at : found.start()])
        yield found.group()
        at = found.end()
    yield _seen(text[at:])


def _seen(text: str) -> str:
    return _HIDDEN.sub(lambda found: _sign(ord(found.group())), text)


def _sign(code: int) -> str:
    if code == _DELETE:
        return "\u2421"
    return chr(_PICTURES + code) if code < ord(" ") else _REPLACED
