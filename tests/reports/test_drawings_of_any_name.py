"""Every statement can be drawn, with any name, in every format."""

from __future__ import annotations

from itertools import chain, product
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.reports import dot, mermaid
from streambound.reports.diagram import Diagram, Edge, Node, Panel, printable
from streambound.reports.drawings import DIAGRAMS, DRAWINGS, draw
from streambound.reports.svg import svg
from support.catalogs import streams
from support.drawing_texts import dot_labels, mermaid_labels
from support.drawn import STAGES, SVG
from support.product import checked
from support.profiles import examples
from support.queries import Statement, statements


@examples(30)
@given(statements())
def test_every_statement_can_be_drawn(statement: Statement) -> None:
    item = checked(statement.sql, statement.catalog)
    if item.decision is None:
        return
    for stage, drawing in product(STAGES, DRAWINGS):
        assert draw(stage, drawing.name, item, item.decision)
    drawn = DIAGRAMS["tables"](item, item.decision).panels
    assert any(node.kind == "culprit" for panel in drawn for node in panel.nodes) == (item.verdict != "bounded")


HOSTILE = [
    'a"b', "a\\b", "\\N", "x`y", "end", "a]b|c", "<b>&amp;</b>", "%%{init}", "#35;", "style:#1;", "漢字", "a;b", "-->",
    "a\nb", "'", "é\u0301", "\u202ex", "{}", "1. one", "[x](y)", "]]>", "subgraph",
]  # fmt: skip


def hostile_catalog(name: str) -> dict[str, Any]:
    return {
        "streams": {"T": {"timestamp": name, "columns": {name: "bigint", "k": "bigint"}}, **streams("S")["streams"]}
    }


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("stage", STAGES)
def test_any_name_can_be_drawn(stage: str, name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    item = checked(f"SELECT {quoted}.k FROM S, T AS {quoted} WHERE S.ts > {quoted}.{quoted}", hostile_catalog(name))
    assert item.decision is not None, item.diagnostics
    found = DIAGRAMS[stage](item, item.decision)
    texts = [[printable(text) for text in (node.title, *node.lines)] for panel in found.panels for node in panel.nodes]
    assert any(printable(name) in text for lines in texts for text in lines)
    assert dot_labels(dot.dot(found)) == texts
    assert mermaid_labels(mermaid.mermaid(found)) == texts
    shown = [element.text for element in ET.fromstring(svg(found)).iter(f"{SVG}text")]
    assert [text for text in shown if text in set(chain(*texts))]


@given(st.lists(st.text(), min_size=1, max_size=3), st.text())
def test_any_text_comes_back_from_every_format(lines: list[str], label: str) -> None:
    title, *rest = lines
    nodes = (Node("a", title, tuple(rest), "table"), Node("b", "b"))
    found = Diagram(label, label, (Panel(label, nodes, (Edge("a", "b", label),)),))
    wanted = [[printable(text) for text in lines], ["b"]]
    assert dot_labels(dot.dot(found)) == wanted
    assert mermaid_labels(mermaid.mermaid(found)) == wanted
    root = ET.fromstring(svg(found))
    shown = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert set(wanted[0]) <= set(shown)
