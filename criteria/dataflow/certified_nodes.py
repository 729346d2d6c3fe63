"""The nodes that a certificate speaks of: those of the statement's tree, and those that rules and rewrites make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import Tree, named_inputs
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.joins import with_partners
from streambound.criteria.dataflow.state import (
    Combinations,
    Operation,
    OperatorState,
    PassedGroups,
    StateCount,
    SumOfCounts,
    WholeView,
    WindowCount,
)
from streambound.criteria.dataflow.tree_nodes import Json, TreeNode
from streambound.criteria.dataflow.view import OperatorView, place_of, session_of
from streambound.criteria.dataflow.views import pairs_of, statement_views

_WHOLE = ("rewrites", "nodes", "facts", "keys", "columns", "key", "numbers", "path", "branches")
"""Members that are there even if they are empty."""


def with_nodes(document: Json, claims: Sequence[Json]) -> Json:
    """A document with the nodes that it speaks of, numbered anew, and nothing that is empty."""
    numbers: dict[int, int] = {}

    def numbered(value: Any) -> Any:
        if isinstance(value, list):
            return [numbered(one) for one in value]
        if not isinstance(value, dict) or "tables" in value or (value is not document and "nodes" in value):
            return value
        found = {name: numbered(one) for name, one in value.items() if one != [] or name in _WHOLE}
        if "node" in found:
            found["node"] = numbers.setdefault(found["node"], len(numbers))
        return found

    made: Json = numbered(document)
    return made | {"nodes": [claims[one] for one in numbers]}


def nodes_of(tree: Tree, catalog: Catalog, path: tuple[str, ...], made: Mapping[str, Tree]) -> CertifiedNodes:
    """The nodes of a tree, with those that a rewrite makes at a path."""
    registered, views = CertifiedNodes(catalog), statement_views(catalog)
    registered.tree(TreeNode(tree, views), ())
    for name, one in made.items():
        registered.add(TreeNode(one, views), {"path": list(path), "made": name})
    return registered


class CertifiedNodes:
    """The nodes that a certificate speaks of, by their trees: those of the statement, and those that rules make."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.numbers: dict[tuple[Tree, Tree | None], int] = {}
        self.first: dict[Tree, int] = {}
        self.known: list[TreeNode] = []
        self.claims: list[Json] = []

    def add(self, node: TreeNode, claim: Json) -> None:
        """A node, which is the first of those that are equal."""
        around = None if node.recursion is None else node.recursion.tree
        if (node.tree, around) not in self.numbers:
            self.numbers[node.tree, around] = len(self.known)
            self.first.setdefault(node.tree, len(self.known))
            self.known.append(node)
            self.claims.append(claim)

    def parts(self, view: OperatorView) -> None:
        """The parts of a union, or of an operator above one, and all below them."""
        around, claim = self.at(view.tree), self.claims[self.first[view.tree]]
        for number, part in enumerate(view.parts if "part" not in claim else ()):
            self._part(TreeNode(part.tree, around.views, around.recursion), claim | {"part": number}, ())

    def _part(self, node: TreeNode, claim: Json, below: tuple[str, ...]) -> None:
        self.add(node, claim | {"below": list(below)})
        for name in named_inputs(node.tree):
            self._part(node.input(name), claim, (*below, name))

    def number(self, node: TreeNode) -> int:
        """The number of a node: what is in one recursion is no row of another one."""
        return self.numbers[node.tree, None if node.recursion is None else node.recursion.tree]

    def at(self, tree: Tree) -> TreeNode:
        """The node of a tree."""
        return self.known[self.first[tree]]

    def tree(self, node: TreeNode, path: tuple[str, ...]) -> None:
        """A node and all below it."""
        self.add(node, {"path": list(path)})
        if isinstance(node.tree, nodes.Join):
            pair = TreeNode(pairs_of(node.tree), node.views, node.recursion)
            self.add(pair, {"path": list(path), "made": "pairs"})
            asked = TreeNode(with_partners(node.tree), node.views, node.recursion)
            self.add(asked, {"path": list(path), "made": "partners"})
        if isinstance(node.tree, nodes.Except | nodes.Intersect):
            common = nodes.Intersect(node.tree.left, node.tree.right, node.tree.distinct)
            self.add(TreeNode(common, node.views, node.recursion), {"path": list(path), "made": "common"})
        for name in named_inputs(node.tree):
            self.tree(node.input(name), (*path, name))

    def operations(self, operation: Operation) -> None:
        """The rows with keys that groups are counted by, and those of windows."""
        for one in operation.every():
            tree = one.tree
            if isinstance(tree, nodes.Over) and tree in self.first:
                self._windows(tree, one.states)
            if not isinstance(tree, nodes.Aggregate) or tree not in self.first:
                continue
            around, width = self.at(tree), len(tree.keys)
            path = self.claims[self.first[tree]]["path"]
            for state in one.states:
                for view in _select_lists(state.count):
                    made = TreeNode(view, around.views, around.recursion)
                    call = {} if state.what == "groups" else {"call": state.key[-1] - width}
                    made_by = "keyed" if session_of(view) is None else "session"
                    self.add(made, {"path": path, "made": made_by, **call})
                    self.add(made.input("input"), {"path": path, "made": "passing", **call})

    def _windows(self, tree: nodes.Over, states: Iterable[OperatorState]) -> None:
        """The partitions that rows of windows are counted by."""
        around = self.at(tree)
        below, path = around.input("input").view, self.claims[self.first[tree]]["path"]
        for state in states:
            for view in _select_lists(state.count):
                assert state.window is not None, "rows are of a window"
                call = state.window.calls[0]
                items = [item.value.syntax for item in view.items if isinstance(item, nodes.Named)]
                columns = [place_of(one, below) for one in items[len(call.partition) :]]
                made: Json = {"path": path, "made": "partitions", "call": tree.calls.index(call)}
                if len(items) == len(below.schema) + len(call.partition):
                    made["made"] = "partitioned"
                elif columns:
                    made["columns"] = columns
                self.add(TreeNode(view, around.views, around.recursion), made)


def _select_lists(count: StateCount | None) -> Iterator[nodes.Project]:
    """The select lists of keys or of partitions that a count is of."""
    why = None if count is None else count.why
    if isinstance(why, WindowCount):
        for one in (why.rows, why.each, why.ties):
            yield from _select_lists(one)
    if isinstance(why, PassedGroups):
        yield from _select_lists(why.others)
    if isinstance(why, Combinations | WholeView | SumOfCounts) and isinstance(why.view.tree, nodes.Project):
        yield why.view.tree
