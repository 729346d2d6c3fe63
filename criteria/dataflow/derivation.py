"""The certificate of a bounded statement: its derivation, as plain JSON.

The tree of operations: each with its rule, what is needed of its rows, and its states, and of each state why it has
no more entries: which columns' value sets, which sources' rows at how many timestamps, by which column they go.
The facts of columns that this uses are a log beside it (`explained`): each by one rule of facts before it, each
difference by a path of atoms that sums to it. `recheck.derivation` checks it, and shares nothing with the rules here.
"""

from __future__ import annotations

from msgspec import Struct

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.algebra.view_facts import NOW
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.statement import Statement
from streambound.criteria.certificate import amount_json, branches_json
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.certified_counts import CertifiedCounts
from streambound.criteria.dataflow.certified_nodes import CertifiedNodes, with_nodes
from streambound.criteria.dataflow.certified_rewrites import certified_rewrites
from streambound.criteria.dataflow.each_key import with_one_key
from streambound.criteria.dataflow.explained import FactLog
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.state import (
    EachKey,
    Operation,
    OperatorState,
    WindowCount,
    WindowRows,
)
from streambound.criteria.dataflow.tree_nodes import Json, TreeNode
from streambound.criteria.dataflow.view import place_of
from streambound.criteria.dataflow.views import statement_views
from streambound_runtime.operators.asked_rows import AskedRows

VERSION = 3


def derivation(judgement: Judgement, statement: Statement, catalog: Catalog) -> Json:
    """The certificate of a bounded judgement."""
    entries = judgement.entries
    lowered = lower(statement, catalog, judgement.joining)
    assert entries is not None and lowered.tree is not None and lowered.positions is not None, "it is bounded"
    tree = with_names_apart(lowered.tree, catalog, lowered.positions)
    registered = CertifiedNodes(catalog)
    registered.tree(TreeNode(judgement.operation.tree, statement_views(catalog)), ())
    registered.operations(judgement.operation)
    maker = _Maker(registered, FactLog(registered.number), judgement.context)
    operation = maker.operation(judgement.operation)
    document = {
        "version": VERSION,
        "joining": judgement.joining,
        "rewrites": list(certified_rewrites(tree, judgement, catalog)),
        "nodes": [],
        "facts": maker.log.facts,
        "operation": operation,
        "keys": [maker.state(one, None) for one in judgement.keys],
        "entries": amount_json(entries),
    }
    return with_nodes(document, registered.claims)


class _Maker(Struct):
    nodes: CertifiedNodes
    log: FactLog
    context: RuleContext

    def operation(self, one: Operation) -> Json:
        """An operation and all below it."""
        tree, demand = one.tree, one.demand
        rule = "block" if one.rows is not None else "operator"
        if one.is_apart:
            rule = "rows" if one.rows is not None else "joined rows"
        elif one.rows is None and is_static(tree, self.nodes.catalog):
            rule = "static"
        elif one.each_key is not None:
            rule = "each key"
        elif one.sums is not None:
            rule = "sums"
        found: Json = {
            "operator": type(tree).__name__,
            "rule": rule,
            "columns": sorted(demand.columns),
            "limits": [{"column": column, "most": most} for column, most in sorted(demand.most.items())],
            "states": [self.state(state, one) for state in one.states],
            "inputs": [self.operation(below) for below in one.inputs],
        }
        for below, made in zip(one.inputs, found["inputs"], strict=True):
            made["limits"] += [self._apart(tree, *limit) for limit in sorted(below.demand.apart.items())]
        if tree.at is not None:
            found["at"] = [tree.at.line, tree.at.column]
        if one.each_key is not None:
            found["each"] = self._each_key(one, one.each_key)
        if one.rows is not None and not one.is_apart:
            sizes, distinct = one.rows.sizes, one.rows.read.split.distinct
            distinct = True if one.rows.best is not None else distinct
            if one.states and one.states[0].proposition == "B1":
                distinct = True
            branches = branches_json(sizes.branches, distinct) if sizes is not None else []
            found["block"] = {"distinct": distinct, "branches": branches}
        return found

    def _each_key(self, one: Operation, each: EachKey) -> Json:
        """What is remembered for one value of a key, by facts of streams that have one."""
        context = with_one_key(self.context, each.key)
        around = self.nodes.at(one.tree)
        registered = CertifiedNodes(context.catalog)
        registered.tree(TreeNode(one.tree, context.views, around.recursion), ())
        registered.operations(each.operation)
        maker = _Maker(registered, FactLog(registered.number), context)
        made: Json = {"key": each.key.name, "operation": maker.operation(each.operation)}
        return with_nodes(made | {"facts": maker.log.facts}, registered.claims)

    def _apart(self, tree: Tree, pair: tuple[int, int], most: int) -> Json:
        """By how much a column is above another one at most, where a condition is true, or as is known from above."""
        made: Json = {"column": pair[0], "other": pair[1], "most": most}
        node = self.nodes.at(tree)
        path = self.log.path(node, *pair) if isinstance(tree, nodes.Filter) else None
        if path is None or sum(step.most for step in path) > most:
            return made
        return made | {"path": [self.log.step(node, step) for step in path]}

    def state(self, state: OperatorState, one: Operation | None) -> Json:
        """A state, with the reason for its size."""
        count = state.count
        assert count is not None, "only what is bounded is certified"
        made: Json = {
            "what": state.what,
            "proposition": state.proposition,
            "size": amount_json(count.size),
        }
        if state.what != "table" and one is not None and one.each_key is None:
            made["count"] = CertifiedCounts(self.nodes, self.log).why(state, count, one)
        if state.window is not None and one is not None and isinstance(one.tree, nodes.Over):
            tied = isinstance(count.why, WindowCount) and count.why.ties is not None
            made["window"] = self._window(one.tree, state.window, tied)
        if state.best is not None:
            made["best"] = state.best.place
        return made

    def _window(self, tree: Tree, window: WindowRows, tied: bool) -> Json:
        """The functions that rows are kept for, and which; the facts that these come, or close, in an order."""
        assert isinstance(tree, nodes.Over), "windows are of it"
        asked, order, found = window.asked, window.calls[0].order, "all"
        if asked is None:
            found = "running"
        elif asked != AskedRows():
            found = next(name for name in ("first", "last", "within") if getattr(asked, name) is not None)
        made: Json = {"calls": [tree.calls.index(one) for one in window.calls], "keeps": found}
        below = self.nodes.at(tree).input("input")
        needed = order and (tied or found not in ("all", "first"))
        place = place_of(order[0].value.syntax, below.view) if needed else None
        times = () if place is None else below.view.columns[place].times
        now = next((one for one in times if one.source == NOW and one.low is not None), None)
        if place is not None and now is not None:
            made["order"] = [self.log.time(below, place, NOW, now.function), self.log.values(below, place)]
        return made
