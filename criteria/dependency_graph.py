"""The dependency graph of a modified LTO query and its spanning trees (paper, after Definition 7).

A vertex per infinite stream (merged streams are one), an edge ``Si -> Sj`` where ``Si.I > Sj.J`` is in P+. ``G(S)`` is
the transitive reduction of the component of S; it forms a tree when every vertex has at most one parent. The reduction
follows from the closure itself, so that checking needs no graph library; `to_networkx` gives the graph for reports.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.connected import components

if TYPE_CHECKING:
    import networkx as nx


class DependencyGraph(Struct, frozen=True, dict=True):
    """``newer`` maps each vertex to the vertices it must be newer than; ``children`` is its transitive reduction."""

    vertices: tuple[str, ...]
    newer: dict[str, frozenset[str]]

    @classmethod
    def of(cls, facts: Facts) -> DependencyGraph:
        """The graph induced by a branch; call it after `merge_timestamps` and `rename_finite`."""
        names = vertex_names(facts)
        leaders = list(dict.fromkeys(names.values()))
        representative = {name: alias for alias, name in reversed(list(names.items()))}
        newer = {
            name: frozenset(
                other
                for other in leaders
                if other != name and _newer(facts, representative[name], representative[other])
            )
            for name in leaders
        }
        return cls(tuple(leaders), newer)

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """The edges of the transitive reduction: the children of each vertex, one step older."""
        return {
            v: tuple(
                w for w in self.vertices if w in self.newer[v] and not any(w in self.newer[u] for u in self.newer[v])
            )
            for v in self.vertices
        }

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each vertex in the transitive reduction."""
        return {v: tuple(p for p in self.vertices if v in self.children[p]) for v in self.vertices}

    @cached_property
    def components(self) -> tuple[frozenset[str], ...]:
        """The connected components, in vertex order."""
        parts = components(self.vertices, lambda vertex: (*self.children[vertex], *self.parents[vertex]))
        return tuple(map(frozenset, parts))

    def component(self, vertex: str) -> frozenset[str]:
        """The component of a vertex."""
        return next(component for component in self.components if vertex in component)

    def is_tree(self, vertex: str) -> bool:
        """Whether ``G(vertex)`` forms a tree: every vertex of its component has at most one parent."""
        return all(len(self.parents[v]) <= 1 for v in self.component(vertex))

    def distance(self, vertex: str) -> int:
        """``d(vertex)``: the distance to the root of its tree; meaningful only when it is one."""
        steps = 0
        while self.parents[vertex]:
            vertex, steps = self.parents[vertex][0], steps + 1
        return steps

    @property
    def single_tree(self) -> bool:
        """Whether one tree covers all streams."""
        return len(self.components) == 1

    def to_networkx(self) -> nx.DiGraph:
        """The full dependency graph; edges of the transitive reduction carry ``reduced=True``."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.vertices)
        for vertex, older in self.newer.items():
            graph.add_edges_from(
                (vertex, other, {"reduced": other in self.children[vertex]}) for other in sorted(older)
            )
        return graph


def vertex_names(facts: Facts) -> dict[str, str]:
    """Each infinite stream's vertex: its alias, or its merged group's aliases joined by ``·``."""
    groups = {alias: group for group in facts.branch.merged for alias in group}
    return {alias: "·".join(groups.get(alias, (alias,))) for alias in facts.infinite}


def _newer(facts: Facts, newer: str, older: str) -> bool:
    lag = facts.lag(older, newer)
    return lag is not None and lag < 0
