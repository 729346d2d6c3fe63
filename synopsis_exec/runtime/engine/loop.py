"""The tick loop: each operator's statements in turn, over the rows that have closed since the last tick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.database import connected
from streambound_runtime.engine.arrow import delta_of, table_of
from streambound_runtime.engine.block import RESULTS, SqlBlock
from streambound_runtime.engine.plan import (
    CircuitPlan,
    ComputedRows,
    EndedKeyRows,
    EngineOperator,
    NativeNode,
    RowsOfStream,
)
from streambound_runtime.engine.tables import CLOSED, HUGEINT, LAST, StateTable, TickTables, listed, places, summed
from streambound_runtime.operators.block import BlockOperator
from streambound_runtime.operators.by_tick import Ticks
from streambound_runtime.operators.changing_relation import ChangingRelation
from streambound_runtime.operators.circuit_plan import (
    BlockNode,
    ChangesNode,
    FixpointNode,
    PeriodNode,
    RelationNode,
)
from streambound_runtime.operators.delta import Delta, Times, end_before
from streambound_runtime.operators.delta import delta_of as no_rows
from streambound_runtime.operators.ended_keys import WatchedStreams
from streambound_runtime.operators.entries import from_lines_of_json, lines_of_json
from streambound_runtime.operators.fixpoint import LeastFixpoint
from streambound_runtime.operators.formula import resolved, value
from streambound_runtime.operators.periods import Compute, PeriodOperator
from streambound_runtime.operators.protocol import State as DumpedState
from streambound_runtime.operators.rejected_row import RejectedRow
from streambound_runtime.operators.standing_relation import StandingRelation
from streambound_runtime.operators.valid_together import ValidTogether, judged_together
from streambound_runtime.row_values import Value
from streambound_runtime.spec import Stream

if TYPE_CHECKING:
    import pyarrow as pa

Relations = Mapping[str, list[dict[str, Value]]]
NativeOperator = BlockOperator | ChangingRelation | StandingRelation | LeastFixpoint | PeriodOperator

_NOT_RIGHT = "statistics_propagation, projection_pullup"
"""Optimizers of DuckDB 2.0 with which sums of a UNION ALL of empty and constant rows may lose a row."""
_GIVEN = "streambound_given"
"""What a table of Python's is called while it is read."""
_TOGETHER = "valid together"
_NEVER = 2**63 - 1
"""The frontier where all is closed."""


class Engine:
    """The operator that a job of a `CircuitPlan` runs (`operators.protocol.Operator`)."""

    def __init__(
        self, plan: CircuitPlan, relations: Relations, compute: Compute, streams: Sequence[Stream] = ()
    ) -> None:
        self.plan: CircuitPlan = resolved(plan, dict(relations))
        self.compute = compute
        self.limit = value(plan.bound, dict(relations))
        self.rejected: list[RejectedRow] = []
        """Rows that the last step has found to be bad."""
        self.watched = WatchedStreams(plan.watched)
        self.ended: dict[str, Delta] = {}
        natives = (one for one in self.plan.operators if isinstance(one, NativeNode))
        self.natives = {one.name: _native(one, relations, compute) for one in natives}
        self.contracts = {
            stream.name: ValidTogether(stream, relations) for stream in streams if judged_together(stream)
        }
        self.numbers = {one.name: number for number, one in enumerate(self.plan.operators)}
        self.database = connected("operators are run", _NOT_RIGHT)
        from streambound_runtime.engine.exact_sums import add_exact_sums

        add_exact_sums(self.database)
        self.begun = bool(self._periods())  # the time of rows with periods is there before the first of them
        self.history: tuple[Integers, Integers] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        for one in self.plan.operators:
            if isinstance(one, SqlBlock):
                self._join_relations(one, relations)
        self.statements = {one.name: self._statements(one) for one in self.plan.operators}
        self.closing = {name for name, found in self.statements.items() if any(CLOSED in sql for _, sql in found)}
        """The operators in which a tick without rows may do something: they ask for the frontier."""
        self.kept = dict.fromkeys(self.statements, 0)
        """How many entries each operator's tables have had after the last tick."""
        for one in self.plan.operators:
            for state in states_of(one):
                columns = ", ".join(f"{name} {kind}" for name, kind in state.columns) or "nothing BOOLEAN"
                self.database.execute(f"CREATE TABLE {self._tables(one).state(state.name)} ({columns})")

    def _join_relations(self, block: SqlBlock, relations: Relations) -> None:
        """Join the relations of a block with each other."""
        at = self._tables(block)
        for number, table in enumerate(block.relations):
            rows = [(0, 1, tuple(row[name] for name in table.columns)) for row in relations[table.name]]
            given = table_of(no_rows(rows, table.columns), table.types)
            self._make(at.temporary(f"relation_{number}"), given, table.types, timed=False)
        for step in block.related(at):
            self.database.execute(f"CREATE TEMP TABLE {step.table} AS {step.sql}")

    @property
    def peak(self) -> int:
        """The most entries there were after any tick of the last step."""
        return int(self.history[1].max()) if len(self.history[1]) else self.entries()

    def step(self, deltas: Mapping[str, Delta], until: int | None = None, over: bool = False) -> Delta:
        """A tick over all rows; returns the changes of the result in order of time.

        All before ``until`` is closed; None where that is not known beyond the last row. ``over``: no row follows.
        """
        self.rejected = []
        times = Times(deltas.values()).all
        found, sizes = list[Delta](), list[int]()
        ends = self._ends(deltas, times)
        for number, end in enumerate(ends):
            last = number + 1 == len(ends)
            part = {name: _between(delta, ends[number - 1] if number else None, end) for name, delta in deltas.items()}
            found.append(self._tick(part, until if last else None, over and last))
            sizes.append(self.entries())
        if not ends and self.begun:
            found.append(self._tick({}, until, over))
        self.history = np.array(ends, dtype=np.int64), np.array(sizes, dtype=np.int64)
        return found[0] if len(found) == 1 else _together(found, self.plan.columns)

    def _ends(self, deltas: Mapping[str, Delta], times: Integers) -> list[int]:
        """The last timestamp of each tick: there is one, unless each timestamp is asked for, or a key returns."""
        if self.plan.by_timestamp:
            return [int(time) for time in times]
        return sorted({*self.watched.returning(deltas), *map(int, times[-1:])})

    def _tick(self, deltas: dict[str, Delta], until: int | None, over: bool) -> Delta:
        times = Times(deltas.values()).all
        last = int(times[-1]) if len(times) else None
        closed = _NEVER if over and self.plan.final else (last if until is None else until - 1)
        self._set(last, closed)
        ticks, sizes = Ticks(times, until, over), dict[str, int]()
        self._judge(deltas, ticks)
        self.ended = self.watched.step(deltas, ticks)
        self.rejected += self.watched.rejected
        for one in self.plan.operators:
            sizes[one.name] = self._run(one, deltas, ticks, sizes)
        self.begun = True
        return self._result(sizes[self.plan.operators[-1].name])

    def _judge(self, deltas: dict[str, Delta], ticks: Ticks) -> None:
        """Take out the rows that conflict with others that are valid with them."""
        for name, contract in self.contracts.items():
            if name in deltas:
                deltas[name], rejected = contract.checked(deltas[name])
                self.rejected += rejected
            if ticks.frontier is not None:
                contract.close(ticks.frontier)

    def _set(self, last: int | None, closed: int | None) -> None:
        if last is not None:
            self.database.execute(f"SET VARIABLE last = {last}::BIGINT")
        if closed is not None:
            self.database.execute(f"SET VARIABLE closed = {closed}::BIGINT")

    def _run(self, one: EngineOperator, deltas: Mapping[str, Delta], ticks: Ticks, sizes: Mapping[str, int]) -> int:
        """Run an operator; returns how many rows its delta has."""
        at = self._tables(one)
        if isinstance(one, NativeNode):
            native = self.natives[one.name]
            if isinstance(native, BlockOperator):
                found = native.step_of({**deltas, **end_before(ticks.until)})
            elif isinstance(native, ChangingRelation):
                found = native.step_of(deltas, ticks)
                self.rejected += native.rejected
            else:
                found = native.step([self._delta(name, sizes[name]) for name in one.inputs], ticks)
            return self._take(one, table_of(found, one.types))
        if isinstance(one, EndedKeyRows):
            return self._take(one, table_of(self.ended[one.name], one.types))
        if isinstance(one, RowsOfStream):
            given = deltas.get(one.stream)
            return 0 if given is None else self._take(one, table_of(_only(given, one.columns), one.types))
        some = any(sizes[name] for name in one.inputs)
        if isinstance(one, ComputedRows):
            return self._take(one, self.compute(one.node, self._table(one.inputs[0]))) if some else 0
        if not some and self.begun and not (one.name in self.closing and self.kept[one.name]):
            return 0
        size = 0
        for name in (name for name in one.inputs if not sizes[name]):
            self._nothing(name)
        for table, sql in self.statements[one.name]:
            with within_types(one.name):
                count = self.database.execute(sql).fetchall()
            if table == at.delta:
                ((size,),) = count
        return size

    def _statements(self, one: EngineOperator) -> list[tuple[str, str]]:
        """The table that each statement of an operator's tick makes, if one, and its SQL."""
        if isinstance(one, NativeNode | ComputedRows | RowsOfStream | EndedKeyRows):
            return []
        create = "CREATE OR REPLACE TEMP TABLE"
        return [
            (step.table, f"{create} {step.table} AS {step.sql}" if step.table else step.sql)
            for step in one.tick(self._tables(one))
        ]

    # --- deltas -----------------------------------------------------------------------------------------------------

    def _tables(self, one: EngineOperator) -> TickTables:
        deltas = tuple(f"delta_{self.numbers[name]}" for name in one.inputs)
        return TickTables(self.numbers[one.name], deltas)

    def _take(self, one: EngineOperator, table: pa.Table) -> int:
        """Make an operator's delta of a table."""
        if table.num_rows:
            self._make(self._tables(one).delta, table, one.types, one.timed)
        return int(table.num_rows)

    def _make(self, name: str, table: pa.Table, types: Sequence[str], timed: bool) -> None:
        """Make a table of the database of rows with columns of these types."""
        shown = [f"CAST(c{n} AS {kind}) AS c{n}" for n, kind in enumerate(types)]
        shown += ["CAST(w AS HUGEINT) AS w", *(["t"] if timed else [])]
        self.database.register(_GIVEN, table)
        self.database.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {', '.join(shown)} FROM {_GIVEN}")
        self.database.unregister(_GIVEN)

    def _nothing(self, name: str) -> None:
        """Make the delta of an operator that has no rows in this tick."""
        one = self.plan.operators[self.numbers[name]]
        columns = [f"c{n} {kind}" for n, kind in enumerate(one.types)] + [
            "w HUGEINT",
            *(["t BIGINT"] if one.timed else []),
        ]
        self.database.execute(f"CREATE OR REPLACE TEMP TABLE delta_{self.numbers[name]} ({', '.join(columns)})")

    def _table(self, name: str, ordered: bool = False) -> pa.Table:
        """An operator's delta: the time, the columns and the weight; in order, with equal rows of a time as one."""
        one = self.plan.operators[self.numbers[name]]
        names = ("t", *places(len(one.types)))
        rows = f"SELECT {listed(LAST + ' AS t' if not one.timed else '', '*')} FROM delta_{self.numbers[name]}"
        if ordered:
            rows = summed(names, f"SELECT {listed(*names, 'w')} FROM ({rows})")
        shown = [as_decimal(column, kind) for column, kind in zip(names[1:], one.types, strict=True)]
        order = "ORDER BY " + ", ".join(f"{column} NULLS FIRST" for column in names) if ordered else ""
        sql = f"SELECT {listed('t', *shown, as_decimal('w', HUGEINT))} FROM ({rows}) {order}"
        with within_types(name):
            return self.database.sql(sql).to_arrow_table()

    def _delta(self, name: str, size: int) -> Delta:
        """An operator's delta as operators of rows read it."""
        one = self.plan.operators[self.numbers[name]]
        columns = places(len(one.types))
        return delta_of(self._table(name, ordered=True), columns) if size else no_rows([], columns)

    def _result(self, size: int) -> Delta:
        """The changes of the result."""
        last = self.plan.operators[-1]
        if not size:
            return no_rows([], self.plan.columns)
        return delta_of(self._table(last.name, ordered=True), self.plan.columns)

    def remembered(self) -> Delta:
        """The results of a set, its only operator, that it has returned, as far as they may come again."""
        block = self.plan.operators[-1]
        assert isinstance(block, SqlBlock), "a circuit of more operators computes its results itself"
        shown = [as_decimal(f"c{place}", kind) for place, kind in enumerate(block.types)]
        rows = f"SELECT {listed('0::BIGINT AS t', *shown, '1 AS w')} FROM {self._tables(block).state(RESULTS)}"
        return delta_of(self.database.sql(rows).to_arrow_table(), self.plan.columns)

    # --- state ------------------------------------------------------------------------------------------------------

    def entries(self) -> int:
        """How many entries all states have."""
        counts = [
            " + ".join(f"(SELECT count(*) FROM {self._tables(one).state(state.name)})" for state in states_of(one))
            or "0"
            for one in self.plan.operators
        ]
        ((*found,),) = self.database.execute(f"SELECT {', '.join(counts)}").fetchall()
        self.kept = dict(zip(self.statements, found, strict=True))
        others = (*self.natives.values(), *self.watched.operators.values(), *self.contracts.values())
        return sum(self.kept.values()) + sum(one.entries() for one in others)

    def open_since(self) -> int | None:
        """When the oldest result row of a SEQ block has begun that is not printed, as it has not ended."""
        found = (one.query.open_since() for one in self._periods())
        return min((since for since in found if since is not None), default=None)

    def _periods(self) -> list[PeriodOperator]:
        return [one for one in self.natives.values() if isinstance(one, PeriodOperator)]

    def dump(self) -> DumpedState:
        """The states of all operators, by the operator's name and the state's."""
        found: DumpedState = {}
        for one in self.plan.operators:
            if isinstance(one, NativeNode):
                found |= {f"{one.name}: {table}": rows for table, rows in self.natives[one.name].dump().items()}
                continue
            for state in states_of(one):
                shown = (as_decimal(column, kind) for column, kind in state.columns)
                name = self._tables(one).state(state.name)
                rows = self.database.sql(f"SELECT {', '.join(shown) or '*'} FROM {name}").to_arrow_table()
                found[f"{one.name}: {state.name}"] = rows
        for name, keys in self.watched.operators.items():
            found |= {f"{name}: {table}": rows for table, rows in keys.dump().items()}
        for name, contract in self.contracts.items():
            found[f"{name}: {_TOGETHER}"] = lines_of_json(contract.dump())
        import pyarrow as pa

        return found | {"begun": pa.table({"begun": [self.begun]})}

    def load(self, state: DumpedState) -> None:
        """Take over what `dump` returned."""
        self.begun = bool(state["begun"].column(0)[0].as_py())
        for name, keys in self.watched.operators.items():
            keys.load(_of_operator(state, name))
        for name, contract in self.contracts.items():
            contract.load(from_lines_of_json(state[f"{name}: {_TOGETHER}"]))
        for one in self.plan.operators:
            mine = _of_operator(state, one.name)
            if isinstance(one, NativeNode):
                self.natives[one.name].load(mine)
            for kept in states_of(one):
                self._fill(one, kept.name, mine[kept.name])
        self.entries()

    def _fill(self, one: EngineOperator, state: str, rows: pa.Table) -> None:
        name = self._tables(one).state(state)
        self.database.execute(f"DELETE FROM {name}")
        self.database.register(_GIVEN, rows)
        self.database.execute(f"INSERT INTO {name} SELECT * FROM {_GIVEN}")
        self.database.unregister(_GIVEN)


def states_of(one: EngineOperator) -> tuple[StateTable, ...]:
    """The states of an operator that are tables of the database."""
    return () if isinstance(one, NativeNode | ComputedRows | RowsOfStream | EndedKeyRows) else one.states


def as_decimal(column: str, kind: str) -> str:
    """A column as it travels: Arrow has no integers of 128 bits."""
    return f"CAST({column} AS DECIMAL(38, 0)) AS {column}" if kind == HUGEINT else column


def _of_operator(state: DumpedState, name: str) -> DumpedState:
    return {table.removeprefix(f"{name}: "): rows for table, rows in state.items() if table.startswith(f"{name}: ")}


def _between(delta: Delta, after: int | None, until: int) -> Delta:
    """The rows of a delta later than a timestamp, up to another one."""
    start = 0 if after is None else int(np.searchsorted(delta.time, after, side="right"))
    return delta.take(slice(start, int(np.searchsorted(delta.time, until, side="right"))))


def _together(parts: Sequence[Delta], columns: tuple[str, ...]) -> Delta:
    """Deltas of one tick after the other as one."""
    rows = [row for part in parts for row in zip(part.time.tolist(), part.weights().tolist(), part.rows(), strict=True)]
    return no_rows(rows, columns)


def _only(delta: Delta, columns: Sequence[str]) -> Delta:
    """Some columns of a delta, in this order."""
    found = {name: delta.columns[name] for name in columns}
    return Delta(delta.time, delta.weight, found, delta.nulls, delta.dictionary)


@contextmanager
def within_types(name: str) -> Iterator[None]:
    """Raise OverflowError for a number of an operator that is beyond its type, or beyond 128 bits."""
    import duckdb

    try:
        yield
    except (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException) as error:
        words = str(error).splitlines()[0].partition("Error: ")[2]
        own = words.partition("OverflowError: ")[2]  # of a function of ours
        raise OverflowError(own or f"{name}: {words}") from error


def _native(one: NativeNode, relations: Relations, compute: Compute) -> NativeOperator:
    match one.node:
        case BlockNode() as node:
            return BlockOperator(node, relations)
        case ChangesNode() as node:
            return ChangingRelation(node)
        case RelationNode() as node:
            return StandingRelation(node, relations)
        case FixpointNode() as node:
            return LeastFixpoint(node)
        case PeriodNode() as node:
            return PeriodOperator(node, relations, compute)
