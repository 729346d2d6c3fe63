"""Scalar expressions as terms: a sum of attributes, with signs, and a constant; and their comparison."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer import comparands
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import VOID, ConstantError, Folded, multiply
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.literals import LiteralReader
from streambound.analyzer.query import Attribute, Comparison, Formula, Op, Or, Truth, conjunction
from streambound.analyzer.sums import total
from streambound.analyzer.types import NUMERIC, DataType, Family
from streambound.analyzer.values import Value, encode_number


class LinearTerm(Struct, frozen=True):
    """``Σ plus − Σ minus + constant``. ``type`` is that of the attributes; the constant's is that of the whole term."""

    constant: Folded
    plus: tuple[Attribute, ...] = ()
    minus: tuple[Attribute, ...] = ()
    type: DataType | None = None
    is_time: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether no attribute occurs."""
        return not self.plus and not self.minus

    @property
    def is_attribute(self) -> bool:
        """Whether the term is one attribute and nothing else."""
        return len(self.plus) == 1 and not self.minus and self.constant == Folded(Fraction(0), self.constant.kind)

    @property
    def kind(self) -> DataType:
        """The type of the term."""
        return self.constant.kind


class TermReader(Struct, frozen=True):
    """Reads constants and arithmetic; attributes come from a scope through ``resolve``."""

    positions: Positions

    def constant(self, node: exp.Expr) -> LinearTerm | None:
        """A literal, or a cast of one, as a term; None when the node is not one. Raises Finding for a malformed one."""
        constant = LiteralReader(self.positions).constant(node)
        return None if constant is None else LinearTerm(constant)

    def negate(self, term: LinearTerm, node: exp.Expr) -> LinearTerm:
        """``-term`` of attributes; raises Finding where they are no numbers."""
        if term.kind.family is Family.STRING:
            message, help = "minus a text is outside the query language", "write -CAST(… AS DOUBLE), as Spark reads it"
            raise self.positions.finding(Code.UNSUPPORTED, message, node, help)
        if term.kind.family not in NUMERIC or term.constant.value is None:
            raise self.positions.finding(Code.TYPE_MISMATCH, "arithmetic on a value that is not a number", node)
        constant = replace(term.constant, value=-term.constant.exact)
        return replace(term, plus=term.minus, minus=term.plus, constant=constant)

    def add(self, left: LinearTerm, right: LinearTerm, sign: int, node: exp.Expr) -> LinearTerm:
        """``left ± right``; raises Finding when the types do not add up."""
        kind = self.common_type(left, right, node)
        is_time = left.is_time or right.is_time
        try:
            constant = total(left.constant, right.constant, sign, left.is_constant and right.is_constant)
        except ConstantError as error:
            if is_time and kind is not None and not error.unsupported:
                raise self.untimely(kind, right if left.is_time else left, node) from error
            raise LiteralReader(self.positions).finding(error, node) from error
        if constant.value is None:
            return LinearTerm(constant)
        plus, minus = (right.plus, right.minus) if sign > 0 else (right.minus, right.plus)
        return LinearTerm(constant, left.plus + plus, left.minus + minus, kind, is_time)

    def adds_up(self, left: LinearTerm, right: LinearTerm) -> bool:
        """Whether the sum or difference is exact; that of other numbers is an expression that Spark evaluates."""
        numbers = all(side.kind.family in NUMERIC for side in (left, right))
        if not numbers or (left.is_constant and right.is_constant):
            return True
        if any(side.kind.family is Family.FLOAT for side in (left, right)):
            return False
        return not self.mixed(left, right)

    def mixed(self, left: LinearTerm, right: LinearTerm) -> bool:
        """Whether two sides are attributes of numbers of different kinds, which Spark casts before it compares them."""
        if left.type is None or right.type is None or left.is_time or right.is_time:
            return False
        return {left.type.family, right.type.family} <= NUMERIC and not left.type.comparable(right.type)

    def relates_more(self, left: LinearTerm, right: LinearTerm) -> bool:
        """Whether a comparison relates more than two attributes, or two that both count."""
        return any(len(side) > 1 for side in _cancel(left.plus + right.minus, left.minus + right.plus))

    def multiply(self, left: LinearTerm, right: LinearTerm, node: exp.Expr) -> LinearTerm:
        """``left * right`` of constants; raises Finding for others."""
        if not all(side.is_constant and side.kind.family in NUMERIC for side in (left, right)):
            raise self.positions.finding(Code.TYPE_MISMATCH, "arithmetic on a value that is not a number", node)
        constant = LiteralReader(self.positions).checked(node, lambda: multiply(left.constant, right.constant))
        return LinearTerm(constant)

    def common_type(self, left: LinearTerm, right: LinearTerm, node: exp.Expr) -> DataType | None:
        """The type of the attributes on both sides; raises Finding when they cannot be compared."""
        if left.type is None or right.type is None:
            return left.type or right.type
        if not left.type.comparable(right.type):
            help = "cast neither side: declare both columns with one type in the catalog"
            raise self.positions.finding(
                Code.TYPE_MISMATCH, f"{left.type.name} and {right.type.name} cannot be compared exactly", node, help
            )
        return left.type

    def compare(self, left: LinearTerm, op: Op, right: LinearTerm, node: exp.Expr) -> Formula:
        """``left op right`` as an atom ``x op y + c``; raises Finding outside the language."""
        span = self.positions.of(node)
        kind = self.common_type(left, right, node)
        if kind is None:
            return self.fold(left, op, right, node)
        if kind.family is Family.OTHER and VOID not in (left.kind, right.kind):
            raise self.positions.finding(Code.TYPE_MISMATCH, f"values of type {kind.name} cannot be compared", node)
        left, right = self.converted(left, right, kind, node)
        if left.constant.value is None or right.constant.value is None:
            return Truth(False, unknown=True, span=span)
        more, less = _cancel(left.plus + right.minus, left.minus + right.plus)
        if len(more) > 1 or len(less) > 1:
            message = "a condition may relate two attributes at most, as in x < y + 3"
            raise self.positions.finding(Code.UNSUPPORTED, message, node)
        offset, every = self.offset(left, right, kind), left.plus + right.plus + left.minus + right.minus
        if not more and not less:
            atom = Comparison(every[0], op, every[0], offset, span)
        elif not more:
            atom = Comparison(less[0], op.flipped, None, _minus(offset), span)
        else:
            atom = Comparison(more[0], op, less[0] if less else None, offset, span)
        return _unknown_without(every, self.atom(atom, kind, node))

    def converted(
        self, left: LinearTerm, right: LinearTerm, kind: DataType, node: exp.Expr
    ) -> tuple[LinearTerm, LinearTerm]:
        """Both sides, a constant one as Spark compares it with the other; raises Finding where it does not."""
        if right.is_constant:
            right, left = self.converted(right, left, kind, node)
            return left, right
        constant = left.constant
        try:
            if left.is_constant:
                constant = comparands.from_text(constant, right.kind)
            if not comparands.comparable(constant.kind, right.kind):
                raise self.mismatch(kind, left, right, node)
            return replace(left, constant=comparands.meeting(constant, right.constant)), right
        except ConstantError as error:
            raise self.refused(error, node) from error

    def listed(self, value: LinearTerm, items: list[LinearTerm], node: exp.Expr) -> list[LinearTerm]:
        """The items of ``value IN (items)`` as Spark compares them; raises Finding where they have no common type."""
        if not all(item.is_constant for item in items):
            return items
        try:
            constants = comparands.common(value.constant, [item.constant for item in items])
        except ConstantError as error:
            raise self.refused(error, node) from error
        return [replace(item, constant=constant) for item, constant in zip(items, constants, strict=True)]

    def offset(self, left: LinearTerm, right: LinearTerm, kind: DataType) -> Value:
        """The constant ``right − left`` in the encoded units of ``kind``."""
        if kind.family is Family.STRING:
            return next((str(side.constant.value) for side in (left, right) if side.is_constant), "")
        low, high = (comparands.in_units_of(side.constant, kind) for side in (left, right))
        return encode_number(high - low, kind) if kind.family is Family.DECIMAL else high - low

    def mismatch(self, kind: DataType, left: LinearTerm, right: LinearTerm, node: exp.Expr) -> Finding:
        """A type mismatch of attributes with a constant, or of two differences."""
        constant, other = (left, right) if left.is_constant else (right, left)
        if left.is_time or right.is_time:
            return self.untimely(kind, constant, node)
        what = kind.with_article if other.is_attribute else other.constant.words
        message = f"{what} cannot be compared with {constant.constant.words}"
        return self.positions.finding(Code.TYPE_MISMATCH, message, node, self.quoting(node))

    def untimely(self, kind: DataType, constant: LinearTerm, node: exp.Expr) -> Finding:
        """An application timestamp beside a constant that is none, nor a distance."""
        message = f"an application timestamp of type {kind.name} cannot be compared with {constant.constant.words}"
        constants = "TIMESTAMP '2026-01-31 12:00:00', or INTERVAL 5 MINUTES for a distance"
        help = f"write {constants}" if kind.family is Family.TIMESTAMP else "write an integer"
        return self.positions.finding(Code.TIMESTAMP_COMPARISON, message, node, help)

    def refused(self, error: ConstantError, node: exp.Expr) -> Finding:
        """A constant that cannot be compared; where it is a text in double quotes, a name may have been meant."""
        code = Code.UNSUPPORTED if error.unsupported else Code.TYPE_MISMATCH
        return self.positions.finding(code, str(error), node, self.quoting(node) or error.remedy)

    def quoting(self, node: exp.Expr) -> str:
        """A hint where a text in double quotes may have been meant as a name."""
        for literal in node.find_all(exp.Literal):
            if literal.is_string and self.positions.text(self.positions.of(literal)).startswith('"'):
                return f"double quotes make a string in Spark SQL; if a column is meant, write `{literal.this}`"
        return ""

    def atom(self, atom: Comparison, kind: DataType, node: exp.Expr) -> Comparison:
        """The atom as it means over the type: ``x < 2.5  ->  x <= 2``, ``x <= y - 1  ->  x < y``."""
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
            raise self.positions.finding(Code.UNSUPPORTED, "an equality that only fractions could satisfy", node)
        return replace(atom, right=atom.left, offset=1)  # x = 2.5: never true, unknown when x is NULL

    def fold(self, left: LinearTerm, op: Op, right: LinearTerm, node: exp.Expr) -> Truth:
        """A comparison of constants."""
        try:
            a, b = comparands.folded(left.constant, right.constant)
        except ConstantError as error:
            raise self.refused(error, node) from error
        if a is None or b is None:
            return Truth(False, unknown=True, span=self.positions.of(node))
        less, equal = a < b, a == b  # type: ignore[operator]  # both texts or both numbers, as checked
        held = {Op.LT: less, Op.LE: less or equal, Op.EQ: equal, Op.NE: not equal}
        held |= {Op.GT: not (less or equal), Op.GE: not less}
        return Truth(held[op], span=self.positions.of(node))


def _unknown_without(every: tuple[Attribute, ...], atom: Comparison) -> Formula:
    """An atom, unknown where a NULL has cancelled out: ``x - x = y  ->  0 = y AND x = x OR x <> x``."""
    found: Formula = atom
    for gone in dict.fromkeys(attribute for attribute in every if attribute not in atom.attributes):
        same, other = (Comparison(gone, op, gone, 0, atom.span) for op in (Op.EQ, Op.NE))
        found = Or((conjunction((found, same)), other))
    return found


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
