"""WITH RECURSIVE … UNION: a nested circuit with a loop (DBSP, section 5)."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import Fixpoint, Tree
from streambound.analyzer.spans import Span
from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitNode, NestedOp
from streambound.incremental.operators import (
    DelayOp,
    DifferentiateOp,
    FirstOp,
    GroupOp,
    GroupRowsOp,
    IntegrateOp,
    NegateOp,
    PortOp,
    PositiveOp,
    SumsOp,
    TotalOp,
)
from streambound.incremental.translation.rows import same_types
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import BoundView, Untranslatable

ITERATIONS = 1
"""The clock of a nested circuit."""

_NOT_MONOTONE = (NegateOp, PositiveOp, SumsOp, GroupRowsOp, GroupOp, NestedOp)


def fixpoint(to: Translator, tree: Tree, around: Around) -> BoundView:
    """``∫ D r`` with ``r = distinct(base + step(z⁻¹ r))``, each input of the loop being ``I δ0`` of what is outside."""
    assert isinstance(tree, Fixpoint)
    span = to.place(tree)
    if not tree.distinct:
        message = "UNION ALL in a recursive query counts paths, of which there can be infinitely many"
        raise Untranslatable(message, tree.syntax, span)
    base = to.view(tree.base, around)
    if base.prefix:
        raise Untranslatable("a recursive query that names columns around it has no circuit", tree.syntax, span)
    delay = to.builder.forward(DelayOp(ITERATIONS), base.schema, span)
    named = {**around.recursive, tree.name.lower(): base.at(delay)}
    step = to.view(tree.step, replace(around, recursive=named))
    if step.prefix:
        raise Untranslatable("a recursive query that names columns around it has no circuit", tree.syntax, span)
    if len(step.columns) != len(base.columns):
        raise Untranslatable(f"{len(base.columns)} columns and {len(step.columns)}", tree.syntax, span)
    step = same_types(to, step, base)
    relation = to.distinct(to.plus(base, step, span), span)
    to.builder.close(delay, relation.node)
    return base.at(_nested(to, relation.node, delay, span))


def _nested(to: Translator, relation: int, delay: int, span: Span | None) -> int:
    """The node of a loop, whose inputs are what does not depend on it."""
    nodes = to.builder.nodes
    inside = _dependent(nodes, relation, delay)
    for number in sorted(inside):
        if isinstance(nodes[number].op, _NOT_MONOTONE):
            message = "a recursive query may not take rows away from itself, nor aggregate them"
            raise Untranslatable(message, None, nodes[number].span or span)
    body, place, ports = CircuitBuilder(), dict[int, int](), list[int]()

    def added(number: int) -> int:
        node = nodes[number]
        if number in place:
            return place[number]
        if number in inside:
            place[number] = body.add(node.op, tuple(map(added, node.inputs)), node.schema, node.span)
            return place[number]
        ports.append(number)
        first = body.add(FirstOp(), (body.add(PortOp(len(ports) - 1), (), node.schema, node.span),), node.schema)
        place[number] = body.add(IntegrateOp(ITERATIONS), (first,), node.schema)
        return place[number]

    place[delay] = body.forward(DelayOp(ITERATIONS), nodes[delay].schema, span)
    output = added(relation)
    body.close(place[delay], output)
    schema = nodes[relation].schema
    changes = body.add(DifferentiateOp(ITERATIONS), (output,), schema, span)
    total = body.add(TotalOp(), (changes,), schema, span)
    return to.builder.add(NestedOp(body.circuit(total, 1)), tuple(ports), schema, span)


def _dependent(nodes: list[CircuitNode], relation: int, delay: int) -> set[int]:
    """The nodes between a delay and what it delays."""
    order = Circuit(tuple(nodes), relation, 0).order()
    found = {delay}
    for number in order:
        if found & set(nodes[number].inputs):
            found.add(number)
    return found | {relation}
