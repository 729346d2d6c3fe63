"""Where the boxes and arrows of a panel go: layers from top to bottom, few crossings, nothing on top of anything.

The usual four steps (Sugiyama, Tagawa and Toda, *Methods for Visual Understanding of Hierarchical System Structures*,
1981): layers by topological generation; a waypoint in every layer that an edge passes; rows ordered by the mean
position of their neighbours; positions as close to the neighbours as the row's boxes allow. An edge's label is a
waypoint of the label's size in a layer between the nodes' layers, so that no label covers anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.reports.diagram import Edge, Node, Panel

if TYPE_CHECKING:
    import networkx as nx

SWEEPS = 8
GAP_X, GAP_Y = 28.0, 26.0
SLOPE, MOST_GAP_Y = 0.16, 130.0
"""Rows are the further apart the further an edge between them runs sideways, so that it is not flat."""

Extent = tuple[float, float]
"""A width and a height."""

_Item = tuple[str, int]
"""A node's name and -1, or an edge's number and the layer of its waypoint."""


class Box(Struct, frozen=True):
    """A rectangle, by its horizontal centre and its top."""

    x: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


class Route(Struct, frozen=True):
    """An edge, the boxes it passes on its way, and the box of its label."""

    edge: Edge
    through: tuple[Box, ...]
    label: Box


class PanelLayout(Struct, frozen=True):
    """A panel's boxes by node name, its routes, and its extent from (0, 0)."""

    boxes: dict[str, Box]
    routes: tuple[Route, ...]
    width: float
    height: float


def layered_layout(
    panel: Panel, node_extent: Callable[[Node], Extent], label_extent: Callable[[str], Extent]
) -> PanelLayout:
    """Lay out an acyclic panel; the functions say how large a node and a label are."""
    if not panel.nodes:
        return PanelLayout({}, (), 0.0, 0.0)
    chains = _chains(panel)
    extents: dict[_Item, Extent] = {(node.name, -1): node_extent(node) for node in panel.nodes}
    for edge, chain in zip(panel.edges, chains, strict=True):
        extents.update((item, (0.0, 0.0)) for item in chain[1:-1])
        extents[chain[-2]] = label_extent(edge.label)
    graph = _expanded(panel, chains)
    rows = _ordered(graph)
    boxes = _placed(graph, rows, extents)
    width = max(box.x + box.width / 2 for box in boxes.values())
    height = max(box.bottom for box in boxes.values())
    routes = tuple(
        Route(edge, tuple(boxes[item] for item in chain), boxes[chain[-2]])
        for edge, chain in zip(panel.edges, chains, strict=True)
    )
    return PanelLayout({node.name: boxes[node.name, -1] for node in panel.nodes}, routes, width, height)


# --- layers ------------------------------------------------------------------------------------------------------


def _chains(panel: Panel) -> list[list[_Item]]:
    """Each edge as its source, a waypoint per layer between, and its target; the last waypoint is for the label."""
    import networkx as nx

    graph = nx.DiGraph((edge.source, edge.target) for edge in panel.edges)
    layer = {name: 2 * i for i, names in enumerate(nx.topological_generations(graph)) for name in names}
    return [
        [
            (edge.source, -1),
            *((str(number), rank) for rank in range(layer[edge.source] + 1, layer[edge.target])),
            (edge.target, -1),
        ]
        for number, edge in enumerate(panel.edges)
    ]


def _expanded(panel: Panel, chains: list[list[_Item]]) -> nx.DiGraph:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from((node.name, -1) for node in panel.nodes)
    for chain in chains:
        nx.add_path(graph, chain)
    return graph


# --- order -------------------------------------------------------------------------------------------------------


def _ordered(graph: nx.DiGraph) -> list[list[_Item]]:
    """The rows of the expanded graph, in the best order of a few sweeps down and up."""
    import networkx as nx

    order = {item: place for place, item in enumerate(graph)}
    rows = [sorted(row, key=order.__getitem__) for row in nx.topological_generations(graph)]
    best, least = rows, _crossings(graph, rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        neighbours = graph.pred if down else graph.succ
        rows = _swept(rows if down else rows[::-1], neighbours)
        rows = rows if down else rows[::-1]
        crossings = _crossings(graph, rows)
        if crossings < least:
            best, least = rows, crossings
    return best


def _swept(rows: list[list[_Item]], neighbours: dict[_Item, dict[_Item, object]]) -> list[list[_Item]]:
    """Every row ordered by the mean position of its items' neighbours in the row before."""
    done: list[list[_Item]] = []
    place: dict[_Item, int] = {}
    for row in rows:
        own = {item: i for i, item in enumerate(row)}
        near = {item: [place[other] for other in neighbours[item]] or [own[item]] for item in row}
        done.append(sorted(row, key=lambda item: (fmean(near[item]), own[item])))
        place = {item: i for i, item in enumerate(done[-1])}
    return done


def _crossings(graph: nx.DiGraph, rows: list[list[_Item]]) -> int:
    count = 0
    for upper, lower in pairwise(rows):
        place = {item: i for i, item in enumerate(lower)}
        ends = [(i, place[below]) for i, item in enumerate(upper) for below in graph.succ[item]]
        count += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
    return count


# --- positions ---------------------------------------------------------------------------------------------------


def _placed(graph: nx.DiGraph, rows: list[list[_Item]], extents: dict[_Item, Extent]) -> dict[_Item, Box]:
    centres = _centres(graph, rows, {item: width for item, (width, _) in extents.items()})
    left = min(x - extents[item][0] / 2 for item, x in centres.items())
    boxes, top = {}, 0.0
    for row in rows:
        height = max(extents[item][1] for item in row)
        for item in row:
            boxes[item] = Box(centres[item] - left, top, extents[item][0], height)
        sideways = max((abs(centres[item] - centres[below]) for item in row for below in graph.succ[item]), default=0.0)
        top += height + min(max(GAP_Y, SLOPE * sideways), MOST_GAP_Y)
    return boxes


def _centres(graph: nx.DiGraph, rows: list[list[_Item]], widths: dict[_Item, float]) -> dict[_Item, float]:
    """Horizontal centres: rows are moved, a few times, towards the neighbours above and then below."""
    centres: dict[_Item, float] = {}
    for row in rows:
        centres.update(zip(row, _spread([0.0] * len(row), [widths[item] for item in row]), strict=True))
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wished = [_wish(graph, item, centres) for item in row]
            centres.update(zip(row, _spread(wished, [widths[item] for item in row]), strict=True))
    return centres


def _wish(graph: nx.DiGraph, item: _Item, centres: dict[_Item, float]) -> float:
    near = [centres[other] for other in (*graph.pred[item], *graph.succ[item])]
    return fmean(near) if near else centres[item]


def _spread(wished: list[float], widths: list[float]) -> list[float]:
    """The centres closest to the wished ones (least squares) that keep a row's order and gaps.

    Without the gaps, that is isotonic regression: neighbours in the wrong order share their mean.

    >>> _spread([0.0, 0.0], [10.0, 10.0])
    [-19.0, 19.0]
    """
    offsets = [0.0]
    for before, after in pairwise(widths):
        offsets.append(offsets[-1] + (before + after) / 2 + GAP_X)
    pools: list[tuple[float, int]] = []
    for wish, offset in zip(wished, offsets, strict=True):
        mean, size = wish - offset, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean, size = (other * count + mean * size) / (count + size), count + size
        pools.append((mean, size))
    return [mean + offset for mean, offset in zip(_unpooled(pools), offsets, strict=True)]


def _unpooled(pools: list[tuple[float, int]]) -> Iterator[float]:
    return (mean for mean, size in pools for _ in range(size))
