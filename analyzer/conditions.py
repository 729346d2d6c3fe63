"""Boolean expressions of WHERE and ON as formulas of the IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Scalar, Tree
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.comparands import mixes_texts, read_as
from streambound.analyzer.computed_relations import ComputedRelation, computed_relation
from streambound.analyzer.constants import BOOLEAN, Folded
from streambound.analyzer.derived import DerivedColumns, column_of, is_deep, rows_of, substituted
from streambound.analyzer.elapsed import moved
from streambound.analyzer.expressions.reading import Refused
from streambound.analyzer.expressions.rows import outermost_queries
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.literals import whole_months
from streambound.analyzer.operators_outside import IN_EXPRESSION, IN_WINDOW, subquery_word
from streambound.analyzer.query import (
    And,
    Attribute,
    Computed,
    Formula,
    Not,
    NullTest,
    Op,
    Or,
    Source,
    Truth,
    conjunction,
)
from streambound.analyzer.relation_queries import closed, existence, is_static, kind_of_only
from streambound.analyzer.scopes import Scope, Visible, resolve
from streambound.analyzer.terms import LinearTerm, TermReader
from streambound.analyzer.types import NUMERIC, DataType, Family, parse_type

_OPS: dict[type[exp.Expr], Op] = {
    exp.LT: Op.LT, exp.LTE: Op.LE, exp.EQ: Op.EQ, exp.GTE: Op.GE, exp.GT: Op.GT, exp.NEQ: Op.NE,
}  # fmt: skip
_Found = TypeVar("_Found")
_SORTED = "write x BETWEEN LEAST(a, b) AND GREATEST(a, b)"
MOST_PARTS = 2_000
"""Operators, functions, names and constants of one expression."""


class ConditionReader(Struct, frozen=True):
    """Reads the conditions and terms of one SELECT in its scope.

    ``owners`` collects the alias of the FROM item that each name without one belongs to, by the name's offset;
    ``derived`` the columns that expressions over one row are. ``queries`` has the trees of subqueries, by the identity
    of their syntax.
    """

    positions: Positions
    catalog: Catalog
    scope: Scope
    owners: dict[int, str] = field(default_factory=dict)
    derived: DerivedColumns = field(default_factory=DerivedColumns)
    queries: Mapping[int, Tree] = field(default_factory=dict)

    # --- terms ------------------------------------------------------------------------------------------------------

    def term(self, node: exp.Expr) -> LinearTerm:
        """A scalar expression as a sum of attributes and a constant; raises Finding outside the language.

        What is no sum is an attribute, derived from one row.
        """
        terms = TermReader(self.positions)
        constant = terms.constant(node)
        if constant is not None:
            return constant
        match node:
            case exp.Paren():
                return self.term(node.this)
            case exp.Neg():
                return terms.negate(self.term(node.this), node)
            case exp.Column() if (visible := self.visible(node)) is not None:
                return self.derive(visible.tree, node) if visible.several and visible.tree else visible.term
            case exp.Add() | exp.Sub() if whole_months(node.expression) is None:
                left, right = self.read_sides(node.this, node.expression, arithmetic=True)
                if terms.adds_up(left, right):
                    return terms.add(left, right, 1 if isinstance(node, exp.Add) else -1, node)
            case exp.Mul():
                left, right = self.term(node.this), self.term(node.expression)
                if left.is_constant and right.is_constant:
                    return terms.multiply(left, right, node)
            case exp.Anonymous() if (later := moved(node)) is not None and self._are_timestamps(later.this):
                return self.term(later)
        return self.derive(self.tree(node), node)

    def _are_timestamps(self, *nodes: exp.Expr) -> bool:
        """Whether expressions are timestamps, of one type."""
        kinds = {self.term(node).kind for node in nodes}
        return len(kinds) == 1 and kinds.pop().family is Family.TIMESTAMP

    def visible(self, node: exp.Column) -> Visible | None:
        """The column of a name, None for a struct's field; raises Finding if it is unknown or ambiguous."""
        return None if self._path(node) else self.column(node)

    def column(self, node: exp.Column) -> Visible:
        """The column of a name; raises Finding if it is unknown or ambiguous."""
        item, column = resolve(self.scope, node, self.catalog, self.positions)
        if not node.table:
            self.owners[self.positions.of(node).start] = item.alias
        return column

    def _path(self, node: exp.Column) -> tuple[exp.Column, list[exp.Expr]] | None:
        """A struct's column and its fields, where a name with dots is one: ``alias.column.field``, ``column.field``."""
        parts = node.parts
        if len(parts) == 1 or (len(parts) == 2 and self.scope.called(parts[0].name)):
            return None
        head = 2 if self.scope.called(parts[0].name) else 1
        column = exp.Column(**dict(zip(("this", "table"), reversed(parts[:head]), strict=False)))
        if head == 1 and not any(item.find(column.name) for item in self.scope.items):
            return None
        column.meta.update(node.meta)
        return column, list(parts[head:])

    def output(self, node: exp.Expr) -> tuple[LinearTerm, exp.Expr | None, bool]:
        """An expression of the select list: its term, its tree, and whether it is computed of several rows."""
        tree = self.tree(node)
        if not rows_of(tree) and tree.find(exp.Query):  # the same for all rows: a column of those of one source
            return self._of_source(self.scope.sources[0], tree, node), None, False
        if len(rows_of(tree)) > 1:
            try:
                return self.term(node), tree, False
            except Finding:
                computed = self.computed(tree, node)
                return LinearTerm(Folded(Fraction(0), computed.type), type=computed.type), tree, True
        return self.term(node), tree, False

    # --- expressions ------------------------------------------------------------------------------------------------

    def tree(self, node: exp.Expr) -> exp.Expr:
        """An expression over columns of the catalog, with those of FROM items replaced by what they stand for."""
        holder = exp.Paren(this=node.copy())
        for query, original in zip(outermost_queries(holder), outermost_queries(node), strict=True):
            self._put_in(query, original)
        copy, parts = holder.unnest(), 0
        around = [node.find_ancestor(exp.Query)]
        written = [column for column in node.unnest().find_all(exp.Column) if column.find_ancestor(exp.Query) in around]
        copied = [column for column in copy.find_all(exp.Column) if column.find_ancestor(exp.Query) is None]
        for leaf, column in zip(copied, written, strict=True):
            found = self._leaf(column)
            parts += sum(1 for _ in found.walk())
            if parts > MOST_PARTS:
                message = f"this expression has more than {MOST_PARTS:,} parts, with those that its names stand for"
                raise self.positions.finding(Code.TOO_MUCH_WORK, message, node, "make it several queries")
            if leaf is copy:
                return found
            leaf.replace(found)
        if is_deep(copy):
            raise self.positions.finding(Code.UNSUPPORTED, "the expression is nested too deeply", node)
        return copy

    def _put_in(self, place: exp.Query, node: exp.Query) -> None:
        """Put a subquery over relations alone, about columns of the catalog, in its place; raises Finding."""
        tree = self.queries.get(id(node))
        if tree is None or not is_static(tree, self.catalog):
            raise self.positions.finding(Code.UNSUPPORTED, *_over_streams(node))
        around = place.parent
        place.replace(self._read(lambda: closed(tree, self.catalog, self.queries, self._leaf), node))
        if isinstance(around, exp.Subquery) and not isinstance(around.parent, exp.In):
            kind = self._read(lambda: kind_of_only(tree, self.catalog), node)
            if kind is not None:
                around.replace(exp.cast(around.copy(), kind.name))

    def _leaf(self, node: exp.Column) -> exp.Expr:
        if (path := self._path(node)) is not None:
            found = self._leaf(path[0])
            for name in path[1]:
                found = exp.Dot(this=found, expression=exp.Identifier(this=name.name, quoted=True))
            return found
        visible = self.column(node)
        if visible.tree is not None:
            return substituted(visible.tree)
        if visible.term.is_attribute:
            return column_of(visible.term.plus[0])
        message = "this expression is outside the query language"
        raise self.positions.finding(Code.UNSUPPORTED, message, node)

    def derive(self, tree: exp.Expr, node: exp.Expr, condition: bool = False) -> LinearTerm:
        """An expression over one row as an attribute, one over none as a constant; raises Finding for others."""
        rows = rows_of(tree)
        if not rows and condition and tree.find(exp.Query):
            rows = (self.scope.sources[0].alias,)  # the same for all rows
        if not rows:
            return LinearTerm(self._read(lambda: self.derived.constant(tree), node))
        if len(rows) > 1:
            names = " and ".join(alias.rpartition("#")[0] for alias in rows)
            what = "a condition" if condition else "an expression in a condition"
            message = f"{what} over rows of {names} is outside the query language"
            help = "compare an expression over one row with an expression over the other: f(a.x) = g(b.y)"
            raise self.positions.finding(Code.UNSUPPORTED, message, node, help)
        return self._of_source(self.source(rows[0]), tree, node, condition)

    def _of_source(self, source: Source, tree: exp.Expr, node: exp.Expr, condition: bool = False) -> LinearTerm:
        """An expression as an attribute of one source; raises Finding."""
        if isinstance(tree.unnest(), exp.Column) and not condition:
            attribute = Attribute(source.alias, tree.unnest().name)
        else:
            attribute = self._read(lambda: self.derived.derive(tree.unnest(), source, condition), node)
        kind = self.derived.kind(attribute, self.scope.sources)
        return LinearTerm(Folded(Fraction(0), kind), plus=(attribute,), type=kind)

    def asks(self, tree: Tree, condition: Scalar | None, partners: bool, node: exp.Expr) -> Formula:
        """Whether a row has ``partners`` in a relation, or none, as a boolean of that row; raises Finding."""
        found = self._read(lambda: existence(tree, condition, self.catalog, self.queries, self._leaf), node)
        return self._is_true(self.derive(found if partners else exp.Not(this=found), node, condition=True), node)

    def relation(self, tree: Alias, node: exp.Expr) -> ComputedRelation:
        """The relation that a subquery over relations in FROM is."""
        return self._read(lambda: computed_relation(tree, self.catalog, self.queries), node)

    def computed(self, tree: exp.Expr, node: exp.Expr) -> Computed:
        """An expression over several rows, of the parts over one each."""
        return self._read(lambda: self.derived.computed(tree, self.scope.sources), node)

    def source(self, alias: str) -> Source:
        """The source of that alias."""
        return next(source for source in self.scope.sources if source.alias == alias)

    def _read(self, reading: Callable[[], _Found], node: exp.Expr) -> _Found:
        try:
            return reading()
        except Refused as refused:
            code = Code.TYPE_MISMATCH if refused.mismatch else Code.UNSUPPORTED
            raise self.positions.finding(
                code, str(refused), self._blamed(refused.node, node), refused.help
            ) from refused

    @staticmethod
    def _blamed(culprit: exp.Expr, node: exp.Expr) -> exp.Expr:
        """The node of a statement's own tree that corresponds to a culprit in a copy of it."""
        text = culprit.name.lower() if isinstance(culprit, exp.Anonymous) else ""
        alike = (one for one in node.find_all(type(culprit)) if not text or one.name.lower() == text)
        return next(alike, node)

    # --- conditions -------------------------------------------------------------------------------------------------

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
            case exp.Not() if _asks_relations(node.this.unnest()):
                return self.filter(node)
            case exp.Not():
                return Not(self.formula(node.this))
            case exp.Between():
                return self.between(node)
            case exp.In():
                return self.readable(lambda: self.membership(node), node)
            case exp.Is():
                return self.test(node)
            case exp.NullSafeEQ():
                return self.same(node)
            case exp.NullSafeNEQ():
                return Not(self.same(node))
            case exp.Boolean():
                return Truth(bool(node.this), span=self.positions.of(node))
            case exp.Null():
                return Truth(False, unknown=True, span=self.positions.of(node))
        if type(node) in _OPS:
            return self.compared(node.this, _OPS[type(node)], node.expression, node)
        return self.flag(node)

    def readable(self, read: Callable[[], Formula], node: exp.Expr) -> Formula:
        """A condition as a formula; a filter if it is over one row and has parts of unknown types."""
        try:
            return read()
        except Finding as finding:
            if finding.diagnostic.code is not Code.UNSUPPORTED:
                raise
            try:
                return self.filter(node)
            except Finding:
                raise finding from None

    def compared(self, left: exp.Expr, op: Op, right: exp.Expr, node: exp.Expr) -> Formula:
        """A comparison; of sums of more than two attributes, those over one row are derived attributes."""
        return self.readable(lambda: self._compared(left, op, right, node), node)

    def _compared(self, left: exp.Expr, op: Op, right: exp.Expr, node: exp.Expr) -> Formula:
        terms = TermReader(self.positions)
        sides = self.read_sides(left, right)
        if terms.mixed(*sides):
            if len(rows_of(self.tree(node))) == 1:
                return self.filter(node)
            sides = self.of_one_type((left, sides[0]), (right, sides[1]))
        if terms.relates_more(*sides):
            sides = self.collapsed(sides[0], left), self.collapsed(sides[1], right)
            if terms.relates_more(*sides) and len(rows_of(self.tree(node))) == 1:
                return self.filter(node)
        return terms.compare(sides[0], op, sides[1], node)

    def of_one_sort(
        self, left: tuple[exp.Expr, LinearTerm], right: tuple[exp.Expr, LinearTerm], arithmetic: bool = False
    ) -> tuple[LinearTerm, LinearTerm]:
        """Two terms to compare or to add up: an application time beside another column is a value as that is.

        A text beside a value of another type is what Spark reads in it: ``s = 5  ->  CAST(s AS BIGINT) = 5``.
        """

        def read(side: tuple[exp.Expr, LinearTerm], other: DataType) -> LinearTerm:
            node, term = side
            kind = None if term.is_constant else read_as(term.kind, other)
            if kind is None or (arithmetic and kind.family not in NUMERIC):
                return term
            return self.derive(exp.cast(self.tree(node), kind.name, dialect="spark"), node)

        one, two = read(left, right[1].kind), read(right, left[1].kind)
        if one.type is None or two.type is None or one.is_time == two.is_time:
            return one, two
        return self.as_value(one), self.as_value(two)

    def read_sides(self, left: exp.Expr, right: exp.Expr, arithmetic: bool = False) -> tuple[LinearTerm, LinearTerm]:
        """The terms of two sides, of one sort."""
        return self.of_one_sort((left, self.term(left)), (right, self.term(right)), arithmetic)

    def of_one_type(self, *sides: tuple[exp.Expr, LinearTerm]) -> tuple[LinearTerm, LinearTerm]:
        """Two numbers of different types as Spark compares them: cast to the wider type, an attribute of their row."""
        (left, one), (right, two) = sides
        wider = None if one.type is None or two.type is None else one.type.wider(two.type)
        wide = None if wider is None else parse_type(wider)
        if wide is None or any(len(rows_of(self.tree(node))) != 1 for node, _ in sides):
            return one, two

        def cast(node: exp.Expr, term: LinearTerm) -> LinearTerm:
            if term.type is not None and term.type.comparable(wide):
                return term
            return self.derive(exp.cast(self.tree(node), str(wider), dialect="spark"), node)

        return cast(left, one), cast(right, two)

    def as_value(self, term: LinearTerm) -> LinearTerm:
        """A term of application times as one of attributes that are derived: ``S.ts  ->  S.`ts` ``.

        P+ knows nothing of such an attribute but its conditions: a query that is bounded whatever its values are is
        bounded. One that is not needs a witness in which the attribute is the time.
        """
        if not term.is_time:
            return term

        def derived(attribute: Attribute) -> Attribute:
            return self.derived.derive(column_of(attribute), self.source(attribute.source))

        plus, minus = (tuple(map(derived, attributes)) for attributes in (term.plus, term.minus))
        return replace(term, plus=plus, minus=minus, is_time=False)

    def collapsed(self, term: LinearTerm, node: exp.Expr) -> LinearTerm:
        """A sum of several attributes of one row as one attribute."""
        if len(term.plus) + len(term.minus) < 2 or term.is_time:
            return term
        tree = self.tree(node)
        return self.derive(tree, node) if len(rows_of(tree)) == 1 else term

    def filter(self, node: exp.Expr) -> Formula:
        """A condition over one row that is not read any further: a boolean attribute that is true."""
        return self._is_true(self.derive(self.tree(node), node, condition=True), node)

    def _is_true(self, value: LinearTerm, node: exp.Expr) -> Formula:
        true = LinearTerm(Folded(Fraction(1), BOOLEAN))
        return TermReader(self.positions).compare(value, Op.EQ, true, node)

    def between(self, node: exp.Between) -> Formula:
        """``x BETWEEN a AND b  ->  x >= a AND x <= b``."""
        if node.args.get("symmetric"):
            raise self.positions.finding(
                Code.UNSUPPORTED, "BETWEEN SYMMETRIC is outside the query language", node, _SORTED
            )
        low, high = node.args["low"], node.args["high"]
        return And((self.compared(node.this, Op.GE, low, node), self.compared(node.this, Op.LE, high, node)))

    def membership(self, node: exp.In) -> Formula:
        """``x IN (a, b)  ->  x = a OR x = b``."""
        if node.args.get("query") is not None:
            return self.filter(node)
        if node.args.get("unnest") or not node.expressions:
            raise self.positions.finding(
                Code.UNSUPPORTED, "IN UNNEST is outside the query language", node, "write array_contains(xs, x)"
            )
        terms, value = TermReader(self.positions), self.collapsed(self.term(node.this), node.this)
        items = [self.term(item) for item in node.expressions]
        if mixes_texts([value.kind, *(item.kind for item in items)]):
            message = "a list of texts and other values is outside the query language"
            raise self.positions.finding(Code.UNSUPPORTED, message, node, "write all of them as values of one type")
        found = [self.of_one_sort((node.this, value), side) for side in zip(node.expressions, items, strict=True)]
        if any(terms.mixed(*pair) for pair in found):
            return self.filter(node)
        value = next((one for one, _ in found if one != value), value)
        items = terms.listed(value, [item if value.is_time else self.as_value(item) for _, item in found], node)
        options = tuple(terms.compare(value, Op.EQ, *pair) for pair in zip(items, node.expressions, strict=True))
        if len(options) == 1:
            return options[0]
        return Or(options, tuple(map(self.positions.whole, node.expressions)))

    def test(self, node: exp.Is) -> Formula:
        """``x IS NULL``, ``x IS TRUE``; with NOT it arrives as its negation."""
        if not isinstance(node.expression, exp.Null):
            return self.filter(node)
        return replace(self.is_null(self.term(node.this), node.this), span=self.positions.of(node))

    def same(self, node: exp.NullSafeEQ | exp.NullSafeNEQ) -> Formula:
        """``x <=> y  ->  x = y AND x IS NOT NULL AND y IS NOT NULL OR x IS NULL AND y IS NULL``, never unknown."""
        terms = self.read_sides(node.this, node.expression)
        if TermReader(self.positions).mixed(*terms):
            return self.filter(node)
        sides = [self.collapsed(*side) for side in zip(terms, (node.this, node.expression), strict=True)]
        nulls = [self.is_null(*side) for side in zip(sides, (node.this, node.expression), strict=True)]
        if any(isinstance(null, Truth) and null.value for null in nulls):
            return conjunction(tuple(null for null in nulls if not isinstance(null, Truth) or not null.value))
        tests = tuple(null for null in nulls if isinstance(null, NullTest))
        equal = TermReader(self.positions).compare(sides[0], Op.EQ, sides[1], node)
        both = conjunction((equal, *map(Not, tests)))
        return both if len(tests) < len(nulls) else Or((both, And(tests)))

    def is_null(self, term: LinearTerm, node: exp.Expr) -> Truth | NullTest:
        """``term IS NULL``."""
        if term.is_constant:
            return Truth(term.constant.value is None, span=self.positions.of(node))
        whole = term if term.is_attribute else self.derive(self.tree(node), node)
        return NullTest(whole.plus[0], True, self.positions.of(node))

    def flag(self, node: exp.Expr) -> Formula:
        """A boolean expression as a condition: ``flag  ->  flag = TRUE``."""
        if not isinstance(node, exp.Column):
            tree = self.tree(node)
            if rows_of(tree) or tree.find(exp.Query):
                return self.filter(node)
        value = self.term(node)
        if value.kind.family is not Family.BOOLEAN:
            raise self.positions.finding(Code.TYPE_MISMATCH, "a condition must be true or false", node)
        if value.is_constant:
            known = value.constant.value
            return Truth(known == 1, unknown=known is None, span=self.positions.of(node))
        return self._is_true(value, node)


def _asks_relations(node: exp.Expr) -> bool:
    """Whether a condition is EXISTS or IN with a subquery: NOT of it is one condition, also where it is unknown."""
    return isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query") is not None)


def _over_streams(query: exp.Query) -> tuple[str, exp.Expr, str]:
    """The name of a subquery that reads more than relations, the part to blame, and the advice."""
    around = query.parent
    if isinstance(around, exp.Subquery) and isinstance(around.parent, exp.In):
        around = around.parent
    message = f"{subquery_word(around)} over streams is outside the query language here"
    help = IN_EXPRESSION if isinstance(around, exp.In | exp.Exists) else IN_WINDOW
    return message, around if isinstance(around, exp.In | exp.Exists | exp.Subquery) else query, help
