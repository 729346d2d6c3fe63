"""Pruning by time: terms that no row can be in go, and integrals forget rows that no partner can come for any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streambound.incremental.circuit import BlockOp, Circuit, CircuitBuilder, CircuitNode
from streambound.incremental.operators import (
    BucketsOp,
    ConstantOp,
    DelayOp,
    DistinctOp,
    FilterOp,
    IntegrateOp,
    JoinOp,
    MapOp,
    NegateOp,
    PlusOp,
    PositiveOp,
    SourceOp,
    SumsOp,
    TouchedOp,
)
from streambound.incremental.passes.rewriting import copied, rewritten
from streambound.incremental.passes.time_facts import TimeFacts, of_condition, of_join

Times = Mapping[str, int]
"""Of each stream, the position of its timestamp."""


def prune_by_time(circuit: Circuit, times: Times) -> Circuit:
    """``z⁻¹I(a) ⋈ b -> 0`` where the join's condition demands that a is not older; and integrals with an expiry.

    How long a side is kept follows from the other side's future, through the condition. A row of a relation that
    changes has no time by which it could be forgotten; its history's rows are of the tick of their time.
    """
    return _pruned(circuit, times)[0]


def _pruned(circuit: Circuit, times: Times) -> tuple[Circuit, TimeFacts]:
    pass_ = _Pruning(circuit, times)
    result = rewritten(circuit, pass_.rule)
    return result, pass_.facts[pass_.last]


@dataclass
class _Pruning:
    """The facts of the new circuit's nodes, as it is put together."""

    circuit: Circuit
    times: Times
    facts: dict[int, TimeFacts] = field(default_factory=dict)
    last: int = 0

    def rule(self, builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
        """What stands for a node; nothing, where no row can be there."""
        number, facts = self._node(builder, node, inputs)
        self.facts.setdefault(number, facts)
        if node.id == self.circuit.output:
            self.last = number
        return number

    def _node(self, builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> tuple[int, TimeFacts]:
        empty = [_is_empty(builder.nodes[one]) for one in inputs]
        if isinstance(node.op, PlusOp) and any(empty):
            kept = inputs[1] if empty[0] else inputs[0]
            return kept, self.facts[kept]
        vanishes = (node.op.linear or node.op.bilinear) and not isinstance(node.op, DelayOp | SumsOp)
        if any(empty) and vanishes:
            return _nothing(builder, node), TimeFacts()
        given = [self.facts.get(one, TimeFacts()) for one in inputs]
        match node.op:
            case JoinOp():
                return self._join(builder, node, node.op, inputs, given)
            case FilterOp(condition):
                found = given[0].given(of_condition(condition, given[0]))
                return (
                    (_nothing(builder, node), TimeFacts()) if found is None else (copied(builder, node, inputs), found)
                )
            case BlockOp(body):
                changed, facts = _pruned(body, self.times)
                return builder.add(BlockOp(changed), (), node.schema, node.span), facts
        return copied(builder, node, inputs), self._facts(node, given)

    def _facts(self, node: CircuitNode, given: list[TimeFacts]) -> TimeFacts:
        match node.op:
            case SourceOp(table, history):
                if history:
                    return TimeFacts({0: (0, 0)})
                return TimeFacts({self.times[table]: (0, 0)} if table in self.times else {})
            case MapOp(columns):
                return given[0].mapped(columns)
            case IntegrateOp(0, old):
                return given[0].aged(1 if old else 0)
            case DelayOp(0):
                return given[0].aged(1)
            case PlusOp():
                return given[0].either(given[1])
            case NegateOp() | BucketsOp():
                return given[0]
            case TouchedOp(DistinctOp() | PositiveOp()):
                return given[1]
        return TimeFacts()

    def _join(
        self, builder: CircuitBuilder, node: CircuitNode, op: JoinOp, inputs: tuple[int, ...], given: list[TimeFacts]
    ) -> tuple[int, TimeFacts]:
        width = len(builder.nodes[inputs[0]].schema)
        both = given[0].beside(given[1], width)
        found = both.given(of_join(op, width, both))
        if found is None:
            return _nothing(builder, node), TimeFacts()
        kept = (
            self._expiring(builder, inputs[0], given[0], found, 0),
            self._expiring(builder, inputs[1], given[1], found, width),
        )
        return builder.add(op, kept, node.schema, node.span), found

    def _expiring(self, builder: CircuitBuilder, number: int, known: TimeFacts, found: TimeFacts, start: int) -> int:
        """A side of a join that is an integral, with the time after which its rows can have no partner."""
        node = builder.nodes[number]
        integral = builder.nodes[node.inputs[0]] if isinstance(node.op, DelayOp) and node.inputs else node
        if not isinstance(integral.op, IntegrateOp) or integral.op.clock or integral.op.expires:
            return number
        lows = {
            at: -low
            for at, (old, _) in known.columns.items()
            if old is None and (low := found.columns[at + start][0]) is not None
        }
        if not lows:
            return number
        column = min(lows, key=lambda at: (lows[at], at))
        op = replace(integral.op, expires=(column, lows[column]))
        kept = builder.add(op, integral.inputs, integral.schema, integral.span)
        self.facts[kept] = self.facts[integral.id]
        if node is integral:
            return kept
        delayed = builder.add(node.op, (kept,), node.schema, node.span)
        self.facts[delayed] = self.facts[number]
        return delayed


def _is_empty(node: CircuitNode) -> bool:
    return isinstance(node.op, ConstantOp) and not node.op.rows


def _nothing(builder: CircuitBuilder, node: CircuitNode) -> int:
    return builder.add(ConstantOp(()), (), node.schema, node.span)
