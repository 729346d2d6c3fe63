"""Correlated subqueries that are aggregates as joins, with a group for each combination of the columns that they name.

(SELECT f(SUM(T.x)) FROM T WHERE θ(T, S.c)) of each row of S
->  f(q.v) of S LEFT JOIN (SELECT d.c, SUM(T.x) AS v FROM (SELECT DISTINCT c FROM S) d JOIN T ON θ(T, d.c)
                           GROUP BY d.c) q ON S.c = q.c

A row meets the group of its columns, or none where θ is true of no row of T: COUNT is 0 then, the others are NULL. If θ
may be true of a NULL in c, it meets the group of NULL, by <=>. MIN, MAX, BOOL_AND and BOOL_OR need no DISTINCT
(T. Neumann, A. Kemper, *Unnesting arbitrary queries*, BTW 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import NULL_OF_NONE, computed_of
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.correlated_aggregates import CorrelatedAggregate
from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.null_conditions import Missing, is_null, rejects_null
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.spans import Span

_BEST = ("MIN", "MAX")
"""What equal rows do not change."""
_COUNT = "COUNT"
"""What is 0 of no rows; the others are NULL."""


class _NoJoinError(Exception):
    """A subquery that is no join with groups."""


class GroupedSubquery(CorrelatedAggregate, frozen=True):
    """Makes such a join of one subquery."""

    def joined(self, tree: nodes.Tree, asked: nodes.Tree) -> tuple[nodes.Tree, exp.Expr] | None:
        """The rows with the groups of the subquery, and its value over both; None where it is no such aggregate."""
        parts = self.parts(asked)
        if parts is None or any(call.function not in (*NULL_OF_NONE, _COUNT) for call in parts.calls):
            return None
        rows, naming, own, calls, value = parts
        names = {call.name: self.fresh("_v") for call in calls}
        of = _Correlated(schema(rows, self.catalog), schema(tree, self.catalog), self.fresh, self.at)
        try:
            on = [of.beside(part) for part in naming]
            made = tuple(self._call(call, names[call.name], of) for call in calls)
            result = of.result(value, calls, names)
        except _NoJoinError:
            return None
        if not on:
            return None
        again = all(call.function in _BEST for call in calls)
        keys = tuple(self._named(name, of.key(name)) for name in of.keys.values())
        groups = nodes.Aggregate(
            self._matches(tree, rows, own, on, of, again), keys, made, syntax=self.place, at=self.at
        )
        items = tuple(self._named(name, made_column(name, self.at)) for name in (*of.keys.values(), *names.values()))
        right = nodes.Alias(nodes.Project(groups, items, syntax=self.place), of.groups, syntax=self.place)
        alone = [_is_of_nothing(of.is_key(name), on, made) for name in of.keys.values()]
        equal = [
            (exp.EQ if never else exp.NullSafeEQ)(this=of.outer_column(one), expression=of.of_group(name))
            for never, (one, name) in zip(alone, of.keys.items(), strict=True)
        ]
        return nodes.Join(nodes.JoinKind.LEFT, tree, right, self._all(equal), syntax=self.place, at=self.at), result

    def _matches(
        self,
        tree: nodes.Tree,
        rows: nodes.Tree,
        own: Sequence[exp.Expr],
        on: Sequence[exp.Expr],
        of: _Correlated,
        again: bool,
    ) -> nodes.Tree:
        """The columns that the subquery names of the rows outside, ``again`` or once, with the rows that it is of."""
        items = tuple(self._named(name, of.outer_column(column)) for column, name in of.keys.items())
        kept: nodes.Tree = nodes.Project(_with_all(tree, [*of.keys], self.catalog), items, syntax=self.place)
        if not again:
            kept = nodes.Distinct(kept, syntax=self.place, at=self.at)
            rows = nodes.Filter(rows, self._all(own), syntax=self.place) if own else rows
        kept = nodes.Alias(kept, of.alias, syntax=self.place)
        found = nodes.Join(nodes.JoinKind.INNER, kept, rows, self._all(on), syntax=self.place, at=self.at)
        return nodes.Filter(found, self._all(own), syntax=self.place) if own and again else found

    def _call(self, call: nodes.AggregateCall, name: str, of: _Correlated) -> nodes.AggregateCall:
        def beside(scalar: nodes.Scalar) -> nodes.Scalar:
            return self.scalar(of.beside(scalar.syntax))

        order = tuple(replace(key, value=beside(key.value)) for key in call.order)
        filter = None if call.filter is None else beside(call.filter)
        return replace(call, name=name, arguments=tuple(map(beside, call.arguments)), filter=filter, order=order)

    def _named(self, name: str, value: exp.Expr) -> nodes.Named:
        return nodes.Named(name, self.scalar(value), alias=True)

    def _all(self, parts: Sequence[exp.Expr]) -> nodes.Scalar:
        return self.scalar(exp.and_(*parts) if len(parts) > 1 else parts[0])


def _is_of_nothing(null: Missing, on: Sequence[exp.Expr], calls: Sequence[nodes.AggregateCall]) -> bool:
    """Whether aggregates are those of no rows where a column outside is NULL: no row is met, or none counts."""
    if any(rejects_null(part, null) for part in on):
        return True
    return all(any(is_null(one.syntax, null) for one in computed_of(call)) for call in calls)


class _Correlated(Struct, dict=True):
    """A subquery over rows of ``inner`` columns, and the columns of the rows outside that it names, by new names."""

    inner: Schema
    outer: Schema
    fresh: Callable[[str], str]
    at: Span
    keys: dict[ViewColumn, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alias, self.groups = self.fresh("_d"), self.fresh("_q")

    def key(self, name: str) -> exp.Column:
        """A column of the rows outside, beside those of the subquery."""
        return self._column(name, self.alias)

    def of_group(self, name: str) -> exp.Column:
        """A column of a group."""
        return self._column(name, self.groups)

    def outer_column(self, column: ViewColumn) -> exp.Column:
        """A column of the rows outside, as it is named there."""
        return self._column(column.name, column.alias)

    def beside(self, node: exp.Expr) -> exp.Expr:
        """An expression of the subquery over its rows beside those of the columns outside; raises _NoJoinError."""

        def meant(column: exp.Column) -> exp.Expr:
            mine = [one for one in self.inner if one.called(column.name, column.table)]
            if len(mine) > 1 or (mine and not mine[0].alias):
                raise _NoJoinError
            if mine:
                column.set("table", exp.to_identifier(mine[0].alias, quoted=True))
                return column
            found = self._outside(column)
            name = self.keys.get(found) or self.keys.setdefault(found, self.fresh("_k"))
            return self.key(name)

        return _replaced(node, meant)

    def result(self, node: exp.Expr, calls: Sequence[nodes.AggregateCall], names: dict[str, str]) -> exp.Expr:
        """The subquery's value over rows with their groups; raises _NoJoinError."""
        counts = {call.name for call in calls if call.function == _COUNT}

        def meant(column: exp.Column) -> exp.Expr:
            if column.table or column.name not in names:
                return self.outer_column(self._outside(column))
            found = self.of_group(names[column.name])
            if column.name not in counts:
                return found
            return exp.Anonymous(this="COALESCE", expressions=[found, exp.Literal.number(0)])

        return exp.Paren(this=_replaced(node, meant))

    def is_key(self, name: str) -> Missing:
        """Whether a column is this one of the rows outside, beside those of the subquery."""
        return lambda column: column.name == name and column.table == self.alias

    def _outside(self, column: exp.Column) -> ViewColumn:
        found = [one for one in self.outer if one.called(column.name, column.table)]
        if len(found) != 1:
            raise _NoJoinError
        return found[0]

    def _column(self, name: str, alias: str) -> exp.Column:
        column = made_column(name, self.at)
        if alias:
            column.set("table", exp.to_identifier(alias))
        return column


def _replaced(node: exp.Expr, meant: Callable[[exp.Column], exp.Expr]) -> exp.Expr:
    """An expression with other columns; raises _NoJoinError for one with a subquery."""
    if node.find(exp.Query):
        raise _NoJoinError
    holder = exp.Paren(this=node.copy())
    for column in list(holder.find_all(exp.Column)):
        found = meant(column)
        if found is not column:
            column.replace(found)
    return holder.this  # type: ignore[no-any-return]


def _with_all(tree: nodes.Tree, columns: Sequence[ViewColumn], catalog: Catalog) -> nodes.Tree:
    """The block below joins and selections that has all of these columns: with the rows above, perhaps with more."""
    while not is_block(tree, catalog):
        below = (
            [tree.input]
            if isinstance(tree, nodes.Filter)
            else [tree.left, tree.right]
            if isinstance(tree, nodes.Join)
            else []
        )
        given = [(side, schema(side, catalog)) for side in below]
        found = [side for side, has in given if all(any(one.called(c.name, c.alias) for one in has) for c in columns)]
        if not found:
            break
        tree = found[0]
    return tree
