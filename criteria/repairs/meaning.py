"""What the steps of a repair do to a query's meaning; and whether two queries mean the same, as written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from streambound.analyzer.catalog import Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.query import (
    And,
    Attribute,
    Branch,
    Comparison,
    Constant,
    Formula,
    NullTest,
    OneOf,
    Op,
    Or,
    Output,
    Query,
    Source,
    Truth,
    conjunction,
)
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType, Family
from streambound.criteria.repairs.steps import (
    AddCondition,
    DeclareDomain,
    DropColumn,
    JoinRelation,
    Place,
    SetDistinct,
    Step,
)

_NOWHERE = Span(-1, -1, 0, 0, 0, 0)
_ONE = Constant(1, DataType("bigint", Family.INTEGER))


def changed(query: Query, steps: tuple[Step, ...]) -> Query | None:
    """The query after some steps; None where one of them would have several meanings."""
    dropped = frozenset(step.index for step in steps if isinstance(step, DropColumn))
    branches: list[Branch] = []
    for branch in query.branches:
        for step in steps:
            following = _stepped(branch, step)
            if following is None:
                return None
            branch = following
        branches.append(replace(branch, outputs=_kept(branch.outputs, dropped)))
    distinct = next((step.distinct for step in steps if isinstance(step, SetDistinct)), query.distinct)
    return replace(query, distinct=distinct, branches=tuple(branches))


def _stepped(branch: Branch, step: Step) -> Branch | None:
    match step:
        case AddCondition():
            return _with_condition(branch, step)
        case JoinRelation():
            return _with_relation(branch, step)
        case DeclareDomain():
            return replace(branch, sources=tuple(_declared(source, step) for source in branch.sources))
    return branch


def _kept(outputs: tuple[Output, ...], dropped: frozenset[int]) -> tuple[Output, ...]:
    kept = tuple(output for i, output in enumerate(outputs) if i not in dropped)
    return kept or (replace(outputs[0], value=_ONE),)


def _with_condition(branch: Branch, step: AddCondition) -> Branch | None:
    left = _attributes(branch, step.left)
    if step.right is None:
        atoms = [Comparison(attribute, step.op, None, step.offset) for attribute in left]
        return replace(branch, where=conjunction((branch.where, *atoms)))
    right = _attributes(branch, step.right)
    if not left or not right:
        return branch
    if len(left) > 1 or len(right) > 1:
        return None
    atom = Comparison(left[0], step.op, right[0], step.offset)
    return replace(branch, where=conjunction((branch.where, atom)))


def _with_relation(branch: Branch, step: JoinRelation) -> Branch | None:
    left = _attributes(branch, step.left)
    if not left:
        return branch
    table = step.relation
    if len(left) > 1 or any(source.alias.lower() == table.name.lower() for source in branch.sources):
        return None
    source = Source(table.name, table.name, Kind.RELATION, table.columns, None, _NOWHERE, None, table.rows)
    offset = "" if step.type.family is Family.STRING else 0
    atom = Comparison(left[0], Op.EQ, Attribute(table.name, step.column), offset)
    return replace(branch, sources=(*branch.sources, source), where=conjunction((branch.where, atom)))


def _attributes(branch: Branch, place: Place) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(source.alias, place.column)
        for source in branch.sources
        if source.span == place.source and any(column.name == place.column for column in source.columns)
    )


def _declared(source: Source, step: DeclareDomain) -> Source:
    if source.table != step.table:
        return source

    def column(old: Column) -> Column:
        return replace(old, domain=step.domain) if old.name == step.column else old

    return replace(source, columns=tuple(map(column, source.columns)))


def same_meaning(first: Query, second: Query) -> bool:
    """Whether two queries are written alike, up to the order of conjuncts and of sources, and positions."""
    return (first.distinct, _branches(first)) == (second.distinct, _branches(second))


def _branches(query: Query) -> list[Any]:
    return [
        (
            frozenset((s.alias, s.table, s.kind, _columns(s.columns), s.timestamp) for s in branch.sources),
            frozenset(_parts(branch.where)),
            tuple((output.name, output.value) for output in branch.outputs),
        )
        for branch in query.branches
    ]


def _columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Those of the catalog: derived ones follow from the outputs and conditions."""
    return tuple(replace(column, at=None, domain_at=None) for column in columns if not column.expression)


def _parts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And):
        for part in formula.parts:
            yield from _parts(part)
    elif formula != Truth(True):
        yield _unplaced(formula)


def _unplaced(formula: Formula) -> Formula:
    match formula:
        case Comparison() | NullTest() | OneOf() | Truth():
            return replace(formula, span=None)
        case And(parts):
            return And(tuple(map(_unplaced, parts)))
        case Or(parts):
            return Or(tuple(map(_unplaced, parts)))
    return replace(formula, part=_unplaced(formula.part))
