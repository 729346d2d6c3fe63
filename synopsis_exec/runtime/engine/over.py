"""Functions over windows of rows: of each partition that changes, its rows' values with what came, less those before.

What is kept are the rows that may still be asked for: all, the first ones of the order, the last ones, those of so much
time before, or those whose bucket of time is open.
"""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.engine.aggregates import of_sums
from streambound_runtime.engine.tables import (
    CLOSED,
    DOUBLE,
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
from streambound_runtime.engine.windows import ONE_OF_FRAME, SqlWindows, places_of
from streambound_runtime.operators.asked_rows import AskedRows
from streambound_runtime.operators.circuit_plan import GroupValue, OverValue

RANKS = ("row_number", "rank", "dense_rank")
_MOST_BEST = 1_000_000
"""DuckDB finds fewer best values than that."""
_EVERY = AskedRows()


@dataclass(frozen=True, slots=True)
class SqlOver(SqlWindows):
    """Functions whose rows are kept: those that are ``asked`` for, and those whose ``bucket`` is open.

    Where it is of the partition, all rows go with it.
    """

    asked: AskedRows = _EVERY

    @property
    def deciding(self) -> int:
        """The place of the call whose rank decides which rows are the first ones."""
        return next(place for place, call in enumerate(self.calls) if call.function in RANKS)

    @property
    def keeps_first(self) -> bool:
        """Whether only the first rows are kept, and shown."""
        return self.asked.first is not None and not self.in_turn

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows that are kept, with their number; those of a partition that is a bucket go with it."""
        names = places(len(self.given))
        gone = ""
        if self.bucket is not None and not self.in_turn:
            gone = self.closed
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
        if self.in_turn:
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
        last = f"list_extract({best}(c{place}, {most}), {most}) AS last"  # NULL where there are fewer values
        firsts = f"SELECT {listed(*key, last)} FROM {rows} GROUP BY ALL"
        near = f"coalesce(d.c{place} {better} b.last, TRUE)"
        # Of an inner join DuckDB looks at each pair of rows before the condition, if all rows have one key.
        return f"SELECT d.* FROM {rows} d LEFT JOIN ({firsts}) b ON {same(key, 'd', 'b')} WHERE {near}"

    @property
    def _named_values(self) -> list[str]:
        """The calls' values in SQL, with their names."""
        calls = zip(self._value_names, self.calls, self.call_types, strict=True)
        return [f"{self._value(place, call, kind)} AS {name}" for place, (name, call, kind) in enumerate(calls)]

    @property
    def _value_names(self) -> tuple[str, ...]:
        """The calls' values, beside a row's columns."""
        return tuple(f"v{place}" for place in range(len(self.calls)))

    # --- values -----------------------------------------------------------------------------------------------------

    def _values(self, rows: str) -> str:
        """The rows that are needed, with the functions' values, each once."""
        row = places(self.width)
        found = f"SELECT {listed(*row, *self._named_values)} FROM {self.with_sums(_each_once(rows))}"
        shown = listed(*row, *self._value_names)
        return f"SELECT {listed(shown, 'count(*) AS w')} FROM ({found}) {self._asked} GROUP BY ALL"

    @property
    def _asked(self) -> str:
        return "" if self.asked.first is None else f"WHERE v{self.deciding} <= {self.asked.first}"

    def _value(self, place: int, call: OverValue, kind: str) -> str:
        if call.function in RANKS:
            return f"CAST({self._ranked(call.function)} AS {kind})"
        value = "1" if call.value is None else f"c{call.value}"
        if call.function in ("percent_rank", "cume_dist"):
            return self._ranked(call.function)
        if call.function == "ntile":
            return f"CAST(ntile({call.offset}) OVER ({self.by(self.in_order())}) AS {kind})"
        if call.function in ("lag", "lead"):
            default = "" if call.default is None else f", c{call.default}"
            return f"{call.function}({value}, {call.offset}{default}) OVER ({self.by(self.in_order())})"
        if call.function in ONE_OF_FRAME:
            return self.one_of_frame(call)
        if call.function == "median":
            scale = f" / 1e{call.places}" if call.places else ""
            return f"quantile_cont(CAST({value} AS {DOUBLE}), 0.5) OVER ({self.window_of(call)}){scale}"
        if call.function in ("min", "max"):
            return f"{call.function}({value}) OVER ({self.window_of(call)})"
        window = f"OVER ({self.window_of(call)})"
        distinct = "DISTINCT " if call.distinct else ""
        count = f"count({distinct}{'*' if call.value is None else value}) {window}"
        if call.function == "count":
            return count
        exact = self.adds_doubles(call)
        total = f"x{place}" if exact else f"sum(CAST({value} AS {HUGEINT})) {window}"
        shown = GroupValue("", call.function, call.type, (0, 1), places=call.places)
        number = f"CAST({value} AS {HUGEINT})"
        squares = f"sum({number} * {number}) {window}" if call.function.startswith(("var", "stddev")) else "0"
        return of_sums(shown, count, total, squares, kind, exact)

    def _ranked(self, function: str) -> str:
        order = self.in_order() if function == "row_number" else self.ordered()
        return f"{function}() OVER ({self.by(order)})"

    # --- what is kept -----------------------------------------------------------------------------------------------

    def _kept(self, rows: str) -> str:
        names = listed(*places(len(self.given)), "w")
        if self.asked.last is not None and not self.in_turn:
            shown = listed(*places(len(self.given)), f"least(w, {self.asked.last} - after) AS w")
            return f"SELECT {shown} FROM ({self._numbered(rows)}) WHERE after < {self.asked.last}"
        return f"SELECT {names} FROM {rows}"

    def _numbered(self, rows: str) -> str:
        """Rows with the number of rows before them, by the rank that is needed, or after them for the last ones."""
        if self.asked.first is not None:
            return f"SELECT *, {self._before()} AS before FROM {rows}"
        total = f"sum(w) OVER ({self.by(self.in_order())} ROWS UNBOUNDED PRECEDING)"
        return f"SELECT *, sum(w) OVER ({self.by(())}) - {total} AS after FROM {rows}"

    def _before(self) -> str:
        """How many rows, or values of the order, are before a row: one less than its rank."""
        rank = next((call.function for call in self.calls if call.function in RANKS), "row_number")
        if rank == "dense_rank":
            return f"dense_rank() OVER ({self.by(self.ordered())}) - 1"
        if rank == "rank":
            peers = listed(*places_of((*self.partition, *(place for place, _, _ in self.order))))
            upto = f"sum(w) OVER ({self.by(self.ordered())} RANGE UNBOUNDED PRECEDING)"
            return f"{upto} - sum(w) OVER (PARTITION BY {peers})"
        return f"sum(w) OVER ({self.by(self.in_order())} ROWS UNBOUNDED PRECEDING) - w"

    def _close(self, at: TickTables) -> list[TickStatement]:
        """Of rows whose bucket has closed, only the last ones, or those among the first ones, stay."""
        rows, names = at.state("rows"), places(len(self.given))
        closed = f"(SELECT * FROM {rows} WHERE {self.closed})"
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
