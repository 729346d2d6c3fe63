"""How passes make a new circuit of an old one: node by node, from its sources to its output."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitNode, NestedOp
from streambound.incremental.operators import DelayOp

Rule = Callable[[CircuitBuilder, CircuitNode, tuple[int, ...]], int]
"""Puts what stands for a node into the new circuit, its inputs being there already; the number of that."""


def copied(builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
    """The rule that changes nothing."""
    return builder.add(node.op, inputs, node.schema, node.span)


def rewritten(circuit: Circuit, rule: Rule) -> Circuit:
    """The circuit with each node replaced by a rule; delays that close a cycle are kept."""
    builder, place = CircuitBuilder(), dict[int, int]()
    cyclic = circuit.cyclic_delays()
    for number in circuit.full_order():
        node = circuit.nodes[number]
        if number in cyclic:
            assert isinstance(node.op, DelayOp)
            place[number] = builder.forward(node.op, node.schema, node.span)
        else:
            place[number] = rule(builder, node, tuple(place[one] for one in node.inputs))
    for number in cyclic:
        builder.close(place[number], place[circuit.nodes[number].inputs[0]])
    return builder.circuit(place[circuit.output], circuit.clock_depth)


def in_bodies(circuit: Circuit, change: Callable[[Circuit], Circuit]) -> Circuit:
    """The circuit with its nested ones changed."""

    def rule(builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
        op = replace(node.op, body=change(node.op.body)) if isinstance(node.op, NestedOp) else node.op
        return builder.add(op, inputs, node.schema, node.span)

    return rewritten(circuit, rule)


def until_stable(circuit: Circuit, change: Callable[[Circuit], Circuit], most: int = 100) -> Circuit:
    """The circuit changed until nothing changes any more."""
    for _ in range(most):
        changed = change(circuit)
        if changed == circuit:
            return circuit
        circuit = changed
    return circuit
