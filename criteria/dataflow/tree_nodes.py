"""Nodes of trees as certificates speak of them: where columns come from, and what one part of a condition says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, floor
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer import relation_queries
from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.expression_facts import times_of
from streambound.analyzer.algebra.narrowing import RowFacts, narrowed
from streambound.analyzer.algebra.schema_columns import Schema, read_by
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.value_sets import ANYTHING, ValueSet, between
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.expressions.expression import Expression
from streambound.criteria.dataflow.view import ONLY_ROW, OperatorView, place_of
from streambound.criteria.dataflow.views import RECURSION, Views

LEFT, RIGHT = "left side", "right side"
"""When the row of a side of a pair changes, as sources."""
Point = int | str | None
"""A column, a source's time, or the constant 0."""
Json = dict[str, Any]


class PathStep(Struct, frozen=True):
    """``above - below <= most``, by an atom of the condition or a fact, which is computed on demand."""

    above: Point
    below: Point
    most: int
    atom: int | None = None
    column: int | None = None
    source: str | None = None
    times: tuple[tuple[int, TimePromise], ...] = ()
    """Of an atom that compares buckets of two sources' times: what it reads says of these."""


class TreeNode(Struct, frozen=True):
    """A node of a tree and the views of those around it."""

    tree: nodes.Tree
    views: Views
    recursion: TreeNode | None = None

    @property
    def view(self) -> OperatorView:
        """The facts of its rows."""
        return self.views.of(self.tree)

    def input(self, name: str) -> TreeNode:
        """The node that a field of it is."""
        tree = self.tree
        below: nodes.Tree = getattr(tree, name)
        if isinstance(tree, nodes.Fixpoint) and name == "step":
            return TreeNode(below, self.views.inside(tree), self)
        return TreeNode(below, self.views, self.recursion)


def needed_inputs(tree: nodes.Tree) -> tuple[str, ...]:
    """The inputs without whose rows an operator has none."""
    match tree:
        case nodes.Join(kind=nodes.JoinKind.INNER | nodes.JoinKind.SEMI) | nodes.Intersect():
            return "left", "right"
        case nodes.Join(kind=nodes.JoinKind.LEFT | nodes.JoinKind.ANTI | nodes.JoinKind.NOT_IN) | nodes.Except():
            return ("left",)
        case nodes.Join(kind=nodes.JoinKind.RIGHT):
            return ("right",)
        case nodes.Aggregate(keys=()) | nodes.Join() | nodes.Union() | nodes.Fixpoint() | nodes.Scan() | nodes.Recur():
            return ()
    return ("input",)


# --- what a node's condition says -------------------------------------------------------------------------------------


def conditions_of(node: TreeNode) -> list[Any]:
    """The parts of a node's condition."""
    tree = node.tree
    return conjuncts(tree.condition) if isinstance(tree, nodes.Filter | nodes.Join) else []


def row_schema(node: TreeNode) -> Schema:
    """The columns that a node's condition may read: those of its input, or of both sides of a join."""
    if isinstance(node.tree, nodes.Join):
        return (*node.input("left").view.schema, *node.input("right").view.schema)
    return node.input("input").view.schema


def row_of(node: TreeNode, column: int) -> tuple[TreeNode, int]:
    """The input's column that a condition reads at a place."""
    if isinstance(node.tree, nodes.Join):
        width = len(node.input("left").view.schema)
        return (node.input("left"), column) if column < width else (node.input("right"), column - width)
    return node.input("input"), column


def said_by(part: Any, given: Schema) -> RowFacts:
    """The facts of a row that satisfies one part of a condition."""
    return narrowed(part, RowFacts(given, tuple(ColumnFacts() for _ in given)))


def present_by_condition(node: TreeNode) -> set[int]:
    """The columns of which a condition says that they are not NULL."""
    given = row_schema(node)
    said = (said_by(one, given) for one in conditions_of(node))
    return {place for facts in said for place, column in enumerate(facts.columns) if not column.values.null}


def present_points(node: TreeNode) -> set[Point]:
    """The columns of a row that are not NULL, and the sources without which there is none."""
    given = row_schema(node)
    columns = {p for p in range(len(given)) if not row_of(node, p)[0].view.columns[row_of(node, p)[1]].values.null}
    return {
        *columns,
        *present_by_condition(node),
        *(name for name, one in node.view.sources.items() if not one.missing),
    }


def steps_of(node: TreeNode) -> Iterator[PathStep]:
    """The differences that atoms of a condition say, and facts of its input."""
    given, columns = row_schema(node), row_columns(node)
    for number, one in enumerate(conditions_of(node)):
        said = said_by(one, given)
        for x, y, most in said.differences:
            if isinstance(x, int) and isinstance(y, int):
                yield PathStep(x, y, most, atom=number)
        yield from (replace(step, atom=number) for step in _sources_apart(one, node, columns))
        for column, named in enumerate(given):
            low, high = said.columns[column].values.ends
            if high is not None and named.type is not None and named.type.discrete:
                yield PathStep(column, None, floor(high), atom=number)
            if low is not None and named.type is not None and named.type.discrete:
                yield PathStep(None, column, -ceil(low), atom=number)
    for column, known in enumerate(given):
        if known.type is None or not known.type.discrete:
            continue
        facts = columns[column]
        low, high = facts.values.ends
        limits: list[tuple[str | None, Any, Any]] = [(None, low, high)]
        times = [t for t in facts.times if t.source != NOW or isinstance(node.tree, nodes.Filter)]
        limits += [(t.source, t.low, t.high) for t in times if not t.function]
        for source, least, most in limits:
            if most is not None:
                yield PathStep(column, source, floor(most), column=column, source=source)
            if least is not None:
                yield PathStep(source, column, -ceil(least), column=column, source=source)


def _sources_apart(part: Any, node: TreeNode, columns: Sequence[ColumnFacts]) -> Iterator[PathStep]:
    """How far the times of two sources are apart, of which a part of a condition compares buckets."""
    given = row_schema(node)
    known = [(p, t) for p in sorted(read_by(given, part)) for t in columns[p].times if t.source != NOW]
    for (p, one), (q, other) in combinations(known, 2):
        if p == q or one.source == other.source:
            continue
        times = {p: ColumnFacts(_sign(columns[p]), (one,)), q: ColumnFacts(_sign(columns[q]), (other,))}
        timed = tuple(times.get(place, ColumnFacts()) for place in range(len(given)))
        for x, y, most in narrowed(part, RowFacts(given, timed)).differences:
            if isinstance(x, str) and isinstance(y, str):
                yield PathStep(x, y, most, times=((p, one), (q, other)))


def _sign(column: ColumnFacts) -> ValueSet:
    low, _ = column.values.ends
    return between(0, None) if low is not None and low >= 0 else ANYTHING


def row_columns(node: TreeNode) -> tuple[ColumnFacts, ...]:
    """The facts of the columns that a node's condition may read, with the names that sources have in its rows."""

    def named(column: int) -> ColumnFacts:
        rows, place = row_of(node, column)
        facts, names = rows.view.columns[place], called_above(node, rows)
        if isinstance(node.tree, nodes.Join):
            names = {**names, NOW: LEFT if column < len(node.input("left").view.schema) else RIGHT}
        return replace(facts, times=tuple(replace(t, source=names.get(t.source, t.source)) for t in facts.times))

    return tuple(map(named, range(len(row_schema(node)))))


def latest(node: TreeNode) -> frozenset[str] | None:
    """The sources of which the newest row's time is that at which a row changes; None where that is not so."""
    match node.tree:
        case nodes.Scan(table=table, alias=alias):
            declared = node.views.catalog.table(table)
            if declared is None or declared.changes is not None:
                return None
            return frozenset() if declared.is_fixed else frozenset((alias,))
        case nodes.Alias(alias=alias):
            below = latest(node.input("input"))
            return None if below is None else frozenset(f"{alias}.{name}" for name in below)
        case nodes.Filter() | nodes.Project():
            return latest(node.input("input"))
        case nodes.Join(kind=nodes.JoinKind.INNER):
            left, right = latest(node.input("left")), latest(node.input("right"))
            names = called_above(node, node.input("right"))
            return None if left is None or right is None else left | {names.get(one, one) for one in right}
    return None


def called_above(node: TreeNode, below: TreeNode) -> Mapping[str, str]:
    """The names in a node's rows of its input's sources, where they differ."""
    tree = node.tree
    if isinstance(tree, nodes.Alias):
        return {name: f"{tree.alias}.{name}" for name in below.view.sources}
    if isinstance(tree, nodes.Join) and below.tree is tree.right and tree.kind not in nodes.ONE_SIDED:
        return dict(zip(below.view.sources, node.views.right_of_pairs(tree).sources, strict=True))
    return {}


def named_below(node: TreeNode, below: TreeNode, source: str) -> str:
    """The name in an input of a source of a node's rows."""
    return next((old for old, new in called_above(node, below).items() if new == source), source)


def path_of(node: TreeNode, source: str) -> str:
    """A source of a node's rows by the fields that lead to it, as certificates name it."""
    tree, of_sides = node.tree, {LEFT: "left.", RIGHT: "right."}
    if source == NOW or source in of_sides:
        return of_sides.get(source, source)
    match tree:
        case nodes.Scan():
            return "key" if source != tree.alias else "row"
        case nodes.Recur():
            return f"column {source.removeprefix(RECURSION)}"
        case nodes.Union():
            return "union"
        case nodes.Fixpoint():
            return "rows"
        case nodes.Bucket() if source not in node.input("input").view.sources:
            return "bucket"
        case nodes.Join() if source.startswith(f"{ONLY_ROW}left") and not node.input("left").view.sources:
            return "left.row"
        case nodes.Join() if source.startswith(f"{ONLY_ROW}right") and source not in node.input("left").view.sources:
            if not node.input("right").view.sources:
                return "right.row"
            name = "right"
        case nodes.Join() if source not in node.input("left").view.sources:
            name = "right"
        case nodes.Join() | nodes.Except() | nodes.Intersect():
            name = "left"
        case _:
            name = "input"
    below = node.input(name)
    return f"{name}.{path_of(below, named_below(node, below, source))}"


# --- where columns come from ------------------------------------------------------------------------------------------


def is_said_by(time: TimePromise, expression: Expression, place: int, rows: TreeNode, promise: TimePromise) -> bool:
    """Whether a promise of one column is enough for that of an expression."""
    columns = [replace(one, times=(time,) if n == place else ()) for n, one in enumerate(rows.view.columns)]
    return any(one.within(promise) for one in times_of(expression, columns))


def never_changes(tree: nodes.Tree, catalog: Catalog) -> bool:
    """Whether rows that are there never change: of relations, or of what one was at a time."""
    while isinstance(tree, nodes.Filter | nodes.Alias | nodes.Project):
        tree = tree.input
    return isinstance(tree, nodes.AsOf) or relation_queries.never_changes(tree, catalog)


def has_partner(node: TreeNode, column: int) -> bool:
    """Whether a column of a join's rows is there with a partner only."""
    assert isinstance(node.tree, nodes.Join), "it is one"
    is_left = column < len(node.input("left").view.schema)
    kind = node.tree.kind
    return kind is nodes.JoinKind.SEMI or (kind, is_left) in (
        (nodes.JoinKind.LEFT, False),
        (nodes.JoinKind.RIGHT, True),
    )


def origin(node: TreeNode, column: int) -> tuple[TreeNode, int | None, Any] | None:
    """The column of an input that a column is, or the expression over it; None for what is neither."""
    tree = node.tree
    match tree:
        case nodes.Project():
            below = node.input("input")
            return _of_expression(below, values_of(tree.items, below.view.schema)[column])
        case nodes.Aggregate(keys=keys):
            return _of_expression(node.input("input"), keys[column].value.syntax) if column < len(keys) else None
        case nodes.Join(using=()):
            return (*row_of(node, column), None)
        case nodes.Except():
            return node.input("left"), column, None
        case nodes.Scan() | nodes.Recur() | nodes.Fixpoint() | nodes.Union() | nodes.Intersect() | nodes.Join():
            return None
    below = node.input("input")
    return (below, column, None) if column < len(below.view.schema) else None


def _of_expression(below: TreeNode, expression: Any) -> tuple[TreeNode, int | None, Any]:
    place = place_of(expression, below.view)
    return below, place, expression


# --- as plain JSON ----------------------------------------------------------------------------------------------------


def set_json(values: ValueSet) -> Json:
    """A value set; numbers that are no integers as texts like ``1/2``."""
    null = {} if values.null else {"null": False}
    if values.listed is not None:
        numbers = sorted(one for one in values.listed if not isinstance(one, str))
        texts = sorted(one for one in values.listed if isinstance(one, str))
        found: Json = {"numbers": [_number(one) for one in numbers]}
        return found | ({"texts": texts} if texts else {}) | null
    ends = {"low": values.low, "high": values.high}
    return {name: _number(one) for name, one in ends.items() if one is not None} | null


def _number(value: Any) -> int | str:
    return int(value) if value == int(value) else str(value)


def time_json(promise: TimePromise, node: TreeNode) -> Json:
    """A promise about a time in a column of a node."""
    ends = {"low": promise.low, "high": promise.high}
    found: Json = {"source": path_of(node, promise.source)} | {
        name: one for name, one in ends.items() if one is not None
    }
    return found | ({"function": promise.function, "width": promise.width} if promise.function else {})


def point_json(point: Point, node: TreeNode) -> Json:
    """A point of a path."""
    return {} if point is None else {"column": point} if isinstance(point, int) else {"source": path_of(node, point)}
