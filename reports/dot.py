"""A drawing in DOT, the language of Graphviz: names are numbers, every text is a quoted string."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.reports.diagram import Diagram, Node, Panel, printable

_FILLS = {"stream": "#ddf4ff", "table": "#dafbe1", "results": "#fbefff", "culprit": "#ffebe9"}

_SHAPES = {"box": ', style="filled"', "double": ', style="filled", peripheries="2"'}


def dot(diagram: Diagram) -> str:
    """The drawing as a directed graph, a cluster per panel."""
    return "\n".join(_lines(diagram))


def _lines(diagram: Diagram) -> Iterator[str]:
    yield "digraph {"
    yield f"  graph [label={quoted(diagram.title)}, labelloc=t, tooltip={quoted(diagram.legend)}, fontname=monospace];"
    yield '  node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", fontname=monospace];'
    yield "  edge [fontname=monospace];"
    for number, panel in enumerate(diagram.panels, start=1):
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={quoted(panel.title)};"
        yield from (f"    {line}" for line in _panel_lines(panel, number))
        yield "  }"
    yield "}"


def _panel_lines(panel: Panel, number: int) -> Iterator[str]:
    names = {node.name: f"n{number}_{i}" for i, node in enumerate(panel.nodes, start=1)}
    for node in panel.nodes:
        yield f"{names[node.name]} [{_attributes(node)}];"
    for edge in panel.edges:
        label = f" [label={quoted(edge.label)}]" if edge.label else ""
        yield f"{names[edge.source]} -> {names[edge.target]}{label};"


def _attributes(node: Node) -> str:
    fill = f', fillcolor="{_FILLS[node.kind]}"' if node.kind in _FILLS else ""
    return f"label={quoted(node.title, *node.lines)}{fill}{_SHAPES.get(node.shape, '')}"


def quoted(*lines: str) -> str:
    r"""Lines as a quoted string: no quote ends it, no backslash or ``&`` stands for anything else in a label.

    >>> print(quoted('a "b" \\N', "c & d"))
    "a \"b\" \\N\nc &amp; d"
    """
    escaped = (printable(line).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
