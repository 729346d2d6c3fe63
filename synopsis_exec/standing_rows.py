"""Rows of relations that only subqueries read: generated ones, in which these may find something.

Columns are taken for each other where they have the same name and type; the other values are small ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streambound.analyzer.types import Family
from streambound.criteria.contract import fits_column
from streambound.synopsis_exec.asked_relations import asked_relations
from streambound.synopsis_exec.nested_values import nested_texts
from streambound.synopsis_exec.plan_ir import Input

Row = dict[str, Any]
_TEXTS = ("", "a", "b")
_FEW = range(4)
_MOST = 24


def rows_behind(item: Input, row: Mapping[str, Any], relations: Sequence[Input], number: int) -> list[tuple[str, Row]]:
    """Rows of the relations that a computed one asks, of which it may have a row; ``number`` chooses other values."""
    asked = asked_relations(item.query)
    given = {column.name.lower(): (column.type, row.get(column.name)) for column in item.declared}
    found = []
    for relation in (one for one in relations if one.name.lower() in asked):
        values = {}
        for place, column in enumerate(relation.declared):
            kind, value = given.get(column.name.lower(), (None, None))
            small = _small(relation, place)
            same = kind == column.type and fits_column(column, value)
            values[column.name] = value if same else small[(number + place) % len(small)]
        found.append((relation.name, values))
    return found


def standing_rows(relation: Input, given: Mapping[str, Sequence[Row]], most: int) -> list[Row]:
    """Rows of a relation of which there are none, by the rows of the tables that there are."""
    axes = []
    for place, column in enumerate(relation.declared):
        seen = [row[column.name] for rows in given.values() for row in rows[:_MOST] if column.name in row]
        fine = dict.fromkeys(value for value in seen if value is not None and fits_column(column, value))
        axes.append([*list(fine)[: len(_FEW)], *_small(relation, place)[:2]])
    size = max(map(len, axes), default=1)
    rows = [[axis[(number + number // size * place) % len(axis)] for place, axis in enumerate(axes)]
            for number in range(min(_MOST, most))]  # fmt: skip
    names = [column.name for column in relation.declared]
    return [dict(zip(names, row, strict=True)) for row in dict.fromkeys(map(tuple, rows))]


def _small(relation: Input, place: int) -> Sequence[Any]:
    column = relation.declared[place]
    if column.domain is not None and column.domain.values:
        return column.domain.values
    if column.domain is not None and column.domain.low is not None:
        return (column.domain.low, column.domain.high)
    match column.type.family:
        case Family.STRING:
            return _TEXTS
        case Family.FLOAT:
            return [float(number) for number in _FEW]
        case Family.BOOLEAN:
            return (0, 1)
        case Family.OTHER:
            return nested_texts(column.type)
    return _FEW
