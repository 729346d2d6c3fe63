"""Join: pairs of rows, and rows without a partner, which may still get one unless that side does not change."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from msgspec.structs import replace

from streambound.analyzer.algebra.narrowing import RowFacts, apart, narrowed
from streambound.analyzer.algebra.nodes import ONE_SIDED, Join, JoinKind
from streambound.analyzer.algebra.recent_rows import is_for_good
from streambound.analyzer.algebra.rules.operator_input import OperatorInput, sourced
from streambound.analyzer.algebra.sources import apart as apart_from
from streambound.analyzer.algebra.sources import sources_of, version_of
from streambound.analyzer.algebra.view_facts import (
    NOW,
    ColumnFacts,
    Key,
    TimePromise,
    Times,
    ViewFacts,
    ViewKind,
    added,
    promises,
)
from streambound.analyzer.work import spend

Columns = tuple[ColumnFacts, ...]
_STEPS = 5
"""What it takes to say of a column when a pair changes."""
_Distance = Callable[[str, str], int | None]
"""The most that the time of one side is after that of the other one."""
_LEFT, _RIGHT = "left side", "right side"
"""When the row of a side changes, as sources of promises: no alias of a FROM item has them."""
_KEEPS_LEFT = (JoinKind.LEFT, JoinKind.FULL, JoinKind.ANTI, JoinKind.NOT_IN)
_KEEPS_RIGHT = (JoinKind.RIGHT, JoinKind.FULL)


def join(tree: Join, left: OperatorInput, right: OperatorInput) -> ViewFacts:
    """The rows of a join.

    A pair changes when one of its rows does: at t = max(t1, t2), so that u - t is at most u - t1 and u - t2, and at
    least the smaller of them. A row without a partner changes at its own time.
    """
    right = _named_apart(tree, right)
    pair = _pair(tree, left, right)
    spend(_STEPS * len(pair.columns))
    changing = [name for name, side in ((_LEFT, left), (_RIGHT, right)) if not side.is_static]
    distance = cache(partial(apart, pair))
    both = [_column(column, changing, distance) for column in pair.columns]
    ours, theirs = tuple(both[: len(left.schema)]), tuple(both[len(left.schema) :])
    if tree.kind in _KEEPS_LEFT:
        ours = _alone(ours, left)
    if tree.kind in _KEEPS_RIGHT:
        theirs = _alone(theirs, right)
    if tree.kind in (JoinKind.LEFT, JoinKind.FULL):
        theirs = _missing(theirs)
    if tree.kind in (JoinKind.RIGHT, JoinKind.FULL):
        ours = _missing(ours)
    if tree.kind in ONE_SIDED:
        ours = tuple(replace(column, times=_of(column.times, left)) for column in ours)
        columns = ours
    else:
        columns = _listed(tree, left, right, ours, theirs)
    found = ViewFacts(
        max(left.facts.change, right.facts.change),
        _keys(tree, left.facts.keys, right.facts.keys),
        _rows(tree.kind, left.facts.rows, right.facts.rows, pair.none),
        columns,
        _state(left, right),
        _latest_of(left, right) if tree.kind is JoinKind.INNER or _only_left_changes(tree.kind, right) else None,
    )
    change = _change(tree.kind, left, right, found)
    if is_for_good(tree, (*left.schema, *right.schema)):
        change = left.facts.change
    if version_of(tree.right) is not None and left.facts.change > ViewKind.APPEND_ONLY:
        # it changes with the relation, until the time that is asked for
        change = ViewKind.CHANGING
        columns = tuple(replace(one, times=tuple(t for t in one.times if t.source != NOW)) for one in found.columns)
        found = replace(found, columns=columns)
    return replace(found, change=change).settled


def _named_apart(tree: Join, right: OperatorInput) -> OperatorInput:
    """The right side, with names of its own for sources that the left side has, too."""
    names = apart_from(sources_of(tree.left), sources_of(tree.right))
    if all(old == new for old, new in names.items()):
        return right
    columns = tuple(
        replace(one, times=promises(replace(t, source=names.get(t.source, t.source)) for t in one.times))
        for one in right.columns
    )
    latest = right.facts.latest
    named = None if latest is None else frozenset(names.get(name, name) for name in latest)
    return replace(right, facts=replace(right.facts, columns=columns, latest=named))


def _pair(tree: Join, left: OperatorInput, right: OperatorInput) -> RowFacts:
    """The columns of a pair of rows that satisfy the condition, with times of the sides' own."""
    ours, theirs = (
        tuple(replace(column, times=sourced(column.times, NOW, name)) for column in side.columns)
        for side, name in ((left, _LEFT), (right, _RIGHT))
    )
    row = RowFacts((*left.schema, *right.schema), (*ours, *theirs), latest=_latest_of(left, right))
    for name in tree.using:
        places = [p for p, found in enumerate(row.schema) if found.called(name)]
        if len(places) == 2:
            one, other = places
            both = row.columns[one].values.meet(row.columns[other].values).not_null()
            row = row.with_values(one, both).with_values(other, both)
            if all(row.kind(place).discrete for place in places):
                row = replace(row, differences=row.differences | {(one, other, 0), (other, one, 0)})
    return narrowed(tree.condition.syntax if tree.condition else None, row)


def _latest_of(left: OperatorInput, right: OperatorInput) -> frozenset[str] | None:
    """The sources of a pair: it changes with the newest of them."""
    sides = left.facts.latest, right.facts.latest
    return None if sides[0] is None or sides[1] is None else sides[0] | sides[1]


def _only_left_changes(kind: JoinKind, right: OperatorInput) -> bool:
    return right.is_static and kind in (JoinKind.LEFT, *ONE_SIDED)


def _column(column: ColumnFacts, changing: list[str], distance: _Distance) -> ColumnFacts:
    """A column of a pair: what it says of the time at which the pair changes, with one of the ``changing`` sides."""
    of_sides = [one for one in column.times if one.source in (_LEFT, _RIGHT)]
    found = [one for one in column.times if one not in of_sides]
    for function in dict.fromkeys(one.function for one in of_sides):
        known = {one.source: one for one in of_sides if one.function == function}
        sides = [known.get(name) or _through(known, name, distance) for name in changing]
        if sides:
            both = sides[0]
            for other in sides[1:]:
                both = _latest(both, other)
            now = replace(both, source=NOW, function=function)
            closed = [one for one in found if one.name == now.name]
            found = [one for one in found if one.name != now.name]
            found.append(closed[0].meet(now) if closed else now)
    return replace(column, times=promises(found))


def _through(known: dict[str, TimePromise], name: str, distance: _Distance) -> TimePromise:
    """A promise about one side, moved to the other side's time by the distance of the two."""
    other = _RIGHT if name == _LEFT else _LEFT
    one = known.get(other)
    if one is None:
        return TimePromise(name, None, None)
    later, earlier = distance(name, other), distance(other, name)
    low = None if one.low is None or later is None else one.low - later
    high = None if one.high is None or earlier is None else one.high + earlier
    return replace(one, source=name, low=low, high=high)


def _latest(one: TimePromise, other: TimePromise) -> TimePromise:
    """``u - max(t1, t2)``, by ``u - t1`` and ``u - t2``."""
    low = None if one.low is None or other.low is None else min(one.low, other.low)
    highs = [high for high in (one.high, other.high) if high is not None]
    return replace(one, low=low, high=min(highs, default=None), width=max(one.width, other.width))


def _alone(pairs: Columns, side: OperatorInput) -> Columns:
    """The columns of a side whose rows are there without a partner, too."""
    return tuple(
        own if pair.values.only_null else replace(own, times=promises(_either(own.times, pair.times, side.is_static)))
        for own, pair in zip(side.columns, pairs, strict=True)
    )


def _either(own: Times, pair: Times, static: bool) -> Times:
    """A row's own promises; at its own time it changes, or when a pair of it does."""
    now = {one.name: one for one in pair if one.source == NOW}
    if static:  # a row of a relation is there from the beginning, and changes only with its partners
        return (*(one for one in own if one.source != NOW), *now.values())
    kept = [one for one in own if one.source != NOW]
    return (*kept, *(one.join(now[one.name]) for one in own if one.source == NOW and one.name in now))


def _missing(columns: Columns) -> Columns:
    """The columns of a side that may be missing: NULL then."""
    return tuple(replace(column, values=column.values.or_null()) for column in columns)


def _of(times: Times, side: OperatorInput) -> Times:
    """The promises about sources that a side has, and about now."""
    sources = {one.source for column in side.columns for one in column.times} | {NOW}
    return tuple(one for one in times if one.source in sources)


def _listed(
    tree: Join,
    left: OperatorInput,
    right: OperatorInput,
    ours: Columns,
    theirs: Columns,
) -> Columns:
    """The columns in the order of the schema: those that USING names first, of the side that is there."""
    once = []
    for name in tree.using:
        mine = next((ours[p] for p, found in enumerate(left.schema) if found.called(name)), None)
        other = next((theirs[p] for p, found in enumerate(right.schema) if found.called(name)), None)
        if mine is not None and other is not None:
            once.append({JoinKind.RIGHT: other, JoinKind.FULL: mine.join(other)}.get(tree.kind, mine))
    rest = [
        facts
        for side, columns in ((left, ours), (right, theirs))
        for found, facts in zip(side.schema, columns, strict=True)
        if not any(found.called(name) for name in tree.using)
    ]
    return (*once, *rest)


def _change(kind: JoinKind, left: OperatorInput, right: OperatorInput, found: ViewFacts) -> ViewKind:
    """A row without a partner is taken back when one comes; until its time is over, where that may not be later."""
    missing = {JoinKind.RIGHT: (left,), JoinKind.FULL: (left, right)}.get(kind, (right,))
    pads = kind not in (JoinKind.INNER, JoinKind.SEMI)
    if not pads or all(side.is_static for side in missing):
        return found.change
    return ViewKind.CLOSING if found.closing and found.change <= ViewKind.CLOSING else ViewKind.CHANGING


def _keys(tree: Join, left: tuple[Key, ...], right: tuple[Key, ...]) -> tuple[Key, ...]:
    if tree.kind in ONE_SIDED:
        return left
    return tuple(one | other for one in left for other in right) if tree.kind is JoinKind.INNER else ()


def _rows(kind: JoinKind, left: int | None, right: int | None, none: bool) -> int | None:
    if kind in ONE_SIDED:
        return left
    pairs = 0 if none else None if left is None or right is None else left * right
    kept = {JoinKind.LEFT: (left,), JoinKind.RIGHT: (right,), JoinKind.FULL: (left, right)}.get(kind, ())
    return added(pairs, *kept)


def _state(left: OperatorInput, right: OperatorInput) -> int | None:
    """The rows of each side for which partners may still come; only later rows look a side up."""
    if left.is_static and right.is_static:
        return 0
    sides = [(left, right), (right, left)]
    return added(*(replace(own.facts, columns=own.columns).different for own, other in sides if not other.is_static))
