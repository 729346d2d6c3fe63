"""Circuits: immutable graphs of operators over streams of Z-sets."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.models import Described
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType
from streambound.incremental.operators import (
    BucketsOp,
    ConstantOp,
    Declared,
    DelayOp,
    DifferentiateOp,
    DistinctOp,
    FilterOp,
    FirstOp,
    GroupOp,
    GroupRowsOp,
    IntegrateOp,
    JoinOp,
    MapOp,
    NegateOp,
    PlusOp,
    PortOp,
    PositiveOp,
    SourceOp,
    SumsOp,
    TotalOp,
    TouchedOp,
)


class NestedOp(Declared, frozen=True):
    """A circuit that runs to its end at each tick, on a clock of its own."""

    body: Circuit


Op = (
    SourceOp | ConstantOp | PortOp | FilterOp | MapOp | BucketsOp | NegateOp | PlusOp | JoinOp | DistinctOp
    | PositiveOp | SumsOp | GroupRowsOp | GroupOp | TouchedOp | DelayOp | IntegrateOp | DifferentiateOp | FirstOp
    | TotalOp | NestedOp
)  # fmt: skip
"""An operator of a circuit."""


class CircuitColumn(Struct, frozen=True):
    """A column of the rows at an operator's output."""

    name: str
    kind: DataType


class CircuitNode(Described, frozen=True):
    """An operator in its place: its number, the numbers of those at its inputs, its columns, and its SQL token."""

    DESCRIPTION = ("span",)

    id: int
    op: Op
    inputs: tuple[int, ...]
    schema: tuple[CircuitColumn, ...]
    span: Span | None = None


class Circuit(Struct, frozen=True):
    """Operators, the number of each being its place, and which of them is the output.

    ``clock_depth`` is how many clocks there are around: 0 for a query over Z-sets, 1 for one over streams of them, one
    more in a nested circuit.
    """

    nodes: tuple[CircuitNode, ...]
    output: int
    clock_depth: int = 0

    @property
    def schema(self) -> tuple[CircuitColumn, ...]:
        """The columns of the results."""
        return self.nodes[self.output].schema

    def order(self) -> tuple[int, ...]:
        """The numbers of all nodes, each after those that it depends on at the same tick."""
        found: dict[int, bool] = {}
        result: list[int] = []
        for start in range(len(self.nodes)):
            stack = [(start, False)]
            while stack:
                number, done = stack.pop()
                if done:
                    found[number] = True
                    result.append(number)
                    continue
                if number in found:
                    if not found[number] and any(n == number and d for n, d in stack):
                        raise CircuitError(f"a cycle without a delay goes through {number}")
                    continue
                found[number] = False
                stack.append((number, True))
                if not self.nodes[number].op.strict:
                    stack += [(one, False) for one in reversed(self.nodes[number].inputs)]
        return tuple(result)

    def full_order(self) -> tuple[int, ...]:
        """As `order`, and delays come after their inputs too, but for those that close a cycle."""
        cyclic = self.cyclic_delays()
        result: list[int] = []
        done = set[int]()
        for start in range(len(self.nodes)):
            stack = [(start, False)]
            while stack:
                number, ready = stack.pop()
                if ready:
                    result.append(number)
                elif number not in done:
                    done.add(number)
                    stack.append((number, True))
                    if number not in cyclic:
                        stack += [(one, False) for one in reversed(self.nodes[number].inputs)]
        return tuple(result)

    def cyclic_delays(self) -> frozenset[int]:
        """The delays whose input depends on them."""
        delays = [node for node in self.nodes if isinstance(node.op, DelayOp)]
        return frozenset(node.id for node in delays if self._depends(node.inputs[0], node.id))

    def _depends(self, number: int, on: int) -> bool:
        seen, waiting = set[int](), [number]
        while waiting:
            one = waiting.pop()
            if one == on:
                return True
            if one not in seen:
                seen.add(one)
                waiting += self.nodes[one].inputs
        return False


class CircuitError(ValueError):
    """A circuit that is not well formed."""


class CircuitBuilder:
    """Puts a circuit together; a node that is there already is taken again, so that common parts are one."""

    def __init__(self) -> None:
        self.nodes: list[CircuitNode] = []
        self._known: dict[tuple[Op, tuple[int, ...], int], int] = {}

    def add(
        self, op: Op, inputs: tuple[int, ...] = (), schema: tuple[CircuitColumn, ...] = (), span: Span | None = None
    ) -> int:
        """The number of a node with that operator and those inputs."""
        known = self._known.get((op, inputs, len(schema)))
        if known is None:
            known = self._known[op, inputs, len(schema)] = len(self.nodes)
            self.nodes.append(CircuitNode(known, op, inputs, schema, span))
        return known

    def forward(self, op: DelayOp, schema: tuple[CircuitColumn, ...], span: Span | None = None) -> int:
        """The number of a delay whose input comes later, by `close`."""
        self.nodes.append(CircuitNode(len(self.nodes), op, (), schema, span))
        return len(self.nodes) - 1

    def close(self, delay: int, source: int) -> None:
        """Give a delay its input."""
        self.nodes[delay] = replace(self.nodes[delay], inputs=(source,))

    def schema(self, number: int) -> tuple[CircuitColumn, ...]:
        """The columns of a node."""
        return self.nodes[number].schema

    def circuit(self, output: int, clock_depth: int) -> Circuit:
        """The circuit of what an output needs, its nodes numbered in their order."""
        whole = Circuit(tuple(self.nodes), output, clock_depth)
        needed, waiting = set[int](), [output]
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed.add(number)
                waiting += whole.nodes[number].inputs
        kept = [number for number in whole.order() if number in needed]
        place = {number: new for new, number in enumerate(kept)}
        nodes = tuple(
            replace(whole.nodes[number], id=place[number], inputs=tuple(place[i] for i in whole.nodes[number].inputs))
            for number in kept
        )
        return Circuit(nodes, place[output], clock_depth)
