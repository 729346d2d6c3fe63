"""Aggregates of a join with a view, pushed below it: an exact rewriting that needs no bound on what is aggregated (A1).

γ_{g; SUM(p·q)}(S ⋈_k W)  =  γ_{g; SUM(s·q)}(γ_{k, g; SUM(p) AS s}(S) ⋈_k W): a row of W has all rows of S with a key as
partners, or none (D4, E2). MIN and MAX are those of the keys' own: W takes away whole keys of S (E4). The groups of S
are those of the open part, where S can have a partner at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Filter,
    Join,
    Named,
    Project,
    Scalar,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.types import NUMERIC, DataType, Family
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.reading_calls import AggregateRead, call_of
from streambound.criteria.parts import RowTest, RowTests
from streambound.criteria.polynomials import as_double, expanded, guarded, times

_LEFT = "_l"
_WIDE = "DECIMAL(38, 0)"
"""What integers are added up as: a sum of some rows may be beyond a bigint where that of all of them is not."""


def sums_below_join(tree: Aggregate, join: Join, left: Schema, open_rows: RowTests, context: Context) -> Tree:
    """The same aggregates, of a join whose left side is grouped by these columns, in order of the left schema.

    ``open_rows`` are tests of these columns, called l0, l1 …. Raises NoRule for an aggregate that cannot be pushed.
    """
    return _Pushed(tree, join, left, open_rows, context).tree()


@dataclass
class _Pushed:
    """One rewriting: the ``partial`` aggregates of the left side, and the ``sums`` above the join that read them."""

    aggregate: Aggregate
    join: Join
    left: Schema
    open_rows: RowTests
    context: Context
    partial: list[AggregateCall] = field(default_factory=list)
    sums: list[AggregateCall] = field(default_factory=list)

    def tree(self) -> Tree:
        """Project(Aggregate(Join(Alias(Project(Aggregate(left))), right)))."""
        tree, syntax = self.aggregate, self.aggregate.syntax
        shown = schema(tree, self.context.catalog)[len(tree.keys) :]
        keys = [Named(f"_k{n}", self._over(parsed(key.value)), alias=True) for n, key in enumerate(tree.keys, 1)]
        items = [Named(key.name, _scalar(exp.column(key.name)), alias=True) for key in keys]
        for n, (call, column) in enumerate(zip(map(call_of, tree.calls), shown, strict=True), 1):
            items.append(Named(f"_a{n}", _scalar(self._value(call, column.type)), alias=True))
        condition = None if self.join.condition is None else self._over(parsed(self.join.condition))
        join = replace(self.join, left=self._grouped(), condition=condition)
        return Project(Aggregate(join, tuple(keys), tuple(self.sums), syntax=syntax), tuple(items), syntax=syntax)

    def _grouped(self) -> Tree:
        """The left side's groups: the columns that the join and the keys read, and the partial aggregates."""
        below, syntax = self.join.left, self.join.syntax
        condition = self._open()
        if condition is not None:
            known = [parsed(below.condition).copy()] if isinstance(below, Filter) else []
            below = below.input if isinstance(below, Filter) else below
            below = Filter(below, _scalar(exp.and_(*known, condition)), syntax=self.join.left.syntax or syntax)
        keys = [Named(f"c{n}", _scalar(_node(column)), alias=True) for n, column in enumerate(self.left)]
        partial = self.partial or [AggregateCall("p0", "COUNT", syntax=self.aggregate.syntax)]
        grouped = Aggregate(below, tuple(keys), tuple(partial), syntax=self.aggregate.syntax)
        names = [*(key.name for key in keys), *(call.name for call in partial)]
        items = tuple(Named(name, _scalar(exp.column(name)), alias=True) for name in names)
        return Alias(Project(grouped, items, syntax=self.aggregate.syntax), _LEFT, syntax=syntax)

    def _open(self) -> exp.Expr | None:
        """The condition of the rows that can have a partner; None where there is none that SQL says."""
        found = []
        for tests in self.open_rows:
            atoms = [atom for test in tests if (atom := self._atom(test)) is not None]
            if not atoms:
                return None
            found.append(exp.and_(*atoms))
        return exp.paren(exp.or_(*found)) if found else None

    def _atom(self, test: RowTest) -> exp.Expr | None:
        column, other = self._tested(test.column), None if test.other is None else self._tested(test.other)
        if column is None or (other is None) is not (test.other is None):
            return None
        plain = column.type is not None and column.type.family in (Family.INTEGER, Family.STRING)
        if not plain or test.op not in _COMPARED:
            return None
        if test.op == "in":
            values = test.value if isinstance(test.value, tuple) else ()
            return exp.In(this=_node(column), expressions=[_literal(value) for value in values])
        right = _literal(test.value) if other is None else _node(other)
        if other is not None and test.value:
            right = exp.Add(this=right, expression=_literal(test.value))
        return _COMPARED[test.op](this=_node(column), expression=right)

    def _tested(self, name: str) -> ViewColumn | None:
        """The column that a test is of; None for a cast of one, with which the join compares (`cast_sides`)."""
        place = int(name.removeprefix("l"))
        return self.left[place] if place < len(self.left) else None

    # --- aggregates -------------------------------------------------------------------------------------------------

    def _value(self, call: AggregateRead, kind: DataType | None) -> exp.Expr:
        """An aggregate over the sums above the join."""
        if call.distinct or call.condition is not None or len(call.arguments) > 1 or kind is None:
            raise NoRule("an aggregate that is not pushed below a join: DISTINCT, or with a FILTER")
        if call.function in ("MIN", "MAX"):
            return self._best(call)
        if call.function not in ("COUNT", "SUM", "AVG"):
            raise NoRule(f"{call.function} over a join with a view")
        if call.function == "COUNT":
            return exp.Coalesce(this=self._count(call), expressions=[exp.Literal.number(0)])
        total = self._sum(call)
        if call.function == "SUM":
            return exp.cast(total, kind.name, dialect="spark")
        return exp.Div(this=as_double(total), expression=as_double(self._count(call)))

    def _best(self, call: AggregateRead) -> exp.Expr:
        (argument,) = call.arguments
        match self._sides(argument):
            case ("l",):
                return self._above(call.function, self._below(call.function, argument))
            case ("w",) | ():
                return self._above(call.function, argument)
        raise NoRule("the best of what both sides of a join make")

    def _count(self, call: AggregateRead) -> exp.Expr:
        """How many rows there are, or values that are not NULL."""
        mine, theirs = self._guards(call.arguments)
        one: exp.Expr = exp.Literal.number(1)
        rows = self._below("SUM", guarded(mine, one, exp.Literal.number(0)))
        return self._above("SUM", guarded(theirs, rows, exp.Literal.number(0)))

    def _sum(self, call: AggregateRead) -> exp.Expr:
        """The sum of a polynomial: of each product, what is of the left side is added up below."""
        (argument,) = call.arguments
        products = expanded(argument, self._sides)
        if products is None:
            raise NoRule("an argument that does not factor")
        mine, theirs = self._guards(call.arguments)
        terms = []
        for product in products:
            below = [factor for factor in product if self._sides(factor) == ("l",)]
            above = [factor for factor in product if self._sides(factor) != ("l",)]
            one = self._wide(times(below))
            terms.append(times([self._below("SUM", guarded(mine, one)), *(self._wide(each) for each in above)]))
        total = terms[0]
        for term in terms[1:]:
            total = exp.Add(this=total, expression=exp.paren(term))
        return self._above("SUM", guarded(theirs, total))

    def _wide(self, node: exp.Expr) -> exp.Expr:
        """A number that sums of it do not leave: integers as decimals."""
        below = schema(self.join, self.context.catalog)
        kinds = {c.type.family for c in below if c.type and any(c.called(n.name, n.table) for n in _columns(node))}
        if not kinds <= NUMERIC:
            raise NoRule("a sum of what is no number")
        return exp.cast(node.copy(), _WIDE, dialect="spark") if kinds <= {Family.INTEGER} else node.copy()

    def _guards(self, arguments: Sequence[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """What says that no argument is NULL, of the left side and of the view."""
        mine, theirs = list[exp.Expr](), list[exp.Expr]()
        for argument in arguments:
            products = expanded(argument, self._sides)
            if products is None:
                raise NoRule("an argument that does not factor")
            for factor in dict.fromkeys(factor for product in products for factor in product):
                there = exp.Not(this=exp.Is(this=exp.paren(factor.copy()), expression=exp.Null()))
                side = self._sides(factor)
                if side:
                    (mine if side == ("l",) else theirs).append(there)
        return mine, theirs

    def _below(self, function: str, argument: exp.Expr) -> exp.Expr:
        """A partial aggregate of the left side, as a column above."""
        known = next((c for c in self.partial if c.function == function and parsed(c.arguments[0]) == argument), None)
        if known is None:
            known = AggregateCall(f"p{len(self.partial)}", function, (_scalar(argument),), syntax=self.aggregate.syntax)
            self.partial.append(known)
        return exp.column(known.name, table=_LEFT)

    def _above(self, function: str, argument: exp.Expr) -> exp.Expr:
        """An aggregate of the join's rows, as a column."""
        name = f"_b{len(self.sums) + 1}"
        scalar = self._over(argument)
        self.sums.append(AggregateCall(name, function, (scalar,), syntax=self.aggregate.syntax))
        return exp.column(name)

    def _sides(self, node: exp.Expr) -> tuple[str, ...]:
        """The sides whose columns an expression reads."""
        given = schema(self.join.left, self.context.catalog)
        own = [any(column.called(n.name, n.table) for column in given) for n in _columns(node) if n.table != _LEFT]
        return tuple(side for side, there in (("l", True in own), ("w", False in own)) if there)

    def _over(self, node: exp.Expr) -> Scalar:
        """An expression above the join, where the left side has other names."""

        def meant(one: exp.Expr) -> exp.Expr:
            if isinstance(one, exp.Query):
                raise NoRule("a subquery above a join with a view")
            if not isinstance(one, exp.Column) or one.table == _LEFT:
                return one
            place = next((n for n, column in enumerate(self.left) if column.called(one.name, one.table)), None)
            if place is None and self._sides(one) == ("l",):
                raise NoRule("a column of the left side above its groups")
            return one if place is None else exp.column(f"c{place}", table=_LEFT)

        return _scalar(node.copy().transform(meant))


_COMPARED: dict[str, type[exp.Binary]] = {
    "<": exp.LT,
    "<=": exp.LTE,
    "==": exp.EQ,
    ">=": exp.GTE,
    ">": exp.GT,
    "!=": exp.NEQ,
    "in": exp.EQ,
}


def _columns(node: exp.Expr) -> list[exp.Column]:
    return list(node.find_all(exp.Column))


def _node(column: ViewColumn) -> exp.Column:
    return exp.column(column.name, table=column.alias or None, quoted=True)


def _literal(value: object) -> exp.Expr:
    if isinstance(value, str):
        return exp.Literal.string(value)
    assert isinstance(value, int | float), "a value of a test"
    return exp.Neg(this=exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)
