"""The registry of drawing formats of `explain`: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from streambound.criteria.check import Checked
from streambound.criteria.verdict import Decision
from streambound.reports.diagram import Diagram
from streambound.reports.dot import dot
from streambound.reports.mermaid import mermaid
from streambound.reports.stream_diagrams import graph_diagram, tables_diagram
from streambound.reports.svg import svg


@dataclass(frozen=True, slots=True)
class Drawing:
    """A named way to render a diagram."""

    name: str
    render: Callable[[Diagram], str]


DRAWINGS: tuple[Drawing, ...] = (Drawing("mermaid", mermaid), Drawing("dot", dot), Drawing("svg", svg))

DIAGRAMS: dict[str, Callable[[Checked, Decision], Diagram]] = {"graph": graph_diagram, "tables": tables_diagram}
"""The stages that can be drawn."""


def draw(stage: str, format_name: str, checked: Checked, decision: Decision) -> str:
    """A stage of a decided statement in a drawing format; raises UsageError for what is too large to draw."""
    drawing = next(drawing for drawing in DRAWINGS if drawing.name == format_name)
    return drawing.render(DIAGRAMS[stage](checked, decision))


def draw_circuit(stage: str, format_name: str, checked: Checked) -> str:
    """A stage of a statement's circuit in a drawing format; raises UsageError for what has none, or is too large."""
    from streambound.reports.circuit_stages import circuit_diagram

    drawing = next(drawing for drawing in DRAWINGS if drawing.name == format_name)
    return drawing.render(circuit_diagram(stage, checked))
