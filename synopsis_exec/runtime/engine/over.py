"""Functions over windows of rows: of each partition that changes, its rows' values with what came, less those before.

What is kept are the rows that may still be asked for: all, the first ones of the order, the last ones, those of so much
time before, or those whose bucket of time is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from streambound_runtime.engine.aggregates import of_sums
from streambound_runtime.engine.tables import (
    CLOSED,
    DOUBLE,
    HUGEINT,
    VARCHAR,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    exchanged,
    listed,
    places,
    same,
    summed,
)
from streambound_runtime.engine.time_buckets import expired
from streambound_runtime.operators.asked_rows import AskedRows
from streambound_runtime.operators.circuit_plan import GroupValue, OverValue, TimeBucket

RANKS = ("row_number", "rank", "dense_rank")
_ENDS = ("first_value", "last_value")
_MOST_BEST = 1_000_000
"""DuckDB finds fewer best values than that."""
_WHOLE = " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


@dataclass(frozen=True, slots=True)
class SqlOver:
    """Functions over the same windows of an input's rows: a row's first ``width`` columns, and the calls' values.

    ``partition`` are places of the input's columns, ``order`` those with whether values fall and whether NULL comes
    first; what is equal then is in order of the columns, NULL first. Rows are kept that are ``asked`` for, and those
    whose ``bucket`` is open; where it is of the partition, all go with it. Rows go with their key at the ``ending``
    places, of which ``keys`` has those that are over.
    """

    name: str
    input: str
    given: tuple[str, ...]
    width: int
    partition: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    calls: tuple[OverValue, ...]
    call_types: tuple[str, ...]
    asked: AskedRows
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
    def deciding(self) -> int:
        """The place of the call whose rank decides which rows are the first ones."""
        return next(place for place, call in enumerate(self.calls) if call.function in RANKS)

    @property
    def keeps_first(self) -> bool:
        """Whether only the first rows are kept, and shown."""
        return self.asked.first is not None and not in_turn(self)

    @property
    def timed(self) -> bool:
        """Values change as rows come."""
        return False

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows that are kept, with their number; those of a partition that is a bucket go with it."""
        names = places(len(self.given))
        gone = ""
        if self.bucket is not None and not in_turn(self):
            key = self.bucket.key
            gone = expired(self.bucket, f"c{key}", CLOSED, self.given[key] == VARCHAR)
        elif self.asked.within is not None:
            gone = f"c{self.order[0][0]} + {self.asked.within} <= {CLOSED}"
        columns = [*zip(names, self.given, strict=True)]
        if self.keeps_first:
            columns += zip(self._value_names, self.call_types, strict=True)
        return (StateTable("rows", (*columns, ("w", HUGEINT)), gone, places_of(self.ending)),)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows of the partitions that change, with their values before and after."""
        names = places(len(self.given))
        (state,) = self.states
        key = places_of(self.partition)
        touched, old, new = at.temporary("touched"), at.temporary("old"), at.temporary("new")
        found = [
            TickStatement(f"SELECT DISTINCT {listed(*key) or 'true'} FROM {at.inputs[0]}", touched),
            TickStatement(f"SELECT s.* FROM {at.state('rows')} s SEMI JOIN {touched} t ON {same(key, 's', 't')}", old),
        ]
        if self.keeps_first:
            before, after, kept = old, new, f"SELECT * FROM {new}"
            found.append(TickStatement(self._first(at, old), new))
        else:
            before, after, kept = at.temporary("before"), at.temporary("after"), self._kept(new)
            every = f"SELECT * FROM {old} UNION ALL SELECT {listed(*names, 'w')} FROM {at.inputs[0]}"
            found += [
                TickStatement(summed(names, every), new),
                TickStatement(self._values(old), before),
                TickStatement(self._values(new), after),
            ]
        shown = (*names[: self.width], *self._value_names)
        changes = (
            f"SELECT {listed(*shown, 'w')} FROM {after} UNION ALL SELECT {listed(*shown, '-w AS w')} FROM {before}"
        )
        renamed = [f"{name} AS c{place}" for place, name in enumerate(shown)]
        found += [
            TickStatement(f"SELECT {listed(*renamed, 'w')} FROM ({summed(shown, changes)})", at.delta),
            *exchanged(at.state("rows"), touched, key, kept),
            *deleted(state, at),
        ]
        if in_turn(self):
            found += self._close(at)
        return tuple(found)

    # --- the first rows ---------------------------------------------------------------------------------------------

    def _first(self, at: TickTables, old: str) -> str:
        """The first rows of partitions, of those before and those that came, with their values: these are kept, too.

        Of other rows nothing is asked.
        """
        names = places(len(self.given))
        rows = f"SELECT {listed(*names, 'w')} FROM {old} UNION ALL SELECT {listed(*names, 'w')} FROM ({self._near(at)})"
        found = f"SELECT {listed(*names, *self._named_values)} FROM {_each_once(f'({rows})')}"
        return f"SELECT *, count(*) AS w FROM ({found}) WHERE v{self.deciding} <= {self.asked.first} GROUP BY ALL"

    def _near(self, at: TickTables) -> str:
        """The rows that came, without some that cannot be among the first ones of those that came."""
        rows, most = at.inputs[0], self.asked.first or 0
        if not self.order or self.calls[self.deciding].function == "dense_rank" or most >= _MOST_BEST:
            return f"SELECT * FROM {rows}"
        place, falls, _ = self.order[0]
        key, best, better = places_of(self.partition), *(("max", ">=") if falls else ("min", "<="))
        firsts = f"SELECT {listed(*key, f'{best}(c{place}, {most}) AS best')} FROM {rows} GROUP BY ALL"
        is_near = f"d.c{place} IS NULL OR len(b.best) < {most} OR d.c{place} {better} b.best[{most}]"
        return f"SELECT d.* FROM {rows} d JOIN ({firsts}) b ON {same(key, 'd', 'b')} WHERE {is_near}"

    @property
    def _named_values(self) -> list[str]:
        """What the calls' values are in SQL, with their names."""
        calls = zip(self._value_names, self.calls, self.call_types, strict=True)
        return [f"{self._value(place, call, kind)} AS {name}" for place, (name, call, kind) in enumerate(calls)]

    @property
    def _value_names(self) -> tuple[str, ...]:
        """The calls' values, beside a row's columns."""
        return tuple(f"v{place}" for place in range(len(self.calls)))

    # --- values -----------------------------------------------------------------------------------------------------

    def _values(self, rows: str) -> str:
        """The rows that are asked for, with the functions' values, each once."""
        row = places(self.width)
        found = f"SELECT {listed(*row, *self._named_values)} FROM {with_sums(self, _each_once(rows))}"
        shown = listed(*row, *self._value_names)
        return f"SELECT {listed(shown, 'count(*) AS w')} FROM ({found}) {self._asked} GROUP BY ALL"

    @property
    def _asked(self) -> str:
        return "" if self.asked.first is None else f"WHERE v{self.deciding} <= {self.asked.first}"

    def _value(self, place: int, call: OverValue, kind: str) -> str:
        if call.function in RANKS:
            return f"CAST({self._ranked(call.function)} AS {kind})"
        value = "1" if call.value is None else f"c{call.value}"
        if call.function == "ntile":
            return f"CAST(ntile({call.offset}) OVER ({self._by(self._in_order)}) AS {kind})"
        if call.function in ("lag", "lead"):
            default = "" if call.default is None else f", c{call.default}"
            return f"{call.function}({value}, {call.offset}{default}) OVER ({self._by(self._in_order)})"
        if call.function in (*_ENDS, "min", "max"):
            return f"{call.function}({value}) OVER ({self._window(call)})"
        window = f"OVER ({self._window(call)})"
        count = f"count({'*' if call.value is None else value}) {window}"
        if call.function == "count":
            return count
        exact = adds_doubles(self, call)
        total = f"x{place}" if exact else f"sum(CAST({value} AS {HUGEINT})) {window}"
        shown = GroupValue("", call.function, call.type, (0, 1), places=call.places)
        return of_sums(shown, count, total, "0", kind, exact)

    def _ranked(self, function: str) -> str:
        order = self._in_order if function == "row_number" else self._order
        return f"{function}() OVER ({self._by(order)})"

    def _window(self, call: OverValue) -> str:
        return window_of(self, call)

    def _by(self, order: Sequence[str]) -> str:
        return by(self, order)

    @property
    def _order(self) -> tuple[str, ...]:
        return order_of(self)

    @property
    def _in_order(self) -> tuple[str, ...]:
        return in_order(self)

    # --- what is kept -----------------------------------------------------------------------------------------------

    def _kept(self, rows: str) -> str:
        names = listed(*places(len(self.given)), "w")
        if self.asked.last is not None and not in_turn(self):
            shown = listed(*places(len(self.given)), f"least(w, {self.asked.last} - after) AS w")
            return f"SELECT {shown} FROM ({self._numbered(rows)}) WHERE after < {self.asked.last}"
        return f"SELECT {names} FROM {rows}"

    def _numbered(self, rows: str) -> str:
        """Rows with how many are before them, by the rank that is asked for, or how many after, of the last ones."""
        if self.asked.first is not None:
            return f"SELECT *, {self._before()} AS before FROM {rows}"
        total = f"sum(w) OVER ({self._by(self._in_order)} ROWS UNBOUNDED PRECEDING)"
        return f"SELECT *, sum(w) OVER ({self._by(())}) - {total} AS after FROM {rows}"

    def _before(self) -> str:
        """How many rows, or values of the order, are before a row: one less than its rank."""
        rank = next((call.function for call in self.calls if call.function in RANKS), "row_number")
        if rank == "dense_rank":
            return f"dense_rank() OVER ({self._by(self._order)}) - 1"
        if rank == "rank":
            peers = listed(*places_of((*self.partition, *(place for place, _, _ in self.order))))
            upto = f"sum(w) OVER ({self._by(self._order)} RANGE UNBOUNDED PRECEDING)"
            return f"{upto} - sum(w) OVER (PARTITION BY {peers})"
        return f"sum(w) OVER ({self._by(self._in_order)} ROWS UNBOUNDED PRECEDING) - w"

    def _close(self, at: TickTables) -> list[TickStatement]:
        """Of rows whose bucket has closed, only the last ones, or those among the first ones, stay."""
        bucket, rows = self.bucket, at.state("rows")
        assert bucket is not None, "rows that close have a bucket"
        gone = expired(bucket, f"c{bucket.key}", CLOSED, self.given[bucket.key] == VARCHAR)
        names = places(len(self.given))
        closed = f"(SELECT * FROM {rows} WHERE {gone})"
        first, last = self.asked.first, self.asked.last
        which = f"after >= {last}" if first is None else f"before >= {first}"
        over = f"SELECT {listed(*names, 'w')} FROM ({self._numbered(closed)}) WHERE {which}"
        return [
            TickStatement(over, at.temporary("over")),
            TickStatement(f"DELETE FROM {rows} s USING {at.temporary('over')} o WHERE {same(names, 's', 'o')}"),
        ]


def _each_once(rows: str) -> str:
    """Rows as often as they are there."""
    return f"(SELECT r.* EXCLUDE (w) FROM {rows} r, range(CAST(r.w AS BIGINT)) WHERE r.w > 0)"


class WindowOrder(Protocol):
    """What windows of rows are by: the partition, and the order with what makes it total; and their calls."""

    @property
    def given(self) -> tuple[str, ...]:
        """The types of the input's columns."""
        ...

    @property
    def calls(self) -> tuple[OverValue, ...]:
        """The functions over the windows."""
        ...

    @property
    def width(self) -> int:
        """How many columns a row has that is shown."""
        ...

    @property
    def partition(self) -> tuple[int, ...]:
        """The places of the partition's columns."""
        ...

    @property
    def order(self) -> tuple[tuple[int, bool, bool], ...]:
        """The places of the order's columns, with whether values fall and whether NULL comes first."""
        ...

    @property
    def bucket(self) -> TimeBucket | None:
        """The bucket of time of a row, if it has one."""
        ...


def in_turn(window: WindowOrder) -> bool:
    """Whether rows close one after the other, and not with their partition."""
    return window.bucket is not None and window.bucket.key not in window.partition


def order_of(plan: WindowOrder, alias: str = "") -> tuple[str, ...]:
    """The terms of ORDER BY."""
    return tuple(
        f"{alias}c{place} {'DESC' if falls else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"
        for place, falls, first in plan.order
    )


def in_order(plan: WindowOrder, alias: str = "") -> tuple[str, ...]:
    """The terms of an order that is total in a partition: after the order's, by the other columns, NULL first."""
    known = {*plan.partition, *(place for place, _, _ in plan.order)}
    others = (place for place in range(plan.width) if place not in known)
    return (*order_of(plan, alias), *(f"{alias}c{place} NULLS FIRST" for place in others))


def by(plan: WindowOrder, order: Sequence[str], alias: str = "") -> str:
    """What a window is by: the partition and some order."""
    partition = listed(*(alias + name for name in places_of(plan.partition)))
    parts = [f"PARTITION BY {partition}" if partition else "", f"ORDER BY {', '.join(order)}" if order else ""]
    return " ".join(part for part in parts if part)


def window_of(plan: WindowOrder, call: OverValue, alias: str = "", number: str = "") -> str:
    """The window of a call with a frame; without one it is the whole partition.

    Where rows have a ``number``, their order is by it.
    """
    total = (number,) if number else in_order(plan, alias)
    if call.frame is None:
        return by(plan, total if call.function in _ENDS else (), alias) + (_WHOLE if call.function in _ENDS else "")
    by_rows, low, high = call.frame
    ends = f"BETWEEN {_end(low, 'PRECEDING')} AND {_end(high, 'FOLLOWING')}"
    return f"{by(plan, total if by_rows else order_of(plan, alias), alias)} {'ROWS' if by_rows else 'RANGE'} {ends}"


def adds_doubles(plan: WindowOrder, call: OverValue) -> bool:
    """Whether a call adds doubles up, exactly."""
    return call.function in ("sum", "avg") and call.value is not None and plan.given[call.value] == DOUBLE


def with_sums(plan: WindowOrder, rows: str) -> str:
    """Rows of a query, and the exact sum ``x0`` … of the frame of each call that adds doubles up, by its place.

    Rows are numbered in order of their partitions, so that a frame is a first and a last number, and its sum the
    difference of two running sums.
    """
    calls = {place: call for place, call in enumerate(plan.calls) if adds_doubles(plan, call)}
    if not calls:
        return rows
    order = listed(*places_of(plan.partition), *in_order(plan))
    ends, sums, joined = [], [], "frames"
    for place, call in calls.items():
        window = window_of(plan, call, number="number")
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
