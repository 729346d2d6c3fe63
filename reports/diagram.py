"""A drawing as data: panels of nodes and edges, which every drawing format renders."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from msgspec import Struct


class Node(Struct, frozen=True):
    """A box: a name unique in its panel, a title, lines below it, and a kind that formats may colour.

    ``shape``: "box" with corners, "rounded", "double" with two frames; empty where the format chooses.
    """

    name: str
    title: str
    lines: tuple[str, ...] = ()
    kind: str = "plain"
    shape: str = ""


class Edge(Struct, frozen=True):
    """An arrow between two nodes of a panel, by their names."""

    source: str
    target: str
    label: str = ""


class Panel(Struct, frozen=True):
    """One acyclic graph of a drawing; the title is empty where there is only one."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class Diagram(Struct, frozen=True):
    """A drawing: ``legend`` says in a sentence or two how to read it."""

    title: str
    legend: str
    panels: tuple[Panel, ...]


def printable(text: str) -> str:
    r"""A text on one line, without characters that a file format or a screen could choke on.

    >>> printable("a\nb\x00c")
    'a b c'
    """
    kept = ("\ufffd" if unicodedata.category(c) in ("Cs", "Cn") else " " if _control(c) else c for c in text)
    return " ".join("".join(kept).split())


def _control(character: str) -> bool:
    """Control characters, and those that change the direction of what follows."""
    return unicodedata.category(character) == "Cc" or unicodedata.bidirectional(character) in (
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
    )


def in_words(diagram: Diagram) -> Iterator[str]:
    """The drawing line by line, for readers that cannot see it."""
    for panel in diagram.panels:
        if panel.title:
            yield printable(panel.title)
        titles = {node.name: node.title for node in panel.nodes}
        for node in panel.nodes:
            yield printable(": ".join((node.title, "; ".join(node.lines))) if node.lines else node.title)
        for edge in panel.edges:
            label = f", {edge.label}" if edge.label else ""
            yield printable(f"{titles[edge.source]} -> {titles[edge.target]}{label}")


def columns(text: str) -> int:
    """The columns a text takes in a fixed-width font."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(bool(unicodedata.combining(character)) for character in text)
