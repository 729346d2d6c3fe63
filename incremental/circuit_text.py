"""A circuit as text, a node a line; and what each operator is called in all that is printed of circuits."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.incremental.circuit import Circuit, CircuitNode, NestedOp, Op
from streambound.incremental.operators import (
    BucketsOp,
    ConstantOp,
    DelayOp,
    DifferentiateOp,
    DistinctOp,
    Equality,
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
from streambound.incremental.row_expression import RowExpression

_CLOCKS = ("", "↑")


def label(op: Op) -> str:
    """What an operator is called: its sign or word, and what it is of."""
    match op:
        case SourceOp(table, history):
            return f"changes of {table} with their times" if history else table
        case ConstantOp(rows, at_first):
            return f"{len(rows)} row{'s' * (len(rows) != 1)}" + (" at first" if at_first else "")
        case PortOp(number):
            return f"input {number + 1}"
        case FilterOp(condition):
            return f"σ {condition.text}"
        case MapOp(columns):
            return f"π {_listed(columns)}"
        case BucketsOp(time, size, slide):
            return f"buckets of {time.text}, {size} µs" + (f" every {slide} µs" if slide != size else "")
        case NegateOp():
            return "−"
        case PlusOp():
            return "+"
        case JoinOp():
            return " ".join(("⋈", *_conditions(op)))
        case DistinctOp():
            return "distinct"
        case PositiveOp():
            return "pos"
        case SumsOp(keys, calls):
            return (
                f"sums by ({_listed(keys)}) of {', '.join(dict.fromkeys(['COUNT(*)', *(call.text for call in calls)]))}"
            )
        case GroupRowsOp():
            return "rows of groups"
        case GroupOp(keys, function):
            return f"{function.text} by ({_listed(keys)})"
        case TouchedOp(inner):
            return f"H[{label(inner)}]"
        case DelayOp(clock):
            return f"{_CLOCKS[clock]}z⁻¹"
        case IntegrateOp(clock):
            return f"{_CLOCKS[clock]}I"
        case DifferentiateOp(clock):
            return f"{_CLOCKS[clock]}D"
        case FirstOp():
            return "δ0"
        case TotalOp():
            return "∫"
        case NestedOp():
            return "fixpoint"


def _listed(columns: tuple[RowExpression, ...]) -> str:
    return ", ".join(column.text for column in columns)


def _conditions(op: JoinOp) -> list[str]:
    keys = [_equality(key) for key in op.keys]
    found = [*keys, *([op.condition.text] if op.condition is not None else [])]
    return [" AND ".join(found)] if found else []


def _equality(key: Equality) -> str:
    if not key.left.text or not key.right.text:
        return key.left.text or key.right.text
    return f"{key.left.text} {'<=>' if key.null_safe else '='} {key.right.text}"


def traits(op: Op) -> tuple[str, ...]:
    """What an operator is, in words: linear, bilinear, strict, stateful."""
    named = {"linear": op.linear, "bilinear": op.bilinear, "strict": op.strict, "state": op.stateful}
    return tuple(name for name, holds in named.items() if holds)


def circuit_text(circuit: Circuit) -> str:
    """The circuit as text.

    Each line has a node's number, its operator, the numbers of its inputs, its columns, and what it is: linear,
    bilinear, strict, or one with a state. The circuit inside of a node is indented below it.
    """
    return "\n".join(_lines(circuit, ""))


def _lines(circuit: Circuit, indent: str) -> Iterator[str]:
    for node in circuit.nodes:
        yield indent + _line(node, circuit)
        if isinstance(node.op, NestedOp):
            yield from _lines(node.op.body, indent + "    ")


def _line(node: CircuitNode, circuit: Circuit) -> str:
    inputs = f" ({', '.join(map(str, node.inputs))})" if node.inputs else ""
    columns = ", ".join(column.name for column in node.schema)
    said = "; ".join(traits(node.op))
    output = " <- output" if node.id == circuit.output else ""
    line = f"{node.id}: {label(node.op)}{inputs}"
    told = f": {columns}" if columns and not isinstance(node.op, MapOp) else ""
    return f"{line}{told}{f'  [{said}]' if said else ''}{output}"
