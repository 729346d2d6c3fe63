"""The chain rule and its kin: D and I are pushed inwards until each operator works on changes (algorithm 4.8)."""

from __future__ import annotations

from msgspec import Struct, field

from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitNode, NestedOp, Op
from streambound.incremental.circuit_text import label
from streambound.incremental.operators import (
    ConstantOp,
    DelayOp,
    DifferentiateOp,
    DistinctOp,
    FirstOp,
    GroupOp,
    GroupRowsOp,
    IntegrateOp,
    JoinOp,
    PlusOp,
    PortOp,
    PositiveOp,
    TotalOp,
    TouchedOp,
)
from streambound.incremental.passes.incrementalise import TICKS
from streambound.incremental.passes.rewriting import in_bodies
from streambound.incremental.zset import KeyedSums, ZSet

ITERATIONS = 1


class ChainStep(Struct, frozen=True):
    """One rewrite: the rule's name, and what it made of what."""

    rule: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.before}  ->  {self.after}"


def chain(circuit: Circuit) -> Circuit:
    """``D ∘ Q1 ∘ Q2 ∘ I  ->  Q1^Δ ∘ Q2^Δ``, inside of loops for their own clock first."""
    return traced(circuit)[0]


def traced(circuit: Circuit) -> tuple[Circuit, tuple[ChainStep, ...]]:
    """The circuit on changes, and the rules that made it, an operator a line."""
    steps: list[ChainStep] = []
    inner = in_bodies(circuit, lambda body: _Deltas(body, ITERATIONS, steps).loop())
    return _Deltas(inner, TICKS, steps).whole(), tuple(steps)


class _Deltas(Struct):
    """What each node of a circuit is as a change from tick to tick of one clock."""

    circuit: Circuit
    clock: int
    steps: list[ChainStep]
    builder: CircuitBuilder = field(default_factory=CircuitBuilder)
    _deltas: dict[int, int] = field(default_factory=dict)
    _copies: dict[int, int] = field(default_factory=dict)
    _open: list[tuple[int, int]] = field(default_factory=list)

    def whole(self) -> Circuit:
        """A circuit with D at its output."""
        top = self.circuit.nodes[self.circuit.output]
        if not isinstance(top.op, DifferentiateOp):
            return self.circuit
        return self._closed(self.delta(top.inputs[0]))

    def loop(self) -> Circuit:
        """The body of a loop, whose output is ``∫ D r``: it works on changes from iteration to iteration."""
        total = self.circuit.nodes[self.circuit.output]
        changes = self.circuit.nodes[total.inputs[0]]
        if not isinstance(changes.op, DifferentiateOp):
            return self.circuit
        return self._closed(self._like(total, TotalOp(), (self.delta(changes.inputs[0]),)))

    def nested(self) -> Circuit:
        """The body of a loop, whose inputs become changes from tick to tick."""
        return self._closed(self.delta(self.circuit.output))

    def _closed(self, output: int) -> Circuit:
        while self._open:
            delay, source = self._open.pop()
            self.builder.close(delay, self.delta(source))
        return self.builder.circuit(output, self.circuit.clock_depth)

    def delta(self, number: int) -> int:
        """The node of what changes at a node."""
        if number not in self._deltas:
            self._deltas[number] = self._delta(self.circuit.nodes[number])
        return self._deltas[number]

    def _delta(self, node: CircuitNode) -> int:
        op = node.op
        match op:
            case IntegrateOp(clock=self.clock):
                self._said("D ∘ I = id (theorem 2.22)", node, "its input")
                return self._copy(node.inputs[0])
            case PortOp():
                return self._like(node, op, ())
            case ConstantOp(rows, at_first):
                self._said("constant", node, "at the first tick")
                return self._like(node, ConstantOp(rows, at_first | {self.clock}), ())
            case DelayOp() if node.id in self.circuit.cyclic_delays():
                self._said("cycle (3.2)", node, f"{label(op)} of its change")
                delay = self.builder.forward(op, node.schema, node.span)
                self._open.append((delay, node.inputs[0]))
                return delay
            case JoinOp():
                return self._join(node, op)
            case DistinctOp() | PositiveOp() | GroupRowsOp() | GroupOp():
                return self._keyed(node, op)
            case NestedOp(body):
                self._said("loop (6.1)", node, "its body on changes")
                changed = _Deltas(body, self.clock, self.steps).nested()
                return self._like(node, NestedOp(changed), tuple(map(self.delta, node.inputs)))
            case TouchedOp():
                self._said("by definition (3.1)", node, f"D ∘ {label(op)} ∘ I")
                summed = [self._integral(self.delta(one)) for one in node.inputs]
                return self._like(node, DifferentiateOp(self.clock), (self._like(node, op, tuple(summed)),))
            case DelayOp() | IntegrateOp() | DifferentiateOp() | FirstOp() | TotalOp():
                self._said("linear and time-invariant (3.2)", node, label(op))
            case _ if op.linear:
                self._said("linear (3.3)", node, label(op))
            case _:
                raise AssertionError(f"no rule for {label(op)}")
        return self._like(node, op, tuple(map(self.delta, node.inputs)))

    def _join(self, node: CircuitNode, op: JoinOp) -> int:
        """``(a ⋈ b)^Δ = a ⋈ I(b) + z⁻¹I(a) ⋈ b``: theorem 3.4 with two of its three terms put together."""
        a, b = map(self.delta, node.inputs)
        self._said("bilinear (3.4)", node, "a ⋈ I(b) + z⁻¹I(a) ⋈ b")
        first = self._like(node, op, (a, self._integral(b)))
        second = self._like(node, op, (self._before(a), b))
        return self._like(node, PlusOp(), (first, second))

    def _keyed(self, node: CircuitNode, op: DistinctOp | PositiveOp | GroupRowsOp | GroupOp) -> int:
        """``f^Δ(d) = f(z⁻¹I(d) + d) − f(z⁻¹I(d))`` on the keys of d: proposition 4.7 for any sum over keys.

        What f makes of nothing is there at the first tick, for the view before it is empty.
        """
        change = self.delta(node.inputs[0])
        self._said("touched keys (4.7)", node, f"H(z⁻¹I(d), d) of {label(op)}")
        result = self._like(node, TouchedOp(op), (self._before(change), change))
        empty = op.apply(_zero(op))  # type: ignore[arg-type]
        if not empty:
            return result
        first = self._like(node, ConstantOp(tuple(empty), frozenset((self.clock,))), ())
        return self._like(node, PlusOp(), (result, first))

    def _integral(self, number: int) -> int:
        return self._on(number, IntegrateOp(self.clock))

    def _before(self, number: int) -> int:
        return self._on(self._integral(number), DelayOp(self.clock))

    def _on(self, number: int, op: Op) -> int:
        under = self.builder.nodes[number]
        return self.builder.add(op, (number,), under.schema, under.span)

    def _like(self, node: CircuitNode, op: Op, inputs: tuple[int, ...]) -> int:
        return self.builder.add(op, inputs, node.schema, node.span)

    def _copy(self, number: int) -> int:
        """A node as it is, with all below it."""
        if number not in self._copies:
            node = self.circuit.nodes[number]
            self._copies[number] = self._like(node, node.op, tuple(map(self._copy, node.inputs)))
        return self._copies[number]

    def _said(self, rule: str, node: CircuitNode, after: str) -> None:
        self.steps.append(ChainStep(rule, f"{label(node.op)} [{node.id}]", after))


def _zero(op: Op) -> ZSet | KeyedSums:
    """The zero of what an operator takes."""
    if isinstance(op, GroupRowsOp):
        return KeyedSums(1 + sum(call.width for call in op.calls))
    return ZSet()
