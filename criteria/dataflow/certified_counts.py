"""Why states have no more entries, as certificates say it: values of columns, rows of sources, their sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import Tree, named_inputs
from streambound.analyzer.algebra.value_sets import NOTHING
from streambound.analyzer.algebra.view_facts import NOW, ViewKind
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Query
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.bound import BranchBound, TableBound, results_count, timed_results_layout
from streambound.criteria.cases import Case
from streambound.criteria.certificate import branches_json
from streambound.criteria.count import by_values as of_values
from streambound.criteria.dataflow.certified_nodes import CertifiedNodes
from streambound.criteria.dataflow.counting import present_rows
from streambound.criteria.dataflow.explained import FactLog
from streambound.criteria.dataflow.joins import ahead
from streambound.criteria.dataflow.state import (
    BlockResults,
    ColumnCount,
    Combinations,
    Entry,
    Operation,
    OperatorState,
    PassedGroups,
    SourceCount,
    StateCount,
    SumOfCounts,
    WholeView,
    WindowCount,
)
from streambound.criteria.dataflow.tree_nodes import Json, TreeNode, conditions_of, path_of, row_schema
from streambound.criteria.dataflow.view import VALUES_OF_SESSION, OperatorView, RowSource, place_of, session_of
from streambound.criteria.dataflow.views import equalities, longest_sessions, pairs_of, values_of
from streambound.criteria.size import Number, Size, total
from streambound.criteria.synopsis import Synopsis

_NO_MORE_ROWS = (
    nodes.Filter, nodes.Alias, nodes.Project, nodes.SpjBlock, nodes.Distinct, nodes.Over, nodes.Apply, nodes.OrderBy,
)  # fmt: skip
"""Operators that have no more rows than their input."""


class CertifiedCounts(Struct):
    """Says why states have no more entries, by facts that are added to a log."""

    nodes: CertifiedNodes
    log: FactLog

    def why(self, state: OperatorState, count: StateCount, one: Operation) -> Json:
        """Why a state of an operation has no more entries."""
        tree = one.tree
        if count.why is None:
            if isinstance(tree, nodes.Except | nodes.Intersect):
                sides = [self.nodes.at(tree).input(name) for name in ("left", "right")]
                views = [one.view for one in sides]
                rows = [StateCount(one.rows, why=WholeView(one)) for one in views if one.rows is not None]
                return self._at(tree, "parts", count) | {"of": [self._count(one) for one in rows]}
            if isinstance(tree, nodes.Aggregate) and not tree.keys:
                return {"rule": "one", "size": count.size.text}
            rows_of = tree if isinstance(tree, nodes.Scan) else named_inputs(tree).get(state.what, tree)
            if one.is_apart:  # each relation that streams' rows are joined with again
                relations = [leaf.tree for leaf in one.leaves() if is_static(leaf.tree, self.nodes.catalog)]
                known = [id(other) for other in one.states if other.what == "relation"]
                rows_of = relations[known.index(id(state))]
            rows_of = _relation_of(tree).input if state.proposition == "E3" else rows_of
            made = self._at(rows_of, "whole", count)
            if state.proposition == "E3":
                made["closing"] = self._as_of(tree)
            return made
        is_side = isinstance(tree, nodes.Join) and not one.is_apart and state.proposition != "E3"
        if is_side and not isinstance(count.why, BlockResults):
            return self._of_side(tree, state, count)
        if isinstance(tree, nodes.Aggregate) and state.entry is not Entry.OPEN_VALUES:
            count = _at_columns(count)
        return self._count(count)

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
        """Rows that came at some timestamps, of each part of a union."""
        assert count.closing is not None, "they have a time"
        if isinstance(count.why, SumOfCounts):
            self.nodes.parts(count.why.view)
            return self._at(count.why.view.tree, "parts", count) | {"of": [*map(self._recent, count.why.counts)]}
        return self._count(count) | {"rule": "recent", "number": count.closing.wait}

    def _of_side(self, tree: Tree, state: OperatorState, count: StateCount) -> Json:
        """The reason for the number of waiting rows of a side, by the facts of pairs, from their arrival on."""
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
        made = self._count(count, pair, first, state.key)
        if isinstance(count.why, WholeView) and (columns := list(self._values_of_recursion(side))):
            made["columns"] = columns
        return self._since(made, count, side)

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
        """The fact that a version is as of the time at which the row beside it comes, or until which it changes."""
        assert isinstance(tree, nodes.Join), "a version is joined"
        left = self.nodes.at(tree).input("left")
        place = place_of(_relation_of(tree).time.syntax, left.view)
        assert place is not None, "it is a column"
        column = left.view.columns[place]
        end = None if left.view.change <= ViewKind.APPEND_ONLY else ahead(column)
        return [self.log.time(left, place, NOW, "" if end is None else end.function)]

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
            case PassedGroups(others, key, rising):
                rows = self.nodes.at(rising.of)
                time = rows.view.columns[rising.order].time(NOW)
                assert time is not None, "rows come by it"
                order = [self.log.time(rows, rising.order, NOW, time.function), self.log.values(rows, rising.order)]
                order += [self.log.values(rows, place) for place in rising.summed]
                return {"rule": "passed", "size": size, "number": key, "order": order, "each": self._count(others)}
            case BlockResults(queries, by_values):
                return {"rule": "results", "size": size, "branches": _results(queries, by_values)}
            case SumOfCounts(view, counts, below):
                number = self.nodes.first[view.tree]
                if not below and view.parts:
                    self.nodes.parts(view)
                if below and view.below is not None:  # by when rows of the whole above the select list change
                    at = {low: here if shown is None else shown.get(here, -1) for low, here in view.below[1].items()}
                    of = [self._count(one, None, 0, (), whole, first_of_whole, at) for one in counts]
                else:
                    around = whole or self.nodes.at(view.tree)
                    of = [self._count(one, None, 0, (), around, first_of_whole, shown) for one in counts]
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
                elif (sides := self._of_sides(node, count.size)) is not None:
                    made["of"] = sides
                elif (count_of_rows := _other_than_all(view, view.rows)) is not None:
                    made["of"] = [self._count(count_of_rows, node, first)]
                elif (count_of_rows := self._below(view)) is not None:
                    made["of"] = [self._count(count_of_rows)]
                elif columns := list(self._values_of_recursion(node)):
                    made["columns"] = columns
                return made
            case Combinations():
                node = node or self.nodes.at(why.view.tree)
                return self._combinations(count, why, node, first, wanted, whole, first_of_whole, shown)
        return {"rule": "unproved", "size": size}

    def _of_sides(self, node: TreeNode, size: Size) -> list[Json] | None:
        """Why both sides of a union over streams have at most these rows, where a node has no more."""
        union: TreeNode | None = node
        while union is not None and not isinstance(union.tree, nodes.Union):
            union = _with_as_many(union)
        if union is None or is_static(union.tree, self.nodes.catalog):
            return None
        sides = [union.input(name).view for name in ("left", "right")]
        counts = [StateCount(one.rows, why=WholeView(one)) for one in sides if one.rows is not None]
        whole = len(counts) == len(sides) and total(one.size for one in counts) == size
        return [self._count(one) for one in counts] if whole else None

    def _below(self, view: OperatorView) -> StateCount | None:
        """The reason for the number of groups, or distinct rows, that limits a view."""
        below = _with_as_many(self.nodes.at(view.tree))
        while below is not None:
            if (found := _other_than_all(below.view, view.rows)) is not None:
                return found
            below = _with_as_many(below)
        return None

    def _values_of_recursion(self, node: TreeNode) -> Iterator[Json]:
        """The columns that have no more values than their sets say, of a recursion that has all the node's rows."""
        while (below := _with_as_many(node)) is not None:
            node = below
        if not isinstance(node.tree, nodes.Fixpoint):
            return
        step = node.views.inside(node.tree).of(node.tree.step)
        for place, column in enumerate(node.view.columns):
            most = values_of(place, node.input("base").view, step, node.view)
            if most is not None and column.values.size is not None and most.text == str(column.values.size):
                fact = self.log.values(node, place)
                yield {"column": place, "size": column.values.size, "rule": "set", "facts": [fact]}
                continue
            for side in map(node.input, ("base", "step")):
                if side.view.columns[place].values.size is not None and not _is_of_relations(side.view, place):
                    self.log.values(side, place)

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
            "rule": rule if session_of(node.tree) is None or closing is None else "sessions",
            "size": count.size.text,
            "node": self.nodes.number(node),
            "key": [] if count.held is None else list(count.held.places),
            "sources": [self._source(one, count, node, first) for one in why.sources],
            "columns": [self._column(one, count, node, first) for one in why.columns],
        }
        if closing is not None:
            place = closing.place if whole is None or shown is None else shown.get(closing.place, -1)
            column, around = place + (first if whole is None else first_of_whole), whole or node
            made["closing"] = [self.log.time(around, column, NOW, closing.function), self.log.values(around, column)]
        if isinstance(node.tree, nodes.Join) and wanted:
            made["equal"] = self._equal(why, node, first, wanted)
        return {name: one for name, one in made.items() if one != []}

    def _source(self, one: SourceCount, count: StateCount, node: TreeNode, first: int) -> Json:
        assert isinstance(count.why, Combinations), "it is of such a count"
        session, of_side = _rows_of_sessions(node), count.why.view.tree != node.tree

        def name(source: str) -> str:
            path = path_of(session or node, source)
            return path.partition(".")[2] if of_side else path  # of a side, in pairs

        made: Json = {"source": name(one.source), "size": one.size.text}
        if one.fan:
            return made
        if one.beside is not None and one.near is not None:
            column = one.near + first
            facts = [self.log.values(node, column), self.log.time(node, column, one.beside)]
            facts.append(self.log.beside(node, column, one.source))
            return made | {"timestamps": one.timestamps, "beside": name(one.beside), "facts": facts}
        if count.why.view.sources[one.source].every is not None:
            return made | {"timestamps": one.timestamps}
        if one.lifetime is not None:
            column = one.lifetime + first
            facts = [self.log.values(node, column), self.log.time(node, column, one.source)]
            return made | {"timestamps": one.timestamps, "facts": facts}
        bucket = session_of(node.tree)
        if one.timestamps is not None and session is not None and bucket is not None:
            time = place_of(bucket.time.syntax, session.view)
            facts = [self.log.time(session, time or 0, one.source)]
            if all(VALUES_OF_SESSION not in said for said in count.why.view.origins):
                facts += self._length(node, one.source)
            return made | {"timestamps": one.timestamps, "facts": facts}
        if one.timestamps is not None and count.closing is not None:
            column = count.closing.place + first
            fact = self.log.beside(node, column, one.source, count.closing.function)
            return made | {"timestamps": one.timestamps, "facts": [fact]}
        return made

    def _length(self, node: TreeNode, source: str) -> list[int]:
        """The key that says how long a session of a select list is at most; none where each one is its last row."""
        width = sum(column.name.startswith("_k") for column in node.view.schema)
        if width == len(node.view.schema):
            return []
        length = longest_sessions(node.view.columns[:width])[source]
        return [self.log.time(node, length.key, source, length.function), self.log.values(node, length.key)]

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


def _is_of_relations(view: OperatorView, place: int) -> bool:
    """Whether rows of relations, of each one, say a column's value."""
    mine = [view.sources.get(name, RowSource()) for name in view.origins[place]]
    return all(one.table is not None and one.rows is not None for one in mine)


def _other_than_all(view: OperatorView, most: Size | None) -> StateCount | None:
    """The reason for the number of groups, or of distinct rows, by sources and values."""
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


def _rows_of_sessions(node: TreeNode) -> TreeNode | None:
    """The rows that are in the sessions whose keys a select list has."""
    if session_of(node.tree) is None:
        return None
    below = node.input("input")
    return (below.input("input") if isinstance(below.tree, nodes.Filter) else below).input("input")


def _results(queries: Sequence[Query], by_values: bool) -> list[Json]:
    """Tables of the results of all branches of some split queries; of all there can be, where that is by values."""
    found = list[Json]()
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
        found += branches_json(parts, True)
    return found
