"""Lifting to streams, and incrementalisation by definition: D around the output, I around the sources (DBSP, 3.1)."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitNode
from streambound.incremental.operators import DifferentiateOp, IntegrateOp, SourceOp
from streambound.incremental.passes.rewriting import copied, in_bodies, rewritten

TICKS = 0
"""The clock of closed timestamps."""


def incrementalise(circuit: Circuit) -> Circuit:
    """``↑Q  ->  D ∘ ↑Q ∘ I``: of changes of the sources it makes changes of the results."""

    def rule(builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
        number = copied(builder, node, inputs)
        if isinstance(node.op, SourceOp):
            return builder.add(IntegrateOp(TICKS), (number,), node.schema, node.span)
        return number

    summed = rewritten(circuit, rule)
    top = summed.nodes[summed.output]
    added = CircuitNode(len(summed.nodes), DifferentiateOp(TICKS), (top.id,), top.schema, top.span)
    return replace(summed, nodes=(*summed.nodes, added), output=added.id)


def lift(circuit: Circuit) -> Circuit:
    """``Q  ->  ↑Q``: the same operators under one more clock."""
    deeper = in_bodies(circuit, lambda body: replace(body, clock_depth=body.clock_depth + 1))
    return replace(deeper, clock_depth=circuit.clock_depth + 1)
