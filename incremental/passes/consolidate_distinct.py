"""Fewer eliminations of duplicates: propositions 4.5 and 4.6, on views, where no weight is negative.

Both fail for changes, so this comes before incrementalisation; 4.5 holds for σ and ⋈, not for π and + (measured).
"""

from __future__ import annotations

from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitNode, NestedOp
from streambound.incremental.operators import (
    DistinctOp,
    FilterOp,
    GroupOp,
    GroupRowsOp,
    IntegrateOp,
    JoinOp,
    MapOp,
    NegateOp,
    PlusOp,
    PositiveOp,
    SourceOp,
)
from streambound.incremental.passes.rewriting import copied, rewritten, until_stable


def consolidate_distinct(circuit: Circuit) -> Circuit:
    """``σ(distinct a) -> distinct(σ a)``, ``distinct a ⋈ distinct b -> distinct(a ⋈ b)`` (4.5);
    ``distinct(Q(distinct a)) -> distinct(Q(a))`` (4.6); ``distinct a -> a`` where a is a set.

    Inside of recursive queries nothing changes: what a loop adds up there are changes.
    """
    return until_stable(circuit, _once)


def _once(circuit: Circuit) -> Circuit:
    return rewritten(circuit, _consolidated)


def _consolidated(builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
    under = [builder.nodes[one] for one in inputs]
    match node.op, under:
        case DistinctOp(), [one] if is_set(builder, one.id):
            return one.id
        case DistinctOp(), [one]:
            return builder.add(node.op, (_without(builder, one.id),), node.schema, node.span)
        case FilterOp(), [one] if isinstance(one.op, DistinctOp) and is_bag(builder, one.inputs[0]):
            kept = builder.add(node.op, one.inputs, node.schema, node.span)
            return builder.add(DistinctOp(), (kept,), node.schema, one.span)
        case JoinOp(), [left, right] if isinstance(left.op, DistinctOp) and isinstance(right.op, DistinctOp):
            below = (left.inputs[0], right.inputs[0])
            if all(is_bag(builder, one) for one in below):
                joined = builder.add(node.op, below, node.schema, node.span)
                return builder.add(DistinctOp(), (joined,), node.schema, left.span)
    return copied(builder, node, inputs)


def _without(builder: CircuitBuilder, number: int) -> int:
    """What has the same rows of positive weight as a node, without duplicates being eliminated below: 4.6."""
    node = builder.nodes[number]
    match node.op:
        case DistinctOp() if is_bag(builder, node.inputs[0]):
            return _without(builder, node.inputs[0])
        case FilterOp() | MapOp() | PlusOp() | JoinOp() if all(is_bag(builder, one) for one in node.inputs):
            inputs = tuple(_without(builder, one) for one in node.inputs)
            return builder.add(node.op, inputs, node.schema, node.span)
    return number


def is_bag(builder: CircuitBuilder, number: int) -> bool:
    """Whether no row of a view can have a negative weight; ``a − a ⋉ b`` is seen to be part of a."""
    node = builder.nodes[number]
    match node.op:
        case SourceOp(history=history):
            return not history
        case DistinctOp() | PositiveOp() | GroupRowsOp() | GroupOp() | NestedOp():
            return True
        case PlusOp():
            left, right = (builder.nodes[one] for one in node.inputs)
            if isinstance(right.op, NegateOp):
                return is_bag(builder, left.id) and _is_part(builder, right.inputs[0], left.id)
            return is_bag(builder, left.id) and is_bag(builder, right.id)
        case NegateOp() | IntegrateOp():
            return False
    return bool(node.inputs) and all(is_bag(builder, one) for one in node.inputs)


def _is_part(builder: CircuitBuilder, part: int, whole: int) -> bool:
    """Whether a node has some of the rows of another: the left rows of a join with a set that has each of them once."""
    node = builder.nodes[part]
    if not isinstance(node.op, MapOp):
        return False
    joined = builder.nodes[node.inputs[0]]
    if not isinstance(joined.op, JoinOp) or joined.op.condition is not None or joined.inputs[0] != whole:
        return False
    right = builder.nodes[joined.inputs[1]]
    keys = {frozenset(key.right.positions) for key in joined.op.keys}
    single = all(frozenset((at,)) in keys for at in range(len(right.schema)))
    width = len(builder.nodes[whole].schema)
    return (
        is_set(builder, right.id) and single and [c.positions for c in node.op.columns] == [{i} for i in range(width)]
    )


def is_set(builder: CircuitBuilder, number: int) -> bool:
    """Whether each row of a view is there once."""
    node = builder.nodes[number]
    match node.op:
        case DistinctOp() | GroupRowsOp() | NestedOp():
            return True
        case FilterOp():
            return is_set(builder, node.inputs[0])
        case JoinOp():
            return all(is_set(builder, one) for one in node.inputs)
        case PlusOp():
            left, right = (builder.nodes[one] for one in node.inputs)
            negated = isinstance(right.op, NegateOp) and _is_part(builder, right.inputs[0], left.id)
            return negated and is_set(builder, left.id)
        case MapOp(columns):
            under = builder.nodes[node.inputs[0]]
            kept = {at for column in columns for at in column.positions if column.is_column}
            return kept >= set(range(len(under.schema))) and is_set(builder, under.id)
    return False
