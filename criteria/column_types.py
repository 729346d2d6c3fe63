"""The columns of a block's results, and the types of aggregates as Spark has them."""

from __future__ import annotations

from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT, DOUBLE, MOST_PLACES, decimal
from streambound.analyzer.query import Attribute, Branch, Output, Query
from streambound.analyzer.types import DataType, Family


def columns_of(query: Query) -> tuple[Column, ...]:
    """The select list as columns; a NULL takes its type from another branch of a union."""
    found = []
    for position, output in enumerate(query.branches[0].outputs):
        kinds = [type_of(branch, branch.outputs[position]) for branch in query.branches]
        found.append(Column(output.name, next((kind for kind in kinds if kind.name != "void"), kinds[0])))
    return tuple(found)


def type_of(branch: Branch, output: Output) -> DataType:
    """The type of a column of a branch's select list."""
    return branch.column(output.value).type if isinstance(output.value, Attribute) else output.value.type


def aggregate_type(function: str, argument: DataType | None) -> DataType:
    """The type of an aggregate of values of a type (Spark's `Sum`, `Average`, `CentralMomentAgg`)."""
    if function == "COUNT" or argument is None:
        return BIGINT
    if function in ("MIN", "MAX"):
        return argument
    digits, places = argument.precision if argument.family is not Family.FLOAT else 0, argument.scale or 0
    if argument.family is Family.DECIMAL and function == "SUM":
        return decimal(min(MOST_PLACES, digits + 10) - places, places)
    if argument.family is Family.DECIMAL and function == "AVG":
        return decimal(min(MOST_PLACES, digits + 4) - min(MOST_PLACES, places + 4), min(MOST_PLACES, places + 4))
    if function == "SUM" and argument.family is Family.INTEGER:
        return BIGINT
    return DOUBLE
