"""A drawing as a Mermaid flowchart, which GitHub and many editors show: names are numbers, texts are escaped."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.reports.diagram import Diagram, Panel, printable

_PLAIN = frozenset(" _,.()+=/{}")
_SHAPES = {"box": ("[", "]"), "rounded": ("(", ")"), "double": ("[[", "]]")}
_STYLES = (
    "classDef stream fill:#ddf4ff,stroke:#0969da,color:#1f2328",
    "classDef table fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
    "classDef results fill:#fbefff,stroke:#8250df,color:#1f2328",
    "classDef culprit fill:#ffebe9,stroke:#cf222e,color:#1f2328",
    "classDef plain fill:#f6f8fa,stroke:#57606a,color:#1f2328",
)


def mermaid(diagram: Diagram) -> str:
    """The drawing as a flowchart from top to bottom, a subgraph per titled panel."""
    return "\n".join(_lines(diagram))


def _lines(diagram: Diagram) -> Iterator[str]:
    yield "flowchart TD"
    yield f"  accTitle: {_words(diagram.title)}"
    yield f"  accDescr: {_words(diagram.legend)}"
    for number, panel in enumerate(diagram.panels, start=1):
        if panel.title:
            yield f"  subgraph p{number}[{quoted(panel.title)}]"
        yield from (f"  {'  ' if panel.title else ''}{line}" for line in _panel_lines(panel, number))
        if panel.title:
            yield "  end"
    kinds = {node.kind for panel in diagram.panels for node in panel.nodes}
    yield from (f"  {style}" for style in _STYLES if style.split()[1] in kinds)


def _panel_lines(panel: Panel, number: int) -> Iterator[str]:
    names = {node.name: f"n{number}x{i}" for i, node in enumerate(panel.nodes, start=1)}
    if not panel.nodes:
        yield f"n{number}x0[{quoted('nothing to draw')}]"
    for node in panel.nodes:
        before, after = _SHAPES.get(node.shape, _SHAPES["box"])
        yield f"{names[node.name]}{before}{quoted(node.title, *node.lines)}{after}:::{node.kind}"
    for edge in panel.edges:
        label = f"|{quoted(edge.label)}|" if edge.label else ""
        yield f"{names[edge.source]} -->{label} {names[edge.target]}"


def quoted(*lines: str) -> str:
    """Lines as a quoted text in which all but letters, digits and plain punctuation is a character code.

    >>> quoted('S.`a"b`', "end; %%")
    '"S.#96;a#34;b#96;<br/>end#59; #37;#37;"'
    """
    return '"' + "<br/>".join(map(_escaped, lines)) + '"'


def _escaped(line: str) -> str:
    return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in printable(line))


def _words(text: str) -> str:
    """A text for places where Mermaid reads to the end of the line and knows no character codes."""
    return "".join(c if c.isalnum() or c in " _,.()" else " " for c in printable(text))
