"""Where a node of a syntax tree stands: the same in a copy of the tree, and in one that other steps have changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

E = TypeVar("E", bound=exp.Expr)


@dataclass(frozen=True, slots=True)
class Spot:
    """A node: the name of its class, and the offsets of its first and its last word in the text."""

    kind: str
    start: int
    end: int

    @classmethod
    def of(cls, node: exp.Expr) -> Spot | None:
        """The spot of a node; None where nothing of it stands in the text."""
        places = [leaf.meta for leaf in node.walk() if "start" in leaf.meta]
        if not places:
            return None
        return cls(type(node).__name__, min(p["start"] for p in places), max(p["end"] for p in places))

    def node(self, tree: exp.Expr) -> exp.Expr | None:
        """The one node of a tree that stands there; None where none does, or several."""
        found = [one for one in tree.walk() if type(one).__name__ == self.kind and Spot.of(one) == self]
        return found[0] if len(found) == 1 else None


def unplaced(node: E) -> E:
    """A node that does not stand in the text."""
    for one in node.walk():
        one.meta.pop("start", None)
        one.meta.pop("end", None)
    return node
