"""Nested calls and tuples as Python text: on one line where they fit, else an item a line."""

from __future__ import annotations

from dataclasses import dataclass

from streambound.synopsis_exec.emit import WIDTH, literal


@dataclass(frozen=True, slots=True)
class Node:
    """Brackets with items between them; ``opening`` may begin with the name of what is called."""

    opening: str
    items: tuple[Tree, ...]
    closing: str


@dataclass(frozen=True, slots=True)
class Named:
    """An argument by its name, or an entry of a dictionary: what comes before the value, and the value."""

    prefix: str
    value: Tree


Tree = str | Node | Named


def called(function: str, /, *positional: Tree, **named: Tree) -> Node:
    """A call."""
    return Node(f"{function}(", (*positional, *(Named(f"{key}=", value) for key, value in named.items())), ")")


def listing(items: list[Tree]) -> Node:
    """A tuple."""
    return Node("(", tuple(items), ")")


def mapping(pairs: dict[str, str]) -> Node:
    """A dictionary of literals."""
    return Node("{", tuple(Named(f"{literal(key)}: ", literal(value)) for key, value in pairs.items()), "}")


def flat(tree: Tree) -> str:
    """The text on one line.

    >>> flat(called("f", listing(["1"]), x="2"))
    'f((1,), x=2)'
    """
    match tree:
        case str():
            return tree
        case Named(prefix, value):
            return prefix + flat(value)
        case Node(opening, items, closing):
            comma = "," if opening == "(" and len(items) == 1 else ""
            return f"{opening}{', '.join(map(flat, items))}{comma}{closing}"


def laid_out(tree: Tree, depth: int, before: str = "", after: str = "") -> list[str]:
    """The text, indented; ``before`` and ``after`` are what else is on its first and last line."""
    indent = "    " * depth
    if isinstance(tree, Named):
        return laid_out(tree.value, depth, before + tree.prefix, after)
    line = indent + before + flat(tree) + after
    if isinstance(tree, str) or len(line) <= WIDTH:
        return [line]
    inner = [text for item in tree.items for text in laid_out(item, depth + 1, after=",")]
    return [indent + before + tree.opening, *inner, indent + tree.closing + after]
