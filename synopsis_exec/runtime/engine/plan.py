"""A circuit as the engine runs it: operators in order, each of which reads operators before it, by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.block_tables import RowsOfStream
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.first import SqlFirst
from streambound_runtime.engine.group import SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.recent import SqlRecent
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.engine.tables import BIGINT, HUGEINT, StateTable, TickTables
from streambound_runtime.operators.circuit_plan import (
    ChangesNode,
    EndedKeysNode,
    FixpointNode,
    MapNode,
    PeriodNode,
    RelationNode,
)
from streambound_runtime.operators.formula import Formula


@dataclass(frozen=True, slots=True)
class NativeNode:
    """An operator that is no SQL: a relation's rows, a recursion, a query over rows with periods.

    ``types`` are those of its columns.
    """

    node: ChangesNode | RelationNode | FixpointNode | PeriodNode
    types: tuple[str, ...]
    timed: bool

    @property
    def name(self) -> str:
        """The node's."""
        return self.node.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """The operators that it reads; streams are none."""
        match self.node:
            case FixpointNode(base=base, inputs=inputs):
                return (base, *inputs)
            case PeriodNode(inputs=inputs):
                return inputs
        return ()


@dataclass(frozen=True, slots=True)
class EndedKeyRows:
    """An input of keys that punctuations end, each at the time when it is over (`CircuitPlan.watched`)."""

    inputs: ClassVar[tuple[str, ...]] = ()
    timed: ClassVar[bool] = True
    name: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComputedRows:
    """Rows that are computed of others by expressions in SQL, each on its own."""

    node: MapNode
    types: tuple[str, ...]
    timed: bool

    @property
    def name(self) -> str:
        """The node's."""
        return self.node.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operator that it reads."""
        return (self.node.input,)


SqlOperator = (
    SqlBlock
    | SqlPick
    | SqlUnion
    | SqlBucket
    | SqlCounts
    | SqlFirst
    | SqlGroup
    | SqlJoin
    | SqlAsOf
    | SqlJoinTree
    | SqlOver
    | SqlRecent
    | SqlRunning
    | SqlStreamJoin
)
OtherOperator = NativeNode | ComputedRows | RowsOfStream | EndedKeyRows
"""Operators whose rows come from elsewhere, each tick as a table."""
EngineOperator = SqlOperator | OtherOperator


@dataclass(frozen=True, slots=True)
class StateBound:
    """How many entries a state of an operator has at most: its part of M, also in words, with the proposition."""

    operator: str
    state: str
    at_most: Formula
    words: str


@dataclass(frozen=True, slots=True)
class CircuitPlan:
    """The operators of a query; the last one's results are the query's.

    ``bound`` is M: the most entries of all states after a tick; ``kept`` are its parts, as far as states are tables.
    ``by_timestamp`` says that each timestamp is a tick of its own, ``final`` that results are printed when they no
    longer change, instead of their changes; ``retracts`` that a change may take a row back. ``watched`` are the
    punctuations that operators use; ``timed`` says that results have a `_ts`, ``counted`` that they have a `_mult`.
    """

    columns: tuple[str, ...]
    bound: Formula
    operators: tuple[EngineOperator, ...]
    by_timestamp: bool = False
    final: bool = False
    most: int = 2**63 - 1
    retracts: bool = False
    watched: tuple[EndedKeysNode, ...] = ()
    timed: bool = True
    counted: bool = True
    kept: tuple[StateBound, ...] = ()

    @property
    def timestamps(self) -> bool:
        """Whether results have application times of their own, and not that of their tick."""
        return self.operators[-1].timed

    @property
    def every(self) -> tuple[EngineOperator, ...]:
        """The operators, and before a block the rows of the streams that it reads, each once."""
        found = dict[str, EngineOperator]()
        for one in self.operators:
            found |= {rows.name: rows for rows in one.rows} if isinstance(one, SqlBlock) else {}
            found[one.name] = one
        return tuple(found.values())


def tables_of(plan: CircuitPlan) -> dict[str, TickTables]:
    """The names of each operator's tables."""
    numbers = {one.name: number for number, one in enumerate(plan.every)}
    return {
        one.name: TickTables(numbers[one.name], tuple(f"delta_{numbers[name]}" for name in one.inputs))
        for one in plan.every
    }


def delta_columns(one: EngineOperator) -> list[tuple[str, str]]:
    """The columns of an operator's delta, with their types."""
    columns = [*((f"c{n}", kind) for n, kind in enumerate(one.types)), ("w", HUGEINT)]
    return [*columns, *([("t", BIGINT)] if one.timed else [])]


def states_of(one: EngineOperator) -> tuple[StateTable, ...]:
    """The states of an operator that are tables of the database."""
    return () if isinstance(one, OtherOperator) else one.states
