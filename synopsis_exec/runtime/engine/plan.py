"""A circuit as the engine runs it: operators in order, each of which reads operators before it, by their names."""

from __future__ import annotations

from dataclasses import dataclass

from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.operators.circuit_plan import (
    BlockNode,
    ChangesNode,
    CircuitPlan,
    FixpointNode,
    KeyedNode,
    MapNode,
    RelationNode,
)


@dataclass(frozen=True, slots=True)
class NativeNode:
    """An operator that is no SQL: a synopsis, a relation's rows, a recursion. ``types`` are those of its columns."""

    node: BlockNode | ChangesNode | RelationNode | FixpointNode | KeyedNode
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
            case KeyedNode(keys=keys):
                return (keys,)
        return ()


@dataclass(frozen=True, slots=True)
class RowsOfStream:
    """The rows of a stream as they come: these ``columns``, each with its time."""

    name: str
    stream: str
    columns: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """None: it reads a stream."""
        return ()

    @property
    def timed(self) -> bool:
        """Rows have their own times."""
        return True


@dataclass(frozen=True, slots=True)
class EndedKeyRows:
    """The keys that punctuations end, each when it is over (`EnginePlan.watched`)."""

    name: str
    types: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """None: it reads streams."""
        return ()

    @property
    def timed(self) -> bool:
        """A key is over at a time."""
        return True


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
    SqlPick | SqlUnion | SqlBucket | SqlCounts | SqlGroup | SqlJoin | SqlAsOf | SqlOver | SqlRunning | SqlStreamJoin
)
EngineOperator = SqlOperator | NativeNode | ComputedRows | RowsOfStream | EndedKeyRows


@dataclass(frozen=True, slots=True)
class EnginePlan(CircuitPlan):
    """A circuit all of whose operators the engine runs; it has these instead of nodes.

    ``by_timestamp`` says that each timestamp has to be a tick: some operator asks what another one was at a time.
    """

    operators: tuple[EngineOperator, ...] = ()
    by_timestamp: bool = False

    @property
    def timestamps(self) -> bool:
        """Whether results have application times of their own, and not that of their tick."""
        return self.operators[-1].timed
