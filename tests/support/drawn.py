"""Diagrams of queries, and what is in their boxes and at their arrows."""

from __future__ import annotations

from typing import Any

from streambound.reports.diagram import Diagram
from streambound.reports.drawings import DIAGRAMS
from support.catalogs import PLAIN
from support.product import checked

STAGES = tuple(DIAGRAMS)
SVG = "{http://www.w3.org/2000/svg}"
CHAIN = "SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts"


def diagram(stage: str, sql: str, catalog: Any = PLAIN) -> Diagram:
    item = checked(sql, catalog)
    assert item.decision is not None, item.diagnostics
    return DIAGRAMS[stage](item, item.decision)


def boxes(stage: str, sql: str, catalog: Any = PLAIN) -> list[tuple[str, ...]]:
    (panel,) = diagram(stage, sql, catalog).panels
    return [(node.kind, node.title, *node.lines) for node in panel.nodes]


def arrows(stage: str, sql: str, catalog: Any = PLAIN) -> list[tuple[str, str, str]]:
    (panel,) = diagram(stage, sql, catalog).panels
    titles = {node.name: node.title for node in panel.nodes}
    return [(titles[edge.source], titles[edge.target], edge.label) for edge in panel.edges]
