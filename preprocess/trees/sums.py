"""Aggregates below a join with a view (A1, E4): of each key of the rows that only come, the sums and best values.

    SUM(S.v * W.n) of S ⋈ W on S.a = W.k  ->  SUM(q.s * W.n) of (SELECT a, SUM(v) AS s FROM S GROUP BY a) q ⋈ W …

A row of W has all rows of a key as partners, or none, so that no bound is needed on what is added up.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, read_by
from streambound.analyzer.algebra.substitution import substituted
from streambound.analyzer.algebra.syntax import column_of, conjuncts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.types import NUMERIC, Family
from streambound.preprocess.trees.polynomials import as_double, expanded, guarded, times

_SIDE = "_sums"
_WIDE = "DECIMAL(38, 0)"
"""What integers are added up as: a sum of some rows may be beyond a bigint where that of all of them is not."""


class _NotPushed(Exception):
    """An aggregate that is not one of sums of each side."""


def sums_below(tree: nodes.Tree, is_left: bool, catalog: Catalog) -> nodes.Project | None:
    """A select list of such aggregates, with what HAVING says of them, by sums of one side; None for another one."""
    if not isinstance(tree, nodes.Project):
        return None
    conditions, below = list[nodes.Filter](), tree.input
    while isinstance(below, nodes.Filter):
        conditions.append(below)
        below = below.input
    join = groups_of_pairs(below, catalog)
    if (
        not isinstance(below, nodes.Aggregate)
        or join is None
        or any(isinstance(item, nodes.Star) for item in tree.items)
    ):
        return None
    sides = [schema(one, catalog) for one in (join.left, join.right)]
    columns, made = schema(below, catalog), list[nodes.Named]()
    try:
        groups, values = _PushedSums(below, join, is_left, columns, *(sides if is_left else reversed(sides))).groups()
        found: nodes.Tree = groups
        for one in reversed(conditions):
            found = replace(one, input=found, condition=_over(one.condition, columns, values))
        for item in tree.items:
            assert isinstance(item, nodes.Named), "all columns are named"
            made.append(replace(item, value=_over(item.value, columns, values)))
    except _NotPushed:
        return None
    return replace(tree, input=found, items=tuple(made))


def _over(scalar: nodes.Scalar, columns: Schema, values: Sequence[exp.Expr]) -> nodes.Scalar:
    """An expression over the aggregates as one over the sums."""
    found = substituted(scalar.syntax, columns, values)
    if found is None:
        raise _NotPushed
    return nodes.Scalar(found)


def groups_of_pairs(tree: nodes.Tree, catalog: Catalog) -> nodes.Join | None:
    """The join with a view that groups are of; None for other operators."""
    join = tree.input if isinstance(tree, nodes.Aggregate) and tree.calls else None
    if (
        not isinstance(join, nodes.Join)
        or join.kind is not nodes.JoinKind.INNER
        or join.using
        or is_block(join, catalog)
    ):
        return None
    return join


class _PushedSums(Struct, dict=True):
    """One rewriting: the ``partial`` aggregates of one side, and the ``sums`` above the join; by their columns."""

    aggregate: nodes.Aggregate
    join: nodes.Join
    is_left: bool
    shown: Schema
    own: Schema
    other: Schema
    partial: list[nodes.AggregateCall] = field(default_factory=list)
    sums: list[nodes.AggregateCall] = field(default_factory=list)

    def groups(self) -> tuple[nodes.Aggregate, list[exp.Expr]]:
        """The sums above the join with the side's groups, and what keys and aggregates are over their columns."""
        tree = self.aggregate
        outside = [*(key.value.syntax for key in tree.keys), *conjuncts(self.join.condition)]
        if any(node.find(exp.Query) for node in outside):
            raise _NotPushed
        self.places = sorted(read_by(self.own, *outside))
        outer = [self._over(key.value.syntax) for key in tree.keys]
        keys = [nodes.Named(f"_k{n}", nodes.Scalar(node), alias=True) for n, node in enumerate(outer)]
        values: list[exp.Expr] = [exp.column(key.name) for key in keys]
        for call, column in zip(tree.calls, self.shown[len(keys) :], strict=True):
            if column.type is None:
                raise _NotPushed
            values.append(exp.cast(self._value(call), column.type.name, dialect="spark"))
        condition = [self._over(node) for node in conjuncts(self.join.condition)]
        groups = self._groups()
        sides = (groups, self.join.right) if self.is_left else (self.join.left, groups)
        on = nodes.Scalar(exp.and_(*condition)) if condition else None
        join = replace(self.join, left=sides[0], right=sides[1], condition=on)
        return nodes.Aggregate(join, tuple(keys), tuple(self.sums), syntax=tree.syntax), values

    def _groups(self) -> nodes.Tree:
        """The side's groups, by the columns that the join and the keys read, with the partial aggregates."""
        syntax = self.aggregate.syntax
        keys = tuple(
            nodes.Named(f"c{n}", nodes.Scalar(column_of(self.own[place])), alias=True)
            for n, place in enumerate(self.places)
        )
        partial = tuple(self.partial) or (nodes.AggregateCall("p0", "COUNT", syntax=syntax),)
        names = [*(key.name for key in keys), *(call.name for call in partial)]
        shown = tuple(nodes.Named(name, nodes.Scalar(exp.column(name)), alias=True) for name in names)
        side = self.join.left if self.is_left else self.join.right
        return nodes.Alias(
            nodes.Project(nodes.Aggregate(side, keys, partial, syntax=syntax), shown, syntax=syntax), _SIDE
        )

    # --- aggregates ---------------------------------------------------------------------------------------------------

    def _value(self, call: nodes.AggregateCall) -> exp.Expr:
        """An aggregate over the sums above the join."""
        arguments = [one.syntax for one in call.arguments]
        if call.distinct or call.filter is not None or len(arguments) > 1 or call.order:
            raise _NotPushed
        if call.function in ("MIN", "MAX"):
            return self._best(call.function, arguments[0])
        if call.function == "COUNT":
            counted = [one for one in arguments if not isinstance(one, exp.Literal)]
            return exp.Coalesce(this=self._count(counted), expressions=[exp.Literal.number(0)])
        if call.function == "SUM":
            return self._sum(arguments[0])
        if call.function == "AVG":
            total, number = self._sum(arguments[0]), self._count(arguments)
            return exp.Div(this=as_double(total), expression=as_double(number))
        raise _NotPushed

    def _best(self, function: str, argument: exp.Expr) -> exp.Expr:
        match self._sides(argument):
            case ("own",):
                return self._above(function, self._below(function, argument))
            case ("other",) | ():
                return self._above(function, argument)
        raise _NotPushed

    def _count(self, arguments: Sequence[exp.Expr]) -> exp.Expr:
        """How many rows there are, or values that are not NULL."""
        mine, theirs = self._guards(arguments)
        none = exp.Literal.number(0)
        rows = self._below("SUM", guarded(mine, exp.Literal.number(1), none))
        return self._above("SUM", guarded(theirs, rows, none))

    def _sum(self, argument: exp.Expr) -> exp.Expr:
        """The sum of a polynomial: of each product, what is of the side is added up below."""
        products = expanded(argument, self._sides)
        if products is None:
            raise _NotPushed
        mine, theirs = self._guards([argument])
        terms = []
        for product in products:
            below = [factor for factor in product if self._sides(factor) == ("own",)]
            above = [factor for factor in product if self._sides(factor) != ("own",)]
            one = self._wide(times(below))
            terms.append(times([self._below("SUM", guarded(mine, one)), *(self._wide(each) for each in above)]))
        total = terms[0]
        for term in terms[1:]:
            total = exp.Add(this=total, expression=exp.paren(term))
        return self._above("SUM", guarded(theirs, total))

    def _guards(self, arguments: Sequence[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """The conditions that no argument is NULL, for the side and for the other one."""
        mine, theirs = list[exp.Expr](), list[exp.Expr]()
        for argument in arguments:
            products = expanded(argument, self._sides)
            if products is None:
                raise _NotPushed
            for factor in dict.fromkeys(factor for product in products for factor in product):
                there = exp.Not(this=exp.Is(this=exp.paren(factor.copy()), expression=exp.Null()))
                if sides := self._sides(factor):
                    (mine if sides == ("own",) else theirs).append(there)
        return mine, theirs

    def _wide(self, node: exp.Expr) -> exp.Expr:
        """A number that sums of it do not leave: integers as decimals."""
        read = [side[place].type for side in (self.own, self.other) for place in read_by(side, node)]
        kinds = {kind.family for kind in read if kind is not None}
        if not kinds <= NUMERIC:
            raise _NotPushed
        return exp.cast(node.copy(), _WIDE, dialect="spark") if kinds <= {Family.INTEGER} else node.copy()

    def _below(self, function: str, argument: exp.Expr) -> exp.Expr:
        """A partial aggregate of the side, as a column above."""
        known = next((c for c in self.partial if c.function == function and c.arguments[0].syntax == argument), None)
        if known is None:
            known = nodes.AggregateCall(
                f"p{len(self.partial)}", function, (nodes.Scalar(argument),), syntax=self.aggregate.syntax
            )
            self.partial.append(known)
        return exp.column(known.name, table=_SIDE)

    def _above(self, function: str, argument: exp.Expr) -> exp.Expr:
        """An aggregate of the join's rows, as a column."""
        name = f"_b{len(self.sums) + 1}"
        scalar = nodes.Scalar(self._over(argument))
        self.sums.append(nodes.AggregateCall(name, function, (scalar,), syntax=self.aggregate.syntax))
        return exp.column(name)

    def _sides(self, node: exp.Expr) -> tuple[str, ...]:
        """The sides whose columns an expression reads."""
        mine = any(one.table != _SIDE and read_by(self.own, one) for one in node.find_all(exp.Column))
        return (*(("own",) if mine else ()), *(("other",) if read_by(self.other, node) else ()))

    def _over(self, node: exp.Expr) -> exp.Expr:
        """An expression above the join, where the side's columns have other names."""
        kept = [exp.column(f"c{n}", table=_SIDE) for n in range(len(self.places))]
        partial = {column for column in node.find_all(exp.Column) if column.table == _SIDE}
        if partial:
            own = {one for column in node.find_all(exp.Column) if column not in partial for one in (column,)}
            if any(read_by(self.own, one) for one in own):
                raise _NotPushed
            return node
        columns = tuple(self.own[place] for place in self.places) + self.other
        found = substituted(node, columns, [*kept, *map(column_of, self.other)])
        if found is None:
            raise _NotPushed
        return found
