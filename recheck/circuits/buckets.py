"""Columns that are a bucket of a stream's application time, and until when a row of one may change (A5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.query import Attribute, Kind, Output, TimeValue
from streambound.analyzer.types import Family
from streambound.recheck.certificates.conditions import Conditions

_DAY = 24 * 60 * 60 * 1_000_000
_LENGTHS = {
    "second": (1_000_000, 1_000_000),
    "minute": (60 * 1_000_000, 60 * 1_000_000),
    "hour": (_DAY // 24, _DAY // 24),
    "day": (_DAY, _DAY),
    "week": (7 * _DAY, 7 * _DAY),
    "month": (28 * _DAY, 31 * _DAY),
    "quarter": ((31 + 28 + 31) * _DAY, (31 + 30 + 31) * _DAY),
    "year": (365 * _DAY, 366 * _DAY),
}
"""The shortest and the longest period of each unit of the calendar, in microseconds."""
_FIELDS = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour", "mm": "minute", "ss": "second"}
"""What a pattern of texts in order of time has, the first ones of these, with the period that each is known to."""
_LITERALS = re.compile(r"(?:[^A-Za-z\d'\[\]{}#]|'[^\d']+')*")
"""What stands behind each: characters that stand for themselves, and words in quotes, without digits."""


@dataclass(frozen=True, slots=True)
class BucketOf:
    """What a value says of its time: a bucket of ``shortest`` to ``longest`` timestamps."""

    how: str
    shortest: int
    longest: int


@dataclass(frozen=True, slots=True)
class StreamBucket:
    """A bucket of the time of a ``stream``, whose rows may change until ``delay`` after its last timestamp."""

    stream: str
    of: BucketOf
    delay: int

    def open(self, more: int = 0) -> int:
        """The most buckets of which one may still change, or could so much earlier, after a closed timestamp.

        Their last timestamps lie less than the delay before the closed one, but for one that is not over; buckets that
        overlap begin every ``shortest`` timestamps.
        """
        begun = self.of.longest if self.of.how in ("start", "end", "last") else self.of.shortest
        return -(-(begun + self.delay + more - 1) // self.of.shortest)


def closing_bucket(conditions: Conditions, output: Output, made: BucketOf | None = None) -> StreamBucket | None:
    """The bucket that a column is, or that is ``made`` of it; None for another column, or one that never closes."""
    value = output.value
    if isinstance(value, TimeValue):
        if value.minus is not None or value.offset:
            return None
        of, stream = made or BucketOf("last", 1, 1), value.plus.source
    elif isinstance(value, Attribute) and made is None and value.source in conditions.streams:
        found = _function(conditions, value)
        if found is None:
            return None
        of, stream = found, value.source
    else:
        return None
    delay = waits_for(conditions, stream)
    return None if delay is None or conditions.source(stream).kind is Kind.FINITE else StreamBucket(stream, of, delay)


def endless_streams(conditions: Conditions) -> list[str]:
    """The streams that do not end."""
    return [stream for stream in conditions.streams if conditions.source(stream).kind is not Kind.FINITE]


def waits_for(conditions: Conditions, stream: str, among: Sequence[str] | None = None) -> int | None:
    """How much later than a row of a stream the last one that joins it may come; None where nothing limits that.

    ``among`` are the streams whose rows are meant, of all that there are.
    """
    others = conditions.streams if among is None else among
    found = [lag(conditions, other, stream) for other in others if other != stream]
    known = [one for one in found if one is not None]
    return max([0, *known]) if len(known) == len(found) else None


def lag(conditions: Conditions, one: str, other: str) -> int | None:
    """How much later than a stream's row one of another stream that joins it may be."""
    bound = conditions.follows.bound(conditions.time(one), conditions.time(other))
    return 0 if one == other else None if bound is None else int(bound[0])


def _function(conditions: Conditions, attribute: Attribute) -> BucketOf | None:
    column, time = conditions.branch.column(attribute), conditions.time(attribute.source)
    if not column.expression:
        return None
    node = parsed(column.expression).unnest()
    if [one.name for one in node.find_all(exp.Column)] != [time.column]:
        return None
    if conditions.branch.column(time).type.family is Family.INTEGER:
        return _divided(node)
    return _of_calendar(node)


def function_of(node: exp.Expr, integers: bool) -> BucketOf | None:
    """The bucket that an expression of one column is, which is a time, of ``integers`` or not."""
    read = parsed(node.sql("spark")).unnest()
    return _divided(read) if integers else _of_calendar(read)


def _divided(node: exp.Expr) -> BucketOf | None:
    """``ts DIV size``."""
    if not isinstance(node, exp.IntDiv) or not isinstance(node.this, exp.Column):
        return None
    width, _ = whole_number(node.expression) or (0, None)
    return BucketOf("div", width, width) if width > 0 else None


def _of_calendar(node: exp.Expr) -> BucketOf | None:
    """``date_trunc(unit, ts)``, ``to_date(ts)``, ``CAST(ts AS DATE)``, ``date_format(ts, 'yyyy…')``."""
    unit = ""
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column) and node.to.is_type(exp.DataType.Type.DATE):
        unit = "date"
    if isinstance(node, exp.Anonymous):
        match node.name.lower(), node.expressions:
            case "to_date", [exp.Column()]:
                unit = "date"
            case "date_trunc", [exp.Literal() as text, exp.Column()]:
                unit = text.name.lower()
                unit = "" if unit == "date" else unit
            case "date_format", [exp.Column(), exp.Literal() as text]:
                unit = _unit_of(text.name)
    if unit == "date":
        return BucketOf(unit, _DAY, _DAY)
    return BucketOf(unit, *_LENGTHS[unit]) if unit in _LENGTHS else None


def _unit_of(pattern: str) -> str:
    """The period that a text of a pattern stands for; empty where texts are not in the order of times."""
    at, unit = 0, ""
    for field, period in _FIELDS.items():
        if not pattern.startswith(field, at):
            break
        literals = _LITERALS.match(pattern, at + len(field))
        at, unit = literals.end() if literals else at, period
    return unit if at == len(pattern) else ""


@dataclass(frozen=True, slots=True)
class InnerBucket:
    """A bucket whose rows are put in larger ones by its value: ``least`` to ``most`` timestamps long.

    Its last timestamp is at most ``after`` more than its value, which is at most ``ahead`` more than the newest row's
    time. ``whole``: each is in one of the larger ones.
    """

    least: int
    most: int
    after: int
    ahead: int
    whole: bool

    def waits(self, delay: int) -> tuple[int, int]:
        """How long a larger bucket, which its rows are not whole in, may change; how much earlier one was open."""
        last = delay + self.after
        return max(0, last), self.most - self.least + max(0, -last)


def inner_bucket(how: str, size: int, larger: BucketOf | None = None) -> InnerBucket | None:
    """What a closing column says of the larger buckets of it; None where its value is no time, nor a number of one."""
    if how == "session":
        return None
    if how == "div":
        return None if larger is None else InnerBucket(size, size, 0, 0, True)
    if how in ("last", "start", "end"):
        ahead = {"last": size - 1, "start": 0, "end": size}[how]
        return InnerBucket(size, size, size - 1 - ahead, ahead, False)
    unit = {"date": "day"}.get(how, how)
    least, most = _LENGTHS[unit]
    whole = larger is not None and {"date": "day"}.get(larger.how, larger.how) in _WHOLE_IN[unit]
    return InnerBucket(least, most, most - 1, 0, whole)


_WHOLE_IN = {
    "second": {"second", "minute", "hour", "day", "week", "month", "quarter", "year"},
    "minute": {"minute", "hour", "day", "week", "month", "quarter", "year"},
    "hour": {"hour", "day", "week", "month", "quarter", "year"},
    "day": {"day", "week", "month", "quarter", "year"},
    "week": set[str](),
    "month": {"month", "quarter", "year"},
    "quarter": {"quarter", "year"},
    "year": {"year"},
}
"""The units of the calendar that each period of a unit is in as a whole."""
