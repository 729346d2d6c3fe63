"""Functions of all rows of a partition up to each: what they are so far is kept, an entry a partition, and no row.

Rows come in their order. Where they may be taken back until their bucket of time has closed, they are kept so long, and
the entry is of those that have closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.engine.aggregates import of_sums
from streambound_runtime.engine.over import RANKS
from streambound_runtime.engine.tables import (
    EXACT,
    HUGEINT,
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
from streambound_runtime.engine.windows import SqlWindows, places_of
from streambound_runtime.operators.circuit_plan import GroupValue, OverValue

_BESTS = {"min": "least", "max": "greatest"}
_ENDS = ("first_value", "last_value")


def _counts(call: OverValue, alias: str = "") -> str:
    """An expression that is NULL for a row that does not count."""
    return "1" if call.where is None else f"{alias}c{call.where}"


@dataclass(frozen=True, slots=True)
class SqlRunning(SqlWindows):
    """Running functions. Rows with a ``bucket`` that is not of their partition may be taken back until it closes."""

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The partitions with the number of their rows and peers, and of each call the count, total and value."""
        key = tuple((f"c{place}", self.given[place]) for place in self.partition)
        numbers = [("n", HUGEINT), ("peers", HUGEINT)]
        for place, call in enumerate(self.calls):
            numbers += [
                (f"k{place}", HUGEINT),
                (f"t{place}", EXACT if self.adds_doubles(call) else HUGEINT),
                (f"v{place}", self._kept_type(place)),
            ]
        gone = "" if self.in_turn else self.closed
        ending = places_of(self.ending)
        found = (StateTable("partitions", (*key, *numbers), gone, ending),)
        if not self.in_turn:
            return found
        columns = (*zip(places(len(self.given)), self.given, strict=True), ("w", HUGEINT))
        return (*found, StateTable("rows", columns, "", ending))

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows that come continue from the entry; rows that are open change with it."""
        if self.in_turn:
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
            TickStatement(f"SELECT * FROM {at.state('rows')} WHERE {self.closed}", closed),
            *self._taken(at, closed),
            TickStatement(f"DELETE FROM {at.state('rows')} WHERE {self.closed}"),
            *(one for state in self.states for one in deleted(state, at)),
        )

    def _values(self, at: TickTables, rows: str) -> str:
        """Rows with the functions' values, each once."""
        key = places_of(self.partition)
        single = f"(SELECT r.* EXCLUDE (w) FROM {rows} r, range(CAST(r.w AS BIGINT)))"
        known = f"{self.with_sums(single)} r LEFT JOIN {at.state('partitions')} b ON {same(key, 'r', 'b')}"
        values = [f"{self._value(place, call)} AS c{self.width + place}" for place, call in enumerate(self.calls)]
        row = [f"r.{name}" for name in places(self.width)]
        shown = listed(*places(len(self.types)), "count(*) AS w")
        return f"SELECT {shown} FROM (SELECT {listed(*row, *values)} FROM {known}) GROUP BY ALL"

    def _value(self, place: int, call: OverValue) -> str:
        kind, window = self.call_types[place], self.window_of(call, "r.")
        if call.function in RANKS:
            order = self.in_order("r.") if call.function == "row_number" else self.ordered("r.")
            before = "peers" if call.function == "dense_rank" else "n"
            return f"CAST(coalesce(b.{before}, 0) + {call.function}() OVER ({self.by(order, 'r.')}) AS {kind})"
        value = "1" if call.value is None else f"r.c{call.value}"
        if call.function in _BESTS:
            return f"{_BESTS[call.function]}(b.v{place}, {call.function}({value}) OVER ({window}))"
        if call.function == "first_value":
            return f"CASE WHEN b.k{place} > 0 THEN b.v{place} ELSE {self.one_of_frame(call, 'r.')} END"
        if call.function == "last_value":
            some = f"count({_counts(call, 'r.')}) OVER ({window}) > 0"
            return f"CASE WHEN {some} THEN {self.one_of_frame(call, 'r.')} ELSE b.v{place} END"
        count = f"(coalesce(b.k{place}, 0) + count({value}) OVER ({window}))"
        if call.function == "count":
            return f"CAST({count} AS {kind})"
        exact = self.adds_doubles(call)
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
        order = ", ".join(self.in_order())
        for place, call in enumerate(self.calls):
            value = "1" if call.value is None else f"c{call.value}"
            counted = f"FILTER (WHERE {_counts(call)} IS NOT NULL)" if call.where is not None else ""
            one = f"({value} ORDER BY {order}) {counted}"
            kept = {"min": f"min({value})", "max": f"max({value})", "first_value": f"first{one}",
                    "last_value": f"last{one}"}.get(call.function, "NULL")  # fmt: skip
            total = f"coalesce(sum(CAST({value} AS {HUGEINT})), 0)" if call.function in ("sum", "avg") else "0"
            total = f"exact_sum(list({value}), list(1))" if self.adds_doubles(call) else total
            value = _counts(call) if call.function in _ENDS else value
            numbers += [f"count({value}) AS k{place}", f"{total} AS t{place}", f"{kept} AS v{place}"]
        by_key = f"GROUP BY {listed(*key)}" if key else "HAVING count(*) > 0"
        partitions = at.state(state.name)
        merged = [*(f"m.{name}" for name in key), "coalesce(s.n, 0) + m.n", "coalesce(s.peers, 0) + m.peers"]
        for place, call in enumerate(self.calls):
            total = f"exact_total([s.t{place}, m.t{place}])" if self.adds_doubles(call) else (
                f"coalesce(s.t{place}, 0) + m.t{place}"
            )  # fmt: skip
            merged += [f"coalesce(s.k{place}, 0) + m.k{place}", total]
            match call.function:
                case "min" | "max":
                    merged.append(f"{_BESTS[call.function]}(s.v{place}, m.v{place})")
                case "first_value":
                    merged.append(f"CASE WHEN s.k{place} > 0 THEN s.v{place} ELSE m.v{place} END")
                case "last_value":
                    merged.append(f"CASE WHEN m.k{place} > 0 THEN m.v{place} ELSE s.v{place} END")
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
