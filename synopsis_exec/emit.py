"""Writing Python text: lines with indentation, quoted literals, and names that cannot clash."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

WIDTH = 120
_INDENT = "    "


@dataclass
class Lines:
    """Lines of Python under construction."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def add(self, *lines: str) -> None:
        """Append lines at the current indentation."""
        self.lines.extend(_INDENT * self.depth + line if line else "" for line in lines)

    def comment(self, text: str) -> None:
        """Append a comment, wrapped; whatever the text holds, it stays a comment."""
        room = WIDTH - len(_INDENT) * self.depth - 2
        for line in printable(text).split("\n"):
            for part in textwrap.wrap(line, room, drop_whitespace=False, replace_whitespace=False) or [""]:
                self.add(f"# {part}".rstrip())

    def call(self, head: str, items: Iterable[str], tail: str, spread: bool = False) -> None:
        """Append ``head item, item tail`` on one line where it fits, else an item a line."""
        parts = list(items)
        flat = head + ", ".join(parts) + tail
        if not spread and len(flat) + len(_INDENT) * self.depth <= WIDTH and "\n" not in flat:
            self.add(flat)
            return
        self.add(head)
        with self.indented():
            self.add(*(f"{part}," for part in parts))
        self.add(tail)

    @contextmanager
    def indented(self, levels: int = 1) -> Iterator[None]:
        """Indent what is added inside."""
        self.depth += levels
        try:
            yield
        finally:
            self.depth -= levels

    @property
    def text(self) -> str:
        """The text, with a final line ending."""
        return "\n".join(self.lines) + "\n"


def printable(text: str) -> str:
    r"""The text with line endings as ``\n`` and every other unprintable character escaped."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join("".join(c if c.isprintable() else repr(c)[1:-1] for c in line) for line in lines)


class Names:
    """Python names for a query's names: lower case, readable, each used once.

    >>> names = Names(("close",))
    >>> names.new("S.A"), names.new("s-a"), names.new("close"), names.new("2nd")
    ('s_a', 's_a_2', 'close_2', 'x2nd')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken, *keyword.kwlist, *keyword.softkwlist}

    def new(self, wanted: str) -> str:
        """A name like the wanted one that was not given out before."""
        base = re.sub(r"\W+", "_", wanted.lower(), flags=re.ASCII).strip("_") or "x"
        base = f"x{base}" if base[0].isdigit() else base
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name
