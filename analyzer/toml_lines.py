"""Where each key of a TOML file stands; `tomllib` parses but does not tell.

A path has the keys from the outermost table on; elements of an array, also of an array of tables, are numbered from 0,
as texts. A text that is no TOML is read as far as it makes sense.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import suppress

Path = tuple[str, ...]

_BLANK = re.compile(r"[ \t]*")
_BLANKS = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[^\s=.\[\]{}\"',#]+")
_PLAIN = re.compile(r"[^,\]}\n#]+")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"""(?!")"{0,2}', re.S),
    re.compile(r"'''.*?'''(?!')'{0,2}", re.S),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}


def toml_lines(text: str) -> dict[Path, int]:
    r"""The 1-based line of every table header, key, inline key and element of an array.

    >>> toml_lines('[streams.S]\ncolumns = { a = "bigint" }')[("streams", "S", "columns", "a")]
    2
    """
    return {path: line for path, (line, _) in toml_places(text).items()}


def toml_places(text: str) -> dict[Path, tuple[int, int]]:
    r"""The 1-based line and column, in code points, of every table header, key, inline key and element of an array.

    >>> toml_places('[[x.y]]\na.b = [1,\n 2]')[("x", "y", "0", "a", "b", "1")]
    (3, 2)
    """
    scanner = _Scanner(text)
    with suppress(_StopError, RecursionError):
        scanner.document()
    starts = [0, *(i + 1 for i, character in enumerate(text) if character == "\n")]
    places = {}
    for path, offset in scanner.places.items():
        line = bisect_right(starts, offset)
        places[path] = (line, offset - starts[line - 1] + 1)
    return places


class _StopError(Exception):
    """What follows is no TOML."""


class _Scanner:
    """Reads from left to right; ``places`` has the offset of each path seen first."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.places: dict[Path, int] = {}
        self.elements: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        self.skip(_BLANKS)
        while self.at < len(self.text):
            if self.ahead("["):
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANKS)

    def header(self) -> Path:
        """``[a.b]``, or ``[[a.b]]`` for one more element of the array ``a.b``."""
        start, array = self.at, self.ahead("[[")
        self.at += 2 if array else 1
        path: Path = ()
        keys = self.keys()
        for number, (key, _) in enumerate(keys):
            path = (*path, key)
            self.places.setdefault(path, start)
            if array and number == len(keys) - 1:
                self.elements[path] = self.elements.get(path, -1) + 1
            if path in self.elements:
                path = (*path, str(self.elements[path]))
                self.places.setdefault(path, start)
        self.expect("]]" if array else "]")
        return path

    def pair(self, table: Path) -> None:
        """``a.b = value``."""
        path = table
        for key, start in self.keys():
            path = (*path, key)
            self.places.setdefault(path, start)
        self.expect("=")
        self.skip(_BLANK)
        self.value(path)

    def keys(self) -> list[tuple[str, int]]:
        """The parts of a dotted key, each with its offset."""
        found = [self.key()]
        while self.ahead("."):
            self.at += 1
            found.append(self.key())
        return found

    def key(self) -> tuple[str, int]:
        self.skip(_BLANK)
        start = self.at
        if self.ahead('"') or self.ahead("'"):
            quoted = self.string()
            key = quoted[1:-1] if quoted[0] == "'" else _ESCAPE.sub(_unescaped, quoted[1:-1])
        else:
            key = self.take(_BARE)
        self.skip(_BLANK)
        return key, start

    def value(self, path: Path) -> None:
        if self.ahead("["):
            self.array(path)
        elif self.ahead("{"):
            self.inline_table(path)
        elif self.ahead('"') or self.ahead("'"):
            self.string()
        else:
            self.take(_PLAIN)

    def array(self, path: Path) -> None:
        self.expect("[")
        number = 0
        self.skip(_BLANKS)
        while not self.ahead("]"):
            element = (*path, str(number))
            self.places.setdefault(element, self.at)
            self.value(element)
            self.comma("]")
            number += 1
        self.expect("]")

    def inline_table(self, path: Path) -> None:
        self.expect("{")
        self.skip(_BLANKS)
        while not self.ahead("}"):
            self.pair(path)
            self.comma("}")
        self.expect("}")

    def comma(self, end: str) -> None:
        """What stands between two elements: a comma, unless the end follows."""
        self.skip(_BLANKS)
        if not self.ahead(end):
            self.expect(",")
            self.skip(_BLANKS)

    # --- characters ---------------------------------------------------------------------------------------------

    def string(self) -> str:
        for pattern in _STRINGS:
            if found := pattern.match(self.text, self.at):
                self.at = found.end()
                return found.group()
        raise _StopError

    def ahead(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def expect(self, mark: str) -> None:
        if not self.ahead(mark):
            raise _StopError
        self.at += len(mark)

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _StopError
        self.at = found.end()
        return found.group()

    def skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at


def _unescaped(found: re.Match[str]) -> str:
    code = found.group(1)
    if code[0] in "uU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else ""
    return _ESCAPES.get(code, code)
