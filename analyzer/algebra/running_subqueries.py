"""Correlated subqueries that are aggregates of all earlier rows as running ones, over the rows of both sides in order.

(SELECT SUM(T.x) FROM T WHERE T.k = S.k AND T.ts <= S.ts) of each row of S
->  SUM(x) OVER (PARTITION BY k ORDER BY ts) of the rows of S UNION ALL (SELECT k, ts, x FROM T WHERE k IS NOT NULL),
    and of these only the rows of S

Rows of S have NULL for x, which no aggregate counts. So an entry is kept for each key, and no row of T.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.correlated_aggregates import CorrelatedAggregate
from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.syntax import column_of, null_of
from streambound.analyzer.types import DataType

_FUNCTIONS = ("COUNT", "SUM", "MIN", "MAX", "AVG")
"""Aggregates that do not count NULL."""
_SO_FAR = nodes.Frame(nodes.Unit.RANGE, nodes.FrameEnd(nodes.Side.PRECEDING), nodes.FrameEnd(nodes.Side.CURRENT))


class RunningSubquery(CorrelatedAggregate, frozen=True):
    """Makes such rows of one subquery."""

    def beside(self, tree: nodes.Tree, asked: nodes.Tree) -> tuple[nodes.Tree, exp.Expr] | None:
        """The rows with the running aggregate, and the subquery's value of them; None where it is no such one."""
        parts = self.parts(asked)
        if parts is None:
            return None
        rows, naming, own, calls, value = parts
        outer, inner = schema(tree, self.catalog), schema(rows, self.catalog)
        pairs = [_pair(part, inner, outer) for part in naming]
        times = [one for part, one in zip(naming, pairs, strict=True) if one is not None and not _is_equal(part)]
        keys = [one for part, one in zip(naming, pairs, strict=True) if one is not None and _is_equal(part)]
        arguments = [self._argument(call, rows, inner) for call in calls]
        known = [one for one in arguments if one is not None]
        timed = [column for column in outer if column.time]
        if (
            len(known) < len(calls) or len(times) != 1 or len(times) + len(keys) < len(naming)
            or timed != [times[0][1]] or not times[0][0].time
            or len({column.alias for column in outer}) != 1 or any(column.type is None for column in outer)
        ):  # fmt: skip
            return None
        names = {call.name: self.fresh("_v") for call in calls}
        shown = self.fresh("_s")
        mine = [*map(column_of, outer), exp.Literal.number(1), *(null_of(kind) for _, kind in known)]
        same = {pair[1].name: column_of(pair[0]) for pair in (*keys, *times)}
        others = [same.get(one.name) or null_of(one.type) for one in outer]
        others += [exp.Literal.number(0), *(value for value, _ in known)]
        called = [*(column.name for column in outer), shown, *names.values()]
        own = own + [exp.Not(this=exp.Is(this=column_of(one), expression=exp.Null())) for one, _ in keys]
        if own:
            rows = nodes.Filter(rows, self.scalar(exp.and_(*own)), syntax=self.place)
        both = nodes.Union(
            self._listed(tree, called, mine), self._listed(rows, called, others), False, syntax=self.place
        )
        partition = tuple(self.scalar(self._made(one.name)) for _, one in keys)
        order = [nodes.SortKey(self.scalar(self._made(times[0][1].name)))]
        if any(
            isinstance(part.unnest(), exp.LT | exp.GT) for part in naming
        ):  # S's rows come first, and see none of now
            order.append(nodes.SortKey(self.scalar(self._made(shown)), descending=True))
        results = {name: self.fresh("_r") for name in names}
        running = nodes.Over(
            both,
            tuple(
                nodes.WindowCall(
                    results[call.name], call.function, (self.scalar(self._made(names[call.name])),), partition,
                    tuple(order),
                    _SO_FAR, syntax=self.place,
                )
                for call in calls
            ),
            syntax=self.place,
        )  # fmt: skip
        passed = self.scalar(exp.EQ(this=self._made(shown), expression=exp.Literal.number(1)))
        found = nodes.Alias(nodes.Filter(running, passed, syntax=self.place), outer[0].alias, syntax=self.place)
        return found, self._value(value, results)

    def _argument(self, call: nodes.AggregateCall, rows: nodes.Tree, inner: Schema) -> tuple[exp.Expr, DataType] | None:
        """The aggregated value of each row, NULL where the filter is not true; None for any other call."""
        plain = call.function in _FUNCTIONS and not call.distinct and not call.order and len(call.arguments) < 2
        value = call.arguments[0].syntax.copy() if call.arguments else exp.Literal.number(1)
        if plain and call.filter is not None:
            value = exp.Case(ifs=[exp.If(this=call.filter.syntax.copy(), true=value)])
        if not plain or self.names_outer(rows, value):
            return None
        kind = type_of(value, inner)[0]
        return None if kind is None else (value, kind)

    def _listed(self, tree: nodes.Tree, names: Sequence[str], values: Sequence[exp.Expr]) -> nodes.Tree:
        items = (nodes.Named(name, self.scalar(value), alias=True) for name, value in zip(names, values, strict=True))
        return nodes.Project(tree, tuple(items), syntax=self.place)

    def _value(self, node: exp.Expr, results: dict[str, str]) -> exp.Expr:
        """The subquery's value, of the running aggregates."""
        holder = exp.Paren(this=node.copy())
        for column in list(holder.find_all(exp.Column)):
            if not column.table and column.name in results:
                column.replace(self._made(results[column.name]))
        return holder

    def _made(self, name: str) -> exp.Column:
        return made_column(name, self.at)


def _is_equal(part: exp.Expr) -> bool:
    return isinstance(part.unnest(), exp.EQ)


def _pair(part: exp.Expr, inner: Schema, outer: Schema) -> tuple[ViewColumn, ViewColumn] | None:
    """A column of the subquery and one outside that are equal, or where the first must not be the later one."""
    match part.unnest():
        case exp.EQ(this=exp.Column() as one, expression=exp.Column() as other):
            sides = [(one, other), (other, one)]
        case (
            exp.LTE(this=exp.Column() as one, expression=exp.Column() as other)
            | exp.LT(this=exp.Column() as one, expression=exp.Column() as other)
        ):
            sides = [(one, other)]
        case (
            exp.GTE(this=exp.Column() as one, expression=exp.Column() as other)
            | exp.GT(this=exp.Column() as one, expression=exp.Column() as other)
        ):
            sides = [(other, one)]
        case _:
            return None
    for one, other in sides:
        mine = [column for column in inner if column.called(one.name, one.table)]
        hidden = [column for column in inner if column.called(other.name, other.table)]
        theirs = [column for column in outer if column.called(other.name, other.table)]
        if len(mine) == len(theirs) == 1 and not hidden and mine[0].type is not None and mine[0].type == theirs[0].type:
            return mine[0], theirs[0]
    return None
