"""Boolean expressions of WHERE and ON as formulas of the IR."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from analyzer.catalog import Catalog
from analyzer.constructs import outside
from analyzer.findings import Positions
from analyzer.query import And, Formula, Not, NullTest, Op, Or, Truth
from analyzer.scopes import Scope, resolve
from analyzer.terms import Form, Term, TermReader
from analyzer.types import Family
from analyzer.values import MOST_DIGITS

_OPS: dict[type[exp.Expr], Op] = {
    exp.LT: Op.LT, exp.LTE: Op.LE, exp.EQ: Op.EQ, exp.GTE: Op.GE, exp.GT: Op.GT, exp.NEQ: Op.NE,
}  # fmt: skip


@dataclass(frozen=True)
class ConditionReader:
    """Reads the conditions and terms of one SELECT in its scope."""

    positions: Positions
    catalog: Catalog
    scope: Scope

    def term(self, node: exp.Expr) -> Term:
        """A scalar expression; raises Finding outside the language."""
        terms = TermReader(self.positions)
        match node:
            case exp.Paren():
                return self.term(node.this)
            case exp.Column():
                return resolve(self.scope, node, self.catalog, self.positions).term
            case exp.Neg():
                return terms.add(Term(), self.term(node.this), -1, node)
            case exp.Add():
                return terms.add(self.term(node.this), self.term(node.expression), 1, node)
            case exp.Sub():
                return terms.add(self.term(node.this), self.term(node.expression), -1, node)
            case exp.Mul():
                return self.product(node)
        constant = terms.constant(node)
        if constant is None:
            raise outside(self.positions, node)
        return constant

    def product(self, node: exp.Mul) -> Term:
        """A product of constants, folded."""
        left, right = self.term(node.this), self.term(node.expression)
        if not (left.is_constant and right.is_constant) or {left.form, right.form} != {Form.NUMBER}:
            raise self.positions.finding("SB110", "multiplication of attributes is outside the query language", node)
        constant = left.constant * right.constant
        if abs(constant) >= 10**MOST_DIGITS:
            raise self.positions.finding("SB104", "the product is out of range", node)
        return Term(constant=constant)

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
            raise self.positions.finding("SB110", "BETWEEN SYMMETRIC is outside the query language", node)
        terms, value = TermReader(self.positions), self.term(node.this)
        low, high = self.term(node.args["low"]), self.term(node.args["high"])
        return And((terms.compare(value, Op.GE, low, node), terms.compare(value, Op.LE, high, node)))

    def membership(self, node: exp.In) -> Formula:
        """``x IN (a, b)  ->  x = a OR x = b``."""
        if node.args.get("query") is not None or node.args.get("unnest") or not node.expressions:
            raise self.positions.finding("SB110", "IN with a subquery is outside the query language", node)
        terms, value = TermReader(self.positions), self.term(node.this)
        options = tuple(terms.compare(value, Op.EQ, self.term(item), item) for item in node.expressions)
        if len(options) == 1:
            return options[0]
        return Or(options, tuple(map(self.positions.whole, node.expressions)))

    def null_test(self, node: exp.Is) -> Formula:
        """``x IS NULL``; ``IS NOT NULL`` arrives as its negation."""
        value = self.term(node.this)
        if not isinstance(node.expression, exp.Null) or not value.is_attribute:
            raise self.positions.finding("SB110", "IS other than attribute IS [NOT] NULL is outside the language", node)
        return NullTest(value.plus[0], True, self.positions.of(node))

    def flag(self, node: exp.Column) -> Formula:
        """A boolean attribute as a condition: ``flag  ->  flag = TRUE``."""
        value = self.term(node)
        if value.type is None or value.type.family is not Family.BOOLEAN:
            raise self.positions.finding("SB104", "a condition must be true or false", node)
        true = Term(constant=Fraction(1), form=Form.BOOLEAN)
        return TermReader(self.positions).compare(value, Op.EQ, true, node)
