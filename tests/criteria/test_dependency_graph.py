"""The dependency graph against networkx, which shares no code with it, and on the shapes of the paper."""

from __future__ import annotations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.dependency_graph import DependencyGraph
from streambound.preprocess.pipeline import derive

NAMES = ("A", "B", "C", "D", "E")
CATALOG = parse_catalog(
    "\n".join(f'[streams.{name}]\ntimestamp = "ts"\ncolumns = {{ x = "bigint", ts = "bigint" }}' for name in NAMES)
)


def graph_of(*orders: str, streams: tuple[str, ...] = NAMES) -> DependencyGraph:
    where = f" WHERE {' AND '.join(orders)}" if orders else ""
    (statement,) = split_statements(SourceText("q.sql", f"SELECT 1 AS one FROM {', '.join(streams)}{where}"))
    query = lower(statement, CATALOG).query
    assert query is not None
    return DependencyGraph.of(Facts.of(derive(query).renamed.branches[0]))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] < pair[1]), max_size=7))
def test_reduction_components_and_trees_equal_networkx(edges: set[tuple[int, int]]) -> None:
    graph = graph_of(*(f"{NAMES[i]}.ts > {NAMES[j]}.ts" for i, j in sorted(edges)))
    reference = nx.DiGraph([(NAMES[i], NAMES[j]) for i, j in edges])
    reference.add_nodes_from(NAMES)
    reduced = nx.transitive_reduction(reference)
    assert {(u, v) for u, children in graph.children.items() for v in children} == set(reduced.edges)
    assert set(graph.components) == {frozenset(c) for c in nx.weakly_connected_components(reference)}
    assert {(u, v) for u in NAMES for v in graph.newer[u]} == set(nx.transitive_closure(reference).edges)
    for name in NAMES:
        component = reduced.subgraph(graph.component(name))
        assert graph.is_tree(name) == nx.is_arborescence(component)
        if graph.is_tree(name):
            root = next(v for v in component if component.in_degree(v) == 0)
            assert graph.distance(name) == nx.shortest_path_length(component, root, name)


def test_merged_streams_are_one_vertex() -> None:
    graph = graph_of("A.ts = B.ts", "A.ts > C.ts", streams=("A", "B", "C"))
    assert graph.vertices == ("A·B", "C")
    assert graph.children == {"A·B": ("C",), "C": ()}


def test_finite_streams_are_no_vertices() -> None:
    graph = graph_of("A.ts > B.ts", "B.ts < 9", streams=("A", "B"))
    assert graph.vertices == ("A",)


def test_two_parents_are_no_tree() -> None:
    graph = graph_of("A.ts > C.ts", "B.ts > C.ts", streams=("A", "B", "C"))
    assert graph.parents["C"] == ("A", "B")
    assert not graph.is_tree("A")
