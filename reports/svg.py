"""A drawing as SVG: one self-contained file, readable on light and dark screens, described for screen readers.

Texts are in a fixed-width font, so that boxes fit their texts whichever font a viewer has.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import pairwise
from xml.etree import ElementTree as ET

from msgspec import Struct

from streambound.reports.diagram import Diagram, Node, Panel, columns, in_words, printable
from streambound.reports.layered_layout import Box, Extent, PanelLayout, Route, layered_layout

FONT, COLUMN, LINE = 13, 8.0, 18.0
PAD, MARGIN = 12.0, 24.0
ARROW = 8.0
_WRAP = 88
_ROUNDING = {"box": "0", "double": "0", "rounded": "14"}

_LIGHT = {
    "plain": ("#f6f8fa", "#57606a"),
    "stream": ("#ddf4ff", "#0969da"),
    "table": ("#dafbe1", "#1a7f37"),
    "results": ("#fbefff", "#8250df"),
    "culprit": ("#ffebe9", "#cf222e"),
}
_DARK = {
    "plain": ("#21262d", "#8b949e"),
    "stream": ("#0c2d4d", "#58a6ff"),
    "table": ("#12361f", "#3fb950"),
    "results": ("#321a4d", "#bc8cff"),
    "culprit": ("#4d1a1d", "#ff7b72"),
}


def svg(diagram: Diagram) -> str:
    """The drawing as an SVG document."""
    parts = _stacked(diagram)
    width = max(part.width for part in parts) + 2 * MARGIN
    height = sum(part.height for part in parts) + 2 * MARGIN
    root = ET.Element("svg", _root_attributes(width, height))
    ET.SubElement(root, "title", id="sb-title").text = printable(diagram.title)
    ET.SubElement(root, "desc", id="sb-desc").text = "\n".join((printable(diagram.legend), *in_words(diagram)))
    ET.SubElement(root, "style").text = _style()
    ET.SubElement(root, "rect", {"class": "sb-page", "width": _n(width), "height": _n(height)})
    top = MARGIN
    for part in parts:
        part.element.set("transform", f"translate({_n((width - part.width) / 2)} {_n(top)})")
        root.append(part.element)
        top += part.height
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


class _Part(Struct, frozen=True):
    """A piece of the page, drawn from (0, 0), with its extent."""

    element: ET.Element
    width: float
    height: float


def _stacked(diagram: Diagram) -> list[_Part]:
    parts = [_heading(diagram.title, "sb-title")]
    for panel in diagram.panels:
        if panel.title:
            parts.append(_heading(panel.title, "sb-strong"))
        if panel.nodes:
            parts.append(_panel(panel))
    widest = max(part.width for part in parts)
    wrap = max(_WRAP, int(widest / COLUMN))
    parts.extend(_heading(line, "sb-legend") for line in textwrap.wrap(printable(diagram.legend), wrap))
    return parts


def _heading(text: str, style: str) -> _Part:
    shown = printable(text)
    group = ET.Element("g")
    width = columns(shown) * COLUMN * (1.25 if style == "sb-title" else 1)
    height = LINE if style == "sb-legend" else 2 * LINE
    _text(group, shown, width / 2, LINE * 0.75, style)
    return _Part(group, width, height)


# --- panels ------------------------------------------------------------------------------------------------------


def _panel(panel: Panel) -> _Part:
    layout = layered_layout(panel, _node_extent, _label_extent)
    group = ET.Element("g")
    for route in layout.routes:
        _draw_route(group, route)
    for node in panel.nodes:
        _draw_node(group, node, layout)
    return _Part(group, layout.width, layout.height + 1.5 * LINE)


def _node_extent(node: Node) -> Extent:
    widest = max(columns(printable(line)) for line in (node.title, *node.lines))
    return widest * COLUMN + 2 * PAD, (1 + len(node.lines)) * LINE + 1.5 * PAD


def _label_extent(label: str) -> Extent:
    return columns(printable(label)) * COLUMN, LINE


def _draw_node(group: ET.Element, node: Node, layout: PanelLayout) -> None:
    """A node's box is as high as its row; its text keeps to the middle."""
    box = layout.boxes[node.name]
    width, height = _node_extent(node)
    top = box.top + (box.height - height) / 2
    for inset in (0.0, 3.0) if node.shape == "double" else (0.0,):
        corner = {"x": _n(box.x - width / 2 + inset), "y": _n(box.top + inset)}
        size = {"width": _n(width - 2 * inset), "height": _n(box.height - 2 * inset)}
        rounding = {"rx": _ROUNDING.get(node.shape, "6")}
        ET.SubElement(group, "rect", {"class": f"sb-box sb-{node.kind}", **corner, **size, **rounding})
    _text(group, printable(node.title), box.x, top + PAD + LINE * 0.6, "sb-strong")
    for i, line in enumerate(node.lines, start=1):
        _text(group, printable(line), box.x, top + PAD + LINE * (i + 0.6), "sb-text")


def _draw_route(group: ET.Element, route: Route) -> None:
    """A curve from box to box, interrupted by the label, and an arrow head."""
    stops = list(route.through)
    path = [f"M{_n(stops[0].x)} {_n(stops[0].bottom)}"]
    for before, after in pairwise(stops):
        end = after.top - (ARROW if after is stops[-1] else 0)
        middle = (before.bottom + end) / 2
        path.append(f"C{_n(before.x)} {_n(middle)} {_n(after.x)} {_n(middle)} {_n(after.x)} {_n(end)}")
        if after is not stops[-1]:
            labelled = after is route.label and bool(route.edge.label)
            path.append(f"{'M' if labelled else 'L'}{_n(after.x)} {_n(after.bottom)}")
    ET.SubElement(group, "path", {"class": "sb-edge", "d": " ".join(path)})
    ET.SubElement(group, "path", {"class": "sb-head", "d": _arrow_head(stops[-1])})
    if route.edge.label:
        _text(group, printable(route.edge.label), route.label.x, route.label.top + LINE * 0.75, "sb-text")


def _arrow_head(box: Box) -> str:
    x, y, half = box.x, box.top, ARROW / 2
    return f"M{_n(x)} {_n(y)} L{_n(x - half)} {_n(y - ARROW)} L{_n(x + half)} {_n(y - ARROW)} Z"


def _text(group: ET.Element, text: str, x: float, y: float, style: str) -> None:
    ET.SubElement(group, "text", {"class": style, "x": _n(x), "y": _n(y)}).text = text


# --- page --------------------------------------------------------------------------------------------------------


def _root_attributes(width: float, height: float) -> dict[str, str]:
    return {
        "xmlns": "http://www.w3.org/2000/svg",
        "role": "img",
        "aria-labelledby": "sb-title sb-desc",
        "viewBox": f"0 0 {_n(width)} {_n(height)}",
        "width": _n(width),
        "height": _n(height),
    }


def _style() -> str:
    return "\n".join(
        (
            "",
            f"text {{ font: {FONT}px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace;",
            "  text-anchor: middle; white-space: pre }",
            f".sb-title {{ font-size: {FONT * 1.25:g}px; font-weight: bold }}",
            ".sb-strong { font-weight: bold }",
            ".sb-box { stroke-width: 1.5 }",
            ".sb-culprit { stroke-width: 2.5; stroke-dasharray: 6 3 }",
            ".sb-edge { fill: none; stroke-width: 1.5 }",
            *_colours("#ffffff", "#1f2328", "#57606a", _LIGHT),
            "@media (prefers-color-scheme: dark) {",
            *_colours("#0d1117", "#e6edf3", "#9ea7b3", _DARK),
            "}",
        )
    )


def _colours(page: str, ink: str, line: str, kinds: dict[str, tuple[str, str]]) -> Iterator[str]:
    yield f".sb-page {{ fill: {page} }}"
    yield f"text {{ fill: {ink} }}"
    yield f".sb-edge {{ stroke: {line} }}"
    yield f".sb-head {{ fill: {line} }}"
    yield from (f".sb-{kind} {{ fill: {fill}; stroke: {stroke} }}" for kind, (fill, stroke) in kinds.items())


def _n(value: float) -> str:
    """A coordinate, to a tenth."""
    return f"{value:.1f}".removesuffix(".0")
