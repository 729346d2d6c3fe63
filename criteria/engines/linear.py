"""Conditions as sums of times and lengths: what an engine reads of them, and what follows of them.

Columns are places, written ``#3``. A `Linear` is a sum of columns and of a length between ``low`` and ``high``; where
Spark reads an expression as a sum, too, it reads the length ``spark``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.calls import microseconds, text_microseconds
from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.durations import UNITS

ABSOLUTE = -1
"""The place that a constant time stands at."""
_DAY, _SECOND = UNITS["DAY"], UNITS["SECOND"]
_MONTH = (28 * _DAY, 31 * _DAY)
_MARK = "#"
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?(?![\d.])")
"""A number, which may have a letter for its type behind it."""
_NUMERIC = {"BIGINT": _SECOND, "INT": _SECOND, "DOUBLE": 0, "FLOAT": 0, "DECIMAL": 0}
"""By how much at most a cast of a time to a number makes it less."""
_TIMES = ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ")
_NEGATED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.LT: exp.GTE, exp.LTE: exp.GT, exp.GT: exp.LTE, exp.GTE: exp.LT, exp.EQ: exp.NEQ, exp.NEQ: exp.EQ,
}  # fmt: skip


# --- columns as places ------------------------------------------------------------------------------------------------


def placed(scalar: Scalar, given: Schema) -> exp.Expr:
    """An expression whose columns are places of a schema; names that it does not have stay."""
    around = exp.Paren(this=scalar.syntax.copy())
    for column in list(around.find_all(exp.Column)):
        place = meant(column, given) if column.find_ancestor(exp.Query) is None else None
        if place is not None:
            column.replace(column_at(place, column.this.meta))
    return around.this.pop()  # type: ignore[no-any-return]


def column_at(place: int, meta: Mapping[str, object] | None = None) -> exp.Column:
    """The column at a place; ``meta`` says where it is written."""
    made = exp.column(f"{_MARK}{place}")
    made.meta.update(meta or {})
    return made


def place_of(node: exp.Expr) -> int | None:
    """The place that a column is; None for another expression."""
    node = node.unnest()
    own = isinstance(node, exp.Column) and node.name.startswith(_MARK)
    return int(node.name[len(_MARK) :]) if own else None


def places(*nodes: exp.Expr) -> frozenset[int]:
    """The places that expressions read."""
    found = (place_of(column) for node in nodes for column in node.find_all(exp.Column))
    return frozenset(place for place in found if place is not None)


def mapped(node: exp.Expr, by: Callable[[int], exp.Expr]) -> exp.Expr:
    """An expression with others in the place of its columns."""
    around = exp.Paren(this=node.copy())
    for column in list(around.find_all(exp.Column)):
        if (place := place_of(column)) is not None:
            column.replace(by(place).copy())
    return around.this.pop()  # type: ignore[no-any-return]


def moved(node: exp.Expr, by: int) -> exp.Expr:
    """An expression whose places are other ones by a number."""
    return mapped(node, lambda place: column_at(place + by))


# --- conditions -------------------------------------------------------------------------------------------------------


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition, after NOT has been pushed to its comparisons, as engines do first."""
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from conjuncts(node.this)
        yield from conjuncts(node.expression)
    elif isinstance(node, exp.Not) and (inner := _negated(node.this.unnest())) is not None:
        yield from conjuncts(inner)
    else:
        yield node


def _negated(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node, exp.Or | exp.And):
        other = exp.And if isinstance(node, exp.Or) else exp.Or
        return other(this=exp.Not(this=node.this.copy()), expression=exp.Not(this=node.expression.copy()))
    made = _NEGATED.get(type(node))
    if made is not None and isinstance(node, exp.Binary):
        return made(this=node.this.copy(), expression=node.expression.copy())
    return node.this.unnest().copy() if isinstance(node, exp.Not) else None


def compared(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """A part of a condition that says ``left <= right``, or ``<``; None for another one."""
    if isinstance(node, exp.LT | exp.LTE):
        return node.this, node.expression
    return (node.expression, node.this) if isinstance(node, exp.GT | exp.GTE) else None


def between(node: exp.Between) -> tuple[exp.Expr, exp.Expr]:
    """``x BETWEEN low AND high`` as two comparisons."""
    low, high = node.args["low"].copy(), node.args["high"].copy()
    return exp.GTE(this=node.this.copy(), expression=low), exp.LTE(this=node.this.copy(), expression=high)


# --- sums -------------------------------------------------------------------------------------------------------------


class Linear(Struct, frozen=True):
    """A sum of columns, each with its sign, and of a length; ``number``: it is one of seconds, not a time."""

    terms: tuple[tuple[int, int], ...] = ()
    low: int = 0
    high: int = 0
    spark: int | None = 0
    number: bool = False

    def plus(self, other: Linear, sign: int = 1) -> Linear:
        """The sum, or the difference."""
        counts: dict[int, int] = {}
        for place, count in (*self.terms, *((place, sign * count) for place, count in other.terms)):
            counts[place] = counts.get(place, 0) + count
        terms = tuple((place, count) for place, count in sorted(counts.items()) if count)
        low, high = (other.low, other.high) if sign > 0 else (-other.high, -other.low)
        spark = None if self.spark is None or other.spark is None else self.spark + sign * other.spark
        return Linear(terms, self.low + low, self.high + high, spark, self.number or other.number)

    def wider(self, low: int, high: int, spark: int | None = None) -> Linear:
        """The sum with a length between two more, of which Spark reads ``spark``."""
        read = None if self.spark is None or spark is None else self.spark + spark
        return replace(self, low=self.low + low, high=self.high + high, spark=read)


def linear(node: exp.Expr) -> Linear | None:
    """An expression as a sum; None for another one."""
    node = node.unnest()
    if (place := place_of(node)) is not None:
        return Linear(((place, 1),))
    match node:
        case exp.Neg():
            inner = linear(node.this)
            return None if inner is None else Linear().plus(inner, -1)
        case exp.Add() | exp.Sub():
            return _sum(node)
        case exp.Literal(is_string=False):
            number = _NUMBER.match(node.name)
            return _length(round(float(number.group()) * _SECOND), number=True) if number else None
        case exp.Interval():
            return _interval(node)
        case exp.Cast():
            return _cast(node)
        case exp.Anonymous():
            return _called(node.name.lower(), node.expressions)
    return None


def _sum(node: exp.Binary) -> Linear | None:
    left, right = linear(node.this), linear(node.expression)
    if left is None or right is None:
        return None
    made = left.plus(right, -1 if isinstance(node, exp.Sub) else 1)
    times = left.terms and right.terms and not (left.number or right.number)  # ts - ts is an interval
    return replace(made, spark=None) if times else made


def _length(length: int, number: bool = False) -> Linear:
    return Linear((), length, length, length, number)


def _months(count: int) -> Linear:
    low, high = sorted((count * _MONTH[0], count * _MONTH[1]))
    return Linear((), low, high, None)


def _interval(node: exp.Interval) -> Linear | None:
    length = microseconds(node)
    if length is not None:
        return _length(length)
    amount = node.this.this if isinstance(node.this, exp.Neg) else node.this
    sign = -1 if isinstance(node.this, exp.Neg) else 1
    unit = node.args.get("unit")
    if not isinstance(amount, exp.Literal):
        return None
    if isinstance(unit, exp.IntervalSpan):
        return _span(amount.name, unit, sign)
    text, name = amount.name.strip(), unit.name.upper().removesuffix("S") if unit is not None else ""
    if name in ("MONTH", "YEAR") and text.lstrip("+-").isdigit():
        return _months(sign * int(text) * (12 if name == "YEAR" else 1))
    if text.startswith("-") and unit is not None:
        found = text_microseconds(f"{text[1:]} {unit.name}")
        return None if found is None else _length(-sign * found)
    return None


def _span(text: str, unit: exp.IntervalSpan, sign: int) -> Linear | None:
    """``'0 00:01:00' DAY TO SECOND``."""
    names = ["DAY", "HOUR", "MINUTE", "SECOND"]
    first, last = (str(unit.args[key].name).upper() for key in ("this", "expression"))
    text, sign = (text[1:], -sign) if text.startswith("-") else (text, sign)
    parts = text.replace(" ", ":").split(":")
    if first not in names or last not in names:
        return None
    wanted = names[names.index(first) : names.index(last) + 1]
    if len(parts) != len(wanted) or not all(part.replace(".", "", 1).isdigit() for part in parts):
        return None
    return _length(sign * round(sum(float(part) * UNITS[name] for part, name in zip(parts, wanted, strict=True))))


def _cast(node: exp.Cast) -> Linear | None:
    to = node.args["to"].this
    name = to.value if isinstance(to, exp.DataType.Type) else str(to)
    if name == "INTERVAL" and isinstance(node.this, exp.Literal):
        length = text_microseconds(node.this.name)
        return None if length is None else _length(length)
    if isinstance(node.this, exp.Literal):
        return Linear(((ABSOLUTE, 1),)) if name in (*_TIMES, "DATE") else linear(node.this)
    inner = linear(node.this)
    if inner is None:
        return None
    if name in _NUMERIC:
        made = inner.wider(-_NUMERIC[name] if inner.terms and not inner.number else 0, 0, 0)
        return replace(made, number=True)
    if name in _TIMES:
        return inner
    return inner.wider(-_DAY, 0) if name == "DATE" else None


def _numbers(nodes: list[exp.Expr]) -> list[float] | None:
    values = [linear(node) for node in nodes]
    found = [one.low / _SECOND for one in values if one is not None and not one.terms and one.number]
    return found if len(found) == len(nodes) else None


def _called(name: str, given: list[exp.Expr]) -> Linear | None:
    if name in ("make_interval", "make_dt_interval"):
        return _made_interval(name, _numbers(given))
    if name in ("timestampadd", "dateadd", "date_add") and len(given) == 3:
        return _added(given[0].name.upper(), _numbers([given[1]]), linear(given[2]))
    if name in ("timestampdiff", "datediff") and len(given) == 3 and given[0].name.upper() == "SECOND":
        first, last = linear(given[1]), linear(given[2])
        if first is None or last is None:
            return None
        return replace(last.plus(first, -1).wider(-_SECOND, _SECOND), number=True)
    inner = linear(given[-1]) if given and name not in ("add_months",) else None
    if name == "add_months" and len(given) == 2:
        moved, count = linear(given[0]), _numbers([given[1]])
        return None if moved is None or count is None else moved.plus(_months(round(count[0]))).wider(-_DAY, 0)
    if inner is None:
        return None
    if name in ("unix_timestamp", "to_unix_timestamp") and len(given) == 1:
        return replace(inner.wider(-_SECOND, 0), number=True)
    if name in ("to_date", "date") and len(given) == 1:
        return inner.wider(-_DAY, 0)
    unit = given[0].name.upper()
    if name == "date_trunc" and len(given) == 2 and unit in UNITS:
        return inner.wider(-UNITS[unit], 0)
    return None


def _made_interval(name: str, given: list[float] | None) -> Linear | None:
    if given is None:
        return None
    units = ["DAY", "HOUR", "MINUTE", "SECOND"]
    months = list[float]()
    if name == "make_interval":
        months, given, units = given[:2], given[2:], ["WEEK", *units]
    if any(months) or len(given) > len(units):
        return None
    return _length(round(sum(one * UNITS[unit] for one, unit in zip(given, units, strict=False))))


def _added(unit: str, count: list[float] | None, time: Linear | None) -> Linear | None:
    if count is None or time is None:
        return None
    if unit in ("MONTH", "YEAR"):
        return time.plus(_months(round(count[0]) * (12 if unit == "YEAR" else 1)))
    length = round(count[0] * UNITS[unit]) if unit in UNITS else None
    return None if length is None else time.wider(length, length)


# --- what follows of a condition --------------------------------------------------------------------------------------


class Near(Struct, frozen=True):
    """A value that is between ``low`` and ``high`` after the event time of a row of ``source``."""

    source: int
    low: int = 0
    high: int = 0


Distance = tuple[int | None, int | None]
"""From how much to how much later one time is than another one; None without an end."""


def near(node: exp.Expr, known: Callable[[int], Near | None]) -> Near | None:
    """Where an expression lies that is a time, by what is known of columns."""
    found = linear(node)
    if found is None or len(found.terms) != 1 or found.terms[0][1] != 1:
        return None
    base = known(found.terms[0][0])
    return None if base is None else Near(base.source, base.low + found.low, base.high + found.high)


def distance(node: exp.Expr, first: int, second: int, known: Callable[[int], Near | None]) -> Distance:
    """How much later the times of source ``second`` are than those of ``first``, where a condition is true."""
    least: int | None = None
    most: int | None = None
    for part in conjuncts(node):
        low, high = _distance(part, first, second, known)
        least = low if least is None else least if low is None else max(least, low)
        most = high if most is None else most if high is None else min(most, high)
    return least, most


def _distance(part: exp.Expr, first: int, second: int, known: Callable[[int], Near | None]) -> Distance:
    if isinstance(part, exp.Or):
        sides = [distance(side, first, second, known) for side in (part.this, part.expression)]
        lows, highs = zip(*sides, strict=True)
        return (None if None in lows else min(lows)), (None if None in highs else max(highs))
    if isinstance(part, exp.Between):
        return distance(exp.and_(*between(part), copy=False), first, second, known)
    if isinstance(part, exp.EQ):
        low = _least(part.this, part.expression, first, second, known)
        high = _least(part.expression, part.this, first, second, known)
        return low[0] if low[0] is not None else high[0], high[1] if high[1] is not None else low[1]
    pair = compared(part)
    if pair is None:
        return None, None
    inner = pair[0].unnest()
    if isinstance(inner, exp.Anonymous) and inner.name.lower() == "abs" and len(inner.expressions) == 1:
        value = inner.expressions[0]
        both = (
            exp.LTE(this=value.copy(), expression=pair[1].copy()),
            exp.LTE(this=exp.Neg(this=pair[1].copy()), expression=value.copy()),
        )
        return distance(exp.and_(*both, copy=False), first, second, known)
    return _least(pair[0], pair[1], first, second, known)


def _least(left: exp.Expr, right: exp.Expr, first: int, second: int, known: Callable[[int], Near | None]) -> Distance:
    """The distance that ``left <= right`` implies."""
    smaller, greater = linear(left), linear(right)
    if smaller is None or greater is None:
        return None, None
    more = greater.plus(smaller, -1)
    signs, high = dict[int, int](), more.high
    for place, count in more.terms:
        base = known(place)
        if base is None:
            return None, None
        signs[base.source] = signs.get(base.source, 0) + count
        high += count * (base.high if count > 0 else base.low)
    signs = {source: count for source, count in signs.items() if count}
    if signs == {second: 1, first: -1}:
        return -high, None
    return (None, high) if signs == {first: 1, second: -1} else (None, None)
