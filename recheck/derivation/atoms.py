"""What one part of a condition says: a column's values, or how far two columns are apart. Nothing follows from several.

A comparison that is true has no NULL on either side, so that its columns are *present*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import reduce
from itertools import chain, product
from math import ceil, floor, prod

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.value_sets import ANYTHING, NOTHING, NULL, ValueSet, between, of_values
from streambound.analyzer.constants import BOOLEAN, Folded, is_interval
from streambound.analyzer.expressions.evident import encoded
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal
from streambound.analyzer.types import DataType, Family

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
_EXACT = (Family.INTEGER, Family.DECIMAL)
LATER, EARLIER = ("+", "date_add", "dateadd"), ("-", "date_sub")
"""Functions that add to a value, and that subtract from it."""
DAY = 86_400_000_000
_ENCODED = (Family.STRING, Family.DATE, Family.TIMESTAMP)


class Atom(Struct, frozen=True):
    """One comparison or test that is true, or, where that is not ``wanted``, false: not NULL."""

    name: str
    arguments: tuple[Expression, ...]
    wanted: bool = True


Way = tuple[Atom, ...]
"""Atoms that are true together."""
_MOST_WAYS = 64


def _ways(expression: Expression, wanted: bool) -> list[Way]:
    """The ways in which an expression is true, or false: of AND all of each part, of OR those of one part."""
    match expression:
        case Call(function, (one,)) if function.name == "not":
            return _ways(one, not wanted)
        case Call(function, arguments) if function.name in ("and", "or"):
            several = [_ways(one, wanted) for one in arguments]
            if (function.name == "or") is wanted:
                return [*chain(*several)]
            if prod(map(len, several)) > _MOST_WAYS:  # of which the parts with one way are enough
                several = [ways if len(ways) < 2 else [()] for ways in several]
            return [tuple(chain(*one)) for one in product(*several)]
        case Literal(constant):
            return [()] if constant.value == Fraction(wanted) else []
        case Field():
            return [(Atom("is", (expression,), wanted),)]
        case Call(function, arguments) if function.name in _NEGATED and not wanted:
            return [(Atom(_NEGATED[function.name], arguments),)]
        case Call(function, arguments):
            return [(Atom(function.name, arguments, wanted),)]


def _ways_of(part: exp.Expr, given: Schema) -> list[Way]:
    expression = row_expression(part, given)
    return [()] if expression is None else _ways(expression, True)


def _certain(part: exp.Expr, given: Schema) -> list[Atom]:
    """The atoms that are true in each way: ``x BETWEEN a AND b`` is two comparisons."""
    first, *others = _ways_of(part, given) or [()]
    return [one for one in first if all(one in way for way in others)]


def is_atom(part: exp.Expr, given: Schema) -> bool:
    """Whether a part of a condition is one comparison or test: unknown for NULLs alone."""
    return list(map(len, _ways_of(part, given))) == [1]


def present(part: exp.Expr, given: Schema) -> frozenset[int]:
    """The columns that are not NULL where a part of a condition is true."""
    ways = [frozenset[int]().union(*map(_present, way)) for way in _ways_of(part, given)]
    return frozenset.intersection(*ways) if ways else frozenset()


Sets = Mapping[int, ValueSet]
"""What is known of some columns."""


def values(part: exp.Expr, given: Schema, column: int) -> ValueSet:
    """The values that a part of a condition leaves of a column."""
    return left_of(part, given, {column: ANYTHING})[column]


def left_of(part: exp.Expr, given: Schema, known: Sets) -> Sets:
    """The values that a part of a condition leaves of some columns, of known ones: by the ways that can be."""
    found: Sets | None = None
    for way in _ways_of(part, given):
        left = known
        for atom in way:
            there = _present(atom)
            left = {c: _values(atom, given, c, one) for c, one in left.items()}
            left = {c: one.not_null() if c in there else one for c, one in left.items()}
            if len(same := _same(atom, given) & left.keys()) == 2:
                left |= dict.fromkeys(same, reduce(ValueSet.meet, (left[c] for c in same)))
        if all(one.size != 0 for one in left.values()):
            found = left if found is None else {c: one.join(left[c]) for c, one in found.items()}
    return dict.fromkeys(known, NOTHING) if found is None else found


def differences(part: exp.Expr, given: Schema) -> Iterator[tuple[int, int, int]]:
    """``x - y <= c`` for columns of types with whole numbers, as comparisons of each way say it."""
    first, *others = [*map(_least_differences, _ways_of(part, given))] or [{}]
    for pair, most in first.items():
        if all(pair in one for one in others):
            yield *pair, max([most, *(one[pair] for one in others)])


def _least_differences(way: Way) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for x, y, most in chain(*map(_differences, way)):
        found[x, y] = min(most, found.get((x, y), most))
    return found


def in_order(part: exp.Expr, given: Schema) -> Iterator[tuple[Expression, Expression, bool]]:
    """The sides ``x <= y`` of a part's comparisons; whether ``x < y``."""
    for one in _certain(part, given):
        if one.name in _FLIPPED and len(one.arguments) == 2:
            x, y = one.arguments
            yield from [(x, y, one.name == "<")] if one.name in ("<", "<=", "=") else []
            yield from [(y, x, one.name == ">")] if one.name in (">", ">=", "=") else []


def _present(one: Atom) -> frozenset[int]:
    match one:
        case Atom(name, arguments) if name in _FLIPPED:
            sides = [*arguments, *chain.from_iterable(filter(None, map(_apart, arguments)))]
            return frozenset(moved[0] for side in sides if (moved := shifted(side)) is not None)
        case Atom("in", (Field(name), *_)) | Atom("is null", (Field(name),), False):
            return frozenset((int(name),))
    return frozenset()


def _values(one: Atom, given: Schema, column: int, known: ValueSet) -> ValueSet:
    match one:
        case Atom(name, (left, right)) if name in _FLIPPED:
            for side, op, other in ((left, name, right), (right, _FLIPPED[name], left)):
                moved = shifted(side)
                if moved is not None and moved[0] == column and isinstance(other, Literal):
                    return _compared(op, other.constant, moved[1], given[column].type, known)
        case Atom("<=>", (Field(name), Literal(constant)), True) if int(name) == column and constant.value is not None:
            return _compared("=", constant, 0, given[column].type, known).not_null()
        case Atom("in", (Field(name), *items), True) if int(name) == column:
            return known.meet(_listed(items, given[column].type))
        case Atom("in", (Field(name), *items)) if int(name) == column and known.listed is not None:
            return ValueSet(
                listed=known.listed - (_listed(items, given[column].type).listed or frozenset()), null=False
            )
        case Atom("is null", (Field(name),), True) if int(name) == column:
            return known.meet(NULL)
        case Atom("is", (Field(name),)) if int(name) == column and given[column].type == BOOLEAN:
            return known.meet(of_values((int(one.wanted),), null=False))
    return known


def _differences(one: Atom) -> Iterator[tuple[int, int, int]]:
    match one:
        case Atom(name, (left, Literal(constant))) if name in _FLIPPED and (sides := _apart(left)) is not None:
            more = added(constant, sides[0].kind)
            (x, a), (y, b) = (shifted(side) or (0, 0) for side in sides)
            if more is not None and name in ("<", "<=", "="):
                yield x, y, b + more - a - (name == "<")
            if more is not None and name in (">", ">=", "="):
                yield y, x, a - b - more - (name == ">")
        case Atom(name, (Literal() as constant_side, right)) if name in _FLIPPED and _apart(right) is not None:
            yield from _differences(Atom(_FLIPPED[name], (right, constant_side)))
        case Atom(name, (left, right)) if name in _FLIPPED:
            first, second = shifted(left), shifted(right)
            if first is None or second is None or not _comparable(left.kind, right.kind):
                return
            (x, a), (y, b) = first, second
            if name in ("<", "<=", "="):
                yield x, y, b - a - (name == "<")
            if name in (">", ">=", "="):
                yield y, x, a - b - (name == ">")


_ALIKE = {"<": (-1, 0), "<=": (0, 1), ">": (0, 1), ">=": (-1, 0), "<>": (-1, 1)}
"""Of ``x op y``, how far from the least y all lesser x fare alike, and from the greatest y all greater ones."""


def alike(part: exp.Expr, given: Schema, column: int) -> tuple[int, int, int] | None:
    """A column that another one is compared with, and how far from its least and greatest value all fare alike."""
    found = _certain(part, given)
    if not is_atom(part, given) or len(found[0].arguments) != 2:
        return None
    first, second = (shifted(one) for one in found[0].arguments)
    if first is None or second is None or (first[0] == column) is (second[0] == column):
        return None
    is_first = first[0] == column
    own, other, op = (first, second, found[0].name) if is_first else (second, first, _FLIPPED.get(found[0].name, ""))
    if op not in _ALIKE:
        return None
    below, above = (end + other[1] - own[1] for end in _ALIKE[op])
    return other[0], below, above


def equal(part: exp.Expr, given: Schema, sign: str = "=") -> frozenset[int]:
    """The two columns of one type that a part makes equal; none where it is no such equation."""
    ways = _ways_of(part, given)
    return _same(ways[0][0], given, sign) if list(map(len, ways)) == [1] else frozenset()


def _same(one: Atom, given: Schema, sign: str = "=") -> frozenset[int]:
    match one:
        case Atom(name, (Field(left), Field(right)), True) if name == sign:
            x, y = int(left), int(right)
            return frozenset((x, y)) if given[x].type == given[y].type else frozenset()
    return frozenset()


def shifted(expression: Expression) -> tuple[int, int] | None:
    """A column, and what is added to it; None for another expression."""
    match expression:
        case Field(name):
            return int(name), 0
        case Call(function, (Field(name) as one, Literal(constant))) if function.name in (*LATER, *EARLIER):
            more = added(constant, one.kind) if expression.kind.family is one.kind.family else None
            return None if more is None else (int(name), more if function.name in LATER else -more)
    return None


def _apart(expression: Expression) -> tuple[Expression, Expression] | None:
    """The sides of ``x - y``, of columns of types with whole numbers; None for another expression."""
    match expression:
        case Call(function, (left, right)) if function.name == "-" and _comparable(left.kind, right.kind):
            return None if shifted(left) is None or shifted(right) is None else (left, right)
    return None


def added(constant: Folded, kind: DataType) -> int | None:
    """A constant that is added to whole numbers, or days to dates, or an interval to timestamps, in microseconds."""
    if not isinstance(constant.value, Fraction):
        return None
    number = int(constant.value)
    match kind.family, constant.kind.family is Family.INTEGER, is_interval(constant.kind):
        case ((Family.INTEGER | Family.DATE), True, _) | (Family.TIMESTAMP, _, True):
            return number
        case (Family.DATE, _, True) if number % DAY == 0:
            return number // DAY
    return None


def _comparable(kind: DataType, other: DataType) -> bool:
    return kind.discrete and other.discrete and kind.comparable(other)


def _compared(op: str, constant: Folded, more: int, kind: DataType | None, known: ValueSet) -> ValueSet:
    """The values v of ``v + more op constant``, of some known ones."""
    value = _encoded(constant, kind)
    if kind is None or value is None:
        return known.not_null()
    if isinstance(value, str):
        if op == "<>" and known.listed is not None:
            return of_values(known.listed - {value}, null=False)
        return known.meet(of_values((value,), null=False)) if op == "=" else known.not_null()
    value -= more
    if op == "<>":
        return known.not_null() if known.listed is None else of_values(known.listed - {value}, null=False)
    low = value if op in ("=", ">", ">=") else None
    high = value if op in ("=", "<", "<=") else None
    if kind.discrete:
        low = None if low is None else floor(low) + 1 if op == ">" else ceil(low)
        high = None if high is None else ceil(high) - 1 if op == "<" else floor(high)
    return known.meet(between(low, high, null=False))


def _listed(items: list[Expression], kind: DataType | None) -> ValueSet:
    """``x IN (1, 2)``; an item that is no constant may be anything."""
    constants = [item.constant for item in items if isinstance(item, Literal)]
    known = [_encoded(one, kind) for one in constants if one.value is not None]
    if len(constants) < len(items) or None in known:
        return ANYTHING.not_null()
    return of_values((one for one in known if one is not None), null=False)


def _encoded(constant: Folded, kind: DataType | None) -> int | Fraction | str | None:
    """A constant as a value of a type, or between two of them; None where it is not of that type."""
    value, own = constant.value, constant.kind
    if kind is None or value is None:
        return None
    exact = own.family in _EXACT or (own.family is Family.FLOAT and not isinstance(value, str) and abs(value) < 2**53)
    if not isinstance(value, str) and exact and kind.family in _EXACT:
        scaled = value * 10 ** (kind.scale or 0)
        return int(scaled) if scaled.denominator == 1 else scaled
    if own.family is kind.family and kind.family in _ENCODED and (own.name == kind.name or isinstance(value, str)):
        return encoded(value, kind)
    return None
