"""A column of an operator's rows, and how names find it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType
from streambound.analyzer.work import spend


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of an operator's rows.

    ``alias`` is the FROM item that it belongs to, empty in the result of a SELECT. ``column`` is the declared column
    whose values it has, None for a computed one; ``time`` says that it is an application time. ``type`` is None where
    it is not known; ``nullable``: it may be NULL.
    """

    alias: str
    name: str
    column: Column | None = None
    time: bool = False
    type: DataType | None = None
    nullable: bool = True

    def called(self, name: str, alias: str = "") -> bool:
        """Whether a name, which may have an alias before it, can mean this column."""
        return self.name.lower() == name.lower() and (not alias or self.alias.lower() == alias.lower())


Schema = tuple[ViewColumn, ...]
"""The columns of an operator's rows, in order."""


def meant(column: exp.Column, given: Schema) -> int | None:
    """The place of the column that a name means; None where there is none."""
    spend(3 + len(given) / 2)
    return next((place for place, found in enumerate(given) if found.called(column.name, column.table)), None)


def read_by(columns: Schema, *nodes: exp.Expr) -> frozenset[int]:
    """The places of the columns that expressions read, in their subqueries, too."""
    named = {(one.name, one.table) for node in nodes for one in node.find_all(exp.Column)}
    return frozenset(p for p, column in enumerate(columns) if any(column.called(*name) for name in named))
