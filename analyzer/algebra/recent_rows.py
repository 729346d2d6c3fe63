"""Conditions with now(), which is the time of the newest row that is closed, of all streams that a statement reads.

σ_{t > now() - d}(S)  ->  S ⋉_{t > n - d} γ_{MAX(ts) AS n}(S ∪ T): rows go as the newest one comes. Those that must be
older, t < now() - d, come as it does. The condition stands where the column is from, below joins: now() is the same for
all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.algebra.narrowing import RowFacts, narrowed
from streambound.analyzer.algebra.nodes import JoinKind
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.substitution import substituted, values_of
from streambound.analyzer.algebra.syntax import both_ends, column_of, conjunction, conjuncts
from streambound.analyzer.algebra.view_facts import ColumnFacts
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind

_ALIAS, _NEWEST = "now()", "newest"
_CALLED = ("now", "mz_now", "current_timestamp")
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_ASKS_RIGHT = (JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
_TO_LEFT = {JoinKind.RIGHT: JoinKind.INNER, JoinKind.FULL: JoinKind.LEFT}
_TO_RIGHT = {JoinKind.LEFT: JoinKind.INNER, JoinKind.FULL: JoinKind.RIGHT}
"""What joins are whose rows without a partner a comparison of a side's column drops."""


def is_now(node: exp.Expr) -> bool:
    """Whether an expression is a call of now()."""
    return isinstance(node, exp.CurrentTimestamp) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _CALLED and not node.expressions
    )


def with_recent_rows(tree: nodes.Tree, queries: dict[int, nodes.Tree], catalog: Catalog) -> nodes.Tree:
    """A tree in which conditions with now() are joins with the newest row; those that compare otherwise stay.

    Conditions in the ``queries`` of its expressions become such joins, too.
    """
    found = _Recent(catalog, _newest([tree, *queries.values()], catalog))
    if found.newest is None:
        return tree
    queries |= {key: found.tree(one) for key, one in queries.items()}
    return found.tree(tree)


def _newest(trees: Sequence[nodes.Tree], catalog: Catalog) -> nodes.Alias | None:
    """The time of the newest row of all streams that trees read; None where there are no streams."""
    rows = list[nodes.Tree]()  # for each stream, the times of its rows
    for name, scan in {scan.table: scan for tree in trees for scan in scans(tree)}.items():
        table = catalog.table(name)
        if table is not None and table.kind is Kind.STREAM and table.timestamp is not None:
            time = nodes.Scalar(exp.column(table.timestamp, table=name, quoted=True))
            items = (nodes.Named(_NEWEST, time, alias=True),)
            rows.append(nodes.Project(replace(scan, alias=name), items, syntax=scan.syntax, at=scan.at))
    if not rows:
        return None
    at, syntax = rows[0].at, rows[0].syntax
    every = reduce(lambda left, right: nodes.Union(left, right, distinct=False, syntax=syntax, at=at), rows)
    every = nodes.Alias(every, _NEWEST, syntax=syntax, at=at)
    call = nodes.AggregateCall(_NEWEST, "MAX", (nodes.Scalar(exp.column(_NEWEST, quoted=True)),))
    return nodes.Alias(nodes.Aggregate(every, (), (call,), syntax=syntax, at=at), _ALIAS, syntax=syntax, at=at)


class _Recent(Struct, frozen=True):
    catalog: Catalog
    newest: nodes.Alias | None

    def tree(self, tree: nodes.Tree) -> nodes.Tree:
        """The tree with joins in the place of conditions, those below first."""
        below = {name: self.tree(one) for name, one in nodes.named_inputs(tree).items()}
        if any(one is not getattr(tree, name) for name, one in below.items()):
            tree = replace(tree, **below)
        if not isinstance(tree, nodes.Filter | nodes.Join):
            return tree
        parts = [one for part in conjuncts(tree.condition) for one in (both_ends(part) if _calls_now(part) else [part])]
        asked = [part for part in parts if _asks(part)]
        others = [part for part in parts if part not in asked]
        if asked and isinstance(tree, nodes.Filter):
            found = tree.input
            condition = conjunction(part for part in others if part.find(exp.Query) is None)
            for one in (condition, *(nodes.Scalar(part) for part in others if part.find(exp.Query) is not None)):
                found = found if one is None else replace(tree, input=found, condition=one)
            for part in asked:
                found = self.below(found, part, tree)
            return found
        if asked and isinstance(tree, nodes.Join) and not tree.using:
            return self.on(replace(tree, condition=conjunction(others)), asked)
        return tree

    def on(self, tree: nodes.Join, asked: Sequence[exp.Expr]) -> nodes.Tree:
        """A join under some more comparisons with now(), of its right side where rows are kept without a partner."""
        for part in asked:
            columns = list(part.find_all(exp.Column))
            right = schema(tree.right, self.catalog)
            if tree.kind in _ASKS_RIGHT and all(meant(one, right) is not None for one in columns):
                tree = replace(tree, right=self.below(tree.right, part, tree))
            elif tree.kind is JoinKind.INNER and isinstance(made := self.joined(tree, part, tree), nodes.Join):
                tree = made
            else:
                tree = replace(tree, condition=conjunction([*conjuncts(tree.condition), part]))
        return tree

    def below(self, tree: nodes.Tree, part: exp.Expr, place: nodes.Filter | nodes.Join) -> nodes.Tree:
        """The rows of a tree that satisfy a comparison with now(), which is asked as far down as that is the same."""
        match tree:
            case nodes.Filter(input):
                return replace(tree, input=self.below(input, part, place))
            case nodes.Join(using=()) if tree.right is not self.newest:
                return self.joined(tree, part, place)
            case nodes.Alias(input):
                values = list(map(column_of, schema(input, self.catalog)))
                return self.moved(tree, input, part, values, place)
            case nodes.Project(input, items):
                return self.moved(tree, input, part, values_of(items, schema(input, self.catalog)), place)
            case nodes.Union(left, right):
                own, sides = schema(tree, self.catalog), list[nodes.Tree]()
                for side in (left, right):
                    mine = substituted(part, own, list(map(column_of, schema(side, self.catalog))))
                    if mine is None:
                        return self.asked(tree, part, place)
                    sides.append(self.below(side, mine, place))
                return replace(tree, left=sides[0], right=sides[1])
        return self.asked(tree, part, place)

    def moved(
        self,
        tree: nodes.Alias | nodes.Project,
        input: nodes.Tree,
        part: exp.Expr,
        values: Sequence[exp.Expr],
        place: nodes.Filter | nodes.Join,
    ) -> nodes.Tree:
        """The comparison below an operator whose columns have these values."""
        made = substituted(part, schema(tree, self.catalog), values)
        return self.asked(tree, part, place) if made is None else replace(tree, input=self.below(input, made, place))

    def joined(self, tree: nodes.Join, part: exp.Expr, place: nodes.Filter | nodes.Join) -> nodes.Tree:
        """The comparison in the side of a join that has its columns."""
        left, right = schema(tree.left, self.catalog), schema(tree.right, self.catalog)
        columns = list(part.find_all(exp.Column))
        if all(meant(one, left) is not None for one in columns):
            return replace(tree, left=self.below(tree.left, part, place), kind=_TO_LEFT.get(tree.kind, tree.kind))
        if tree.kind not in nodes.ONE_SIDED and all(meant(one, right) is not None for one in columns):
            return replace(tree, right=self.below(tree.right, part, place), kind=_TO_RIGHT.get(tree.kind, tree.kind))
        return self.asked(tree, part, place)

    def asked(self, tree: nodes.Tree, part: exp.Expr, place: nodes.Filter | nodes.Join) -> nodes.Tree:
        """The rows of a tree that satisfy a comparison with the newest row's time."""
        assert self.newest is not None, "there are streams"
        newest = exp.column(_NEWEST, table=_ALIAS, quoted=True)
        made = exp.paren(part.copy()).transform(lambda node: newest.copy() if is_now(node) else node).unnest()
        if isinstance(tree, nodes.Join) and tree.right is self.newest:
            condition = conjunction([*conjuncts(tree.condition), made])
            return replace(tree, condition=condition)
        return nodes.Join(JoinKind.SEMI, tree, self.newest, nodes.Scalar(made), syntax=part, at=place.at)


def _asks(part: exp.Expr) -> bool:
    """Whether a condition compares a row's columns with now()."""
    compares = isinstance(part, _COMPARISONS) and part.find(exp.Column) is not None and part.find(exp.Query) is None
    return compares and _calls_now(part)


def _calls_now(part: exp.Expr) -> bool:
    return any(map(is_now, part.walk()))


# --- what such a join is ----------------------------------------------------------------------------------------------


class RecentRows(Struct, frozen=True):
    """A stream's rows at the newest row's timestamp and the ones just before it, ``timestamps`` in all, None for all.

    ``time`` is the place of their time, which is older than the newest row's by ``wait`` at least.
    """

    stream: DeclaredTable
    time: int
    timestamps: int | None
    wait: int

    @property
    def kept(self) -> int:
        """At how many timestamps rows are kept: until they go, or, where they never do, until they come."""
        return self.wait if self.timestamps is None else self.timestamps


def asks_for_newest(tree: nodes.Tree) -> bool:
    """Whether a tree is a semi join with one row that has the greatest value of a column."""
    return isinstance(tree, nodes.Join) and tree.kind is JoinKind.SEMI and bool(newest_columns(tree.right))


def is_for_good(tree: nodes.Join, given: Schema) -> bool:
    """Whether rows of a join with the newest row stay once they are there: they must be older, and may be ever so old.

    ``given`` are the columns of both sides. The greatest time never falls.
    """
    newest = len(given) - 1
    return asks_for_newest(tree) and all(_apart(part, given)[1] == newest for part in conjuncts(tree.condition))


def newest_columns(tree: nodes.Tree) -> frozenset[tuple[str, str]]:
    """The tables and columns whose greatest value a tree gives, if their rows only come; nothing for other trees."""
    match tree:
        case nodes.Alias(nodes.Aggregate(input, (), (nodes.AggregateCall(function="MAX", filter=None),))):
            return frozenset(_columns(input))
    return frozenset()


def _columns(tree: nodes.Tree) -> Iterator[tuple[str, str]]:
    match tree:
        case nodes.Alias(input):
            yield from _columns(input)
        case nodes.Union(left, right, distinct=False) if both := [list(_columns(one)) for one in (left, right)]:
            yield from (one for side in both if all(both) for one in side)
        case nodes.Project(
            nodes.Scan(table, changes=False), (nodes.Named(value=nodes.Scalar(exp.Column() as column)),)
        ):
            yield table, column.name


def recent_rows(tree: nodes.Tree, catalog: Catalog) -> RecentRows | None:
    """The rows that a join with the newest row gives; None for another join, or a condition that says something else.

    The condition compares a row's time with that of the newest row: how much older it may be at most, how much it must
    be at least, or both.
    """
    if not isinstance(tree, nodes.Join) or not asks_for_newest(tree):
        return None
    times = [(catalog.table(name), column) for name, column in newest_columns(tree.right)]
    if any(table is None or table.kind is not Kind.STREAM or table.timestamp != column for table, column in times):
        return None
    given, newest = (*schema(tree.left, catalog), *schema(tree.right, catalog)), len(schema(tree.left, catalog))
    said = [_apart(part, given) for part in conjuncts(tree.condition)]
    ends = [most for x, _, most in said if x == newest]
    wait = max([0, *(-most for _, y, most in said if y == newest)])
    places = {y if x == newest else x for x, y, _ in said}
    if len(places) != 1 or newest in places or not (ends or wait):
        return None
    (place,) = places
    stream = stream_of(tree.left, place, catalog) if 0 <= place < newest else None
    if stream is None or (stream, stream.timestamp) not in times:
        return None
    return RecentRows(stream, place, max(0, min(ends) + 1) if ends else None, wait)


def _apart(part: exp.Expr, given: Schema) -> tuple[int, int, int]:
    """``x - y <= c``, by places, as a comparison of two columns says it; those of another one are none."""
    row = narrowed(part, RowFacts(given, tuple(ColumnFacts() for _ in given)))
    if len(row.differences) == 1:
        ((x, y, most),) = row.differences
        if isinstance(x, int) and isinstance(y, int):
            return x, y, most
    return -1, -1, 0


def stream_of(tree: nodes.Tree, place: int, catalog: Catalog) -> DeclaredTable | None:
    """The stream that a tree has rows of, each once at most, if a column is their time as it is; else None."""
    match tree:
        case nodes.Scan():
            table, columns = catalog.table(tree.table), schema(tree, catalog)
            is_stream = table is not None and table.kind is Kind.STREAM and columns[place].name == table.timestamp
            return table if is_stream else None
        case nodes.Filter(input) | nodes.Alias(input):
            return stream_of(input, place, catalog)
        case nodes.Join(kind=JoinKind.SEMI, left=left) if asks_for_newest(tree):
            return stream_of(left, place, catalog)
        case nodes.Project(input, items):
            given = schema(input, catalog)
            value = values_of(items, given)[place]
            below = meant(value, given) if isinstance(value, exp.Column) else None
            return None if below is None else stream_of(input, below, catalog)
    return None
