"""The tick loop: each operator's statements in turn, over the rows that have closed since the last tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.engine.arrow import consolidated, in_order, narrowed, table_of
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.block_tables import RowsOfStream
from streambound_runtime.engine.plan import (
    CircuitPlan,
    ComputedRows,
    EndedKeyRows,
    EngineOperator,
    NativeNode,
    OtherOperator,
    delta_columns,
    states_of,
    tables_of,
)
from streambound_runtime.engine.session import KnownStatement, Session, as_decimal, statement, within_limits
from streambound_runtime.engine.slice_tables import Compute
from streambound_runtime.engine.slices import PeriodSlices
from streambound_runtime.engine.tables import HUGEINT, LAST, listed, places
from streambound_runtime.operators.by_tick import RejectedRow, Ticks
from streambound_runtime.operators.circuit_plan import (
    ChangesNode,
    FixpointNode,
    PeriodNode,
    RelationNode,
)
from streambound_runtime.operators.delta import Delta, times_of
from streambound_runtime.operators.delta import delta_of as no_rows
from streambound_runtime.operators.ended_keys import WatchedStreams
from streambound_runtime.operators.ended_ranges import EndedPattern
from streambound_runtime.operators.entries import State as DumpedState
from streambound_runtime.operators.fixpoint import LeastFixpoint
from streambound_runtime.operators.formula import Relations, resolved, value
from streambound_runtime.operators.relations import ChangingRelation, StandingRelation
from streambound_runtime.operators.unique_keys import UniqueKeys
from streambound_runtime.operators.valid_together import ValidTogether, judged_together
from streambound_runtime.spec import Stream

if TYPE_CHECKING:
    import pyarrow as pa

NativeOperator = ChangingRelation | StandingRelation | LeastFixpoint | PeriodSlices

_NEVER = 2**63 - 1
"""The frontier where all is closed."""
_PERIOD = ("_begin", "_end")
"""The columns by which results over relations are in order first."""


class Engine:
    """The engine that a job of a `CircuitPlan` runs."""

    def __init__(
        self, plan: CircuitPlan, relations: Relations, compute: Compute, streams: Sequence[Stream] = ()
    ) -> None:
        self.plan: CircuitPlan = resolved(plan, relations)
        self.compute = compute
        self.limit = value(plan.bound, relations)
        limits = ((one, value(one.at_most, relations)) for one in plan.kept)
        self.limits = [(one, most) for one, most in limits if most is not None]
        self.rejected: list[RejectedRow] = []
        """Rows that the last step has found to be bad."""
        self.watched = WatchedStreams(plan.watched)
        self.passed: list[EndedPattern] = []
        """The punctuations that the last step passes on."""
        self.ended: dict[str, Delta] = {}
        self.contracts: dict[str, ValidTogether | UniqueKeys] = {
            stream.name: ValidTogether(stream, relations) for stream in streams if judged_together(stream)
        }
        self.contracts |= {stream.name: UniqueKeys(stream) for stream in streams if stream.unique}
        self.operators = {one.name: one for one in self.plan.every}
        self.tables = tables_of(self.plan)
        self.session = Session()
        natives = (one for one in self.operators.values() if isinstance(one, NativeNode))
        self.natives = {one.name: self._made(one, relations) for one in natives}
        self.begun = bool(self._periods())  # the time of rows with periods is there before the first of them
        self.history: tuple[Integers, Integers] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        for one in self.operators.values():
            if isinstance(one, SqlBlock):
                self._join_relations(one, relations)
        self.statements = {one.name: self._statements(one) for one in self.operators.values()}
        for one in self.operators.values():
            for state in states_of(one):
                self.session.create(self.tables[one.name].state(state.name), state)

    def _made(self, one: NativeNode, relations: Relations) -> NativeOperator:
        match one.node:
            case ChangesNode() as node:
                return ChangingRelation(node)
            case RelationNode() as node:
                return StandingRelation(node, relations)
            case FixpointNode() as node:
                return LeastFixpoint(node)
            case PeriodNode() as node:
                inputs = [self.operators[name].types for name in one.inputs]
                return PeriodSlices(
                    node, one.types, inputs, self.tables[one.name], self.session, relations, self.compute
                )

    def _join_relations(self, block: SqlBlock, relations: Relations) -> None:
        """Join the relations of a block with each other."""
        at = self.tables[block.name]
        for number, table in enumerate(block.relations):
            given, name = relations[table.name], at.temporary(f"relation_{number}")
            self.session.put_relation(name, table.types, given, table.columns)
        for step in block.related(at):
            self.session.run(statement(step))

    @property
    def peak(self) -> int:
        """The most entries there were after any tick of the last step."""
        return int(self.history[1].max()) if len(self.history[1]) else self.entries()

    def step(self, deltas: Mapping[str, Delta], until: int | None = None, over: bool = False) -> Delta:
        """A tick over all rows; returns the changes of the result in order of time.

        All before ``until`` is closed; None where that is not known beyond the last row. ``over``: no row follows.
        """
        self.rejected, self.passed = [], []
        times = times_of(deltas.values())
        found, sizes = list[Delta](), list[int]()
        ends, begun = self._ends(deltas, times), 0
        for number, end in enumerate(ends):
            last, begin = number + 1 == len(ends), ends[number - 1] if number else None
            part = {name: _between(delta, begin, end) for name, delta in deltas.items()}
            after = int(np.searchsorted(times, end, side="right"))
            found.append(self._tick(part, times[begun:after], until if last else None, over and last))
            begun = after
            sizes.append(self.entries())
        if not ends and self.begun:
            found.append(self._tick({}, times, until, over))
        self.history = np.array(ends, dtype=np.int64), np.array(sizes, dtype=np.int64)
        return found[0] if len(found) == 1 else _together(found, self.plan.columns)

    def _ends(self, deltas: Mapping[str, Delta], times: Integers) -> list[int]:
        """The last timestamp of each tick: there is one, unless each timestamp is a tick, or a key returns."""
        if self.plan.by_timestamp:
            return [int(time) for time in times]
        return sorted({*self.watched.returning(deltas), *map(int, times[-1:])})

    def _tick(self, deltas: dict[str, Delta], times: Integers, until: int | None, over: bool) -> Delta:
        last = int(times[-1]) if len(times) else None
        closed = _NEVER if over and self.plan.final else (last if until is None else until - 1)
        ticks = Ticks(times, until, over)
        self.session.length = int(times[-1] - times[0]) if len(times) else 0
        for variable, time in (("last", last), ("closed", closed)):
            if time is not None:
                self.session.set(variable, time)
        self.ended = self.watched.step(deltas, ticks)
        self.rejected += self.watched.rejected
        self.passed += self.watched.passed
        self._judge(deltas, ticks)
        for one in self.operators.values():
            self._run(one, deltas, ticks)
        self.begun = True
        return self._results()

    def _results(self) -> Delta:
        """The results of the last operator; relations with periods alone have one tick, whose rows are in order of
        their periods, then of their values.
        """
        import pyarrow.compute as pc

        last, names = self.plan.operators[-1], self.plan.columns
        if not isinstance(last, NativeNode) or not isinstance(last.node, PeriodNode) or last.inputs:
            return self._delta(last.name, names)
        table, order = self._table(last.name), sorted(range(len(names)), key=lambda n: names[n] not in _PERIOD)
        shown = [pc.multiply(table.column(0), 0), *(table.column(n + 1) for n in order), table.column(len(names) + 1)]
        return in_order(table.from_arrays(shown, table.column_names), [names[n] for n in order])

    def _judge(self, deltas: dict[str, Delta], ticks: Ticks) -> None:
        """Take out the rows that conflict with others: those that are valid with them, or came before."""
        for name, contract in self.contracts.items():
            if name in deltas:
                deltas[name], rejected = contract.checked(deltas[name])
                self.rejected += rejected
            if ticks.frontier is not None:
                contract.close(ticks.frontier)

    def _run(self, one: EngineOperator, deltas: Mapping[str, Delta], ticks: Ticks) -> None:
        """Run an operator, which makes its delta."""
        native = self.natives.get(one.name)
        if isinstance(native, PeriodSlices):
            with within_limits(one.name):
                native.tick(ticks)
            return
        match one:
            case NativeNode():
                found = self._native(one, deltas, ticks)
            case EndedKeyRows():
                found = self.ended[one.name]
            case RowsOfStream():
                given = deltas.get(one.stream)
                found = no_rows([], one.columns) if given is None else _only(given, one.columns)
            case ComputedRows():
                (name,) = one.inputs
                some = self.session.size(self.tables[name].delta)
                self._put(one, self.compute(one.node, self._table(name)) if some else None)
                return
            case _:
                self._run_statements(one)
                return
        self._put(one, table_of(found, one.types))

    def _native(self, one: NativeNode, deltas: Mapping[str, Delta], ticks: Ticks) -> Delta:
        native = self.natives[one.name]
        if isinstance(native, ChangingRelation):
            found = native.step_of(deltas, ticks)
            self.rejected += native.rejected
            return found
        assert not isinstance(native, PeriodSlices), "it reads tables"
        return native.step([self._delta(name) for name in one.inputs], ticks)

    def _run_statements(self, one: EngineOperator) -> None:
        with within_limits(one.name):
            for step in self.statements[one.name]:
                self.session.run(step)

    def _statements(self, one: EngineOperator) -> list[KnownStatement]:
        """The statements of an operator's tick."""
        if isinstance(one, OtherOperator):
            return []
        return [statement(step) for step in one.tick(self.tables[one.name])]

    # --- deltas -----------------------------------------------------------------------------------------------------

    def _put(self, one: EngineOperator, table: pa.Table | None) -> None:
        """Make an operator's delta of a table; None: of no rows."""
        self.session.put(self.tables[one.name].delta, delta_columns(one), table)

    def _table(self, name: str) -> pa.Table:
        """An operator's delta: the time, the columns and the weight."""
        one = self.operators[name]
        shown = (as_decimal(column, kind) for column, kind in zip(places(len(one.types)), one.types, strict=True))
        columns = listed("t" if one.timed else f"{LAST} AS t", *shown, as_decimal("w", HUGEINT))
        with within_limits(name):
            return self.session.read(f"SELECT {columns} FROM {self.tables[one.name].delta}")

    def _delta(self, name: str, columns: Sequence[str] | None = None) -> Delta:
        """An operator's delta as operators of rows read it, with columns of these names."""
        one = self.operators[name]
        columns = tuple(columns or places(len(one.types)))
        some = self.session.size(self.tables[one.name].delta)
        return consolidated(self._table(name), columns) if some else no_rows([], columns)

    # --- state ------------------------------------------------------------------------------------------------------

    def entries(self) -> int:
        """How many entries all states have."""
        kept = sum(
            self.session.size(self.tables[one.name].state(state.name))
            for one in self.operators.values()
            for state in states_of(one)
        )
        others = (*self.natives.values(), *self.watched.operators.values(), *self.contracts.values())
        return kept + sum(one.entries() for one in others)

    def beyond(self) -> list[str]:
        """The states that have more entries than is said of them, in words."""
        return [
            f"{one.operator} has {found} in {one.state}: {one.words}"
            for one, most in self.limits
            if (found := self.session.size(self.tables[one.operator].state(one.state))) > most
        ]

    def open_since(self) -> int | None:
        """When the oldest result row of a SEQ block has begun that is not printed, as it has not ended."""
        found = (one.open_since() for one in self._periods())
        return min((since for since in found if since is not None), default=None)

    def _periods(self) -> list[PeriodSlices]:
        return [one for one in self.natives.values() if isinstance(one, PeriodSlices)]

    def dump(self) -> DumpedState:
        """The states of all operators, by the operator's name and the state's."""
        found: DumpedState = {}
        for one in self.operators.values():
            if one.name in self.natives:
                found |= {f"{one.name}: {table}": rows for table, rows in self.natives[one.name].dump().items()}
                continue
            for state in states_of(one):
                shown = (as_decimal(column, kind) for column, kind in state.columns)
                name = self.tables[one.name].state(state.name)
                with within_limits(one.name):
                    rows = self.session.read(f"SELECT {', '.join(shown) or '*'} FROM {name}")
                found[f"{one.name}: {state.name}"] = narrowed(rows)
        for name, keys in self.watched.operators.items():
            found |= {f"{name}: {table}": rows for table, rows in keys.dump().items()}
        for name, contract in self.contracts.items():
            found |= {f"{name}: {table}": rows for table, rows in contract.dump().items()}
        import pyarrow as pa

        return found | ({"begun": pa.table({})} if self.begun else {})

    def load(self, state: DumpedState) -> None:
        """Take over what `dump` returned."""
        self.begun = "begun" in state
        for name, keys in self.watched.operators.items():
            keys.load(_of_operator(state, name))
        for name, contract in self.contracts.items():
            contract.load(_of_operator(state, name))
        for one in self.operators.values():
            mine = _of_operator(state, one.name)
            if one.name in self.natives:
                self.natives[one.name].load(mine)
            for kept in states_of(one):
                self.session.fill(self.tables[one.name].state(kept.name), mine[kept.name])


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
