"""Texts as a terminal, or the log of a CI job, should show them: rows and queries write nothing else there.

A control character could erase a message, or move the cursor over it; one that turns the direction of writing shows
another text than is there; and a log of CI takes some lines for commands. Each becomes one visible sign.
"""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Controls, marks of direction, and signs without a width; not the joiners of emoji and of some scripts."""
_COMMAND = re.compile(r"#(?=#\w*\[)")
"""GitHub, Azure and TeamCity look for ``##[…]``, ``##vso[…]`` and ``##teamcity[…]`` anywhere in a line."""
_GITHUB = re.compile(r"^([^\S\n]*):(?=:(?!:))", re.M)
"""GitHub takes a line that begins with ``::`` for a command; ``:::``, which reports have, begins none that it knows."""
_PICTURES = 0x2400
_DELETE = 0x7F
_REPLACED = "\ufffd"
_LIKE_HASH, _LIKE_COLON = "\u2317", "\u2236"


def seen(text: str) -> str:
    r"""A text with a sign in place of each character that is not seen, and without commands to CI.

    >>> seen("a\x1b[2Kb\r\u202ec"), seen("x ##[group]")
    ('a␛[2Kb␍�c', 'x ⌗#[group]')
    """
    return without_hidden(without_commands(text))


def as_line(text: str) -> str:
    r"""The same, with a sign for each end of a line, too.

    >>> as_line("a\n::b")
    'a␊::b'
    """
    return seen(text.replace("\n", chr(_PICTURES + ord("\n"))))


def without_commands(text: str) -> str:
    """A text in which the first sign of each command to CI is another one that looks like it."""
    return _GITHUB.sub(rf"\1{_LIKE_COLON}", _COMMAND.sub(_LIKE_HASH, text))


def without_hidden(text: str) -> str:
    """A text with a sign in place of each character that is not seen; ends of lines stay."""
    return _HIDDEN.sub(lambda found: _sign(ord(found.group())), text)


def literal_without_commands(text: str) -> str:
    r"""JSON or a job that says the same, without commands to CI: both have them in literals only, or in comments.

    >>> literal_without_commands('{"a": "##[x]"}')
    '{"a": "\\u0023#[x]"}'
    """
    return _COMMAND.sub(r"\\u0023", text)


def _sign(code: int) -> str:
    if code == _DELETE:
        return "\u2421"
    return chr(_PICTURES + code) if code < ord(" ") else _REPLACED
