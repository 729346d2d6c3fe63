"""Union, Except, Intersect: the columns of two sides by position."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import Except, Intersect, Union
from streambound.analyzer.algebra.rules.operator_input import OperatorInput, called
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.value_sets import in_type
from streambound.analyzer.algebra.view_facts import (
    NOW,
    ColumnFacts,
    Key,
    Times,
    ViewFacts,
    ViewKind,
    added,
    least,
    promises,
)
from streambound.analyzer.constants import VOID


def union(tree: Union, left: OperatorInput, right: OperatorInput, named: Schema) -> ViewFacts:
    """The rows of both sides; each once where the union is distinct: those that came are remembered."""
    columns = tuple(
        replace(both, times=promises((*both.times, *_of_changing(one, other, left, right))))
        for one, other, both in _pairs(left, right, named)
    )
    change, rows = max(left.facts.change, right.facts.change), added(left.facts.rows, right.facts.rows)
    sources = {side.facts.latest for side in (left, right) if not side.is_static}
    found = ViewFacts(change, (), rows, columns, 0, sources.pop() if len(sources) == 1 else None)
    if not tree.distinct:
        return found.settled
    number = found.different
    state = 0 if found.change is ViewKind.STATIC else number
    return replace(found, keys=(_whole(named),), rows=number, state=state).settled


def difference(tree: Except, left: OperatorInput, right: OperatorInput, named: Schema) -> ViewFacts:
    """The rows of the left side without those of the right one, which may come later."""
    changes = max(left.facts.change, right.facts.change)
    columns = tuple(
        replace(one, times=one.times if right.is_static else _changed(one, both))
        for one, _, both in _pairs(left, right, named)
    )
    found = ViewFacts(changes, _keys(tree.distinct, left, named), _rows(tree, left), columns, _state(left, right))
    if not right.is_static:
        closes = found.closing and changes <= ViewKind.CLOSING
        found = replace(found, change=ViewKind.CLOSING if closes else ViewKind.CHANGING)
    return found.settled


def intersection(tree: Intersect, left: OperatorInput, right: OperatorInput, named: Schema) -> ViewFacts:
    """The rows that both sides have."""
    columns = tuple(
        replace(one, values=one.values.meet(other.values), times=_changed(one, both))
        for one, other, both in _pairs(left, right, named)
    )
    keys = _keys(tree.distinct, left, named)
    change = max(left.facts.change, right.facts.change)
    return ViewFacts(change, keys, least(_rows(tree, left), right.facts.rows), columns, _state(left, right)).settled


def _pairs(
    left: OperatorInput, right: OperatorInput, named: Schema
) -> Iterator[tuple[ColumnFacts, ColumnFacts, ColumnFacts]]:
    """The columns of both sides in their common type, and what holds of a value that is in one or the other."""
    for mine, theirs, its, *facts in zip(left.schema, right.schema, named, left.columns, right.columns, strict=False):
        one, other = (
            replace(known, values=in_type(known.values, of.type, its.type))
            for known, of in zip(facts, (mine, theirs), strict=True)
        )
        yield one, other, one.join(other) if _alike(mine, theirs) else ColumnFacts(one.values.join(other.values))


def _alike(mine: ViewColumn, theirs: ViewColumn) -> bool:
    """Whether values of two columns are encoded in the same units."""
    if mine.type is None or theirs.type is None:
        return False
    return VOID in (mine.type, theirs.type) or mine.type == theirs.type or mine.type.comparable(theirs.type)


def _of_changing(one: ColumnFacts, other: ColumnFacts, left: OperatorInput, right: OperatorInput) -> Times:
    """The promises about the time of a change, where the rows of one side never change."""
    times = one.times if right.is_static else other.times if left.is_static else ()
    return tuple(time for time in times if time.source == NOW)


def _changed(one: ColumnFacts, both: ColumnFacts) -> Times:
    """The promises of a left side whose rows come and go with the right one's, too."""
    of_sources = [time for time in one.times if time.source != NOW]
    return promises((*of_sources, *(time for time in both.times if time.source == NOW)))


def _whole(named: Schema) -> Key:
    return frozenset(map(called, named))


def _keys(distinct: bool, left: OperatorInput, named: Schema) -> tuple[Key, ...]:
    return (*left.facts.keys, *([_whole(named)] if distinct else ()))


def _rows(tree: Except | Intersect, left: OperatorInput) -> int | None:
    return replace(left.facts, columns=left.columns).different if tree.distinct else left.facts.rows


def _state(left: OperatorInput, right: OperatorInput) -> int | None:
    """The rows of both sides, counted; of a side that never changes those are read, and not remembered."""
    if left.is_static and right.is_static:
        return 0
    return added(*(replace(side.facts, columns=side.columns).different for side in (left, right)))
