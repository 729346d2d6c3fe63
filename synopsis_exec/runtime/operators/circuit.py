"""A circuit: its nodes, each of which closes all timestamps of a step before the next one does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.buckets import Buckets
from streambound_runtime.operators.by_key import ByKey, OneKey
from streambound_runtime.operators.by_tick import Changes, NodeOperator, RemembersNothing, Ticks, rows_by_time, sizes_of
from streambound_runtime.operators.changing_relation import ChangingRelation
from streambound_runtime.operators.circuit_plan import (
    BlockNode,
    BucketNode,
    ChangesNode,
    CircuitPlan,
    FixpointNode,
    GroupNode,
    KeyedNode,
    MapNode,
    OverNode,
    PairNode,
    PeriodNode,
    RelationNode,
    SetNode,
    UnionNode,
    ViewJoinNode,
)
from streambound_runtime.operators.delta import Delta, Times
from streambound_runtime.operators.ended_keys import EndedKeys, WatchedStreams
from streambound_runtime.operators.entries import from_lines_of_json, lines_of_json
from streambound_runtime.operators.fixpoint import LeastFixpoint
from streambound_runtime.operators.formula import value
from streambound_runtime.operators.group import GroupBy
from streambound_runtime.operators.over import OverOperator
from streambound_runtime.operators.pair_join import PairJoin
from streambound_runtime.operators.periods import PeriodOperator
from streambound_runtime.operators.protocol import State, StatefulOperator
from streambound_runtime.operators.ranked import RANKS, RankedOperator
from streambound_runtime.operators.rejected_row import RejectedRow
from streambound_runtime.operators.running import RunningOpen, RunningOperator
from streambound_runtime.operators.session_groups import SessionGroups
from streambound_runtime.operators.set_operation import SetOperation
from streambound_runtime.operators.standing_relation import StandingRelation
from streambound_runtime.operators.synopsis import SynopsisJoin
from streambound_runtime.operators.synopsis_by_rows import SynopsisByRows
from streambound_runtime.operators.valid_together import ValidTogether, judged_together
from streambound_runtime.operators.view_join import ViewJoin
from streambound_runtime.row_values import Value
from streambound_runtime.spec import Stream

Relations = Mapping[str, list[dict[str, Value]]]
Evaluate = Callable[[MapNode, Delta], Delta]
"""Computes a `MapNode` node's rows; Spark does in a job."""
_TOGETHER = "valid together"
KERNELS: dict[str, type[SynopsisJoin] | type[SynopsisByRows]] = {"columns": SynopsisJoin, "rows": SynopsisByRows}


class BlockOperator:
    """The synopsis of a block; it reads streams. Of what has no name only the timestamps count, which are closed."""

    def __init__(self, plan: BlockNode, relations: Relations) -> None:
        self.synopsis: StatefulOperator = KERNELS[plan.synopsis.kernel](plan.synopsis, relations)
        self.sizes: Integers = np.zeros(0, dtype=np.int64)
        self.streams = {scan.table for branch in plan.synopsis.branches for scan in branch.scans}

    def step_of(self, deltas: Mapping[str, Delta], ticks: Ticks) -> Delta:
        """Close timestamps of the streams' rows."""
        before = self.synopsis.entries()
        mine = {name: delta for name, delta in deltas.items() if name in self.streams or not name}
        found = self.synopsis.step(mine)
        self.sizes = sizes_of(self.synopsis.history, before, ticks)
        return found

    def entries(self) -> int:
        """Those of the synopsis."""
        return self.synopsis.entries()

    def dump(self) -> State:
        """The synopsis' tables."""
        return self.synopsis.dump()

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.synopsis.load(state)


class MapOperator(RemembersNothing):
    """Rows computed of other rows, by Spark where they are more than columns of these; it remembers nothing."""

    def __init__(self, plan: MapNode, evaluate: Evaluate) -> None:
        self.plan, self.evaluate, self.picks = plan, evaluate, plan.picks
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """The rows of all timestamps at once."""
        self.sizes = np.zeros(len(ticks.times), dtype=np.int64)
        if self.picks is None:
            return self.evaluate(self.plan, inputs[0])
        return self._renamed(inputs[0]) if self.plan.renames else self._picked(inputs[0], self.picks)

    def _picked(self, rows: Delta, places: tuple[int, ...]) -> Delta:
        changes = Changes(tuple(name for name, _ in self.plan.columns))
        for now, found in rows_by_time(rows).items():
            changes.add(now, ((tuple([row[place] for place in places]), weight) for row, weight in found))
        return changes.delta

    def _renamed(self, rows: Delta) -> Delta:
        names = {old: new for (old, _), (new, _) in zip(self.plan.given, self.plan.columns, strict=True)}
        columns = {new: rows.columns[old] for old, new in names.items()}
        nulls = {names[old]: null for old, null in rows.nulls.items()}
        dictionary = {names[old]: texts for old, texts in rows.dictionary.items()}
        return Delta(rows.time, rows.weight, columns, nulls, dictionary)


class UnionOperator(RemembersNothing):
    """The rows of all inputs; it remembers nothing."""

    def __init__(self, plan: UnionNode) -> None:
        self.plan = plan
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """The rows of all timestamps, by position."""
        self.sizes = np.zeros(len(ticks.times), dtype=np.int64)
        changes = Changes(self.plan.columns)
        by_time = [rows_by_time(delta) for delta in inputs]
        for now in sorted({now for rows in by_time for now in rows}):
            changes.add(now, [row for rows in by_time for row in rows.get(now, ())])
        return changes.delta


class CircuitOperator:
    """The operator that a job of a circuit runs (`operators.protocol.Operator`)."""

    def __init__(
        self, plan: CircuitPlan, relations: Relations, evaluate: Evaluate, streams: Sequence[Stream] = ()
    ) -> None:
        self.plan, self.limit = plan, value(plan.bound, dict(relations))
        self.contracts = {
            stream.name: ValidTogether(stream, relations) for stream in streams if judged_together(stream)
        }
        self.rejected: list[RejectedRow] = []
        """Rows that the last step has found to be bad."""
        self.nodes: dict[str, BlockOperator | ChangingRelation | PairJoin | ByKey | NodeOperator] = {}
        self.inputs: dict[str, tuple[str, ...]] = {}
        self.watched = WatchedStreams(plan.watched)
        printed = _printed(plan)
        for node in plan.nodes:
            match node:
                case KeyedNode():
                    self.nodes[node.name] = ByKey(node, partial(_of_one_key, node, relations), _step_of_one_key)
                    self.inputs[node.name] = inputs_of_keyed(node)
                case BlockNode():
                    self.nodes[node.name] = BlockOperator(node, relations)
                case ChangesNode():
                    self.nodes[node.name] = ChangingRelation(node)
                case RelationNode():
                    self.nodes[node.name] = StandingRelation(node, relations)
                    self.inputs[node.name] = ()
                case PairNode():
                    self.nodes[node.name] = PairJoin(node, relations, plan.final and node.name in printed)
                case GroupNode():
                    kind = GroupBy if node.session is None else SessionGroups
                    self.nodes[node.name] = kind(node, plan.final and node.name in printed)
                    ends = () if node.ends is None else (node.ends.keys,)
                    self.inputs[node.name] = (node.rows, *(argument.block for argument in node.arguments), *ends)
                case MapNode():
                    self.nodes[node.name] = MapOperator(node, evaluate)
                    self.inputs[node.name] = (node.input,)
                case OverNode():
                    self.nodes[node.name] = _over(node)
                    self.inputs[node.name] = (node.input,)
                case BucketNode():
                    self.nodes[node.name] = Buckets(node, node.name in printed)
                    self.inputs[node.name] = (node.input,)
                case SetNode():
                    self.nodes[node.name] = SetOperation(node)
                    ends = () if node.ends is None else (node.ends.keys,)
                    self.inputs[node.name] = (node.left, *([node.right] if node.right else []), *ends)
                case ViewJoinNode():
                    self.nodes[node.name] = ViewJoin(node)
                    self.inputs[node.name] = (node.left, node.right)
                case UnionNode():
                    self.nodes[node.name] = UnionOperator(node)
                    self.inputs[node.name] = node.inputs
                case PeriodNode():
                    self.nodes[node.name] = PeriodOperator(node, relations, evaluate)
                    self.inputs[node.name] = node.inputs
                case FixpointNode():
                    self.nodes[node.name] = LeastFixpoint(node)
                    self.inputs[node.name] = (node.base, *node.inputs)
        none = np.zeros(0, dtype=np.int64)
        self.history: tuple[Integers, Integers] = (none, none)

    @property
    def peak(self) -> int:
        """The most entries there were after any timestamp of the last step."""
        return int(self.history[1].max()) if len(self.history[1]) else self.entries()

    def step(self, deltas: Mapping[str, Delta], until: int | None = None, over: bool = False) -> Delta:
        """Close the timestamps of all rows; returns the changes of the result at each of them."""
        ticks = Ticks(Times(deltas.values()).all, until, over)
        self.rejected = []
        deltas = self._accepted(deltas, ticks)
        found = self.watched.step(deltas, ticks)
        self.rejected += self.watched.rejected
        sizes = np.zeros(len(ticks.times), dtype=np.int64)
        for keys in self.watched.operators.values():
            sizes = sizes + keys.sizes
        for name, operator in self.nodes.items():
            if isinstance(operator, ByKey):
                given = [found[one] for one in self.inputs[name]]
                found[name] = operator.step_of(deltas, given, found[operator.plan.keys], ticks)
            elif isinstance(operator, BlockOperator | ChangingRelation | PairJoin):
                found[name] = operator.step_of(deltas, ticks)
            else:
                found[name] = operator.step([found[one] for one in self.inputs[name]], ticks)
            if isinstance(operator, ChangingRelation):
                self.rejected += operator.rejected
            sizes = sizes + operator.sizes
        sizes[-1:] += sum(contract.entries() for contract in self.contracts.values())
        self.history = ticks.times, sizes
        return found[self.plan.nodes[-1].name]

    def entries(self) -> int:
        """How many entries all nodes have now."""
        return sum(operator.entries() for operator in (*self._stateful().values(), *self.contracts.values()))

    def open_since(self) -> int | None:
        """When the oldest result row of a SEQ block has begun that is not given, as it has not ended."""
        found = (node.query.open_since() for node in self.nodes.values() if isinstance(node, PeriodOperator))
        return min((since for since in found if since is not None), default=None)

    def _stateful(self) -> dict[str, BlockOperator | ChangingRelation | PairJoin | ByKey | NodeOperator | EndedKeys]:
        return {**self.watched.operators, **self.nodes}

    def _accepted(self, deltas: Mapping[str, Delta], ticks: Ticks) -> dict[str, Delta]:
        """The rows that do not conflict with others."""
        found = dict(deltas)
        for name, contract in self.contracts.items():
            if name in deltas:
                found[name], rejected = contract.checked(deltas[name])
                self.rejected += rejected
            closed = ticks.frontier
            if closed is not None:
                contract.close(closed)
        return found

    def dump(self) -> State:
        """The states of all nodes, by the node's name and the table's."""
        return {
            f"{name}: {table}": found
            for name, operator in self._stateful().items()
            for table, found in operator.dump().items()
        } | {f"{name}: {_TOGETHER}": lines_of_json(contract.dump()) for name, contract in self.contracts.items()}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        for name, contract in self.contracts.items():
            contract.load(from_lines_of_json(state[f"{name}: {_TOGETHER}"]))
        for name, operator in self._stateful().items():
            mine = {
                table.removeprefix(f"{name}: "): found
                for table, found in state.items()
                if table.startswith(f"{name}: ")
            }
            operator.load(mine)


def inputs_of_keyed(node: KeyedNode) -> tuple[str, ...]:
    """The nodes whose results an operator of each key reads."""
    match node.node:
        case OverNode(input=below):
            return (below,)
        case ViewJoinNode(left=left, right=right):
            return left, right
    return ()


def _of_one_key(plan: KeyedNode, relations: Relations) -> OneKey:
    """The operator of a node that there is for each key."""
    match plan.node:
        case BlockNode() as node:
            return BlockOperator(node, relations)
        case PairNode() as node:
            return PairJoin(node, relations)
        case OverNode() as node:
            return _over(node)
        case ViewJoinNode() as node:
            return ViewJoin(node)


def _over(plan: OverNode) -> OverOperator | RankedOperator | RunningOperator:
    """The operator of functions over windows, by what it keeps."""
    if plan.keep == "running":
        return RunningOperator(plan)
    if plan.keep == "first" and all(call.function in RANKS for call in plan.calls):
        return RankedOperator(plan)
    return RunningOpen(plan) if plan.keep == "running open" else OverOperator(plan)


def _step_of_one_key(operator: OneKey, deltas: Mapping[str, Delta], inputs: Sequence[Delta], ticks: Ticks) -> Delta:
    if isinstance(operator, BlockOperator | PairJoin):
        return operator.step_of(deltas, ticks)
    assert isinstance(operator, OverOperator | RankedOperator | RunningOperator | ViewJoin), (
        "what there is for each key"
    )
    return operator.step(inputs, ticks)


def _printed(plan: CircuitPlan) -> set[str]:
    """The nodes whose results are printed as they are, or computed of: others are read by operators as they change."""
    nodes, found = {node.name: node for node in plan.nodes}, [plan.nodes[-1].name]
    for name in found:
        match nodes[name]:
            case MapNode(input=below) | ViewJoinNode(as_of=True, left=below):
                found.append(below)
            case UnionNode(inputs=several):
                found += several
    return set(found)
