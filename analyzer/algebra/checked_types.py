"""Whether the expressions of a statement beyond joins have types that their operators take.

Those inside a select-project-join block are read with it (`analyzer.block_queries`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, aggregate_type, computed_of
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.row_expressions import known_expression, type_of
from streambound.analyzer.algebra.schema import joined, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.window_functions import SPREADS, operands
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import VOID, is_interval
from streambound.analyzer.derived import untyped
from streambound.analyzer.expressions.expression import fields
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.expressions.reading import Refused
from streambound.analyzer.findings import Positions
from streambound.analyzer.flatten import written
from streambound.analyzer.operators_outside import aggregate_refused
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import Family


def check_types(tree: nodes.Tree, catalog: Catalog, positions: Positions, recursive: Schema = ()) -> None:
    """Raises Finding for the first operator, from the bottom of the tree, that gets values of a wrong type.

    ``recursive`` are the columns of the relation that a `Fixpoint` around it defines.
    """
    if is_static(tree, catalog) or is_block(tree, catalog):
        return
    for below in nodes.inputs(tree):
        around = schema(tree.base, catalog) if isinstance(tree, nodes.Fixpoint) and below is tree.step else recursive
        check_types(below, catalog, positions, around)

    def columns(tree: nodes.Tree) -> Schema:
        return schema(tree, catalog, recursive)

    for node, given in _expressions(tree, columns):
        try:
            found = known_expression(node, given)
            known = all(given[int(one)].type is not None for one in fields(found))
            arrays = [given[int(one)].type for one in fields(found) if not isinstance(node.unnest(), exp.Column)]
            if any(one is not None and one.element is not None for one in arrays):
                help = "show the array as it is, or aggregate the rows again: COUNT(x), MAX(x)"
                raise positions.finding(Code.UNSUPPORTED, "this computes with an array of a group's rows", node, help)
            if found.kind == ANY and known:
                raise untyped(found, node)
        except KeyError:
            continue
        except Refused as refused:
            code = Code.TYPE_MISMATCH if refused.mismatch else Code.UNSUPPORTED
            raise positions.finding(code, str(refused), refused.node, refused.help) from refused
    match tree:
        case nodes.Aggregate(input, keys, calls):
            given = columns(input)
            for call, column in zip(calls, columns(tree)[len(keys) :], strict=True):
                _check_numbers(call, computed_of(call), given, positions)
                _check_simple(call, given, positions)
                typed = all(type_of(one.syntax, given)[0] is not None for one in call.arguments)
                if column.type is None and typed and call.function not in AGGREGATES:
                    raise aggregate_refused(call, positions)
        case nodes.Over(input, calls):
            for one in calls:
                _check_numbers(one, operands(one)[:1], columns(input), positions)
                _check_exact(one, columns(input), positions)
        case nodes.Union(left, right) | nodes.Except(left, right) | nodes.Intersect(left, right):
            _check_alike(tree, columns(left), columns(right), positions)


def _expressions(tree: nodes.Tree, columns: Callable[[nodes.Tree], Schema]) -> Iterator[tuple[exp.Expr, Schema]]:
    """The expressions that an operator computes on its rows, with the rows' columns."""
    match tree:
        case nodes.Filter(input, condition):
            yield condition.syntax, columns(input)
        case nodes.Project(input, items):
            given = columns(input)
            yield from ((item.value.syntax, given) for item in items if isinstance(item, nodes.Named))
        case nodes.Aggregate(input, keys, calls):
            given = columns(input)
            yield from ((key.value.syntax, given) for key in keys)
            yield from ((one.syntax, given) for call in calls for one in call.arguments)
        case nodes.Join(left=left, right=right, condition=nodes.Scalar() as condition):
            yield condition.syntax, joined(columns(left), columns(right), tree.using)


def _check_numbers(
    call: nodes.AggregateCall | nodes.WindowCall, of: Sequence[nodes.Scalar], given: Schema, positions: Positions
) -> None:
    """Raise a Finding for a sum or a percentile of values that are not numbers."""
    for argument in of:
        kind = type_of(argument.syntax, given)[0]
        if call.function in AGGREGATES and kind not in (None, VOID) and aggregate_type(call.function, kind) is None:
            message = f"{call.function} is of numbers, and this is {kind.with_article}"
            raise positions.finding(Code.TYPE_MISMATCH, message, argument.syntax, "cast it to the type that is meant")


def _check_exact(call: nodes.WindowCall, given: Schema, positions: Positions) -> None:
    """Raise a Finding for a variance of doubles over a window."""
    kind = type_of(call.arguments[0].syntax, given)[0] if call.function in SPREADS and call.arguments else None
    if kind is not None and kind.family is Family.FLOAT:
        message = f"{call.function} of {kind.with_article} over a window is outside the query language"
        help = "cast it to a DECIMAL, whose squares are added up exactly"
        raise positions.finding(Code.UNSUPPORTED, message, call.arguments[0].syntax, help)


def _check_simple(call: nodes.AggregateCall, given: Schema, positions: Positions) -> None:
    """Raise a Finding for an aggregate of arrays, structs and the like, whose values no group can keep."""
    for one in computed_of(call):
        kind = type_of(one.syntax, given)[0]
        counted = call.function == "COUNT" and not call.distinct and (kind is None or kind.element is None)
        if kind is None or kind.family is not Family.OTHER or kind == VOID or is_interval(kind) or counted:
            continue
        message = f"{call.function} of {kind.with_article} is outside the query language"
        help = "take what is shown: MAX(w.start), MAX_BY(x, y), or a field of a struct of two, MAX(STRUCT(y, x)).x"
        raise positions.finding(Code.UNSUPPORTED, message, one.syntax, help)


def _check_alike(
    tree: nodes.Union | nodes.Except | nodes.Intersect, above: Schema, below: Schema, positions: Positions
) -> None:
    """Raise a Finding for columns of two types, whose values are not written alike."""
    for first, second in zip(above, below, strict=False):
        kinds = first.type, second.type
        if None in kinds or VOID in kinds or kinds[0] == kinds[1]:
            continue
        if kinds[0] is not None and kinds[1] is not None and not kinds[0].comparable(kinds[1]):
            message = f"column {first.name!r} is {kinds[0].name} above and {kinds[1].name} here"
            raise positions.finding(Code.UNION_MISMATCH, message, written(tree).expression)
