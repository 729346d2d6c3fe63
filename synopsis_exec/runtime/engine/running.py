"""Functions of all rows of a partition up to each: what they are so far is kept, an entry a partition, and no row.

Rows come in their order. Where they may be taken back until their bucket of time has closed, they are kept so long, and
the entry is of those that have closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.engine.aggregates import of_sums
from streambound_runtime.engine.over import (
    RANKS,
    adds_doubles,
    by,
    in_order,
    in_turn,
    order_of,
    places_of,
    window_of,
    with_sums,
)
from streambound_runtime.engine.tables import (
    CLOSED,
    EXACT,
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
from streambound_runtime.operators.circuit_plan import GroupValue, OverValue, TimeBucket

_BESTS = {"min": "least", "max": "greatest"}


@dataclass(frozen=True, slots=True)
class SqlRunning:
    """Running functions over an input's rows: a row's first ``width`` columns, and the calls' values.

    ``partition``, ``order``, ``ending`` and ``keys`` are as for `SqlOver`. Rows with a ``bucket`` that is not of their
    partition may be taken back until it closes.
    """

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
    def timed(self) -> bool:
        """A row's values depend on the rows of its tick."""
        return False

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The partitions with the number of their rows and peers, and of each call the count, total and value."""
        key = tuple((f"c{place}", self.given[place]) for place in self.partition)
        numbers = [("n", HUGEINT), ("peers", HUGEINT)]
        for place, call in enumerate(self.calls):
            numbers += [
                (f"k{place}", HUGEINT),
                (f"t{place}", EXACT if adds_doubles(self, call) else HUGEINT),
                (f"v{place}", self._kept_type(place)),
            ]
        gone = ""
        if self.bucket is not None and not in_turn(self):
            gone = self._over()
        ending = places_of(self.ending)
        found = (StateTable("partitions", (*key, *numbers), gone, ending),)
        if not in_turn(self):
            return found
        columns = (*zip(places(len(self.given)), self.given, strict=True), ("w", HUGEINT))
        return (*found, StateTable("rows", columns, "", ending))

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows that come continue from the entry; rows that are open change with it."""
        if in_turn(self):
            return self._tick_of_open(at)
        new = at.temporary("new")
        rows = summed(places(len(self.given)), f"SELECT {listed(*places(len(self.given)), 'w')} FROM {at.inputs[0]}")
        return (
            TickStatement(rows, new),
            TickStatement(self._values(at, new), at.delta),
            *self._taken(at, new),
            *(one for state in self.states for one in deleted(state, at)),
        )

    def _tick_of_open(self, at: TickTables) -> tuple[TickStatement, ...]:
        names, key = places(len(self.given)), places_of(self.partition)
        touched, old, new = at.temporary("touched"), at.temporary("old"), at.temporary("new")
        shown = places(len(self.types))
        both = f"SELECT * FROM {old} UNION ALL SELECT {listed(*names, 'w')} FROM {at.inputs[0]}"
        before, after = f"({self._values(at, old)})", f"({self._values(at, new)})"
        changes = (
            f"SELECT {listed(*shown, 'w')} FROM {after} UNION ALL SELECT {listed(*shown, '-w AS w')} FROM {before}"
        )
        closed = at.temporary("closed")
        return (
            TickStatement(f"SELECT DISTINCT {listed(*key) or 'true'} FROM {at.inputs[0]}", touched),
            TickStatement(f"SELECT s.* FROM {at.state('rows')} s SEMI JOIN {touched} t ON {same(key, 's', 't')}", old),
            TickStatement(summed(names, both), new),
            TickStatement(summed(shown, changes), at.delta),
            *exchanged(at.state("rows"), touched, key, f"SELECT {listed(*names, 'w')} FROM {new}"),
            TickStatement(f"SELECT * FROM {at.state('rows')} WHERE {self._over()}", closed),
            *self._taken(at, closed),
            TickStatement(f"DELETE FROM {at.state('rows')} WHERE {self._over()}"),
            *(one for state in self.states for one in deleted(state, at)),
        )

    def _over(self) -> str:
        """Whether the bucket of a row, or a partition, has closed."""
        assert self.bucket is not None, "rows that close have a bucket"
        key = self.bucket.key
        return expired(self.bucket, f"c{key}", CLOSED, self.given[key] == VARCHAR)

    def _values(self, at: TickTables, rows: str) -> str:
        """Rows with the functions' values, each once."""
        key = places_of(self.partition)
        single = f"(SELECT r.* EXCLUDE (w) FROM {rows} r, range(CAST(r.w AS BIGINT)))"
        known = f"{with_sums(self, single)} r LEFT JOIN {at.state('partitions')} b ON {same(key, 'r', 'b')}"
        values = [f"{self._value(place, call)} AS c{self.width + place}" for place, call in enumerate(self.calls)]
        row = [f"r.{name}" for name in places(self.width)]
        shown = listed(*places(len(self.types)), "count(*) AS w")
        return f"SELECT {shown} FROM (SELECT {listed(*row, *values)} FROM {known}) GROUP BY ALL"

    def _value(self, place: int, call: OverValue) -> str:
        kind, window = self.call_types[place], window_of(self, call, "r.")
        if call.function in RANKS:
            order = in_order(self, "r.") if call.function == "row_number" else order_of(self, "r.")
            before = "peers" if call.function == "dense_rank" else "n"
            return f"CAST(coalesce(b.{before}, 0) + {call.function}() OVER ({by(self, order, 'r.')}) AS {kind})"
        value = "1" if call.value is None else f"r.c{call.value}"
        if call.function in _BESTS:
            return f"{_BESTS[call.function]}(b.v{place}, {call.function}({value}) OVER ({window}))"
        if call.function == "first_value":
            return f"CASE WHEN b.n > 0 THEN b.v{place} ELSE first_value({value}) OVER ({window}) END"
        if call.function == "last_value":
            some = f"count(*) OVER ({window}) > 0"
            return f"CASE WHEN {some} THEN last_value({value}) OVER ({window}) ELSE b.v{place} END"
        count = f"(coalesce(b.k{place}, 0) + count({value}) OVER ({window}))"
        if call.function == "count":
            return f"CAST({count} AS {kind})"
        exact = adds_doubles(self, call)
        total = f"(coalesce(b.t{place}, 0) + coalesce(sum(CAST({value} AS {HUGEINT})) OVER ({window}), 0))"
        total = f"exact_total([b.t{place}, r.x{place}])" if exact else total
        shown = GroupValue("", call.function, call.type, (0, 1), places=call.places)
        return of_sums(shown, count, total, "0", kind, exact)

    def _taken(self, at: TickTables, rows: str) -> tuple[TickStatement, ...]:
        """Take in rows to the entries of their partitions."""
        (state, *_), key, more = self.states, places_of(self.partition), at.temporary("more")
        single = f"(SELECT r.* EXCLUDE (w) FROM {rows} r, range(CAST(r.w AS BIGINT)))"
        peers = listed(*places_of(sorted({place for place, _, _ in self.order}))) or "true"
        numbers = ["count(*) AS n", f"count(DISTINCT ({peers}, true)) AS peers"]
        order = ", ".join(in_order(self, ""))
        for place, call in enumerate(self.calls):
            value = "1" if call.value is None else f"c{call.value}"
            kept = {"min": f"min({value})", "max": f"max({value})", "first_value": f"first({value} ORDER BY {order})",
                    "last_value": f"last({value} ORDER BY {order})"}.get(call.function, "NULL")  # fmt: skip
            total = f"coalesce(sum(CAST({value} AS {HUGEINT})), 0)" if call.function in ("sum", "avg") else "0"
            total = f"exact_sum(list({value}), list(1))" if adds_doubles(self, call) else total
            numbers += [f"count({value}) AS k{place}", f"{total} AS t{place}", f"{kept} AS v{place}"]
        by_key = f"GROUP BY {listed(*key)}" if key else "HAVING count(*) > 0"
        partitions = at.state(state.name)
        merged = [*(f"m.{name}" for name in key), "coalesce(s.n, 0) + m.n", "coalesce(s.peers, 0) + m.peers"]
        for place, call in enumerate(self.calls):
            total = f"exact_total([s.t{place}, m.t{place}])" if adds_doubles(self, call) else (
                f"coalesce(s.t{place}, 0) + m.t{place}"
            )  # fmt: skip
            merged += [f"coalesce(s.k{place}, 0) + m.k{place}", total]
            match call.function:
                case "min" | "max":
                    merged.append(f"{_BESTS[call.function]}(s.v{place}, m.v{place})")
                case "first_value":
                    merged.append(f"CASE WHEN s.n > 0 THEN s.v{place} ELSE m.v{place} END")
                case _:
                    merged.append(f"m.v{place}")
        named = [f"{value} AS {name}" for value, name in zip(merged, state.names, strict=True)]
        joined = f"SELECT {listed(*named)} FROM {more} m LEFT JOIN {partitions} s ON {same(key, 'm', 's')}"
        return (
            TickStatement(f"SELECT {listed(*key, *numbers)} FROM {single} {by_key}", more),
            TickStatement(joined, at.temporary("merged")),
            *exchanged(partitions, more, key, f"SELECT * FROM {at.temporary('merged')}"),
        )

    def _kept_type(self, place: int) -> str:
        """The type of the value that a call keeps: that of its argument."""
        call = self.calls[place]
        return HUGEINT if call.value is None else self.given[call.value]
