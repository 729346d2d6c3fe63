"""Readable names for the attributes of a branch, each used once."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from streambound.analyzer.query import Attribute


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


@dataclass
class Variables:
    """The variables of a branch; those of its attributes are named after them, as ``s_a`` for ``S.a``."""

    names: Names = field(default_factory=lambda: Names(("now", "streams")))
    given: dict[Attribute, str] = field(default_factory=dict)

    def of(self, attribute: Attribute) -> str:
        """The variable of an attribute's value."""
        if attribute not in self.given:
            self.given[attribute] = self.names.new(f"{attribute.source}_{attribute.column}".strip("_"))
        return self.given[attribute]
