"""Aggregates below a join with a view (A1, E4): of each key of one side its sums and best values, then those of them.

    SUM(S.v * W.n) of S ⋈ W on S.a = W.k  ->  SUM(q.s * W.n) of (SELECT a, SUM(v) AS s FROM S GROUP BY a) q ⋈ W …

A row of W has all rows of a key as partners, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Filter,
    Join,
    JoinKind,
    Named,
    Project,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.syntax import column_of, conjuncts, scalar_of
from streambound.analyzer.types import NUMERIC, Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.conditions import substituted
from streambound.recheck.derivation.trees import PlanNode

_SIDE = "_sums"
_MOST = 64
"""Products that a polynomial may have."""


def sums_down(node: PlanNode, side: str) -> Tree:
    """A select list, and what HAVING says, over aggregates of a join as over sums of one side's groups."""
    tree, below, conditions = node.tree, node.input("input"), list[Filter]()
    while isinstance(below.tree, Filter):
        conditions.append(below.tree)
        below = below.input("input")
    if not isinstance(tree, Project) or not isinstance(below.tree, Aggregate) or not below.tree.calls:
        raise RejectedError("sums of what are no groups")
    join = below.input("input")
    inner = isinstance(join.tree, Join) and join.tree.kind is JoinKind.INNER and not join.tree.using
    if not inner or is_block(join.tree, node.catalog) or side not in ("left", "right"):
        raise RejectedError("sums of groups of no join with a view")
    made, values = _PushedSums(below, join, side).groups()
    for one in reversed(conditions):
        made = replace(one, input=made, condition=scalar_of(_over(parsed(one.condition), below, values)))
    items = tuple(
        replace(item, value=scalar_of(_over(parsed(item.value), below, values)))
        for item in tree.items
        if isinstance(item, Named)
    )
    if len(items) < len(tree.items):
        raise RejectedError("columns without names")
    return replace(tree, input=made, items=items)


def _over(node: exp.Expr, below: PlanNode, values: Sequence[exp.Expr]) -> exp.Expr:
    found = substituted(node, below.schema, values)
    if found is None:
        raise RejectedError(f"{node.sql('spark')} is not of sums")
    return found


@dataclass
class _PushedSums:
    """The ``partial`` aggregates of a side, and the ``sums`` above the join."""

    aggregate: PlanNode
    join: PlanNode
    side: str
    partial: list[AggregateCall] = field(default_factory=list)
    sums: list[AggregateCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.own, self.other = self.join.input(self.side), self.join.input("right" if self.side == "left" else "left")

    def groups(self) -> tuple[Tree, list[exp.Expr]]:
        """The groups of the join with the side's groups, and what keys and aggregates are over their columns."""
        tree, join = self.aggregate.tree, self.join.tree
        assert isinstance(tree, Aggregate) and isinstance(join, Join), "groups of a join"
        outside = [*(parsed(key.value) for key in tree.keys), *conjuncts(join.condition)]
        if any(node.find(exp.Query) for node in outside):
            raise RejectedError("a subquery beside sums")
        self.places = sorted(self.own.read_by(*outside))
        keys = tuple(
            Named(f"_k{n}", scalar_of(self._above_join(parsed(key.value))), alias=True)
            for n, key in enumerate(tree.keys)
        )
        values: list[exp.Expr] = [exp.column(key.name) for key in keys]
        for call, column in zip(tree.calls, self.aggregate.schema[len(keys) :], strict=True):
            if column.type is None:
                raise RejectedError("a sum without a type")
            values.append(exp.cast(self._value(call), column.type.name, dialect="spark"))
        condition = [self._above_join(node) for node in conjuncts(join.condition)]
        on = scalar_of(exp.and_(*condition)) if condition else None
        groups = self._groups(tree)
        pair = replace(join, left=groups, condition=on) if self.side == "left" else None
        below = pair or replace(join, right=groups, condition=on)
        return Aggregate(below, keys, tuple(self.sums), syntax=tree.syntax), values

    def _groups(self, tree: Aggregate) -> Tree:
        """The side's groups, by the columns that the join and the keys read."""
        columns = [scalar_of(column_of(self.own.schema[place])) for place in self.places]
        keys = tuple(Named(f"c{n}", one, alias=True) for n, one in enumerate(columns))
        partial = tuple(self.partial) or (AggregateCall("p0", "COUNT", syntax=tree.syntax),)
        names = [*(key.name for key in keys), *(call.name for call in partial)]
        shown = tuple(Named(name, scalar_of(exp.column(name)), alias=True) for name in names)
        inner = Aggregate(self.own.tree, keys, partial, syntax=tree.syntax)
        return Alias(Project(inner, shown, syntax=tree.syntax), _SIDE)

    # --- aggregates ---------------------------------------------------------------------------------------------------

    def _value(self, call: AggregateCall) -> exp.Expr:
        """An aggregate over the sums above the join."""
        arguments = [parsed(one) for one in call.arguments]
        if call.distinct or call.filter is not None or len(arguments) > 1 or call.order:
            raise RejectedError(f"{call.function} is not of sums")
        match call.function, arguments:
            case (("MIN" | "MAX"), [one]) if self._sides(one) == ("own",):
                return self._above(call.function, self._below(call.function, one))
            case (("MIN" | "MAX"), [one]) if self._sides(one) in (("other",), ()):
                return self._above(call.function, one)
            case "COUNT", _:
                counted = self._count([one for one in arguments if not isinstance(one, exp.Literal)])
                return exp.Coalesce(this=counted, expressions=[exp.Literal.number(0)])
            case "SUM", [one]:
                return self._sum(one)
            case "AVG", [one]:
                ends = [exp.cast(each, "DOUBLE", dialect="spark") for each in (self._sum(one), self._count([one]))]
                return exp.Div(this=ends[0], expression=ends[1])
        raise RejectedError(f"{call.function} is not of sums")

    def _count(self, arguments: Sequence[exp.Expr]) -> exp.Expr:
        """How many rows there are, or values that are not NULL."""
        mine, theirs = self._guards(arguments)
        none = exp.Literal.number(0)
        rows = self._below("SUM", _guarded(mine, exp.Literal.number(1), none))
        return self._above("SUM", _guarded(theirs, rows, none))

    def _sum(self, argument: exp.Expr) -> exp.Expr:
        """The sum of a polynomial: of each product, what is of the side is added up below."""
        mine, theirs = self._guards([argument])
        total: exp.Expr | None = None
        for product in self._products(argument):
            below = [factor for factor in product if self._sides(factor) == ("own",)]
            above = [factor for factor in product if self._sides(factor) != ("own",)]
            summed = self._below("SUM", _guarded(mine, self._wide(_times(below))))
            term = _times([summed, *map(self._wide, above)])
            total = term if total is None else exp.Add(this=total, expression=exp.paren(term))
        assert total is not None, "there are products"
        return self._above("SUM", _guarded(theirs, total))

    def _guards(self, arguments: Iterable[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """What says that no argument is NULL, of the side and of the other one."""
        found: dict[tuple[str, ...], list[exp.Expr]] = {("own",): [], ("other",): [], (): []}
        for argument in arguments:
            for factor in dict.fromkeys(factor for product in self._products(argument) for factor in product):
                there = exp.Not(this=exp.Is(this=exp.paren(factor.copy()), expression=exp.Null()))
                found[self._sides(factor)].append(there)
        return found["own",], found["other",]

    def _products(self, node: exp.Expr) -> list[list[exp.Expr]]:
        """An expression as a sum of products, each factor of the rows of one side at most."""
        if len(self._sides(node)) < 2:
            return [[node]]
        match node:
            case exp.Paren():
                return self._products(node.this)
            case exp.Neg():
                return _negated(self._products(node.this))
            case exp.Add() | exp.Sub():
                right = self._products(node.right)
                return self._products(node.left) + (_negated(right) if isinstance(node, exp.Sub) else right)
            case exp.Mul():
                left, right = self._products(node.left), self._products(node.right)
                if len(left) * len(right) <= _MOST:
                    return [one + other for one in left for other in right]
        raise RejectedError(f"{node.sql('spark')} is no sum of products")

    def _wide(self, node: exp.Expr) -> exp.Expr:
        """Integers as decimals: a sum of some rows may be beyond a bigint where that of all is not."""
        kinds = {
            kind.family for side in (self.own, self.other) for p in side.read_by(node) if (kind := side.schema[p].type)
        }
        if not kinds <= NUMERIC:
            raise RejectedError("a sum of what are no numbers")
        return exp.cast(node.copy(), "DECIMAL(38, 0)", dialect="spark") if kinds <= {Family.INTEGER} else node.copy()

    def _below(self, function: str, argument: exp.Expr) -> exp.Expr:
        """A partial aggregate of the side, as a column above."""
        for known in self.partial:
            if known.function == function and parsed(known.arguments[0]) == argument:
                return exp.column(known.name, table=_SIDE)
        name = f"p{len(self.partial)}"
        syntax = self.aggregate.tree.syntax
        self.partial.append(AggregateCall(name, function, (scalar_of(argument),), syntax=syntax))
        return exp.column(name, table=_SIDE)

    def _above(self, function: str, argument: exp.Expr) -> exp.Expr:
        """An aggregate of the join's rows, as a column."""
        name = f"_b{len(self.sums) + 1}"
        scalar, syntax = scalar_of(self._above_join(argument)), self.aggregate.tree.syntax
        self.sums.append(AggregateCall(name, function, (scalar,), syntax=syntax))
        return exp.column(name)

    def _sides(self, node: exp.Expr) -> tuple[str, ...]:
        """The sides whose columns an expression reads."""
        mine = any(one.table != _SIDE and self.own.read_by(one) for one in node.find_all(exp.Column))
        return (*(("own",) if mine else ()), *(("other",) if self.other.read_by(node) else ()))

    def _above_join(self, node: exp.Expr) -> exp.Expr:
        """An expression above the join, where the side's columns have other names."""
        if any(one.table == _SIDE for one in node.find_all(exp.Column)):
            if "own" in self._sides(node):
                raise RejectedError("a row of the side beside its sums")
            return node
        columns = (*(self.own.schema[place] for place in self.places), *self.other.schema)
        kept = [exp.column(f"c{n}", table=_SIDE) for n in range(len(self.places))]
        found = substituted(node, columns, [*kept, *map(column_of, self.other.schema)])
        if found is None:
            raise RejectedError(f"{node.sql('spark')} is not of keys and the other side")
        return found


def _negated(products: list[list[exp.Expr]]) -> list[list[exp.Expr]]:
    return [[exp.Neg(this=exp.Paren(this=one[0].copy())), *one[1:]] for one in products]


def _times(factors: Sequence[exp.Expr]) -> exp.Expr:
    """The product of some factors; of none it is 1."""
    found: exp.Expr = factors[0] if factors else exp.Literal.number(1)
    for factor in factors[1:]:
        found = exp.Mul(this=exp.paren(found), expression=exp.paren(factor))
    return found


def _guarded(guards: Sequence[exp.Expr], value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    """A value where all of some conditions are true."""
    return exp.Case(ifs=[exp.If(this=exp.and_(*guards), true=value)], default=otherwise) if guards else value
