"""What is known of the times in columns: how far they are from the timestamp of the tick (dbsp.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal
from streambound.analyzer.types import Family
from streambound.incremental.operators import JoinOp
from streambound.incremental.row_expression import RowExpression
from streambound.incremental.translation.conditions import parts

Range = tuple[int | None, int | None]
"""The least and the greatest distance of a column from now; None: without an end."""

_TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "=": "=", "<=>": "<=>"}
_NOW = -1


@dataclass(frozen=True, slots=True)
class TimeFacts:
    """The distances of columns from now, by position."""

    columns: Mapping[int, Range] = field(default_factory=dict)

    def aged(self, at_least: int) -> TimeFacts:
        """Of rows that came before: any time ago, or at least so long ago."""
        later = {at: (None, high - at_least) for at, (_, high) in self.columns.items() if high is not None}
        return TimeFacts(later)

    def either(self, other: TimeFacts) -> TimeFacts:
        """Of the rows of one or the other."""
        found = {}
        for at in self.columns.keys() & other.columns.keys():
            (low, high), (least, most) = self.columns[at], other.columns[at]
            below = None if low is None or least is None else min(low, least)
            above = None if high is None or most is None else max(high, most)
            found[at] = (below, above)
        return TimeFacts(found)

    def beside(self, other: TimeFacts, width: int) -> TimeFacts:
        """Of pairs of rows."""
        return TimeFacts({**self.columns, **{at + width: found for at, found in other.columns.items()}})

    def mapped(self, columns: Iterable[RowExpression]) -> TimeFacts:
        """Of computed columns: a column, or one more or less by a constant."""
        found = {}
        for at, column in enumerate(columns):
            term = _term(column.value)
            if term is not None and term[0] in self.columns:
                low, high = self.columns[term[0]]
                found[at] = (None if low is None else low + term[1], None if high is None else high + term[1])
        return TimeFacts(found)

    def first(self, width: int) -> TimeFacts:
        """Of the first columns."""
        return TimeFacts({at: found for at, found in self.columns.items() if at < width})

    def given(self, conditions: Iterable[tuple[int, int, int]]) -> TimeFacts | None:
        """With differences ``x - y <= c`` of columns, as (x, y, c); None where no row can satisfy all.

        >>> TimeFacts({0: (0, 0), 1: (None, -1)}).given([(0, 1, 3)]).columns[1]
        (-3, -1)
        >>> TimeFacts({0: (0, 0), 1: (None, -1)}).given([(0, 1, 0)]) is None
        True
        """
        limits: dict[tuple[int, int], int] = {}

        def add(x: int, y: int, most: int) -> None:
            limits[x, y] = min(most, limits.get((x, y), most))

        for at, (low, high) in self.columns.items():
            if high is not None:
                add(at, _NOW, high)
            if low is not None:
                add(_NOW, at, -low)
        for x, y, most in conditions:
            add(x, y, most)
        names = {name for pair in limits for name in pair}
        for through in names:
            for x in names:
                for y in names:
                    if (x, through) in limits and (through, y) in limits:
                        add(x, y, limits[x, through] + limits[through, y])
        if any(limits.get((name, name), 0) < 0 for name in names):
            return None
        found = {
            at: (None if (low := limits.get((_NOW, at))) is None else -low, limits.get((at, _NOW)))
            for at in names - {_NOW}
            if (_NOW, at) in limits or (at, _NOW) in limits
        }
        return TimeFacts({**self.columns, **found})


def of_join(op: JoinOp, width: int, facts: TimeFacts) -> Iterator[tuple[int, int, int]]:
    """The differences that a join demands."""
    for key in op.keys:
        left, right = _term(key.left.value), _term(key.right.value)
        if left is not None and right is not None:
            yield left[0], right[0] + width, right[1] - left[1]
            yield right[0] + width, left[0], left[1] - right[1]
    if op.condition is not None:
        yield from of_condition(op.condition, facts)


def of_condition(condition: RowExpression, facts: TimeFacts) -> Iterator[tuple[int, int, int]]:
    """The differences of whole columns that a condition demands.

    ``x IS NULL OR x <= y`` is ``x <= y`` where x is of this very tick: what has no time came at the first one.
    """
    for part in parts(condition):
        value = part.value
        if isinstance(value, Call) and value.function.name == "or" and len(value.arguments) == 2:
            null, value = value.arguments
            fields = null.arguments if isinstance(null, Call) and null.function.name == "is null" else ()
            fresh = all(isinstance(one, Field) and facts.columns.get(int(one.name)) == (0, 0) for one in fields)
            if not fields or not fresh:
                continue
        if isinstance(value, Call) and value.function.name in _TURNED:
            yield from _comparison(value)


def _comparison(call: Call) -> Iterator[tuple[int, int, int]]:
    left, right = map(_term, call.arguments)
    if left is None or right is None:
        return
    for name, (x, more), (y, less) in (
        (call.function.name, left, right),
        (_TURNED[call.function.name], right, left),
    ):
        if name in ("<=", "<", "=", "<=>"):
            yield x, y, less - more - (name == "<")


def _term(expression: Expression) -> tuple[int, int] | None:
    """A whole column and what is added to it; None for anything else."""
    match expression:
        case Field(name, kind) if kind.family in (Family.INTEGER, Family.TIMESTAMP, Family.DATE):
            return int(name), 0
        case Call(function, (first, Literal(constant))) if function.name in ("+", "-"):
            term = _term(first)
            if term is not None and isinstance(constant.value, Fraction) and constant.value.denominator == 1:
                return term[0], term[1] + (1 if function.name == "+" else -1) * int(constant.value)
    return None
