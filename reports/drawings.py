"""The registry of drawing formats of `explain`: add one by adding a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.errors import UsageError
from streambound.analyzer.query import Branch
from streambound.criteria.check import Checked
from streambound.criteria.dependency_graph import DependencyGraph, vertex_names
from streambound.criteria.synopsis import MOST_TABLES, Synopsis
from streambound.criteria.verdict import Decision
from streambound.criteria.ways import Way
from streambound.criteria.wording import listed
from streambound.reports.diagram import Diagram, Edge, Node, Panel
from streambound.reports.dot import dot
from streambound.reports.mermaid import mermaid
from streambound.reports.phrases import join_text
from streambound.reports.svg import svg
from streambound.reports.table_words import TableWords, parts

MOST_TABLES_DRAWN = 100
MOST_PANELS = 20

_GRAPH_LEGEND = (
    "An edge leads from a stream to one that its rows must be newer than (transitive reduction). "
    "A row is remembered until the streams it waits for have come."
)
_TABLES_LEGEND = (
    "A box is a set of streams whose partial matches are remembered. An edge is the arrival of a row. "
    "Streams that share a timestamp take several edges at once."
)


def graph_diagram(checked: Checked, decision: Decision) -> Diagram:
    """The dependency graph of every branch (docs/theory-conditions.md)."""
    branches = decision.derivation.renamed.branches
    panels = _panels(branches, lambda _, branch: _graph_panel(Facts.of(branch)))
    return Diagram(f"Dependency graph of {decision.query.name}", _GRAPH_LEGEND, panels)


def tables_diagram(checked: Checked, decision: Decision) -> Diagram:
    """The sets of streams of every branch, their tables, and how rows lead on to the next (docs/theory-bags.md).

    Raises UsageError for a branch with more than `MOST_TABLES_DRAWN` sets.
    """
    branches = parts(checked, decision)
    panels = _panels(branches, lambda number, branch: _tables_panel(TableWords.of(checked, decision, number, branch)))
    return Diagram(f"Tables of {decision.query.name}", _TABLES_LEGEND, panels)


def _panels(branches: tuple[Branch, ...], draw: Callable[[int, Branch], Panel]) -> tuple[Panel, ...]:
    """A panel per branch; branches that look the same share one."""
    numbers: dict[Panel, list[str]] = {}
    for number, branch in enumerate(branches, start=1):
        numbers.setdefault(draw(number, branch), []).append(str(number))
    if not numbers:
        return (Panel("no branch can produce a row", (), ()),)
    if len(branches) == 1:
        return tuple(numbers)
    titled = [
        replace(panel, title=f"branch{'es' if len(mine) > 1 else ''} {listed(mine)} of {len(branches)}")
        for panel, mine in numbers.items()
    ]
    more = len(titled) - MOST_PANELS
    rest = (Panel(f"and {more} more kinds of branches", (), ()),) if more > 0 else ()
    return (*titled[:MOST_PANELS], *rest)


# --- the dependency graph ----------------------------------------------------------------------------------------


def _graph_panel(facts: Facts) -> Panel:
    graph = DependencyGraph.of(facts)
    members: dict[str, list[str]] = {}
    for alias, vertex in vertex_names(facts).items():
        members.setdefault(vertex, []).append(alias)
    nodes = tuple(Node(v, v, (_waits(facts, members[v]),), "stream") for v in graph.vertices)
    edges = tuple(
        Edge(newer, older, join_text(facts, facts.time(members[older][0]), facts.time(members[newer][0])))
        for newer in graph.vertices
        for older in graph.children[newer]
    )
    return Panel("", nodes, edges)


def _waits(facts: Facts, aliases: list[str]) -> str:
    later = dict.fromkeys(stream for alias in aliases for stream in facts.later[alias])
    return f"waits for {listed(later)}" if later else "waits for no stream"


# --- the tables --------------------------------------------------------------------------------------------------


def _tables_panel(words: TableWords) -> Panel:
    synopsis = words.synopsis
    if synopsis.sets is None or len(synopsis.sets) > MOST_TABLES_DRAWN or synopsis.transitions is None:
        remedy = "print them as text, or relate the streams' timestamps"
        number = f"more than {MOST_TABLES}" if synopsis.sets is None else str(len(synopsis.sets))
        raise UsageError(f"{number} tables: too many to draw", remedy=remedy)
    tables = [
        Node(_name(t.streams), t.name, words.lines(t), "culprit" if words.culprits(t) else "table")
        for t in synopsis.tables
    ]
    start = Node(_name(()), "nothing", ("no row so far",), "plain")
    kind = "culprit" if words.result_culprits else "results"
    results = Node(_name(synopsis.streams), "results", words.result_lines, kind)
    return Panel("", (start, *tables, results), tuple(_steps(synopsis)))


def _steps(synopsis: Synopsis) -> Iterable[Edge]:
    """The transitions that are not several others in a row."""
    import networkx as nx

    transitions = synopsis.transitions or ()
    graph = nx.DiGraph((_name(old), _name(t.target)) for t in transitions for old in _remembered(t))
    kept = nx.transitive_reduction(graph)
    for transition in transitions:
        for old in _remembered(transition):
            if kept.has_edge(_name(old), _name(transition.target)):
                yield Edge(_name(old), _name(transition.target), listed(transition.arriving))


def _remembered(transition: Way) -> tuple[tuple[str, ...], ...]:
    """The sets of streams whose tables a transition reads; the empty one where it reads none."""
    return tuple(part.streams for part in transition.parts) or ((),)


def _name(streams: tuple[str, ...]) -> str:
    """A name that no two sets share, whatever the streams are called."""
    return repr(streams)


class Drawing(Struct, frozen=True):
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
