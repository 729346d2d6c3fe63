"""Equal integrals are kept once: all their readers see one state, before or after what has just come."""

from __future__ import annotations

from dataclasses import replace

from streambound.incremental.circuit import BlockOp, Circuit, CircuitNode, NestedOp
from streambound.incremental.operators import DelayOp, IntegrateOp, PlusOp
from streambound.incremental.passes.rewriting import copied, rewritten


def share_integrals(circuit: Circuit) -> Circuit:
    """``z⁻¹(I a) -> (z⁻¹I) a``, one state; and, where that is there, ``I a -> (z⁻¹I) a + a``."""
    nodes = list[CircuitNode]()
    for node in circuit.nodes:
        if isinstance(node.op, NestedOp | BlockOp):
            node = replace(node, op=replace(node.op, body=share_integrals(node.op.body)))
        nodes.append(node)
    old: dict[tuple[int, IntegrateOp], int] = {}
    for node in circuit.nodes:
        if isinstance(node.op, DelayOp):
            under = circuit.nodes[node.inputs[0]]
            if isinstance(under.op, IntegrateOp) and under.op.clock == node.op.clock and not under.op.old:
                nodes[node.id] = replace(node, op=replace(under.op, old=True), inputs=under.inputs)
                old[under.inputs[0], replace(under.op, old=True)] = node.id
    for node in circuit.nodes:
        if isinstance(node.op, IntegrateOp) and not node.op.old:
            before = old.get((node.inputs[0], replace(node.op, old=True)))
            if before is not None:
                nodes[node.id] = replace(node, op=PlusOp(), inputs=(before, node.inputs[0]))
    return rewritten(replace(circuit, nodes=tuple(nodes)), copied)
