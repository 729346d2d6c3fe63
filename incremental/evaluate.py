"""The reference evaluator: any circuit, tick by tick, each operator by its definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

from msgspec import Struct, field

from streambound.analyzer.work import spend
from streambound.incremental.circuit import Circuit, CircuitNode, NestedOp
from streambound.incremental.operators import (
    ConstantOp,
    DelayOp,
    DifferentiateOp,
    FirstOp,
    Group,
    IntegrateOp,
    PortOp,
    SourceOp,
    TotalOp,
)
from streambound.incremental.zset import Row, ZSet

MAX_ITERATIONS = 1_000
"""Iterations of a recursive query at one tick."""
_STEPS_AN_OPERATOR, _STEPS_A_ROW = 2, 5

Inputs = Mapping[SourceOp, ZSet]
"""What the sources have at a tick; one that is not named has nothing."""
StopRule = Literal["settled", "first-empty"]


class NoFixpointError(RuntimeError):
    """A recursive query that has no end at a tick; ``newest`` is what its last iteration added."""

    def __init__(self, iterations: int, newest: ZSet) -> None:
        super().__init__(f"no fixpoint after {iterations:,} iterations; the newest rows are {list(newest)[:3]}")
        self.newest = newest


def evaluate(circuit: Circuit, ticks: Iterable[Inputs]) -> list[ZSet]:
    """The output at each tick of a circuit over streams."""
    return list(map(Execution(circuit).step, ticks))


def evaluate_once(circuit: Circuit, inputs: Inputs) -> ZSet:
    """The output of a circuit over Z-sets, that is, a query: its value of what the sources have."""
    return Execution(circuit).step(inputs)


class Execution(Struct):
    """A circuit with what it remembers.

    ``stop`` is when the loop of a nested circuit ends: "settled" is the rule that holds, "first-empty" that of the
    paper's section 5.1 for loops whose results only grow, which those of incremental loops do not.
    """

    circuit: Circuit
    max_iterations: int = MAX_ITERATIONS
    stop: StopRule = "settled"
    ticks: int = 0
    _remembered: dict[int, Group] = field(default_factory=dict)
    _loops: dict[int, Loop] = field(default_factory=dict)
    _order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._order = self.circuit.order()
        for node in self.circuit.nodes:
            if isinstance(node.op, NestedOp):
                self._loops[node.id] = Loop(node.op.body, self.max_iterations, self.stop)

    def step(self, inputs: Inputs) -> ZSet:
        """The output at the next tick."""
        values: dict[int, Group] = {}
        for number in self._order:
            values[number] = self._value(self.circuit.nodes[number], values, inputs)
        for node in self.circuit.nodes:
            if isinstance(node.op, DelayOp):
                self._remembered[node.id] = values[node.inputs[0]]
        self.ticks += 1
        output = values[self.circuit.output]
        assert isinstance(output, ZSet)
        return output

    def _value(self, node: CircuitNode, values: dict[int, Group], inputs: Inputs) -> Group:
        given = [values[one] for one in node.inputs] if not node.op.strict else []
        spend(_STEPS_AN_OPERATOR + _STEPS_A_ROW * sum(map(len, given)))
        before = self._remembered.get(node.id)
        match node.op:
            case SourceOp():
                return inputs.get(node.op, ZSet())
            case ConstantOp(at_first=at_first):
                return ZSet() if 0 in at_first and self.ticks else node.op.zset
            case DelayOp():
                return ZSet() if before is None else before
            case IntegrateOp():
                summed = given[0] if before is None else before + given[0]  # type: ignore[operator]
                self._remembered[node.id] = summed
                return summed
            case DifferentiateOp():
                self._remembered[node.id] = given[0]
                return given[0] if before is None else given[0] - before  # type: ignore[operator]
            case NestedOp():
                return self._loops[node.id].step(given, self.ticks)  # type: ignore[arg-type]
            case PortOp() | FirstOp() | TotalOp():
                raise AssertionError(f"{node.op} outside of a nested circuit")
        return node.op.apply(*given)  # type: ignore[arg-type]


class Loop(Struct):
    """A nested circuit with what it remembers of each iteration of the ticks before.

    What its operators have on clock 0 is a list, an iteration a place; beyond the list's end they have its last value.
    """

    body: Circuit
    max_iterations: int
    stop: StopRule
    _history: dict[int, list[Group]] = field(default_factory=dict)
    _order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._order = self.body.order()

    @property
    def depth(self) -> int:
        """The iterations of the ticks before that had an effect of their own."""
        return max((len(values) for values in self._history.values()), default=0)

    def step(self, given: list[ZSet], tick: int) -> ZSet:
        """The sum of the outputs of all iterations of a tick; raises NoFixpointError where there is no end."""
        remembered: dict[int, Group] = {}
        new: dict[int, list[Group]] = {}
        total, output, depth = ZSet(), ZSet(), self.depth
        source = self.body.nodes[self.body.output].inputs[0]
        for iteration in range(self.max_iterations):
            values: dict[int, Group] = {}
            changed = iteration == 0
            for number in self._order:
                node = self.body.nodes[number]
                values[number], moved = self._value(node, values, given, (remembered, new), (tick, iteration))
                changed = changed or moved
            for node in self.body.nodes:
                if isinstance(node.op, DelayOp):
                    value = values[node.inputs[0]]
                    if node.op.clock:
                        changed = changed or not _same(remembered.get(node.id), value)
                        remembered[node.id] = value
                    else:
                        new.setdefault(node.id, []).append(value)
            added = values[source]
            assert isinstance(added, ZSet)
            output = added
            total += output
            if self._ends(iteration, depth, changed, output):
                self._history = new
                return total
        raise NoFixpointError(self.max_iterations, output)

    def _ends(self, iteration: int, depth: int, changed: bool, output: ZSet) -> bool:
        """Whether all further iterations are like this one.

        They are if nothing that is remembered from one iteration to the next has changed, and the ticks before had no
        effect of their own in later ones.
        """
        if self.stop == "first-empty":
            return not output and iteration > 0
        return not changed and iteration >= depth - 1

    def _value(
        self,
        node: CircuitNode,
        values: dict[int, Group],
        given: list[ZSet],
        memory: tuple[dict[int, Group], dict[int, list[Group]]],
        now: tuple[int, int],
    ) -> tuple[Group, bool]:
        """The value of a node, and whether what it remembers for the next iteration has changed.

        ``memory``: what is remembered of the last iteration, and what is to be of this tick.
        """
        remembered, history = memory
        tick, iteration = now
        inner = [values[one] for one in node.inputs] if not node.op.strict else []
        spend(_STEPS_AN_OPERATOR + _STEPS_A_ROW * sum(map(len, inner)))
        match node.op:
            case PortOp(number):
                return given[number], False
            case FirstOp():
                return (inner[0] if iteration == 0 else ZSet()), False
            case TotalOp():
                return inner[0], False
            case ConstantOp(at_first=at_first):
                silent = (0 in at_first and tick > 0) or (1 in at_first and iteration > 0)
                return (ZSet() if silent else node.op.zset), False
            case DelayOp(clock):
                before = remembered.get(node.id) if clock else self._kept(node.id, iteration)
                return (ZSet() if before is None else before), False
            case IntegrateOp(clock=clock) | DifferentiateOp(clock):
                before = remembered.get(node.id) if clock else self._kept(node.id, iteration)
                summed = isinstance(node.op, IntegrateOp)
                new = inner[0] if before is None or not summed else before + inner[0]  # type: ignore[operator]
                if clock:
                    remembered[node.id] = new
                else:
                    history.setdefault(node.id, []).append(new)
                value = new if summed or before is None else new - before  # type: ignore[operator]
                return value, bool(clock) and not _same(before, new)
            case SourceOp() | NestedOp():
                raise AssertionError(f"{node.op} inside of a nested circuit")
        return node.op.apply(*inner), False  # type: ignore[arg-type]

    def _kept(self, number: int, iteration: int) -> Group | None:
        kept = self._history.get(number)
        return kept[min(iteration, len(kept) - 1)] if kept else None


def _same(before: Group | None, new: Group) -> bool:
    return not new if before is None else before == new


class SourceChange(Struct, frozen=True):
    """A row of a source, with its weight, at a time; None: before all times."""

    table: str
    row: Row
    time: Fraction | None = None
    weight: int = 1


def ticks(changes: Iterable[SourceChange]) -> tuple[tuple[Fraction, ...], list[dict[SourceOp, ZSet]]]:
    """The closed timestamps, and what each source has at each: rows, and of histories changes with their times.

    The first timestamp is the least of any row; what has no time is there from then on.
    """
    listed = list(changes)
    times = tuple(sorted({change.time for change in listed if change.time is not None}))
    found = [dict[SourceOp, list[tuple[Row, int]]]() for _ in times]
    place = {time: at for at, time in enumerate(times)}
    for change in listed if times else ():
        now = found[0 if change.time is None else place[change.time]]
        now.setdefault(SourceOp(change.table), []).append((change.row, change.weight))
        dated: Row = (change.time, *change.row)
        now.setdefault(SourceOp(change.table, history=True), []).append((dated, change.weight))
    return times, [{source: ZSet(rows) for source, rows in one.items()} for one in found]


def together(changes: Iterable[SourceChange]) -> dict[SourceOp, ZSet]:
    """What each source has had when all of some changes have come, whatever their times."""
    found = dict[SourceOp, list[tuple[Row, int]]]()
    for change in changes:
        dated: Row = (change.time, *change.row)
        found.setdefault(SourceOp(change.table), []).append((change.row, change.weight))
        found.setdefault(SourceOp(change.table, history=True), []).append((dated, change.weight))
    return {source: ZSet(rows) for source, rows in found.items()}
