"""What each SELECT of a statement reads in its FROM, and what its conditions say of times.

SELECT … FROM S WHERE NOT EXISTS (SELECT … FROM T WHERE T.a = S.a)   ->   S;  T, with S around it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.narrowing import RowFacts, narrowed
from streambound.analyzer.algebra.schema_columns import ViewColumn, meant
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.value_sets import ANYTHING
from streambound.analyzer.algebra.view_facts import ColumnFacts, TimePromise
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.render import identifier
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.dataflow.views import Views

Place = tuple[str, int, int]
"""A node of the syntax: its class, and the offsets of its first and its last word."""


class FromItem(Struct, frozen=True):
    """An item of a FROM, by its alias; ``join`` is the join whose right side it is, if any."""

    alias: str
    node: exp.Table | exp.Subquery
    join: exp.Join | None
    view: OperatorView

    @property
    def side(self) -> str:
        """``LEFT``, ``RIGHT``, ``FULL``, ``SEMI`` or ``ANTI``; empty for the first item, and for an inner join."""
        if self.join is None:
            return ""
        kind = self.join.text("kind").upper()
        return kind if kind in ("SEMI", "ANTI") else self.join.text("side").upper()

    @property
    def time(self) -> ViewColumn | None:
        """The time of its rows; None of a relation, and where it is not shown."""
        return next((column for column in self.view.schema if column.time), None)

    @property
    def written_time(self) -> str:
        """The time as it is written."""
        return self.written(self.time.name if self.time is not None else "")

    def written(self, column: str) -> str:
        """A column as it is written; a subquery need have no alias."""
        return ".".join(identifier(one).sql("spark") for one in (self.alias, column) if one)

    @property
    def closing(self) -> str:
        """A column that says when rows are over, such as a bucket of time; empty if there is none."""
        both = zip(self.view.schema, self.view.columns, strict=True)
        return next((column.name for column, facts in both if facts.closing is not None), "")

    @property
    def hides_time(self) -> bool:
        """Whether it is of a stream's rows, and does not show their time."""
        return self.time is None and any(one.stream is not None for one in self.view.sources.values())

    def table(self, place: int) -> DeclaredTable | None:
        """The table that a column, by its place, is of; None for one that is computed."""
        tables = [self.view.sources[one].table for one in self.view.origins[place]]
        return tables[0] if len(tables) == 1 and self.view.schema[place].column is not None else None


class EqualColumns(Struct, frozen=True):
    """Columns of two items, by their places, that a condition makes equal."""

    one: tuple[FromItem, int]
    other: tuple[FromItem, int]


class SelectScope(Struct, frozen=True, dict=True):
    """A SELECT, what its FROM names, and the SELECT around it whose names it sees, if it is a subquery."""

    select: exp.Select
    items: tuple[FromItem, ...]
    around: SelectScope | None

    @cached_property
    def seen(self) -> tuple[FromItem, ...]:
        """All that it sees by name: what is around it first."""
        own = {item.alias.lower() for item in self.items}
        outer = self.around.seen if self.around is not None else ()
        return (*(item for item in outer if item.alias.lower() not in own), *self.items)

    @property
    def streams(self) -> tuple[FromItem, ...]:
        """The items that have an application time."""
        return tuple(item for item in self.seen if item.time is not None)

    @cached_property
    def conditions(self) -> tuple[exp.Expr, ...]:
        """The conditions on its rows, and on those of the queries around it."""
        where, joins = self.select.args.get("where"), self.select.args.get("joins") or ()
        written = [where and where.this, *(join.args.get("on") for join in joins)]
        own = [part for one in written if one is not None for part in conjuncts(one)]
        return (*own, *(self.around.conditions if self.around is not None else ()))

    @property
    def equal(self) -> Iterator[EqualColumns]:
        """The columns of different items that are equal."""
        for one in self.conditions:
            if isinstance(one, exp.EQ) and isinstance(one.this, exp.Column) and isinstance(one.expression, exp.Column):
                left, right = self._meant(one.this), self._meant(one.expression)
                if left is not None and right is not None and left[0] is not right[0]:
                    yield EqualColumns(left, right)
        yield from self._member()
        for number, item in enumerate(self.items):
            for name in item.join.args.get("using") or () if item.join is not None else ():
                column = exp.column(name.name)
                sides = [(one, place) for one in self.items[:number] for place in _places(column, one)]
                yield from (EqualColumns(side, (item, place)) for side in sides for place in _places(column, item))

    def _member(self) -> Iterator[EqualColumns]:
        """The columns of ``S.a IN (SELECT T.a …)``."""
        asked = self.select.parent
        while isinstance(asked, exp.Subquery | exp.Paren):
            asked = asked.parent
        if isinstance(asked, exp.In) and self.around is not None and isinstance(asked.this, exp.Column):
            column = self.select.expressions[0].unalias()
            left = self.around._meant(asked.this)
            right = self._meant(column) if isinstance(column, exp.Column) else None
            if left is not None and right is not None and right[0] in self.items:
                yield EqualColumns(left, right)

    def _meant(self, column: exp.Column) -> tuple[FromItem, int] | None:
        """The item and the place of a column; its own items before those around it."""
        found = ((item, place) for item in reversed(self.seen) for place in _places(column, item))
        return next(found, None)

    def apart(self, first: FromItem, second: FromItem) -> tuple[int | None, int | None]:
        """How much later a row of the second is than one of the first: at least, and at most."""
        place = next(n for n, (item, column) in enumerate(self._columns) if item is second and column is second.time)
        known = self._facts.columns[place].time(first.alias.lower())
        return (None, None) if known is None else (known.low, known.high)

    @cached_property
    def _columns(self) -> list[tuple[FromItem, ViewColumn]]:
        """The columns that conditions name, and the times."""
        named = {column.name.lower() for one in self.conditions for column in one.find_all(exp.Column)}
        every = ((item, column) for item in self.seen for column in item.view.schema)
        return [(item, column) for item, column in every if column is item.time or column.name.lower() in named]

    @cached_property
    def _facts(self) -> RowFacts:
        facts = [
            ColumnFacts(ANYTHING.not_null(), (TimePromise(item.alias.lower(), 0, 0),))
            if column is item.time
            else ColumnFacts()
            for item, column in self._columns
        ]
        condition = exp.and_(*(one.copy() for one in self.conditions), wrap=True) if self.conditions else None
        return narrowed(condition, RowFacts(tuple(column for _, column in self._columns), tuple(facts)))


def _places(column: exp.Column, item: FromItem) -> Iterator[int]:
    place = meant(column, item.view.schema)
    if place is not None:
        yield place


def select_scopes(syntax: exp.Expr, tree: nodes.Tree, catalog: Catalog) -> tuple[SelectScope, ...]:
    """Every SELECT of a statement whose items are known, outer ones first."""
    views, items = Views(catalog), dict[Place, nodes.Tree]()
    _collect(tree, items)
    found: dict[int, SelectScope] = {}
    for select in syntax.find_all(exp.Select):
        around = _around(select)
        outer = found.get(id(around)) if around is not None else None
        found[id(select)] = SelectScope(select, tuple(_items(select, items, views)), outer)
    return tuple(found.values())


def _collect(tree: nodes.Tree, items: dict[Place, nodes.Tree]) -> None:
    """Collect the trees of FROM items by their places in the text, without rows of recursions."""
    place = place_of(tree.syntax) if tree.syntax is not None else None
    if isinstance(tree, nodes.Alias | nodes.Scan) and place is not None and not _recursive(tree):
        items.setdefault(place, tree)
    for below in nodes.inputs(tree):
        _collect(below, items)


def _recursive(tree: nodes.Tree) -> bool:
    return isinstance(tree, nodes.Recur) or any(map(_recursive, nodes.inputs(tree)))


def place_of(node: exp.Expr) -> Place | None:
    """Where a node stands: the same in a copy of the syntax; None where nothing of it is written."""
    places = [leaf.meta for leaf in node.walk() if "start" in leaf.meta]
    if not places:
        return None
    return type(node).__name__, min(one["start"] for one in places), max(one["end"] for one in places)


def _items(select: exp.Select, items: Mapping[Place, nodes.Tree], views: Views) -> Iterator[FromItem]:
    start = select.args.get("from_")
    for join, node in ((None, start and start.this), *((join, join.this) for join in select.args.get("joins") or ())):
        place = place_of(node) if isinstance(node, exp.Table | exp.Subquery) else None
        tree = items.get(place) if place is not None else None
        if tree is not None:
            yield FromItem(node.alias_or_name, node, join, views.of(tree))


def _around(select: exp.Select) -> exp.Select | None:
    """The SELECT whose names a subquery sees; None for one that stands in a FROM, but behind LATERAL, or in a WITH."""
    node: exp.Expr = select
    while node.parent is not None:
        parent = node.parent
        joined = isinstance(parent, exp.Join) and node.arg_key == "this" and not isinstance(node, exp.Lateral)
        if isinstance(parent, exp.From | exp.CTE) or joined:
            return None
        if isinstance(parent, exp.Select):
            return parent
        node = parent
    return None
