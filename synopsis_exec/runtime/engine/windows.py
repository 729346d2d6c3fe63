"""Windows of rows: the partitions that rows are of, their order in these, and the frames of functions over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.tables import CLOSED, DOUBLE, VARCHAR, listed
from streambound_runtime.engine.time_buckets import expired
from streambound_runtime.operators.circuit_plan import OverValue, TimeBucket

ONE_OF_FRAME = ("first_value", "last_value", "nth_value")
_WHOLE = " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


@dataclass(frozen=True, slots=True)
class SqlWindows:
    """Functions over the same windows of an input's rows: a row's first ``width`` columns, and the calls' values.

    ``partition`` are places of the input's columns, ``order`` those with whether values fall and whether NULL comes
    first; what is equal then is in order of the columns, NULL first. Rows may have a ``bucket`` of time. They go with
    their key at the ``ending`` places, of which ``keys`` has those that are over.
    """

    timed: ClassVar[bool] = False
    """Values change as rows come."""
    name: str
    input: str
    given: tuple[str, ...]
    width: int
    partition: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    calls: tuple[OverValue, ...]
    call_types: tuple[str, ...]
    bucket: TimeBucket | None = None
    ending: tuple[int, ...] = ()
    keys: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operator that it reads."""
        return (self.input, *([self.keys] if self.keys else []))

    @property
    def types(self) -> tuple[str, ...]:
        """Those of the row, then the calls'."""
        return (*self.given[: self.width], *self.call_types)

    @property
    def in_turn(self) -> bool:
        """Whether rows close one after the other, and not with their partition."""
        return self.bucket is not None and self.bucket.key not in self.partition

    @property
    def closed(self) -> str:
        """Whether the bucket of a row has closed; nothing where it has none."""
        if self.bucket is None:
            return ""
        return expired(self.bucket, f"c{self.bucket.key}", CLOSED, self.given[self.bucket.key] == VARCHAR)

    def ordered(self, alias: str = "") -> tuple[str, ...]:
        """The terms of ORDER BY."""
        return tuple(
            f"{alias}c{place} {'DESC' if falls else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"
            for place, falls, first in self.order
        )

    def in_order(self, alias: str = "") -> tuple[str, ...]:
        """The terms of an order that is total in a partition: after the order's, by the other columns, NULL first."""
        known = {*self.partition, *(place for place, _, _ in self.order)}
        others = (place for place in range(self.width) if place not in known)
        return (*self.ordered(alias), *(f"{alias}c{place} NULLS FIRST" for place in others))

    def by(self, order: Sequence[str], alias: str = "") -> str:
        """The PARTITION BY and ORDER BY of a window."""
        partition = listed(*(alias + name for name in places_of(self.partition)))
        parts = [f"PARTITION BY {partition}" if partition else "", f"ORDER BY {', '.join(order)}" if order else ""]
        return " ".join(part for part in parts if part)

    def window_of(self, call: OverValue, alias: str = "", number: str = "") -> str:
        """The window of a call with a frame; without one it is the whole partition.

        Where rows have a ``number``, their order is by it.
        """
        total = (number,) if number else self.in_order(alias)
        if call.frame is None:
            in_order = call.function in ONE_OF_FRAME
            return self.by(total if in_order else (), alias) + (_WHOLE if in_order else "")
        by_rows, low, high = call.frame
        ends = f"BETWEEN {_end(low, 'PRECEDING')} AND {_end(high, 'FOLLOWING')}"
        return f"{self.by(total if by_rows else self.ordered(alias), alias)} {'ROWS' if by_rows else 'RANGE'} {ends}"

    def one_of_frame(self, call: OverValue, alias: str = "") -> str:
        """The value of the first or last row of the frame; of those that count, where not all do.

        Of a frame of values, rows that the order leaves equal are in order of their columns.
        """
        value, over = f"{alias}c{call.value}", f"OVER ({self.window_of(call, alias)})"
        order = "" if call.frame is None or call.frame[0] else f" ORDER BY {', '.join(self.in_order(alias))}"
        if call.function == "nth_value":
            value += f", {call.offset}"
        if call.where is None:
            return f"{call.function}({value}{order}) {over}"
        counted = f"CASE WHEN {alias}c{call.where} IS NOT NULL THEN {{'v': {value}}} END"
        return f"({call.function}({counted}{order} IGNORE NULLS) {over}).v"

    def adds_doubles(self, call: OverValue) -> bool:
        """Whether a call adds doubles up, exactly."""
        return call.function in ("sum", "avg") and call.value is not None and self.given[call.value] == DOUBLE

    def with_sums(self, rows: str) -> str:
        """Rows of a query, and the exact sum ``x0`` … of the frame of each call that adds doubles up, by its place.

        Rows are numbered in order of their partitions, so that a frame is a first and a last number, and its sum the
        difference of two running sums.
        """
        calls = {place: call for place, call in enumerate(self.calls) if self.adds_doubles(call)}
        if not calls:
            return rows
        order = listed(*places_of(self.partition), *self.in_order())
        ends, sums, joined = [], [], "frames"
        for place, call in calls.items():
            window = self.window_of(call, number="number")
            ends.append(f"coalesce(min(number) OVER ({window}), 1) AS first{place}")
            ends.append(f"coalesce(max(number) OVER ({window}), 0) AS last{place}")
            given = (f"list({name} ORDER BY number)" for name in (f"c{call.value}", f"first{place}", f"last{place}"))
            sums.append(f"sums{place} AS MATERIALIZED (SELECT exact_frames({', '.join(given)}) AS sums FROM frames)")
            each = f"SELECT unnest(sums) AS x{place}, generate_subscripts(sums, 1) AS number FROM sums{place}"
            joined += f" JOIN ({each}) USING (number)"
        steps = (
            f"numbered AS MATERIALIZED (SELECT *, row_number() OVER (ORDER BY {order}) AS number FROM {rows})",
            f"frames AS MATERIALIZED (SELECT *, {', '.join(ends)} FROM numbered)",
            *sums,
        )
        return f"(WITH {', '.join(steps)} SELECT * FROM {joined})"


def places_of(numbers: Sequence[int]) -> tuple[str, ...]:
    """The names of columns at some places."""
    return tuple(f"c{number}" for number in numbers)


def _end(limit: int | None, side: str) -> str:
    """An end of a frame; a negative one at the end, or a positive one at the begin, is on the other side."""
    if limit is None:
        return f"UNBOUNDED {side}"
    if not limit:
        return "CURRENT ROW"
    return f"{abs(limit)} {'PRECEDING' if limit < 0 else 'FOLLOWING'}"
