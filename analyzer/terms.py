"""Scalar expressions as terms: a sum of attributes, with signs, and a constant; and their comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from analyzer.durations import UNITS
from analyzer.findings import Finding, Positions
from analyzer.query import Attribute, Comparison, Formula, Op, Truth
from analyzer.types import DataType, Family
from analyzer.values import (
    Value,
    encode_boolean,
    encode_number,
    encode_text,
    number,
    parse_date,
    parse_timestamp,
)


class Form(StrEnum):
    """What a constant part is before a comparison gives it a type."""

    NUMBER = "a number"
    TEXT = "a string"
    BOOLEAN = "a boolean"
    DATE = "a date"
    TIMESTAMP = "a timestamp"
    INTERVAL = "an interval"
    DAYS = "a number of days"
    NULL = "NULL"


@dataclass(frozen=True, slots=True)
class Term:
    """``Σ plus − Σ minus + constant``. ``type`` is that of the attributes; ``form`` that of the constant."""

    plus: tuple[Attribute, ...] = ()
    minus: tuple[Attribute, ...] = ()
    constant: Fraction = Fraction(0)
    text: str = ""
    form: Form = Form.NUMBER
    type: DataType | None = None
    is_time: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether no attribute occurs."""
        return not self.plus and not self.minus

    @property
    def is_attribute(self) -> bool:
        """Whether the term is one attribute and nothing else."""
        return len(self.plus) == 1 and not self.minus and self.constant == 0 and self.form is Form.NUMBER


_DAY = UNITS["DAY"]
_FORM_ORDER = (
    Form.DATE,
    Form.TIMESTAMP,
    Form.DAYS,
    Form.INTERVAL,
    Form.NUMBER,
    Form.TEXT,
    Form.BOOLEAN,
    Form.NULL,
)
_NUMERIC = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)


@dataclass(frozen=True)
class TermReader:
    """Reads constants and arithmetic; attributes come from a scope through ``resolve``."""

    positions: Positions

    def constant(self, node: exp.Expr) -> Term | None:
        """A literal as a term; None when the node is not one. Raises Finding for a malformed one."""
        match node:
            case exp.Literal(is_string=True):
                return Term(text=node.this, form=Form.TEXT)
            case exp.Literal():
                return Term(constant=self.numeral(node, node.this))
            case exp.Boolean():
                return Term(constant=Fraction(encode_boolean(str(node.this))), form=Form.BOOLEAN)
            case exp.Null():
                return Term(form=Form.NULL)
            case exp.Interval():
                return Term(constant=self.interval(node), form=Form.INTERVAL)
            case exp.Cast(this=exp.Literal()):
                return self.cast(node)
        return None

    def numeral(self, node: exp.Expr, text: str) -> Fraction:
        """A numeral's exact value; raises Finding for a malformed one."""
        try:
            return number(text)
        except ValueError as error:
            raise self.positions.finding("SB104", str(error), node) from error

    def cast(self, node: exp.Cast) -> Term:
        """``DATE '…'``, ``TIMESTAMP '…'``, ``CAST(literal AS type)`` and typed numerals such as ``10L``."""
        kind, text = node.to.this, str(node.this.this)
        numeric = (*exp.DataType.INTEGER_TYPES, *exp.DataType.FLOAT_TYPES, *exp.DataType.REAL_TYPES)
        try:
            if kind in (exp.DType.DATE,):
                return Term(constant=Fraction(parse_date(text)), form=Form.DATE)
            if kind in exp.DataType.TEMPORAL_TYPES:
                return Term(constant=Fraction(parse_timestamp(text)), form=Form.TIMESTAMP)
            if kind in exp.DataType.INTEGER_TYPES and number(text).denominator != 1:
                raise ValueError(f"{text} is not an integer")
            if kind in numeric:
                return Term(constant=number(text))
        except ValueError as error:
            raise self.positions.finding("SB104", f"not a valid constant: {error}", node) from error
        raise self.positions.finding("SB110", f"a cast to {node.to.sql('spark')} is outside the query language", node)

    def interval(self, node: exp.Interval) -> Fraction:
        """A fixed-length interval in microseconds."""
        literal, unit = node.this, node.args.get("unit")
        name = str(unit.this).upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
        if isinstance(literal, exp.Neg):
            literal, sign = literal.this, -1
        else:
            sign = 1
        if name not in UNITS or not isinstance(literal, exp.Literal):
            help = "write it in one unit from MICROSECONDS to WEEKS, as in INTERVAL 5 MINUTES"
            message = "an interval without a fixed length in one unit is outside the query language"
            raise self.positions.finding("SB110", message, node, help)
        return sign * self.numeral(node, str(literal.this)) * UNITS[name]

    def add(self, left: Term, right: Term, sign: int, node: exp.Expr) -> Term:
        """``left ± right``; raises Finding when the types do not add up."""
        if Form.NULL in (left.form, right.form):
            return Term(form=Form.NULL)
        if Form.TEXT in (left.form, right.form) or Form.BOOLEAN in (left.form, right.form):
            raise self.positions.finding("SB104", "arithmetic on a value that is not a number", node)
        kind = self.common_type(left, right, node)
        left, right = _in_days(left, right), _in_days(right, left)
        plus, minus = (right.plus, right.minus) if sign > 0 else (right.minus, right.plus)
        forms = sorted((left.form, right.form), key=_FORM_ORDER.index)
        return replace(
            left,
            plus=left.plus + plus,
            minus=left.minus + minus,
            constant=left.constant + sign * right.constant,
            form=forms[0],
            type=kind,
            is_time=left.is_time or right.is_time,
        )

    def common_type(self, left: Term, right: Term, node: exp.Expr) -> DataType | None:
        """The type of the attributes on both sides; raises Finding when they cannot be compared."""
        if left.type is None or right.type is None:
            return left.type or right.type
        if left.is_time != right.is_time:
            message = "an application timestamp may be compared only with a timestamp"
            raise self.positions.finding("SB111", message, node)
        if not left.type.comparable(right.type):
            help = "cast neither side: declare both columns with one type in the catalog"
            raise self.positions.finding(
                "SB104", f"{left.type.name} and {right.type.name} cannot be compared exactly", node, help
            )
        return left.type

    def compare(self, left: Term, op: Op, right: Term, node: exp.Expr) -> Formula:
        """``left op right`` as an atom ``x op y + c``; raises Finding outside the language."""
        span = self.positions.of(node)
        if Form.NULL in (left.form, right.form):
            return Truth(False, unknown=True, span=span)
        kind = self.common_type(left, right, node)
        if kind is None:
            return self.fold(left, op, right, node)
        if kind.family is Family.OTHER:
            raise self.positions.finding("SB104", f"values of type {kind.name} cannot be compared", node)
        more, less = _cancel(left.plus + right.minus, left.minus + right.plus)
        if len(more) > 1 or len(less) > 1:
            message = "a condition may relate two attributes at most, as in x < y + 3"
            raise self.positions.finding("SB110", message, node)
        offset = self.offset(left, right, kind, node)
        if not more and not less:
            same = (left.plus + right.plus + left.minus + right.minus)[0]
            return self.atom(Comparison(same, op, same, offset, span), kind, node)
        if not more:
            return self.atom(Comparison(less[0], op.flipped, None, _minus(offset), span), kind, node)
        return self.atom(Comparison(more[0], op, less[0] if less else None, offset, span), kind, node)

    def offset(self, left: Term, right: Term, kind: DataType, node: exp.Expr) -> Value:
        """The constant ``right − left`` in the encoded units of ``kind``."""
        if Form.TEXT in (left.form, right.form):
            text, other = (left.text, right) if left.form is Form.TEXT else (right.text, left)
            if len(other.plus) != 1 or other.minus or other.constant:
                raise self.positions.finding("SB104", "arithmetic on a value that is not a number", node)
            try:
                encoded = encode_text(text, kind)
            except ValueError as error:
                raise self.mismatch(kind, Form.TEXT, node, str(error)) from error
            return _minus(encoded) if left.form is Form.TEXT and kind.family is not Family.STRING else encoded
        for side in (left, right):
            self.check_form(side, kind, left, right, node)
        if kind.family is Family.DATE:
            date = Term(form=Form.DATE)
            left, right = _in_days(left, date), _in_days(right, date)
        total = right.constant - left.constant
        if kind.family in _NUMERIC:
            return self.encoded(total, kind, node)
        return "" if kind.family is Family.STRING else total

    def encoded(self, number: Fraction, kind: DataType, node: exp.Expr) -> Value:
        """A number in the units of ``kind``; raises Finding where the type has no such number."""
        try:
            return encode_number(number, kind)
        except ValueError as error:
            raise self.positions.finding("SB104", str(error), node) from error

    def check_form(self, side: Term, kind: DataType, left: Term, right: Term, node: exp.Expr) -> None:
        """Whether a constant of this form can meet attributes of this type."""
        difference = len(left.plus + right.minus) == len(left.minus + right.plus)
        allowed: tuple[Form, ...] = (Form.NUMBER,) if side.constant == 0 and not side.is_constant else ()
        match kind.family:
            case Family.INTEGER | Family.DECIMAL | Family.FLOAT:
                allowed = (Form.NUMBER,)
            case Family.BOOLEAN:
                allowed += (Form.BOOLEAN,)
            case Family.DATE:
                days = (Form.NUMBER, Form.DAYS, Form.INTERVAL)
                allowed += days if difference or not side.is_constant else (Form.DATE, Form.DAYS)
            case Family.TIMESTAMP:
                allowed += (Form.TIMESTAMP, Form.INTERVAL) if not difference else (Form.INTERVAL,)
        if side.form not in allowed:
            raise self.mismatch(kind, side.form, node, time=left.is_time or right.is_time)

    def mismatch(self, kind: DataType, form: Form, node: exp.Expr, detail: str = "", time: bool = False) -> Finding:
        """A type mismatch of an attribute with a constant."""
        if not time:
            message = detail or f"a {kind.name} cannot be compared with {form}"
            return self.positions.finding("SB104", message, node, self.quoting(node))
        message = f"an application timestamp of type {kind.name} cannot be compared with {form}"
        constants = "TIMESTAMP '2026-01-31 12:00:00', or INTERVAL 5 MINUTES for a distance"
        help = f"write {constants}" if kind.family is Family.TIMESTAMP else "write an integer"
        return self.positions.finding("SB111", message, node, help)

    def quoting(self, node: exp.Expr) -> str:
        """A hint where a text in double quotes may have been meant as a name."""
        for literal in node.find_all(exp.Literal):
            if literal.is_string and self.positions.text(self.positions.of(literal)).startswith('"'):
                return f"double quotes make a string in Spark SQL; if a column is meant, write `{literal.this}`"
        return ""

    def atom(self, atom: Comparison, kind: DataType, node: exp.Expr) -> Comparison:
        """The atom as it means over the type: ``x < 2.5  ->  x <= 2``, ``x <= y - 1  ->  x < y``."""
        if kind.family is Family.FLOAT and atom.right is not None and atom.offset != 0:
            message = "arithmetic on floating-point attributes is not exact, so it is outside the query language"
            raise self.positions.finding("SB110", message, node, "use a decimal type, or move the constant to a filter")
        if isinstance(atom.offset, str) or not kind.discrete:
            return atom
        exact = Fraction(atom.offset)
        if exact.denominator == 1:
            whole = replace(atom, offset=int(exact))
            return _without_step(whole) if kind.family in (Family.INTEGER, Family.DATE) else whole
        match atom.op:
            case Op.LT | Op.LE:
                return replace(atom, op=Op.LE, offset=floor(exact))
            case Op.GT | Op.GE:
                return replace(atom, op=Op.GE, offset=ceil(exact))
        if atom.right is not None:
            raise self.positions.finding("SB110", "an equality that only fractions could satisfy", node)
        return replace(atom, right=atom.left, offset=1)  # x = 2.5: never true, unknown when x is NULL

    def fold(self, left: Term, op: Op, right: Term, node: exp.Expr) -> Truth:
        """A comparison of constants."""
        texts = [side.form is Form.TEXT for side in (left, right)]
        if any(texts) != all(texts) or {left.form, right.form} == {Form.NUMBER, Form.DATE}:
            message = f"{left.form} cannot be compared with {right.form}"
            raise self.positions.finding("SB104", message, node, self.quoting(node))
        a: str | Fraction = left.text if left.form is Form.TEXT else left.constant
        b: str | Fraction = right.text if right.form is Form.TEXT else right.constant
        less, equal = a < b, a == b  # type: ignore[operator]  # both texts or both numbers, as checked
        held = {Op.LT: less, Op.LE: less or equal, Op.EQ: equal, Op.NE: not equal}
        held |= {Op.GT: not (less or equal), Op.GE: not less}
        return Truth(held[op], span=self.positions.of(node))


def _cancel(more: tuple[Attribute, ...], less: tuple[Attribute, ...]) -> tuple[list[Attribute], list[Attribute]]:
    kept_less = list(less)
    kept_more = []
    for attribute in more:
        if attribute in kept_less:
            kept_less.remove(attribute)
        else:
            kept_more.append(attribute)
    return kept_more, kept_less


_STEPS = {(Op.LE, -1): Op.LT, (Op.LT, 1): Op.LE, (Op.GE, 1): Op.GT, (Op.GT, -1): Op.GE}


def _without_step(atom: Comparison) -> Comparison:
    """Two integers or dates one step apart: ``x <= y - 1  ->  x < y``, ``x < y + 1  ->  x <= y``."""
    if atom.right is None or isinstance(atom.offset, str):
        return atom
    op = _STEPS.get((atom.op, int(atom.offset)))
    return atom if op is None else replace(atom, op=op, offset=0)


def _minus(value: Value) -> Value:
    return value if isinstance(value, str) else -value


def _in_days(term: Term, other: Term) -> Term:
    """An interval that meets a date, as a number of days."""
    dated = other.form is Form.DATE or (other.type is not None and other.type.family is Family.DATE)
    if not dated or term.form is not Form.INTERVAL:
        return term
    return replace(term, constant=term.constant / _DAY, form=Form.DAYS)
