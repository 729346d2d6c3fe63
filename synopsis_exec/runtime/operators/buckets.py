"""Buckets of time: rows in each of the buckets that they are in, and when a bucket's last timestamp is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Values
from streambound_runtime.operators.by_tick import Changes, RemembersNothing, Row, Ticks, rows_by_time
from streambound_runtime.operators.circuit_plan import BucketNode, TimeBucket
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.exact import LARGEST, greatest
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400_000_000
_LENGTHS = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": _DAY, "week": 7 * _DAY}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_FIELDS = ("year", "month", "day", "hour", "minute", "second")
"""The periods whose texts are of one field more, each."""


class Buckets(RemembersNothing):
    """The operator of a `BucketNode`; it remembers nothing. What is ``printed`` is consolidated, and in order."""

    def __init__(self, plan: BucketNode, printed: bool = False) -> None:
        self.plan, self.printed = plan, printed
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """The rows of all timestamps."""
        self.sizes = np.zeros(len(ticks.times), dtype=np.int64)
        (given,) = inputs
        used = {self.plan.time, *(item for item in self.plan.items if isinstance(item, int))}
        more = [place for place in range(len(given.columns)) if place not in used]
        names = list(given.columns)
        if not self.printed and (found := self._in_columns(given, more)) is not None:
            return found
        changes = Changes((*self.plan.columns, *(names[place] for place in more)))
        for now, rows in rows_by_time(given).items():
            changes.add(now, [(self._row(row, more, *ends), n) for row, n in rows for ends in self._ends(row)])
        return changes.delta

    def _in_columns(self, given: Delta, more: Sequence[int]) -> Delta | None:
        """The rows of all timestamps at once; None where numbers of 64 bits may not do."""
        plan, names = self.plan, list(given.columns)
        time, null = given.columns[names[plan.time]], given.nulls.get(names[plan.time])
        if time.dtype != np.int64 or greatest(time) + abs(plan.offset) + 2 * (plan.size + plan.slide) > LARGEST:
            return None
        latest = plan.offset + (time - plan.offset) // plan.slide * plan.slide if plan.slide else time
        in_some = np.ones(given.size, dtype=bool) if null is None else ~null
        rows, starts = [], []
        for back in range(-(-plan.size // plan.slide) if plan.slide else 1):
            start = latest - back * plan.slide
            rows.append(np.flatnonzero(in_some & (time < start + plan.size)))
            starts.append(start[rows[-1]])
        order = np.argsort(np.concatenate(rows), kind="stable")
        start = np.concatenate(starts)[order]
        found = given.take(np.concatenate(rows)[order])
        ends = {"start": start, "end": start + plan.size, "last": start + plan.size - 1}
        columns: dict[str, Values] = {}
        nulls, texts = dict[str, Mask](), dict[str, list[str]]()
        for name, item in zip((*plan.columns, *(names[place] for place in more)), (*plan.items, *more), strict=True):
            if isinstance(item, str):
                columns[name] = ends[item]
                continue
            columns[name] = found.columns[names[item]]
            if names[item] in found.nulls:
                nulls[name] = found.nulls[names[item]]
            if names[item] in found.dictionary:
                texts[name] = found.dictionary[names[item]]
        return Delta(found.time, found.weight, columns, nulls, texts)

    def _row(self, row: Row, more: list[int], start: int, end: int) -> Row:
        ends = {"start": start, "end": end, "last": end - 1}
        items = (ends[item] if isinstance(item, str) else row[item] for item in self.plan.items)
        return (*items, *(row[place] for place in more))

    def _ends(self, row: Row) -> Iterator[tuple[int, int]]:
        """The buckets of a row; one without a time is in none."""
        plan = self.plan
        if row[plan.time] is None:
            return
        time = integer(row[plan.time])
        if not plan.slide:
            yield time, time + plan.size
            return
        start = plan.offset + (time - plan.offset) // plan.slide * plan.slide
        while time < start + plan.size:
            yield start, start + plan.size
            start -= plan.slide


def last_of(bucket: TimeBucket, value: Value) -> int:
    """The last timestamp at which a row may come to a bucket without being late for it.

    >>> last_of(TimeBucket(0, 4, "div"), 2), last_of(TimeBucket(0, 10, "start"), 20)
    (11, 29)
    >>> last_of(TimeBucket(0, _DAY, "date"), 1) == last_of(TimeBucket(0, _DAY, "day"), "1970-01-02") == 2 * _DAY - 1
    True
    """
    match bucket.how, value:
        case "div", int():
            return (value + 1) * bucket.size - 1
        case "start", int():
            return value + bucket.size - 1
        case "end", int():
            return value - 1
        case (("last" | "session"), int()):
            return value
        case "date", int():
            return (value + 1) * _DAY - 1
    assert isinstance(value, int | str), "a bucket is known by its first timestamp, or by its text"
    start = value if isinstance(value, int) else _start(bucket.how, value)
    if bucket.how in _LENGTHS:
        return start + _LENGTHS[bucket.how] - 1
    first = _EPOCH + timedelta(microseconds=start)
    years, month = divmod(first.month - 1 + _MONTHS[bucket.how], 12)
    if first.year + years > datetime.max.year:
        return start + 366 * _DAY
    return _since_epoch(first.replace(year=first.year + years, month=month + 1)) - 1


def shown_at(bucket: TimeBucket, value: Value) -> int:
    """The last timestamp of a bucket's rows: that of its results when they are final."""
    last = last_of(bucket, value)
    return last - 1 if bucket.how == "session" else last


def _start(unit: str, text: str) -> int:
    """The first timestamp of a period of the calendar whose text is the year, and as many more fields as it has."""
    digits = re.findall("[0-9]", text)
    fields = [int("".join(digits[:4])), *(int("".join(digits[at : at + 2])) for at in range(4, len(digits), 2))]
    assert len(digits) == 2 * _FIELDS.index(unit) + 4, "a text of a period has its year and its other fields"
    year, month, day, *time = [*fields, 1, 1][: max(3, len(fields))]
    return _since_epoch(datetime(year, month, day, *time, tzinfo=UTC))  # type: ignore[misc, arg-type]


def _since_epoch(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
