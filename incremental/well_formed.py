"""What holds of every circuit that a pass hands on, and how it is found that it does not."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.incremental.circuit import Circuit, CircuitError, CircuitNode, NestedOp, Op
from streambound.incremental.operators import (
    BucketsOp,
    ConstantOp,
    DelayOp,
    DifferentiateOp,
    FilterOp,
    FirstOp,
    GroupOp,
    GroupRowsOp,
    IntegrateOp,
    JoinOp,
    MapOp,
    PlusOp,
    PortOp,
    SumsOp,
    TotalOp,
    TouchedOp,
)
from streambound.incremental.row_expression import RowExpression


def verified(circuit: Circuit) -> Circuit:
    """The circuit, if it is well formed; raises CircuitError with the first fault."""
    for fault in violations(circuit):
        raise CircuitError(fault)
    return circuit


def violations(circuit: Circuit, inside: bool = False) -> Iterator[str]:
    """What is wrong with a circuit: wiring, types, cycles without a delay, clocks that are not there, δ0 without ∫."""
    for place, node in enumerate(circuit.nodes):
        name = f"{type(node.op).__name__} {node.id}"
        if node.id != place:
            yield f"{name} is at place {place}"
        if any(not 0 <= one < len(circuit.nodes) for one in node.inputs):
            yield f"{name} has an input that is not there"
            return
        wanted = _ports(node.op.body) if isinstance(node.op, NestedOp) else node.op.arity
        if len(node.inputs) != wanted:
            yield f"{name} has {len(node.inputs)} inputs, not {wanted}"
            return
    try:
        circuit.order()
    except CircuitError as error:
        yield str(error)
        return
    for node in circuit.nodes:
        yield from _of_node(node, circuit, inside)


def _clocks(circuit: Circuit, inside: bool) -> tuple[int, ...]:
    """The clocks of a circuit: 0 of ticks, where it is over streams, and 1 of the iterations of a nested one."""
    return (*((0,) if circuit.clock_depth > inside else ()), *((1,) if inside else ()))


def _ports(body: Circuit) -> int:
    return max((node.op.number + 1 for node in body.nodes if isinstance(node.op, PortOp)), default=0)


def _of_node(node: CircuitNode, circuit: Circuit, inside: bool) -> Iterator[str]:
    name = f"{type(node.op).__name__} {node.id}"
    under = [circuit.nodes[one] for one in node.inputs]
    widths = [len(one.schema) for one in under]
    for expression, width in _expressions(node.op, widths):
        if any(at >= width for at in expression.positions):
            yield f"{name} reads a column beyond the {width} of its input"
    if len(node.schema) != _width(node, widths):
        yield f"{name} has {len(node.schema)} columns, not {_width(node, widths)}"
    match node.op:
        case DelayOp(clock) | IntegrateOp(clock=clock) | DifferentiateOp(clock) if clock not in _clocks(
            circuit, inside
        ):
            yield f"{name} runs on a clock that is not there, {clock}"
        case PortOp() | FirstOp() | TotalOp() if not inside:
            yield f"{name} is in no nested circuit"
        case FirstOp() if not isinstance(under[0].op, PortOp):
            yield f"{name} is at no input of the nested circuit"
        case TotalOp() if node.id != circuit.output:
            yield f"{name} is not the output of the nested circuit"
        case GroupRowsOp() if not _has_sums(under[0], circuit):
            yield f"{name} needs sums"
        case NestedOp(body):
            if not isinstance(body.nodes[body.output].op, TotalOp):
                yield f"{name}: its body has no ∫ at its output"
            if body.clock_depth != circuit.clock_depth + 1:
                yield f"{name}: its body has {body.clock_depth} clocks"
            yield from (f"{name}: {fault}" for fault in violations(body, inside=True))
    if isinstance(node.op, PlusOp) and widths[0] != widths[1]:
        yield f"{name} adds {widths[0]} columns and {widths[1]}"
    if inside and any(isinstance(one.op, PortOp) for one in under) and not isinstance(node.op, FirstOp):
        yield f"{name} reads an input that has no δ0"


def _has_sums(node: CircuitNode, circuit: Circuit) -> bool:
    """Whether a node's values are sums by key, not rows."""
    while isinstance(node.op, DelayOp | IntegrateOp | DifferentiateOp | PlusOp):
        node = circuit.nodes[node.inputs[0]]
    return isinstance(node.op, SumsOp)


def _width(node: CircuitNode, widths: list[int]) -> int:
    """How many columns a node must have, by its operator; what it has, where that is no matter of the operator."""
    match node.op:
        case MapOp(columns):
            return len(columns)
        case JoinOp():
            return sum(widths)
        case BucketsOp(ends=ends):
            return widths[0] + ends
        case ConstantOp(rows):
            return len(rows[0]) if rows else len(node.schema)
        case TouchedOp() | GroupOp() | GroupRowsOp() | SumsOp() | NestedOp():
            return len(node.schema)
    return widths[0] if widths else len(node.schema)


def _expressions(op: Op, widths: list[int]) -> Iterator[tuple[RowExpression, int]]:
    """The expressions of an operator, and how many columns the rows have that they read."""
    match op:
        case FilterOp(condition):
            yield condition, widths[0]
        case MapOp(columns):
            yield from ((one, widths[0]) for one in columns)
        case BucketsOp(time=time):
            yield time, widths[0]
        case JoinOp(keys, condition):
            for key in keys:
                yield key.left, widths[0]
                yield key.right, widths[1]
            if condition is not None:
                yield condition, sum(widths)
        case SumsOp(keys, calls):
            yield from ((one, widths[0]) for one in (*keys, *(a for call in calls for a in call.arguments)))
        case GroupOp(keys):
            yield from ((one, widths[0]) for one in keys)
