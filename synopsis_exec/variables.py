"""Readable names for the attributes of a branch, each used once."""

from __future__ import annotations

from dataclasses import dataclass, field

from streambound.analyzer.query import Attribute
from streambound.synopsis_exec.emit import Names


@dataclass
class Variables:
    """The variables of a branch; those of its attributes are named after them, as ``s_a`` for ``S.a``."""

    names: Names = field(default_factory=lambda: Names(("now", "streams")))
    given: dict[Attribute, str] = field(default_factory=dict)

    @property
    def attributes(self) -> list[Attribute]:
        """The attributes of the query that have one; extrema have no source."""
        return [attribute for attribute in self.given if attribute.source]

    def of(self, attribute: Attribute) -> str:
        """The variable of an attribute's value."""
        if attribute not in self.given:
            self.given[attribute] = self.names.new(f"{attribute.source}_{attribute.column}".strip("_"))
        return self.given[attribute]
