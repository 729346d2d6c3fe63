"""The columns of a block's results."""

from __future__ import annotations

from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Output, Query
from streambound.analyzer.types import DataType


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
