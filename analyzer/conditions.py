"""Boolean expressions of WHERE and ON as formulas of the IR."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import BOOLEAN, Folded
from streambound.analyzer.constructs import outside
from streambound.analyzer.findings import Positions
from streambound.analyzer.query import And, Formula, Not, NullTest, Op, Or, Truth
from streambound.analyzer.scopes import Scope, Visible, resolve
from streambound.analyzer.terms import LinearTerm, TermReader
from streambound.analyzer.types import Family

_OPS: dict[type[exp.Expr], Op] = {
    exp.LT: Op.LT, exp.LTE: Op.LE, exp.EQ: Op.EQ, exp.GTE: Op.GE, exp.GT: Op.GT, exp.NEQ: Op.NE,
}  # fmt: skip


@dataclass(frozen=True)
class ConditionReader:
    """Reads the conditions and terms of one SELECT in its scope.

    ``owners`` collects the alias of the FROM item that each name without one belongs to, by the name's offset.
    """

    positions: Positions
    catalog: Catalog
    scope: Scope
    owners: dict[int, str] = field(default_factory=dict)

    def term(self, node: exp.Expr) -> LinearTerm:
        """A scalar expression; raises Finding outside the language."""
        terms = TermReader(self.positions)
        constant = terms.constant(node)
        if constant is not None:
            return constant
        match node:
            case exp.Paren():
                return self.term(node.this)
            case exp.Neg():
                return terms.negate(self.term(node.this), node)
            case exp.Column():
                return self.column(node).term
            case exp.Add():
                return terms.add(self.term(node.this), self.term(node.expression), 1, node)
            case exp.Sub():
                return terms.add(self.term(node.this), self.term(node.expression), -1, node)
            case exp.Mul():
                return terms.multiply(self.term(node.this), self.term(node.expression), node)
        raise outside(self.positions, node)

    def column(self, node: exp.Column) -> Visible:
        """What a name stands for; raises Finding where it is unknown or ambiguous."""
        item, column = resolve(self.scope, node, self.catalog, self.positions)
        if not node.table:
            self.owners[self.positions.of(node).start] = item.alias
        return column

    def formula(self, node: exp.Expr) -> Formula:
        """A condition; raises Finding outside the language."""
        match node:
            case exp.Paren():
                return self.formula(node.this)
            case exp.And():
                return And(tuple(self.formula(part) for part in node.flatten()))
            case exp.Or():
                operands = tuple(node.flatten(unnest=False))
                return Or(tuple(map(self.formula, operands)), tuple(map(self.positions.whole, operands)))
            case exp.Not():
                return Not(self.formula(node.this))
            case exp.Between():
                return self.between(node)
            case exp.In():
                return self.membership(node)
            case exp.Is():
                return self.null_test(node)
            case exp.Boolean():
                return Truth(bool(node.this), span=self.positions.of(node))
            case exp.Null():
                return Truth(False, unknown=True, span=self.positions.of(node))
            case exp.Column():
                return self.flag(node)
        if type(node) in _OPS:
            terms = TermReader(self.positions)
            left, right = (self.term(side) for side in (node.this, node.expression))
            return terms.compare(left, _OPS[type(node)], right, node)
        raise outside(self.positions, node)

    def between(self, node: exp.Between) -> Formula:
        """``x BETWEEN a AND b  ->  x >= a AND x <= b``."""
        if node.args.get("symmetric"):
            raise self.positions.finding(Code.UNSUPPORTED, "BETWEEN SYMMETRIC is outside the query language", node)
        terms, value = TermReader(self.positions), self.term(node.this)
        low, high = self.term(node.args["low"]), self.term(node.args["high"])
        return And((terms.compare(value, Op.GE, low, node), terms.compare(value, Op.LE, high, node)))

    def membership(self, node: exp.In) -> Formula:
        """``x IN (a, b)  ->  x = a OR x = b``."""
        if node.args.get("query") is not None or node.args.get("unnest") or not node.expressions:
            raise self.positions.finding(Code.UNSUPPORTED, "IN with a subquery is outside the query language", node)
        terms, value = TermReader(self.positions), self.term(node.this)
        items = terms.listed(value, [self.term(item) for item in node.expressions], node)
        options = tuple(terms.compare(value, Op.EQ, *pair) for pair in zip(items, node.expressions, strict=True))
        if len(options) == 1:
            return options[0]
        return Or(options, tuple(map(self.positions.whole, node.expressions)))

    def null_test(self, node: exp.Is) -> Formula:
        """``x IS NULL``; ``IS NOT NULL`` arrives as its negation."""
        value = self.term(node.this)
        if not isinstance(node.expression, exp.Null) or not value.is_attribute:
            raise self.positions.finding(
                Code.UNSUPPORTED, "IS other than attribute IS [NOT] NULL is outside the language", node
            )
        return NullTest(value.plus[0], True, self.positions.of(node))

    def flag(self, node: exp.Column) -> Formula:
        """A boolean attribute as a condition: ``flag  ->  flag = TRUE``."""
        value = self.term(node)
        if value.type is None or value.type.family is not Family.BOOLEAN:
            raise self.positions.finding(Code.TYPE_MISMATCH, "a condition must be true or false", node)
        true = LinearTerm(Folded(Fraction(1), BOOLEAN))
        return TermReader(self.positions).compare(value, Op.EQ, true, node)
