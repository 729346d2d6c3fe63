"""``… AND T.a_id = R.a_id``: an equality with a relation's column, of which there are finitely many values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.query import Attribute, Op
from streambound.analyzer.types import Family
from streambound.criteria.repairs.keys import KEY, referenced
from streambound.criteria.repairs.rejected import Culprits, Rejected
from streambound.criteria.repairs.steps import AddCondition, Change, JoinRelation, Place

WEIGHT = 10
_NEW = 2
_NO_KEY = 4
_EQUAL = 80
"""For an attribute that equals one before it: bounding that one bounds both, unless it has no place in the text."""


def relations(rejected: Rejected) -> Iterator[Change]:
    """The columns that an attribute refers to: of the relations that the SELECT reads, then of the catalog's others."""
    for culprits in rejected.culprits:
        seen = set[Attribute]()
        for attribute in culprits.declared:
            more = _EQUAL if attribute in seen else 0
            yield from (
                replace(change, weight=change.weight + more) for change in _joins(rejected, culprits, attribute)
            )
            seen.update(culprits.facts.equal_to(attribute))


def _joins(rejected: Rejected, culprits: Culprits, attribute: Attribute) -> Iterator[Change]:
    branch = culprits.branch
    kind, place = branch.column(attribute).type, Place.of(branch, attribute)
    offset = "" if kind.family is Family.STRING else 0
    for source in branch.of_kind(Kind.RELATION):
        for column, rank in referenced(attribute.column, kind, source.table, source.columns):
            step = AddCondition(place, Op.EQ, Place(source.span, column), offset, kind)
            title = f"let {attribute} equal {source.alias}.{column}"
            yield Change(("relation",), (title,), _weight(rank), (step,))
    for table in _unread(rejected, {source.table for source in branch.sources}):
        for column, rank in referenced(attribute.column, kind, table.name, table.columns):
            title = f"join {table.name} on {attribute} = {table.name}.{column}"
            joined = JoinRelation(place, table, column, kind)
            yield Change(("relation",), (title,), _weight(rank) + _NEW, (joined,))


def _weight(rank: int) -> int:
    return WEIGHT + (0 if rank == KEY else _NO_KEY)


def _unread(rejected: Rejected, read: set[str]) -> Iterator[DeclaredTable]:
    return (table for table in rejected.catalog.tables if table.kind is Kind.RELATION and table.name not in read)
