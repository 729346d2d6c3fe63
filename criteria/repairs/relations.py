"""``… AND T.a = R.a``: an equality with a relation's column, of which there are finitely many values."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.catalog import Column, Kind, Table
from analyzer.query import Op
from analyzer.types import DataType, Family
from criteria.repairs.rejected import Rejected
from criteria.repairs.steps import AddCondition, Change, JoinRelation, Place

WEIGHT = 35
_NEW = 10
_OTHER_NAME = 8
MOST = 3
"""Columns tried for one attribute, those of the same name first."""


def relations(rejected: Rejected) -> Iterator[Change]:
    """The columns of the relations that the SELECT reads, then those of the catalog's other ones."""
    for culprits, attribute in rejected.places():
        branch = culprits.branch
        kind, place = branch.column(attribute).type, Place.of(branch, attribute)
        offset = "" if kind.family is Family.STRING else 0
        for source in branch.of_kind(Kind.RELATION):
            for column, weight in _columns(source.columns, attribute.column, kind):
                step = AddCondition(place, Op.EQ, Place(source.span, column), offset, kind)
                title = f"let {attribute} equal {source.alias}.{column}"
                yield Change(("relation",), (title,), WEIGHT + weight, (step,))
        for table in _unread(rejected, {source.table for source in branch.sources}):
            for column, weight in _columns(table.columns, attribute.column, kind):
                title = f"join {table.name} on {attribute} = {table.name}.{column}"
                note = f"results are repeated for equal rows of {table.name}"
                joined = JoinRelation(place, table, column, kind)
                yield Change(("relation",), (title,), WEIGHT + _NEW + weight, (joined,), (note,))


def _unread(rejected: Rejected, read: set[str]) -> Iterator[Table]:
    return (table for table in rejected.catalog.tables if table.kind is Kind.RELATION and table.name not in read)


def _columns(columns: tuple[Column, ...], name: str, kind: DataType) -> list[tuple[str, int]]:
    comparable = [column.name for column in columns if column.type.comparable(kind)]
    ranked = [(column, 0 if column.lower() == name.lower() else _OTHER_NAME) for column in comparable]
    return sorted(ranked, key=lambda found: found[1])[:MOST]
