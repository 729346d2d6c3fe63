"""Select-project-join parts of a circuit become one node each, for a synopsis to execute; sums go in (A1)."""

from __future__ import annotations

from dataclasses import replace

from streambound.incremental.circuit import BlockOp, Circuit, CircuitBuilder, CircuitNode
from streambound.incremental.operators import DelayOp, IntegrateOp, JoinOp, SourceOp
from streambound.incremental.passes.rewriting import copied, rewritten


def fuse_blocks(circuit: Circuit) -> Circuit:
    """Each maximal part that is linear in each of its sources, with a join in it, becomes one node.

    A part whose rows another part needs, too, is no part of it: it stays a node of its own.
    """
    if circuit.clock_depth != 1:
        return circuit
    inside = _multilinear(circuit)
    roots = _roots(circuit, inside)

    def rule(builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
        if node.id in roots and len(_cone(circuit, node.id) & roots) == 1:
            body = _body(circuit, node.id)
            return builder.add(BlockOp(body), (), node.schema, node.span)
        return copied(builder, node, inputs)

    return rewritten(circuit, rule)


def _multilinear(circuit: Circuit) -> set[int]:
    """The nodes that add up products of what sources have had."""
    inside = set[int]()
    for number in circuit.full_order():
        op = circuit.nodes[number].op
        fits = isinstance(op, SourceOp | JoinOp) or (op.linear and bool(circuit.nodes[number].inputs))
        if fits and all(one in inside for one in circuit.nodes[number].inputs):
            inside.add(number)
    while True:  # what remembers a part's output for others is not in it
        readers = _readers(circuit)
        out = {
            number
            for number in inside
            if isinstance(circuit.nodes[number].op, DelayOp | IntegrateOp) and not readers[number] <= inside
        }
        if not out:
            return inside
        inside -= out


def _readers(circuit: Circuit) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {node.id: set() for node in circuit.nodes}
    for node in circuit.nodes:
        for one in node.inputs:
            found[one].add(node.id)
    return found


def _roots(circuit: Circuit, inside: set[int]) -> set[int]:
    """The nodes of parts that others read, and that have a join below them."""
    readers = _readers(circuit)
    return {
        number
        for number in inside
        if (number == circuit.output or not readers[number] <= inside)
        and any(isinstance(circuit.nodes[one].op, JoinOp) for one in _cone(circuit, number))
    }


def _cone(circuit: Circuit, root: int) -> set[int]:
    """A node and all that it depends on."""
    found, waiting = set[int](), [root]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += circuit.nodes[number].inputs
    return found


def _body(circuit: Circuit, root: int) -> Circuit:
    return rewritten(replace(circuit, output=root), copied)
