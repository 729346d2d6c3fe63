"""GROUP BY and aggregates: the rows of a group at every point of time."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Scalar
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.types import DataType
from streambound.temporal.scalars import comparable, finding, no_subquery, over, text
from streambound.temporal.scope import Columns, SeenColumn, SeenNames
from streambound_runtime.operators.period_plan import SliceAggregate, SliceGroup, SlicePlan, SliceProject

_FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")
_HELP = "the aggregates of a SEQ block are COUNT, SUM, AVG, MIN and MAX"


def grouped(tree: Aggregate, under: SlicePlan, names: SeenNames) -> tuple[SlicePlan, Columns]:
    """The operators of an aggregate over those of its input, and its columns; raises Finding."""
    items = list[str]()
    columns = list[SeenColumn]()
    for place, key in enumerate(tree.keys):
        node = syntax_of(key.value)
        no_subquery(node, names.positions)
        comparable(node, names.positions)
        items.append(text(over(node, names.place)))
        own = names.seen(node) if isinstance(node, exp.Column) else None
        aliases = own.aliases if own is not None else frozenset[str]()
        columns.append(SeenColumn(aliases, key.name, place, type=names.type(node)))
    aggregates = list[SliceAggregate]()
    for place, call in enumerate(tree.calls, len(tree.keys)):
        argument = _argument(call, names)
        if argument and argument not in items[len(tree.keys) :]:
            items.append(argument)
        column = items.index(argument, len(tree.keys)) if argument else None
        distinct = call.distinct and call.function not in ("MIN", "MAX")
        aggregates.append(SliceAggregate(call.function.lower(), column, distinct=distinct))
        columns.append(SeenColumn(frozenset(), call.name, place, type=_type(call, names)))
    plan = SliceGroup(SliceProject(under, tuple(items)), len(tree.keys), tuple(aggregates), always=not tree.keys)
    return plan, tuple(columns)


def _type(call: AggregateCall, names: SeenNames) -> DataType | None:
    """The type of a count, and of the least and greatest values; None where it is not known."""
    if call.function == "COUNT":
        return BIGINT
    return names.type(syntax_of(call.arguments[0])) if call.function in ("MIN", "MAX") and call.arguments else None


def syntax_of(scalar: Scalar) -> exp.Expr:
    """The syntax of an expression as it was written."""
    assert scalar.syntax is not None, "the tree is lowered from SQL"
    return scalar.syntax


def _argument(call: AggregateCall, names: SeenNames) -> str:
    """The aggregated expression: NULL where a FILTER is not true or one of several columns is NULL; empty for rows."""
    at = call.syntax or exp.Null()
    if call.function not in _FUNCTIONS or call.order or call.ignore_nulls:
        message = f"{call.function} is outside of what a SEQ block can evaluate"
        raise finding(names.positions, message, at, _HELP)
    nodes = [syntax_of(one) for one in (*call.arguments, *([call.filter] if call.filter is not None else []))]
    for node in nodes:
        no_subquery(node, names.positions)
        if (inner := node.find(exp.AggFunc)) is not None:
            raise names.positions.finding(Code.UNSUPPORTED, "an aggregate of an aggregate", inner)
    if len(call.arguments) > 1 and (call.distinct or call.function != "COUNT"):
        message = f"{call.function} of several columns is outside of what a SEQ block can evaluate"
        raise finding(names.positions, message, at, "count the rows of a subquery with SELECT DISTINCT")
    written = [text(over(node, names.place)) for node in nodes]
    if call.function in ("SUM", "AVG"):
        names.summed(nodes[0], call.function)
    if call.filter is not None:
        names.condition(nodes[-1])
    values = written[: len(call.arguments)]
    tests = [f"({value}) IS NOT NULL" for value in values[1:]]
    tests += [f"({condition})" for condition in written[len(values) :]]
    value = values[0] if values else "1" if tests else ""
    return f"CASE WHEN {' AND '.join(tests)} THEN {value} END" if tests else value
