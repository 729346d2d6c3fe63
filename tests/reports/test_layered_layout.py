"""The layout of drawings: nothing lies on anything, and texts fit their boxes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from streambound.reports.diagram import Edge, Node, Panel, columns
from streambound.reports.drawings import draw
from streambound.reports.layered_layout import Box, layered_layout
from support.drawn import SVG
from support.product import checked
from support.profiles import examples
from support.queries import Statement, statements


@dataclass(frozen=True)
class Rectangle:
    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, box: Box) -> Rectangle:
        return cls(box.x - box.width / 2, box.top, box.x + box.width / 2, box.bottom)

    def meets(self, other: Rectangle) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@st.composite
def panels(draw: Any) -> Panel:
    """Any acyclic panel, with titles and labels of any length."""
    number = draw(st.integers(1, 9))
    pairs = draw(st.sets(st.sampled_from([*combinations(range(number), 2)]), max_size=16)) if number > 1 else set()
    words = st.integers(0, 30).map("x".__mul__)
    nodes = tuple(Node(str(i), draw(words), tuple("y" for _ in range(draw(st.integers(0, 3))))) for i in range(number))
    return Panel("", nodes, tuple(Edge(str(a), str(b), draw(words)) for a, b in sorted(pairs)))


@examples(50)
@given(panels())
def test_nothing_lies_on_anything(panel: Panel) -> None:
    layout = layered_layout(
        panel,
        lambda node: (10.0 + 8 * columns(node.title), 20.0 + 10 * len(node.lines)),
        lambda label: (8.0 * columns(label), 10.0),
    )
    assert set(layout.boxes) == {node.name for node in panel.nodes}
    assert [route.edge for route in layout.routes] == list(panel.edges)
    solid = [Rectangle.of(box) for box in (*layout.boxes.values(), *(r.label for r in layout.routes if r.edge.label))]
    assert not any(a.meets(b) for a, b in combinations(solid, 2))
    assert all(r.left >= -1e-6 and r.right <= layout.width + 1e-6 and r.bottom <= layout.height + 1e-6 for r in solid)
    for node in panel.nodes:
        assert layout.boxes[node.name].width == 10 + 8 * columns(node.title)
    for route in layout.routes:
        assert route.through[0] == layout.boxes[route.edge.source]
        assert route.through[-1] == layout.boxes[route.edge.target]
        assert all(upper.bottom < lower.top for upper, lower in pairwise(route.through))


@examples(20)
@given(statements())
def test_texts_fit_their_boxes_and_the_page(statement: Statement) -> None:
    """On the page itself: at 0.6 em a column, every text of a box is inside it, and all of it inside the page."""
    item = checked(statement.sql, statement.catalog)
    if item.decision is None:
        return
    root = ET.fromstring(draw("tables", "svg", item, item.decision))
    width, height = (float(root.get(name, "0")) for name in ("width", "height"))
    for group in root.iter(f"{SVG}g"):
        left, top = map(float, re.findall(r"[-\d.]+", group.get("transform", "")))
        rectangles = [
            Rectangle(float(r.get("x", 0)), float(r.get("y", 0)),
                      float(r.get("x", 0)) + float(r.get("width", 0)), float(r.get("y", 0)) + float(r.get("height", 0)))
            for r in group.iter(f"{SVG}rect")
        ]  # fmt: skip
        for text in group.iter(f"{SVG}text"):
            half = columns(text.text or "") * 13 * 0.6 / 2 * (1.25 if text.get("class") == "sb-title" else 1)
            x, y = float(text.get("x", 0)), float(text.get("y", 0))
            assert half <= left + x <= width - half
            assert 10 <= top + y <= height - 4
            home = [r for r in rectangles if r.left < x < r.right and r.top < y < r.bottom]
            assert all(
                r.left <= x - half and x + half <= r.right and y - 10 >= r.top and y + 4 <= r.bottom for r in home
            )
