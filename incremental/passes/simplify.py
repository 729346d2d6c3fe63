"""Simplification: conditions go to where they decide most, neighbours become one, what does nothing goes."""

from __future__ import annotations

from collections.abc import Sequence

from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal
from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitNode
from streambound.incremental.operators import Equality, FilterOp, JoinOp, MapOp, NegateOp, PlusOp
from streambound.incremental.passes.rewriting import copied, in_bodies, rewritten, until_stable
from streambound.incremental.row_expression import RowExpression
from streambound.incremental.translation.conditions import all_of, parts, split

_CANNOT_FAIL = frozenset({"=", "<=>", "<", "<=", ">", ">=", "<>", "is null", "is not null", "and", "or", "not"})
"""Functions that fail for no row, so that they can be asked of more rows than the query says."""


def simplify(circuit: Circuit) -> Circuit:
    """``σ(a × b) -> a ⋈ b``, ``σ(π a) -> π(σ a)``, ``σ(a + b) -> σa + σb``, ``π(π a) -> π a``, until nothing changes.

    A condition moves below another operator only if it cannot fail: Spark would not have asked it of all rows.
    """
    return until_stable(in_bodies(circuit, _once), _once)


def _once(circuit: Circuit) -> Circuit:
    return rewritten(circuit, _simpler)


def _simpler(builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
    under = [builder.nodes[one] for one in inputs]
    match node.op, under:
        case FilterOp(condition), [one]:
            return _filter(builder, node, condition, one)
        case MapOp(columns), [one] if isinstance(one.op, MapOp):
            to = {at: column.value for at, column in enumerate(one.op.columns)}
            if _copies_little(columns, one.op.columns):
                named = tuple(_renamed(column.moved(to), one.op.columns, column) for column in columns)
                return builder.add(MapOp(named), one.inputs, node.schema, node.span)
        case MapOp(columns), [one] if _is_identity(columns, len(one.schema)):
            return inputs[0]
        case JoinOp(keys, condition), [left, right] if condition is not None:
            return _join(builder, node, keys, parts(condition), (left, right))
        case NegateOp(), [one] if isinstance(one.op, NegateOp):
            return one.inputs[0]
    return copied(builder, node, inputs)


def _filter(builder: CircuitBuilder, node: CircuitNode, condition: RowExpression, under: CircuitNode) -> int:
    """A filter, at the place where it belongs."""
    match under.op:
        case FilterOp(first):
            both = all_of([first, condition])
            assert both is not None
            return builder.add(FilterOp(both), under.inputs, node.schema, node.span)
        case MapOp(columns) if _never_fails(condition.value) and _plain(columns, condition):
            moved = _renamed(condition.moved({at: c.value for at, c in enumerate(columns)}), columns, condition)
            below = builder.nodes[under.inputs[0]]
            kept = builder.add(FilterOp(moved), under.inputs, below.schema, node.span)
            return builder.add(under.op, (kept,), node.schema, under.span)
        case PlusOp():
            moved_below = tuple(builder.add(node.op, (one,), node.schema, node.span) for one in under.inputs)
            return builder.add(PlusOp(), moved_below, node.schema, under.span)
        case JoinOp(keys, first):
            conditions = [*(parts(first) if first is not None else []), *parts(condition)]
            left, right = (builder.nodes[one] for one in under.inputs)
            return _join(builder, node, keys, conditions, (left, right))
    return builder.add(node.op, (under.id,), node.schema, node.span)


def _join(
    builder: CircuitBuilder, node: CircuitNode, keys: tuple[Equality, ...], conditions: Sequence[RowExpression],
    sides: tuple[CircuitNode, CircuitNode],
) -> int:  # fmt: skip
    """A join whose conditions on one side are asked of that side, and whose equalities find the partners."""
    width = len(sides[0].schema)
    own: tuple[list[RowExpression], list[RowExpression]] = ([], [])
    common = list[RowExpression]()
    for condition in conditions:
        places = condition.positions
        side = 0 if places and max(places) < width else 1 if places and min(places) >= width else None
        if side is None or not _never_fails(condition.value):
            common.append(condition)
        else:
            own[side].append(condition.shifted(-width) if side else condition)
    inputs = []
    for below, asked in zip(sides, own, strict=True):
        filtered = all_of(asked)
        if filtered is None:
            inputs.append(below.id)
        else:
            inputs.append(builder.add(FilterOp(filtered), (below.id,), below.schema, node.span))
    more, rest = split(common, width)
    schema = (*sides[0].schema, *sides[1].schema)
    return builder.add(JoinOp((*keys, *more), all_of(rest)), tuple(inputs), schema, node.span)


def _never_fails(expression: Expression) -> bool:
    match expression:
        case Call(function, arguments):
            return function.name in _CANNOT_FAIL and all(map(_never_fails, arguments))
    return True


def _plain(columns: tuple[RowExpression, ...], condition: RowExpression) -> bool:
    """Whether what a condition reads is only passed on."""
    return all(isinstance(columns[at].value, Field | Literal) for at in condition.positions)


def _copies_little(outer: tuple[RowExpression, ...], inner: tuple[RowExpression, ...]) -> bool:
    """Whether no computed column would be computed twice, nor one that can fail be left out."""
    used = [at for column in outer for at in column.positions]
    computed = [at for at, column in enumerate(inner) if not isinstance(column.value, Field | Literal)]
    return all(used.count(at) == 1 for at in computed)


def _is_identity(columns: tuple[RowExpression, ...], width: int) -> bool:
    fields = [column.value for column in columns]
    return len(fields) == width and all(
        isinstance(field, Field) and field.name == str(at) for at, field in enumerate(fields)
    )


def _renamed(moved: RowExpression, inner: tuple[RowExpression, ...], outer: RowExpression) -> RowExpression:
    """The moved expression with the text of the column that it is now, if it is one."""
    if isinstance(outer.value, Field):
        return RowExpression(moved.value, inner[int(outer.value.name)].text)
    return moved
