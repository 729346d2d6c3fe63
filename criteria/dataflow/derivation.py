"""The certificate of a bounded statement: its derivation, as plain JSON.

The tree of operations: each with its rule, what is needed of its rows, and its states, and of each state why it has at
most so many entries: which columns' value sets, which sources' rows at how many timestamps, by which column they go.
The facts of columns that this uses are a log beside it (`explained`): each by one rule of facts before it, each
difference by a path of atoms that sums to it. `recheck.derivation` checks it, and shares nothing with the rules here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.nodes import Tree, named_inputs
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.value_sets import NOTHING
from streambound.analyzer.algebra.view_facts import NOW
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.statement import Statement
from streambound.criteria.bound import BranchBound, QueryBound, TableBound, results_count, timed_results_layout
from streambound.criteria.cases import Case
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.count import by_values as of_values
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.counting import present_rows
from streambound.criteria.dataflow.each_key import with_one_key
from streambound.criteria.dataflow.explained import FactLog
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.rewrites.not_in import anti_joins, without_not_in
from streambound.criteria.dataflow.rewrites.pipeline import FORMS, Pass
from streambound.criteria.dataflow.rewrites.ranges import LEFT_MEETS, RIGHT_MEETS, limits, ranges_down
from streambound.criteria.dataflow.rewrites.sums import above_groups, sums_down
from streambound.criteria.dataflow.rewrites.unions import disjoint_unions, is_disjoint
from streambound.criteria.dataflow.state import (
    BlockResults,
    ColumnCount,
    Combinations,
    EachKey,
    Entry,
    Operation,
    OperatorState,
    Reason,
    SourceCount,
    StateCount,
    SumOfCounts,
    WholeView,
    WindowCount,
    WindowRows,
)
from streambound.criteria.dataflow.tree_nodes import Json, TreeNode, conditions_of, pairs_of, path_of, row_schema
from streambound.criteria.dataflow.view import OperatorView, place_of
from streambound.criteria.dataflow.views import Views, equalities, values_of
from streambound.criteria.size import Number, Size, total
from streambound.criteria.synopsis import Synopsis
from streambound.preprocess.trees.conditions import filtered
from streambound.preprocess.trees.late_conditions import late_conditions
from streambound.preprocess.trees.late_values import values_in_blocks
from streambound.preprocess.trees.not_in import compared
from streambound.preprocess.trees.unions import in_both, one_selection
from streambound_runtime.operators.asked_rows import AskedRows

VERSION = 3
_NO_MORE_ROWS = (
    nodes.Filter, nodes.Alias, nodes.Project, nodes.SpjBlock, nodes.Distinct, nodes.Over, nodes.Apply, nodes.OrderBy,
)  # fmt: skip
"""Operators that have no more rows than their input."""
_WHOLE = ("rewrites", "nodes", "facts", "keys", "columns", "key", "numbers", "path", "branches")
"""Members that are there even if they are empty."""


def derivation(judgement: Judgement, statement: Statement, catalog: Catalog) -> Json:
    """The certificate of a bounded judgement."""
    entries = judgement.entries
    lowered = lower(statement, catalog, judgement.joining)
    assert entries is not None and lowered.tree is not None and lowered.positions is not None, "it is bounded"
    tree = with_names_apart(lowered.tree, catalog, lowered.positions)
    registered = _Nodes(catalog)
    registered.tree(TreeNode(judgement.operation.tree, Views(catalog)), ())
    registered.operations(judgement.operation)
    maker = _Maker(registered, FactLog(registered.number), judgement.context)
    operation = maker.operation(judgement.operation)
    document = {
        "version": VERSION,
        "joining": judgement.joining,
        "rewrites": list(_rewrites(tree, judgement, catalog)),
        "nodes": [],
        "facts": maker.log.facts,
        "operation": operation,
        "keys": [maker.state(one, None) for one in judgement.keys],
        "entries": _amount(entries),
    }
    return _with_nodes(document, registered.claims)


def _with_nodes(document: Json, claims: Sequence[Json]) -> Json:
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


def _rewrites(tree: Tree, judgement: Judgement, catalog: Catalog) -> Iterator[Json]:
    """The passes that change the tree, of some each change with the facts that it is by."""
    for one in (late_conditions, values_in_blocks):
        changed = one(tree, judgement.context.blocks, catalog)
        if changed is not tree:
            yield {"rule": one.__name__}
        tree = changed
    for passes in FORMS:
        found, rewrites = _after(tree, passes, catalog)
        if _same(found, judgement.operation.tree):
            yield from rewrites
            return
    raise RuntimeError("a judgement is of a normal form")


def _after(tree: Tree, passes: Iterable[Pass], catalog: Catalog) -> tuple[Tree, list[Json]]:
    """A tree after some passes, and those that change it."""
    found = list[Json]()
    for one in passes:
        if one in _BY_FACTS:
            tree, made = _BY_FACTS[one](tree, catalog)
            found += made
            continue
        changed = one(tree, catalog)
        if not _same(changed, tree):
            found.append({"rule": one.__name__})
        tree = changed
    return tree, found


def _same(one: Tree, other: Tree) -> bool:
    return one == other and _places(one) == _places(other)


def _upwards(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of a tree, those below an operator first."""
    for name, one in named_inputs(tree).items():
        yield from _upwards(one, (*path, name))
    yield path


def _selections(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `disjoint_unions` does, union by union."""
    found = list[Json]()
    for path in _upwards(tree):
        here = _at(tree, path)
        both = in_both(here) if is_disjoint(here, catalog) else None
        if both is None:
            continue
        registered = _nodes_of(tree, catalog, path, {"both": both})
        log, node = FactLog(registered.number), registered.at(both)
        empty = next(place for place, column in enumerate(node.view.columns) if column.values.size == 0)
        log.values(node, empty)
        made: Json = {"rule": "disjoint_unions", "path": list(path), "facts": log.facts}
        found.append(_with_nodes(made, registered.claims))
        tree = _with(tree, path, one_selection(here))
    return tree, found


def _not_in(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `anti_joins` does, join by join."""
    found = list[Json]()
    for path in _upwards(tree):
        here = _at(tree, path)
        compared_values = compared(here)
        if compared_values is None:
            continue
        sides = dict(zip(("member", "values"), compared_values, strict=True))
        registered = _nodes_of(tree, catalog, path, sides)
        log = FactLog(registered.number)
        for node in map(registered.at, sides.values()):
            if not node.view.columns[0].values.null:
                log.values(node, 0)
        made: Json = {"rule": "anti_joins", "path": list(path), "facts": log.facts}
        found.append(_with_nodes(made, registered.claims))
        tree = _with(tree, path, without_not_in(here, catalog))
    return tree, found


def _sums(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `sums_down` does, select list by select list."""
    found, todo = list[Json](), list[tuple[str, ...]]([()])
    while todo:
        path = todo.pop()
        here = _at(tree, path)
        pushed = above_groups(here, catalog)
        if pushed is not None:
            is_left, changed = pushed
            found.append({"rule": "sums_down", "path": list(path), "side": "left" if is_left else "right"})
            tree = _with(tree, path, changed)
        todo += [(*path, name) for name in reversed(named_inputs(_at(tree, path)))]
    return tree, found


def _nodes_of(tree: Tree, catalog: Catalog, path: tuple[str, ...], made: Mapping[str, Tree]) -> _Nodes:
    """The nodes of a tree, with those that a rewrite makes at a path."""
    registered, views = _Nodes(catalog), Views(catalog)
    registered.tree(TreeNode(tree, views), ())
    for name, one in made.items():
        registered.add(TreeNode(one, views), {"path": list(path), "made": name})
    return registered


def _limits(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `ranges_down` does, limit by limit, each of the tree after those before it."""
    found = list[Json]()
    todo: list[tuple[tuple[str, ...], Views]] = [((), Views(catalog))]
    while todo:
        path, views = todo.pop()
        here = _at(tree, path)
        for name, part, column in _limits_of(here, views):
            registered = _nodes_of(tree, catalog, path, {})
            log, pair = FactLog(registered.number), registered.at(pairs_of(_at(tree, path)))
            made: Json = {"rule": "limit", "path": list(path), "side": name, "values": _limit_json(part)}
            made |= {"fact": log.values(pair, column), "facts": log.facts}
            found.append(_with_nodes(made, registered.claims))
            changed = filtered(getattr(_at(tree, path), name), part, catalog)
            tree = _with(tree, (*path, name), changed)
        here = _at(tree, path)
        inside = views.inside(here) if isinstance(here, nodes.Fixpoint) else views
        todo += [((*path, name), inside if name == "step" else views) for name in reversed(named_inputs(here))]
    return tree, found


def _limits_of(tree: Tree, views: Views) -> list[tuple[str, exp.Expr, int]]:
    """The limits of a join's sides, with the columns of pairs that they are of."""
    if not isinstance(tree, nodes.Join) or tree.using or is_block(tree, views.catalog):
        return []
    left, right, pair = views.of(tree.left), views.of(tree.right), views.of(pairs_of(tree))
    width, found = len(left.schema), list[tuple[str, exp.Expr, int]]()
    if tree.kind in LEFT_MEETS:
        of_left = limits(tree.left, left, pair.columns[:width], views.catalog)
        found += [("left", part, place) for place, part in of_left]
    if tree.kind in RIGHT_MEETS:
        of_right = limits(tree.right, right, pair.columns[width:], views.catalog)
        found += [("right", part, place + width) for place, part in of_right]
    return found


def _limit_json(part: exp.Expr) -> Json:
    """A limit as the values that it leaves."""
    match part:
        case exp.In():
            return {"texts": [one.name for one in part.expressions], "null": False}
        case exp.GTE() | exp.LTE():
            number = int(part.expression.sql("spark"))
            return {"low" if isinstance(part, exp.GTE) else "high": number, "null": False}
    return {"null": False}


def _at(tree: Tree, path: tuple[str, ...]) -> Tree:
    for name in path:
        tree = named_inputs(tree)[name]
    return tree


def _with(tree: Tree, path: tuple[str, ...], changed: Tree) -> Tree:
    """A tree with another one at a path."""
    if not path:
        return changed
    return replace(tree, **{path[0]: _with(named_inputs(tree)[path[0]], path[1:], changed)})  # type: ignore[arg-type]


def _places(tree: Tree) -> list[object]:
    """Where the operators of a tree stand, which trees are not compared by."""
    return [tree.at, *(at for below in named_inputs(tree).values() for at in _places(below))]


_BY_FACTS: Mapping[Pass, Callable[[Tree, Catalog], tuple[Tree, list[Json]]]] = {
    ranges_down: _limits,
    disjoint_unions: _selections,
    anti_joins: _not_in,
    sums_down: _sums,
}
"""Passes of which each change is certified by itself."""


def _amount(size: Size) -> Json:
    return {"formula": size.text, "value": size.value}


class _Nodes:
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
                for view in _views_of(state.count):
                    made = TreeNode(view, around.views, around.recursion)
                    call = {} if state.what == "groups" else {"call": state.key[-1] - width}
                    made_by = "keyed" if _session_of(view) is None else "session"
                    self.add(made, {"path": path, "made": made_by, **call})
                    self.add(made.input("input"), {"path": path, "made": "passing", **call})

    def _windows(self, tree: nodes.Over, states: Iterable[OperatorState]) -> None:
        """The partitions that rows of windows are counted by."""
        around = self.at(tree)
        below, path = around.input("input").view, self.claims[self.first[tree]]["path"]
        for state in states:
            for view in _views_of(state.count):
                assert state.window is not None, "rows are of a window"
                call = state.window.calls[0]
                items = [parsed(item.value) for item in view.items if isinstance(item, nodes.Named)]
                columns = [place_of(one, below) for one in items[len(call.partition) :]]
                made: Json = {"path": path, "made": "partitions", "call": tree.calls.index(call)}
                if len(items) == len(below.schema) + len(call.partition):
                    made["made"] = "partitioned"
                elif columns:
                    made["columns"] = columns
                self.add(TreeNode(view, around.views, around.recursion), made)


def _views_of(count: StateCount | None) -> Iterator[nodes.Project]:
    why = None if count is None else count.why
    if isinstance(why, WindowCount):
        for one in (why.rows, why.each, why.ties):
            yield from _views_of(one)
    if isinstance(why, Combinations | WholeView | SumOfCounts) and isinstance(why.view.tree, nodes.Project):
        yield why.view.tree


@dataclass
class _Maker:
    nodes: _Nodes
    log: FactLog
    context: RuleContext

    # --- operations -----------------------------------------------------------------------------------------------

    def operation(self, one: Operation) -> Json:
        """An operation and all below it."""
        tree, demand = one.tree, one.demand
        rule = "block" if one.rows is not None else "operator"
        if one.is_apart:
            rule = "rows"
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
            "most": [{"column": column, "most": most} for column, most in sorted(demand.most.items())],
            "ago": [],
            "states": [self.state(state, one) for state in one.states],
            "inputs": [self.operation(below) for below in one.inputs],
        }
        if one.inputs and isinstance(tree, nodes.Filter):
            found["inputs"][0]["ago"] = [self._ago(tree, *limit) for limit in sorted(one.inputs[0].demand.ago.items())]
        else:
            for below, made in zip(one.inputs, found["inputs"], strict=True):
                made["ago"] = [{"column": column, "most": most} for column, most in sorted(below.demand.ago.items())]
        if tree.at is not None:
            found["span"] = {"line": tree.at.line, "column": tree.at.column}
        if one.each_key is not None:
            found["each"] = self._each_key(one, one.each_key)
        if one.rows is not None and not one.is_apart:
            sizes, distinct = one.rows.sizes, one.rows.read.split.distinct
            distinct = True if one.rows.best is not None else distinct
            if one.states and one.states[0].proposition == "B1":
                distinct = True
            branches = to_json(certificate(sizes, distinct).branches) if sizes is not None else []
            found["block"] = {"distinct": distinct, "branches": branches}
        return found

    def _each_key(self, one: Operation, each: EachKey) -> Json:
        """What is remembered for one value of a key, by facts of streams that have one."""
        context = with_one_key(self.context, each.key)
        around = self.nodes.at(one.tree)
        registered = _Nodes(context.catalog)
        registered.tree(TreeNode(one.tree, context.views, around.recursion), ())
        registered.operations(each.operation)
        maker = _Maker(registered, FactLog(registered.number), context)
        made: Json = {"key": each.key.name, "operation": maker.operation(each.operation)}
        return _with_nodes(made | {"facts": maker.log.facts}, registered.claims)

    def _ago(self, tree: Tree, column: int, most: int) -> Json:
        """How long ago a time of a row before may be, where the condition is true, by the time at which rows come."""
        node, made = self.nodes.at(tree), {"column": column, "most": most}
        below = node.input("input")
        for place, one in enumerate(below.view.columns):
            path = self.log.path(node, place, column) if one.newest else None
            if path is not None and sum(step.most for step in path) <= most:
                steps = [self.log.step(node, step) for step in path]
                return made | {"newest": self.log.time(below, place, NOW), "path": steps}
        return made

    def state(self, state: OperatorState, one: Operation | None) -> Json:
        """A state, with the reason for its size."""
        count = state.count
        assert count is not None, "only what is bounded is certified"
        made: Json = {
            "what": state.what,
            "proposition": state.proposition,
            "size": _amount(count.size),
        }
        if state.what != "table" and one is not None and one.each_key is None:
            made["count"] = self._why(state, count, one)
        if state.window is not None and one is not None and isinstance(one.tree, nodes.Over):
            tied = isinstance(count.why, WindowCount) and count.why.ties is not None
            made["window"] = self._window(one.tree, state.window, tied)
        if state.best is not None:
            made["best"] = {"column": state.best.place, "greatest": state.best.greatest}
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
        place = place_of(parsed(order[0].value), below.view) if needed else None
        times = () if place is None else below.view.columns[place].times
        now = next((one for one in times if one.source == NOW and one.low is not None), None)
        if place is not None and now is not None:
            made["order"] = [self.log.time(below, place, NOW, now.function), self.log.values(below, place)]
        return made

    def _rows_of_windows(self, count: StateCount, why: WindowCount) -> Json:
        """Rows that are open, or came of late, and some of each partition."""
        each, made = why.each, dict[str, Any](rule="window", size=count.size.text)
        if each is not None:
            made["number"] = why.number
        if why.rows.why is not None:
            made["open"] = self._recent(why.rows) if each is None else self._count(why.rows)
        if each is not None and each.why is None and each.size != Number(0):
            made["each"] = {"rule": "one", "size": each.size.text}
        elif each is not None and isinstance(each.why, Combinations | WholeView | SumOfCounts):
            rows = each.why.view.tree
            assert isinstance(rows, nodes.Project), "partitions are a select list"
            if each.closing is not None:  # which is by its place beside the rows' columns
                width = len(self.nodes.at(rows.input).view.schema)
                each = replace(each, closing=replace(each.closing, place=each.closing.place - width))
            made["each"] = self._count(each)
        if why.ties is not None:
            made["ties"] = self._recent(why.ties)
        return made

    def _recent(self, count: StateCount) -> Json:
        """Rows that came at some timestamps."""
        assert count.closing is not None, "they have a time"
        made = self._count(count)
        return made | {"rule": "recent", "number": count.closing.wait, "closing": made["closing"][:1]}

    def _why(self, state: OperatorState, count: StateCount, one: Operation) -> Json:
        tree = one.tree
        if count.why is None:
            if isinstance(tree, nodes.Except | nodes.Intersect):
                sides = [self.nodes.at(tree).input(name) for name in ("left", "right")]
                views = [one.view for one in sides]
                rows = [StateCount(one.rows, Reason.ROWS, why=WholeView(one)) for one in views if one.rows is not None]
                return self._at(tree, "whole", count) | {"of": [self._count(one) for one in rows]}
            if isinstance(tree, nodes.Aggregate) and not tree.keys:
                return {"rule": "one", "size": count.size.text}
            rows_of = tree if isinstance(tree, nodes.Scan) else named_inputs(tree).get(state.what, tree)
            rows_of = _relation_of(tree).input if state.proposition == "E3" else rows_of
            made = self._at(rows_of, "whole" if count.reason is Reason.ROWS else "unproved", count)
            if state.proposition == "E3":
                made["closing"] = self._as_of(tree)
            return made
        if isinstance(tree, nodes.Join) and not one.is_apart and not isinstance(count.why, BlockResults):
            return self._of_side(tree, state, count)
        if isinstance(tree, nodes.Aggregate) and state.entry is not Entry.OPEN_VALUES:
            count = _at_columns(count)
        return self._count(count)

    def _of_side(self, tree: Tree, state: OperatorState, count: StateCount) -> Json:
        """Why so many rows of a side wait, by what is known of pairs, and since when: from when they come."""
        side, pair = self.nodes.at(tree).input(state.what), self.nodes.at(pairs_of(tree))
        first = 0 if state.what == "left" else len(self.nodes.at(tree).input("left").view.schema)
        if isinstance(count.why, SumOfCounts):
            number, shown = self.nodes.number(pair), count.why.view.below
            if count.why.below and shown is not None:
                of = [self._count(one, None, 0, (), pair, first, shown[1]) for one in count.why.counts]
                of = [self._since(made, count, side) for made in of]
                return {"rule": "below", "size": count.size.text, "node": number, "of": of}
            if not count.why.view.parts:
                return {"rule": "unproved", "size": count.size.text}
            self.nodes.parts(count.why.view)
            of = [
                self._since(self._count(one, whole=pair, first_of_whole=first), one, side) for one in count.why.counts
            ]
            return {"rule": "parts", "size": count.size.text, "node": number, "of": of}
        return self._since(self._count(count, pair, first, state.key), count, side)

    def _since(self, made: Json, count: StateCount, side: TreeNode) -> Json:
        """A count of rows that wait, with the fact that says since when."""
        if "closing" in made and count.closing is not None:
            place, function = count.closing.place, count.closing.function
            if side.view.columns[place].time(NOW, function) is not None:
                made["closing"].append(self.log.time(side, place, NOW, function))
        return made

    def _at(self, tree: Tree, rule: str, count: StateCount) -> Json:
        """A count of a node's rows."""
        return {"rule": rule, "size": count.size.text, "node": self.nodes.first[tree]}

    def _as_of(self, tree: Tree) -> list[int]:
        """The fact that a version is as of the time at which the row beside it comes."""
        assert isinstance(tree, nodes.Join), "a version is joined"
        left = self.nodes.at(tree).input("left")
        place = place_of(parsed(_relation_of(tree).time), left.view)
        assert place is not None, "it is a column"
        return [self.log.time(left, place, NOW)]

    # --- counts ---------------------------------------------------------------------------------------------------

    def _count(
        self,
        count: StateCount,
        node: TreeNode | None = None,
        first: int = 0,
        wanted: Sequence[int] = (),
        whole: TreeNode | None = None,
        first_of_whole: int = 0,
        shown: Mapping[int, int] | None = None,
    ) -> Json:
        why, size = count.why, count.size.text
        if isinstance(why, SumOfCounts | WholeView | Combinations) and why.view.tree not in self.nodes.first:
            return {"rule": "unproved", "size": size}
        match why:
            case WindowCount():
                return self._rows_of_windows(count, why)
            case BlockResults(queries, by_values):
                return {"rule": "results", "size": size, "branches": to_json(_results(queries, by_values))}
            case SumOfCounts(view, counts, below):
                number = self.nodes.first[view.tree]
                if not below and view.parts:
                    self.nodes.parts(view)
                if below and view.below is not None:  # by when rows of the whole above the select list change
                    of = [self._count(one, None, 0, (), whole, first_of_whole, view.below[1]) for one in counts]
                else:
                    of = [self._count(one, whole=whole or self.nodes.at(view.tree)) for one in counts]
                return {"rule": "below" if below else "parts", "size": size, "node": number, "of": of}
            case WholeView(view, empty):
                node = node or self.nodes.at(view.tree)
                made: Json = {"rule": "whole", "size": size, "node": self.nodes.number(node)}
                if empty is not None:
                    fact = self.log.values(node, empty + first)
                    values = self.log.claimed(fact)
                    if values is None or values.size != 0:
                        return {"rule": "unproved", "size": size}
                    column = {"column": empty, "size": 0, "rule": "set", "facts": [fact]}
                    made |= {"rule": "combinations", "columns": [column]}
                elif any(one.values == NOTHING for one in view.columns):
                    nothing = next(place for place, one in enumerate(view.columns) if one.values == NOTHING)
                    made["of"] = [self._count(replace(count, why=WholeView(view, nothing)), node, first)]
                elif (count_of_rows := _other_than_all(view, view.rows)) is not None:
                    made["of"] = [self._count(count_of_rows, node, first)]
                elif (count_of_rows := self._below(view)) is not None:
                    made["of"] = [self._count(count_of_rows)]
                elif isinstance(node.tree, nodes.Fixpoint):
                    columns = list(self._values_of_recursion(node))
                    made |= {"columns": columns} if columns else {}
                return made
            case Combinations():
                node = node or self.nodes.at(why.view.tree)
                return self._combinations(count, why, node, first, wanted, whole, first_of_whole, shown)
        return {"rule": "unproved", "size": size}

    def _below(self, view: OperatorView) -> StateCount | None:
        """Why there are so many groups, or different rows, of which a view has no more."""
        below = _with_as_many(self.nodes.at(view.tree))
        while below is not None:
            if (found := _other_than_all(below.view, view.rows)) is not None:
                return found
            below = _with_as_many(below)
        return None

    def _values_of_recursion(self, node: TreeNode) -> Iterator[Json]:
        """The columns of a recursion that have no more values than their sets say."""
        step = node.views.inside(node.tree).of(node.tree.step) if isinstance(node.tree, nodes.Fixpoint) else None
        assert step is not None, "it is a recursion"
        for place, column in enumerate(node.view.columns):
            most = values_of(place, node.input("base").view, step, node.view)
            if most is not None and column.values.size is not None and most.text == str(column.values.size):
                fact = self.log.values(node, place)
                yield {"column": place, "size": column.values.size, "rule": "set", "facts": [fact]}

    def _combinations(
        self,
        count: StateCount,
        why: Combinations,
        node: TreeNode,
        first: int,
        wanted: Sequence[int],
        whole: TreeNode | None,
        first_of_whole: int,
        shown: Mapping[int, int] | None,
    ) -> Json:
        closing = count.closing
        rule = "apart" if why.apart else "keys" if count.held is not None else "combinations"
        made: Json = {
            "rule": rule if _session_of(node.tree) is None or closing is None else "sessions",
            "size": count.size.text,
            "node": self.nodes.number(node),
            "key": [] if count.held is None else list(count.held.places),
            "sources": [self._source(one, count, node, first) for one in why.sources],
            "columns": [self._column(one, count, node, first) for one in why.columns],
        }
        if closing is not None:
            place = closing.place if whole is None or shown is None else shown.get(closing.place, closing.place)
            column, around = place + (first if whole is None else first_of_whole), whole or node
            made["closing"] = [self.log.time(around, column, NOW, closing.function), self.log.values(around, column)]
        if isinstance(node.tree, nodes.Join) and wanted:
            made["equal"] = self._equal(why, node, first, wanted)
        return {name: one for name, one in made.items() if one != []}

    def _source(self, one: SourceCount, count: StateCount, node: TreeNode, first: int) -> Json:
        assert isinstance(count.why, Combinations), "it is of such a count"
        session = _rows_of_sessions(node)
        name = path_of(session or node, one.source)
        if count.why.view.tree != node.tree:  # of a side, in pairs
            name = name.partition(".")[2]
        made: Json = {"source": name, "size": one.size.text}
        if one.fan:
            return made
        if count.why.view.sources[one.source].every is not None:
            return made | {"timestamps": one.timestamps}
        if one.lifetime is not None:
            column = one.lifetime + first
            facts = [self.log.values(node, column), self.log.time(node, column, one.source)]
            return made | {"timestamps": one.timestamps, "facts": facts}
        bucket = _session_of(node.tree)
        if one.timestamps is not None and session is not None and bucket is not None:
            time = place_of(parsed(bucket.time), session.view)
            return made | {"timestamps": one.timestamps, "facts": [self.log.time(session, time or 0, one.source)]}
        if one.timestamps is not None and count.closing is not None:
            column = count.closing.place + first
            fact = self.log.beside(node, column, one.source, count.closing.function)
            return made | {"timestamps": one.timestamps, "facts": [fact]}
        return made

    def _column(self, one: ColumnCount, count: StateCount, node: TreeNode, first: int) -> Json:
        column, closing = one.place + first, count.closing
        made: Json = {"column": one.place, "size": one.size}
        if one.closed:
            return made | {"rule": "closed"}
        if one.near is None or closing is None:
            fact = self.log.values(node, column)
            if isinstance(count.why, Combinations) and one.place in count.why.view.clipped:
                return made | {"rule": "clipped", "facts": [fact, *self._compared(node, column)]}
            values = self.log.claimed(fact)
            return made | {"rule": "set" if values and values.size == one.size else "unproved", "facts": [fact]}
        assert isinstance(count.why, Combinations), "it is of such a count"
        near = count.why.view.columns[one.place].times[one.near]
        facts = [self.log.time(node, column, near.source, near.function)]
        facts.append(self.log.beside(node, closing.place + first, near.source, closing.function))
        if not node.view.columns[column].values.null:
            facts.append(self.log.values(node, column))
        return made | {"rule": "finer" if one.finer else "near", "facts": facts}

    def _compared(self, node: TreeNode, column: int) -> Iterator[int]:
        """The facts of the columns of pairs that one is compared with."""
        for part in conditions_of(node):
            places = node.view.read_by(part)
            if column in places:
                yield from (self.log.values(node, other) for other in sorted(places - {column}))

    def _equal(self, why: Combinations, node: TreeNode, first: int, wanted: Sequence[int]) -> list[int]:
        """The atoms by which columns of pairs equal those that are counted."""
        chosen = {one.source for one in why.sources}
        covered = {one.place + first for one in why.columns}
        covered |= {place + first for place in wanted if why.view.origins[place] <= chosen}
        rest = {place + first for place in wanted} - covered
        given, atoms = row_schema(node), list[tuple[int, int, int]]()
        for number, part in enumerate(conditions_of(node)):
            for one in equalities(part):
                x, y = place_of(one.left, node.view), place_of(one.right, node.view)
                if x is not None and y is not None and given[x].type == given[y].type:
                    atoms.append((x, y, number))
        found = list[int]()
        while rest - covered:
            more = next(((x, y, n) for x, y, n in atoms if len({x, y} & covered) == 1), None)
            if more is None:
                break
            covered |= {more[0], more[1]}
            found.append(more[2])
        return found


def _relation_of(tree: Tree) -> nodes.AsOf:
    """The relation as of a time that a join is with."""
    while not isinstance(tree, nodes.AsOf):
        tree = tree.right if isinstance(tree, nodes.Join) else named_inputs(tree)["input"]
    return tree


def _at_columns(count: StateCount) -> StateCount:
    """A count of groups whose closing column is a key, by its place beside the columns of the rows below them."""
    if not isinstance(count.why, Combinations) or (count.closing is None and count.held is None):
        return count
    tree = count.why.view.tree
    names = [one.name for one in tree.items if isinstance(one, nodes.Named)] if isinstance(tree, nodes.Project) else []
    first = names.index("_k0") if "_k0" in names else 0
    closing, held = count.closing, count.held
    if closing is not None:
        closing = replace(closing, place=closing.place + first)
    if held is not None:
        held = replace(held, places=tuple(place + first for place in held.places))
    return replace(count, closing=closing, held=held)


def _other_than_all(view: OperatorView, most: Size | None) -> StateCount | None:
    """Why there are so many rows at a time, where that is by sources and values: of groups, and of different rows."""
    if not isinstance(view.tree, nodes.Aggregate | nodes.Distinct | nodes.Union) or most is None:
        return None
    known = [one for one in present_rows(view, view.every) if one.size == most]
    return next((one for one in known if isinstance(one.why, Combinations)), None)


def _with_as_many(node: TreeNode) -> TreeNode | None:
    """The input of which an operator has no more rows; None for another operator."""
    match node.tree:
        case tree if isinstance(tree, _NO_MORE_ROWS):
            return node.input("input")
        case nodes.Join(kind=kind) if kind in nodes.ONE_SIDED:
            return node.input("left")
        case nodes.Except() | nodes.Intersect():
            return node.input("left")
    return None


def _session_of(tree: Tree) -> nodes.Bucket | None:
    """The sessions whose keys a select list has."""
    below = tree.input if isinstance(tree, nodes.Project) else None
    below = below.input if isinstance(below, nodes.Filter) else below
    return below if isinstance(below, nodes.Bucket) and below.kind is nodes.BucketKind.SESSION else None


def _rows_of_sessions(node: TreeNode) -> TreeNode | None:
    """The rows that are in the sessions whose keys a select list has."""
    if _session_of(node.tree) is None:
        return None
    below = node.input("input")
    return (below.input("input") if isinstance(below.tree, nodes.Filter) else below).input("input")


def _results(queries: Sequence[Query], by_values: bool) -> Any:
    """Tables of the results of all branches of some split queries; of all there can be, where that is by values."""
    found = list[Any]()
    for query in queries:
        parts = list[BranchBound]()
        for number, branch in enumerate(query.branches):
            synopsis = Synopsis(Facts.of(branch))
            layout = timed_results_layout(synopsis)
            count = results_count(synopsis.facts, layout)
            count = of_values(count, branch) if count is not None and by_values else count
            assert count is not None, "what is counted has a number"
            table = TableBound("results", layout, count, results=True)
            parts.append(BranchBound(number, Case(branch), synopsis, (table,)))
        every = total([Number(0), *(one.tables[0].size for one in parts)])
        found += certificate(QueryBound(tuple(parts), every), True).branches
    return tuple(found)
