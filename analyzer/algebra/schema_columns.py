"""A column of an operator's rows, and how names find it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType
from streambound.analyzer.work import by_identity, spend


class ViewColumn(Struct, frozen=True):
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
    spend(3)
    return next(iter(places_of(column, given)), None)


def places_of(column: exp.Column, given: Schema) -> Iterator[int]:
    """The places of all columns that a name can mean."""
    alias = column.table.lower()
    for place in _by_name(given).get(column.name.lower(), ()):
        if not alias or given[place].alias.lower() == alias:
            yield place


def read_by(columns: Schema, *nodes: exp.Expr) -> frozenset[int]:
    """The positions of the columns that expressions read, subqueries included."""
    return frozenset(place for node in nodes for one in node.find_all(exp.Column) for place in places_of(one, columns))


@by_identity
def _by_name(given: Schema) -> dict[str, list[int]]:
    """The places of the columns of each name, in lower case."""
    found: dict[str, list[int]] = {}
    for place, column in enumerate(given):
        found.setdefault(column.name.lower(), []).append(place)
    return found
