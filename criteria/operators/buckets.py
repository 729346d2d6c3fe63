"""Columns of a block that are buckets of an application time which close: columns beside them may be unbounded (A5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.date_patterns import unit_of_pattern
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.expression import Call, Field, Literal
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.query import Attribute, Branch, Output, Query, TimeValue
from streambound.analyzer.types import Family
from streambound.analyzer.units_of_time import LENGTHS


@dataclass(frozen=True, slots=True)
class TimeFunction:
    """A non-decreasing function of a stream's time: a bucket has ``shortest`` to ``longest`` timestamps.

    ``how`` says what its value is: "div" the time divided, "last" the last timestamp, "start", "end" the end, which is
    no more in it, "date", or a unit of the calendar, of which it is the start, as a timestamp or a text. A row is in a
    bucket every ``shortest`` timestamps where those overlap.
    """

    how: str
    shortest: int
    longest: int

    def open(self, delay: int) -> int:
        """The most buckets that a row may still be in after a closed timestamp, ``delay`` after their ends at most."""
        longest = self.longest if self.how in ("start", "end", "last") else self.shortest
        return -(-(longest + delay - 1) // self.shortest)


@dataclass(frozen=True, slots=True)
class ClosingBucket:
    """A bucket of the time of a ``stream`` that no other one comes arbitrarily later than; ``delay`` is W."""

    stream: str
    function: TimeFunction
    delay: int


def closing_bucket(facts: Facts, output: Output, function: TimeFunction | None = None) -> ClosingBucket | None:
    """The bucket that a column is, or that a ``function`` makes of it; None for another one, or where it never closes.

    With W = max over T of sup(T.ts - S.ts) a bucket of S.ts changes only until W after its last timestamp is closed.
    """
    value = output.value
    if isinstance(value, TimeValue):
        if value.minus is not None or value.offset:
            return None
        function, stream = function or TimeFunction("last", 1, 1), value.plus.source
    else:
        found = time_function(facts.branch, output)
        if found is None or function is not None or not isinstance(value, Attribute):
            return None
        function, stream = found, value.source
    if stream not in facts.infinite:
        return None
    lags = [facts.lag(other.alias, stream) for other in facts.branch.streams if other.alias != stream]
    known = [lag for lag in lags if lag is not None]  # a stream that ends may come later than a bucket before its end
    return ClosingBucket(stream, function, max([0, *known])) if len(known) == len(lags) else None


def time_function(branch: Branch, output: Output) -> TimeFunction | None:
    """The function of its stream's time that a column is; None where it is none."""
    if not isinstance(output.value, Attribute):
        return None
    source = branch.source(output.value.source)
    expression = source.column(output.value.column).expression
    if not expression or source.time is None:
        return None
    node = parsed(expression).unnest()
    integers = source.column(source.timestamp or "").type.family is Family.INTEGER
    found = _divided(node) if integers else _calendar(expression, source.columns)
    if found is None or found[0] != source.timestamp:
        return None
    return found[1]


def function_of_time(expression: str, time: Column) -> TimeFunction | None:
    """The function of a column that is a time, or a day, that an expression is; None where it is none."""
    node = parsed(expression).unnest()
    if {one.name for one in node.find_all(exp.Column)} != {time.name}:
        return None
    found = _divided(node) if time.type.family is Family.INTEGER else _calendar(expression, [time], days=True)
    return None if found is None or found[0] != time.name else found[1]


def _divided(node: exp.Expr) -> tuple[str, TimeFunction] | None:
    """``ts DIV size``: times of numbers begin at 0."""
    if not isinstance(node, exp.IntDiv) or not isinstance(node.this, exp.Column):
        return None
    width, _ = whole_number(node.expression) or (0, None)
    return (node.this.name, TimeFunction("div", width, width)) if width > 0 else None


def _calendar(expression: str, columns: Sequence[Column], days: bool = False) -> tuple[str, TimeFunction] | None:
    """``date_trunc``, ``to_date``, and ``date_format`` with the year first, of a timestamp, or of one of ``days``."""
    try:
        call = read(parsed(expression), {column.name: column.type for column in columns})
    except Refused:
        return None
    if not isinstance(call, Call):
        return None
    unit = None
    match call.function.name, call.arguments:
        case "date_trunc", (Literal(Folded(value=str(text))), Field(name)):
            unit = text.lower() if text.lower() != "date" else None
        case (("to_date" | "cast"), (Field(name),)) if call.kind.family is Family.DATE:
            unit = "date"
        case "date_format", (Field(name), Literal(Folded(value=str(pattern)))):
            unit = unit_of_pattern(pattern)
        case _:
            return None
    families = (Family.TIMESTAMP, Family.DATE) if days else (Family.TIMESTAMP,)
    if unit not in LENGTHS or next(c for c in columns if c.name == name).type.family not in families:
        return None
    return name, TimeFunction(unit, *LENGTHS[unit])


def bucket_size(branch: Branch, output: Output) -> int | None:
    """How long the buckets of time are that a column is; None where it is none."""
    found = time_function(branch, output)
    return None if found is None else found.longest


def with_times(split: Query) -> tuple[Query, ...]:
    """The query with times in the place of its buckets, if it has some."""
    if not any(bucket_size(branch, output) is not None for branch in split.branches for output in branch.outputs):
        return ()
    return (replace(split, branches=tuple(map(_with_times, split.branches))),)


def _with_times(branch: Branch) -> Branch:
    outputs = []
    for output in branch.outputs:
        if bucket_size(branch, output) is not None and isinstance(output.value, Attribute):
            time = branch.source(output.value.source).time
            assert time is not None, "a bucket is of a stream's time"
            kind = branch.column(time).type
            output = replace(output, value=TimeValue(time, None, 0, kind))
        outputs.append(output)
    return replace(branch, outputs=tuple(outputs))
