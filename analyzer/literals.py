"""Literals, typed literals, casts of constants and intervals of a statement, as constants."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.casts import cast
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import (
    BOOLEAN,
    DAYS,
    INTERVAL,
    STRING,
    VOID,
    ConstantError,
    Folded,
    is_interval,
    negate,
    numeral,
)
from streambound.analyzer.durations import UNITS
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.analyzer.units_of_time import MONTHS

_LENGTH = re.compile(r"\s*([+-]?\d+(?:\.\d*)?)\s*", re.A)
_MONTHS = re.compile(r"\s*([+-]?\d{1,5})\s*", re.A)
_TYPED = (Family.DATE, Family.TIMESTAMP)
_DAYS = ("DAY", "WEEK")


class LiteralReader(Struct, frozen=True):
    """Reads what is a constant by itself."""

    positions: Positions

    def constant(self, node: exp.Expr) -> Folded | None:
        """A literal or a cast of one; None when the node is neither. Raises Finding for one that Spark refuses."""
        match node:
            case exp.Literal(is_string=True):
                return Folded(str(node.this), STRING)
            case exp.Literal():
                return self.checked(node, lambda: numeral(str(node.this)))
            case exp.Boolean():
                return Folded(Fraction(bool(node.this)), BOOLEAN)
            case exp.Null():
                return Folded(None, VOID)
            case exp.Interval():
                return self.interval(node)
            case exp.Neg():
                return self.negative(node)
            case exp.Paren():
                return self.constant(node.this)
            case exp.Cast():
                return self.cast(node)
        return None

    def checked(self, node: exp.Expr, fold: Callable[[], Folded]) -> Folded:
        """The result of ``fold``; raises Finding at the node for its errors."""
        try:
            return fold()
        except ConstantError as error:
            raise self.finding(error, node) from error

    def finding(self, error: ConstantError, node: exp.Expr) -> Finding:
        """An error of a constant, where it is written."""
        return self.positions.finding(
            Code.UNSUPPORTED if error.unsupported else Code.TYPE_MISMATCH, str(error), node, error.remedy
        )

    def negative(self, node: exp.Neg) -> Folded | None:
        """A negative numeral, whose sign is a part of it, or another constant's negation."""
        inner = node.this
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return self.checked(node, lambda: numeral(str(inner.this), sign=-1))
        constant = self.constant(inner)
        if constant is None:
            return None
        if is_interval(constant.kind):
            return Folded(-constant.exact, constant.kind)
        if constant.kind.family not in (Family.INTEGER, Family.DECIMAL, Family.FLOAT):
            return None
        return self.checked(node, lambda: negate(constant))

    def cast(self, node: exp.Cast) -> Folded | None:
        """``DATE '…'``, ``CAST(constant AS type)``, ``TRY_CAST``."""
        constant = self.constant(node.this)
        if constant is None:
            return None
        kind = self.target(node)
        return self.checked(node, lambda: cast(constant, kind, safe=bool(node.args.get("safe"))))

    def target(self, node: exp.Cast) -> DataType:
        """The type that a cast names; raises Finding for one without literals, and for a literal that Spark has not."""
        kind = parse_type(node.to.sql("spark"))
        if kind is None or kind.family is Family.OTHER or node.args.get("format"):
            message = f"a cast to {node.to.sql('spark')} is outside the query language"
            raise self.positions.finding(Code.UNSUPPORTED, message, node)
        if kind.family not in _TYPED and self.is_typed(node):
            help = f"write CAST('…' AS {kind.name.upper()})"
            raise self.positions.finding(
                Code.TYPE_MISMATCH, f"Spark has no literals {kind.name.upper()} '…'", node, help
            )
        return kind

    def is_typed(self, node: exp.Cast) -> bool:
        """Whether a type stands before a text, as in ``INT '7'``; it may also be called, as in ``INT('7')``."""
        literal = node.this
        if not isinstance(literal, exp.Literal) or not literal.is_string or type(node) is not exp.Cast:
            return False
        return not self.positions.text(self.positions.of(node)).endswith(")")

    def interval(self, node: exp.Interval) -> Folded:
        """A fixed-length interval in microseconds."""
        return self.checked(node, lambda: fixed_interval(node))


def fixed_interval(node: exp.Interval) -> Folded:
    """An interval in microseconds; raises ConstantError for one without a fixed length."""
    literal, unit = node.this, node.args.get("unit")
    name = str(unit.this).upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
    sign = 1
    if isinstance(literal, exp.Neg):
        literal, sign = literal.this, -1
    found = _LENGTH.fullmatch(str(literal.this)) if isinstance(literal, exp.Literal) else None
    if name not in UNITS or found is None:
        help = "write it in one unit from MICROSECONDS to WEEKS, as in INTERVAL 5 MINUTES"
        message = "an interval without a fixed length in one unit is outside the query language"
        raise ConstantError(message, help, unsupported=True)
    length = sign * Fraction(found.group(1)) * UNITS[name]
    if length.denominator != 1 or ("." in found.group(1) and name != "SECOND"):
        message = "an interval of parts of a microsecond, or of parts of a unit other than the second, is no interval"
        raise ConstantError(message, "write a whole number of a smaller unit")
    if abs(length) >= 2**63:
        raise ConstantError("the interval is longer than those that Spark has")
    return Folded(length, DAYS if name in _DAYS else INTERVAL)


def whole_months(node: exp.Expr) -> int | None:
    """The months of an interval of months, quarters or years; None for another expression."""
    unit = node.args.get("unit") if isinstance(node, exp.Interval) else None
    length = MONTHS.get(str(unit.this).lower().removesuffix("s")) if isinstance(unit, exp.Var) else None
    number, sign = (node.this.this, -1) if isinstance(node.this, exp.Neg) else (node.this, 1)
    found = _MONTHS.fullmatch(str(number.this)) if length and isinstance(number, exp.Literal) else None
    return None if length is None or found is None else sign * int(found.group(1)) * length
