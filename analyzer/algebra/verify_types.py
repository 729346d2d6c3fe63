"""What holds of the types of a tree: conditions are true or false, sides can be compared, blocks are blocks."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.schema import joined
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.constants import VOID
from streambound.analyzer.types import NUMERIC, DataType, Family

_MOMENTS = frozenset({Family.DATE, Family.TIMESTAMP})
_CONVERTED = frozenset({Family.STRING, Family.OTHER})
"""Families whose values Spark may convert to those of others."""


def ill_typed(tree: nodes.Tree, given: list[Schema], catalog: Catalog) -> Iterator[str]:
    """The type faults of one operator over inputs of those columns; unknown types are accepted."""
    name = type(tree).__name__
    match tree:
        case nodes.Filter(condition=condition):
            yield from _conditions(name, [condition], given[0])
        case nodes.Join(using=using, condition=condition, member=member):
            both = joined(given[0], given[1], ())
            yield from _conditions(name, [condition, member], both)
            for column in using:
                sides = [found for side in given for found in side if found.called(column)][:2]
                if len(sides) == 2:
                    yield from _alike(name, sides[0], sides[1])
        case nodes.Union() | nodes.Except() | nodes.Intersect() | nodes.Fixpoint():
            for one, other in zip(given[0], given[1], strict=False):
                yield from _alike(name, one, other)
        case nodes.Bucket(time=time):
            kind = type_of(time.syntax, given[0])[0]
            if kind is not None and kind.family not in {*_MOMENTS, Family.INTEGER, *_CONVERTED}:
                yield f"Bucket: {time.text} is {kind.with_article}, no time"
        case nodes.FirstRows(count=count, offset=offset):
            for number in (count, offset):
                kind = type_of(number.syntax, ())[0] if number is not None else None
                if number is not None and kind is not None and kind.family is not Family.INTEGER:
                    yield f"FirstRows: {number.text} is {kind.with_article}, no number of rows"
        case nodes.Aggregate(calls=calls):
            for call in calls:
                kinds = [type_of(argument.syntax, given[0])[0] for argument in call.arguments]
                if call.function in ("SUM", "AVG") and any(kind and kind.family in _NO_NUMBERS for kind in kinds):
                    yield f"Aggregate: {call.function} of what is no number"
        case nodes.Apply(kind=nodes.ApplyKind.SCALAR) if len(given[1]) != 1:
            yield f"Apply: a subquery that is a value has {len(given[1])} columns"
        case nodes.Apply(kind=nodes.ApplyKind.IN, operands=operands) if len(given[1]) != len(operands):
            yield f"Apply: {len(operands)} operands and {len(given[1])} columns"
        case nodes.SpjBlock(input) if not is_block(input, catalog):
            yield "SpjBlock: it holds what is no select-project-join block"


_NO_NUMBERS = frozenset({Family.BOOLEAN, Family.DATE, Family.TIMESTAMP})


def _conditions(name: str, conditions: list[nodes.Scalar | None], given: Schema) -> Iterator[str]:
    for condition in conditions:
        kind = type_of(condition.syntax, given)[0] if condition is not None else None
        if condition is not None and kind is not None and kind != VOID and kind.family is not Family.BOOLEAN:
            yield f"{name}: {condition.text} is {kind.with_article}, no condition"


def _alike(name: str, one: ViewColumn, other: ViewColumn) -> Iterator[str]:
    if one.type is not None and other.type is not None and not _have_common(one.type, other.type):
        yield f"{name}: {one.name} is {one.type.name} and {other.type.name}"


def _have_common(one: DataType, other: DataType) -> bool:
    """Whether Spark has a type for values of both."""
    families = {one.family, other.family}
    return len(families) == 1 or bool(families & _CONVERTED) or families <= NUMERIC or families <= _MOMENTS
