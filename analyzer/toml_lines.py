"""Where each key of a TOML file stands; `tomllib` parses but does not tell.

A path has the keys from the outermost table on; elements of an array, also of an array of tables, are numbered from 0,
as texts. A text that is no TOML is read as far as it makes sense.
"""

from __future__ import annotations

import re
from contextlib import suppress

from streambound.analyzer.spans import SourceText, Span

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


def toml_spans(source: SourceText) -> dict[Path, Span]:
    r"""Where every table header, key, inline key and element of an array stands, with a value that ends on its line.

    >>> spans = toml_spans(SourceText("c.toml", '[streams.S]\ncolumns = { a = "bigint" }'))
    >>> spans["streams", "S", "columns", "a"].column, spans["streams", "S", "columns", "a"].end_column
    (13, 25)
    """
    scanner = _Scanner(source.text)
    with suppress(_StopError, RecursionError):
        scanner.document()
    return {path: source.span(start, end) for path, (start, end) in scanner.places.items()}


def toml_lines(text: str) -> dict[Path, int]:
    r"""The 1-based line of every table header, key, inline key and element of an array.

    >>> toml_lines('[streams.S]\ncolumns = { a = "bigint" }')[("streams", "S", "columns", "a")]
    2
    """
    return {path: span.line for path, span in toml_spans(SourceText("", text)).items()}


class _StopError(Exception):
    """The rest is no TOML."""


class _Scanner:
    """Reads from left to right; ``places`` has the stretch of each path, where it was seen first."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.places: dict[Path, tuple[int, int]] = {}
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
        keys = self.keys()
        self.expect("]]" if array else "]")
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            self.places.setdefault(path, (start, self.at))
            if array and number == len(keys) - 1:
                self.elements[path] = self.elements.get(path, -1) + 1
            if path in self.elements:
                path = (*path, str(self.elements[path]))
                self.places.setdefault(path, (start, self.at))
        return path

    def pair(self, table: Path) -> None:
        """``a.b = value``."""
        self.skip(_BLANK)
        start, keys = self.at, self.keys()
        end = start + len(self.text[start : self.at].rstrip())
        self.expect("=")
        self.skip(_BLANK)
        paths = [(*table, *keys[: depth + 1]) for depth in range(len(keys))]
        known = {path for path in paths if path in self.places}
        for path in paths:
            self.places.setdefault(path, (start, end))
        self.value(paths[-1])
        value_end = start + len(self.text[start : self.at].rstrip())
        if "\n" not in self.text[start:value_end]:
            self.places.update((path, (start, value_end)) for path in paths if path not in known)

    def keys(self) -> list[str]:
        """The parts of a dotted key."""
        found = [self.key()]
        while self.ahead("."):
            self.at += 1
            found.append(self.key())
        return found

    def key(self) -> str:
        self.skip(_BLANK)
        if self.ahead('"') or self.ahead("'"):
            quoted = self.string()
            key = quoted[1:-1] if quoted[0] == "'" else _ESCAPE.sub(_unescaped, quoted[1:-1])
        else:
            key = self.take(_BARE)
        self.skip(_BLANK)
        return key

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
            start = self.at
            self.places.setdefault(element, (start, start + 1))
            self.value(element)
            end = start + len(self.text[start : self.at].rstrip())
            self.places[element] = (start, end if "\n" not in self.text[start:end] else start + 1)
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
        """Read the separator of two elements: a comma, unless the end follows."""
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
