"""Facts about times: how far a column is from the time of a row, or of a change, each by one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Bucket,
    BucketKind,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Over,
    Scan,
    Union,
)
from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.window_functions import looks_back
from streambound.analyzer.catalog import Kind
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.buckets import FunctionOfTime, begun, computed, window_end
from streambound.recheck.derivation.claims import (
    ClaimedFact,
    ClaimedPoint,
    ClaimedTime,
    NotCheckedError,
)
from streambound.recheck.derivation.fact_log import LEFT, RIGHT, CheckedFacts, TimeFact, moved_up
from streambound.recheck.derivation.trees import (
    PlanNode,
    never_changes,
    newest_of,
    only_adds,
    origin,
    pairs,
    sources,
)
from streambound.recheck.derivation.value_facts import is_padded, no_rows

_FAMILIES = (Family.INTEGER, Family.DATE, Family.TIMESTAMP)


def _no_time(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """Of no rows anything is true."""
    no_rows(facts, claim, node)
    return TimeFact(time.source, time.low, time.high, FunctionOfTime())


def _declared_time(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A stream's row comes at the time that it carries."""
    table = node.catalog.table(node.tree.table) if isinstance(node.tree, Scan) else None
    if table is None or table.kind is not Kind.STREAM or table.columns[claim.column].name != table.timestamp:
        raise RejectedError("a time of no stream")
    if time.source not in ("", node.tree.alias):  # type: ignore[union-attr]
        raise RejectedError("a time of another source")
    return TimeFact(time.source, 0, 0, FunctionOfTime())


def _passed_time(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column of an input, as it is; rows change when those of the input do, if the operator is such a one."""
    found = origin(node, claim.column)
    if found is None or found.column is None or len(claim.uses) != 1:
        raise RejectedError("a column that comes from no other one")
    fact = facts.time(claim.uses[0], found.node, found.column, time.beside)
    if isinstance(node.tree, Over) and not fact.source:
        _settled(facts, claim, node, node.tree)
        return fact
    return moved_up(fact, node, found.node)


def _settled(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, tree: Over) -> None:
    """Rows of windows change with others of their partition, or with those before them: never with later ones."""
    below, column = node.input("input"), claim.column
    there = [not facts.values(one, below, column).null for one in claim.present]
    partitions = [{below.place_of(parsed(one)) for one in call.partition} for call in tree.calls]
    orders = [below.place_of(parsed(call.order[0].value)) if looks_back(call) else None for call in tree.calls]
    by = all(column in one or column == order for one, order in zip(partitions, orders, strict=True))
    if not only_adds(node) and not all(column in one for one in partitions) and not (by and any(there)):
        raise RejectedError("rows of windows that change at other times")


def _computed_time(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A function of a time, as `buckets` knows them."""
    found = origin(node, claim.column)
    if found is None or found.expression is None or not claim.uses:
        raise RejectedError("a column that is no expression")
    first = claim.uses[0]
    column = facts.claimed[first].column
    below = moved_up(facts.time(first, found.node, column), node, found.node)
    lows = [facts.values(one, found.node, column).ends[0] for one in claim.uses[1:]]
    least = max((one for one in lows if one is not None), default=None)
    expression = row_expression(found.expression, found.node.schema)
    made = None if expression is None else computed(expression, column, below.function, least)
    if made is None:
        raise NotCheckedError(f"the time {found.expression.sql('spark')}")
    function, more = made
    low, high = (None if end is None else end + more for end in (below.low, below.high))
    if not time.function and not below.function.name and function.unit is not None and _is_time(node, claim.column):
        return TimeFact(below.source, begun(function, low), high, FunctionOfTime())
    return TimeFact(below.source, low, high, function)


def _window_time(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """An end of a bucket around a time, which is at most the bucket's size before or after."""
    if not isinstance(node.tree, Bucket) or len(claim.uses) != 1:
        raise RejectedError("an end of no bucket")
    below = node.input("input")
    place = below.place_of(parsed(node.tree.time))
    which = claim.column - below.width
    if place is None or which < 0:
        raise NotCheckedError("buckets of what is no column")
    fact = facts.time(claim.uses[0], below, place)
    if node.tree.kind is BucketKind.SESSION:
        return _session_time(node.tree, which, fact)
    if fact.function.name:
        raise NotCheckedError("buckets of buckets")
    low, high, function = window_end(node.tree, which, fact.low, fact.high, exact=bool(time.function))
    return TimeFact(fact.source, low, high, function)


def _near(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column that a path leads to a source's time, and back: how far the column is from it."""
    mine, source = ClaimedPoint(column=claim.column), ClaimedPoint(source=time.source)
    kind = node.schema[claim.column].type
    if not isinstance(node.tree, Filter | Join) or kind is None or kind.family not in _FAMILIES or not time.source:
        raise RejectedError("a path in what has no condition, or of what is no time")
    high = facts.path(claim.high, mine, source, node, claim.present, time.beside) if claim.high else None
    low = facts.path(claim.low, source, mine, node, claim.present, time.beside) if claim.low else None
    return TimeFact(time.source, None if low is None else -low, high, FunctionOfTime(), time.beside)


def _side(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column of a pair, and the time at which the row of its side changes."""
    found = origin(node, claim.column)
    if not isinstance(node.tree, Join) or node.tree.kind is not JoinKind.INNER or found is None:
        raise RejectedError("a side of no pair")
    assert found.column is not None, "columns of pairs are those of their sides"
    fact = facts.time(claim.uses[0] if claim.uses else -1, found.node, found.column)
    if fact.source:
        raise RejectedError("when a row of a side changes is not what a fact is about")
    name = LEFT if claim.column < node.input("left").width else RIGHT
    return TimeFact(name, fact.low, fact.high, fact.function)


def _equal_time(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column that an atom makes equal to another one of its type, or so far from it, of which the fact is."""
    if len(claim.uses) != 1 or len(claim.atoms) != 1:
        raise RejectedError("a column that equals no other one")
    other, part = facts.column_of(claim.uses[0]), facts.atom(node, claim.atoms[0])
    fact, said = facts.time(claim.uses[0], node, other), set(atoms.differences(part, node.row))
    more = next((c for x, y, c in said if (x, y) == (claim.column, other) and (y, x, -c) in said), None)
    if atoms.equal(part, node.row) == {claim.column, other}:
        more = 0
    length = 1 if not fact.function.name else fact.function.division
    exact = not more or (length is not None and length == fact.function.width)
    if more is None or not exact or node.row[claim.column].type != node.row[other].type:
        raise RejectedError("a column that equals no other one")
    low, high = (None if end is None else end + more * (length or 0) for end in (fact.low, fact.high))
    return replace(fact, low=low, high=high)


def _through(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """What a time says of one row, or of a side's change, said of another one by how far these are apart."""
    fact = facts.time(claim.uses[0] if claim.uses else -1, node, claim.column)
    if not fact.source or not time.source:
        raise RejectedError("times of no two rows")
    mine, other = ClaimedPoint(source=fact.source), ClaimedPoint(source=time.source)
    later = facts.path(claim.low, other, mine, node, claim.present) if claim.low else None
    earlier = facts.path(claim.high, mine, other, node, claim.present) if claim.high else None
    low = None if fact.low is None or later is None else fact.low - later
    high = None if fact.high is None or earlier is None else fact.high + earlier
    return TimeFact(time.source, low, high, fact.function)


def _joined(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A pair changes when one of its rows does, at the later one of their times, but for one that never does."""
    if not isinstance(node.tree, Join) or node.tree.kind is not JoinKind.INNER or time.source:
        raise RejectedError("a time at which no pair changes")
    changing = [name for name, side in ((LEFT, "left"), (RIGHT, "right")) if not never_changes(node.input(side))]
    return _latest(facts, claim, node, changing)


def _newest(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A row that only comes, with the newest of those that it is made of."""
    if not isinstance(node.tree, Filter | Join) or time.source:
        raise RejectedError("a time at which no row comes")
    return _latest(facts, claim, node, sorted(newest_of(node)))


def _latest(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, changing: Sequence[str]) -> TimeFact:
    """What holds of the latest of some times, by a fact for each of them."""
    times = [facts.time(one, node, claim.column) for one in claim.uses]
    if sorted(one.source for one in times) != sorted(changing) or not times:
        raise RejectedError("a row changes with each of those that it is made of")
    if len({one.function.name for one in times}) > 1:
        raise RejectedError("different functions of time")
    lows = [one.low for one in times if one.low is not None]
    highs = [one.high for one in times if one.high is not None]
    widest = max((one.function for one in times), key=lambda one: one.width)
    return TimeFact("", min(lows) if len(lows) == len(times) else None, min(highs, default=None), widest)


def _paired_time(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column of a join that is there with a partner only: what holds of pairs; of others, where there is one."""
    if time.beside:
        if not _is_pair_beside(node, claim.column, time.source):
            raise RejectedError("rows without a partner are no pairs")
        fact = facts.time(claim.uses[0] if claim.uses else -1, pairs(node), claim.column, beside=True)
        return replace(fact, beside=True)
    is_padded(node, claim.column)
    fact = facts.time(claim.uses[0] if claim.uses else -1, pairs(node), claim.column)
    if fact.source in (LEFT, RIGHT):
        raise RejectedError("sides are those of pairs")
    if isinstance(node.tree, Join) and node.tree.kind in ONE_SIDED and fact.source not in ("", *sources(node)):
        raise RejectedError("a source that is not shown")
    return fact


def _is_pair_beside(node: PlanNode, column: int, source: str) -> bool:
    """Whether a row of an outer join that has a column, and a row of a source, is a pair."""
    if not isinstance(node.tree, Join) or node.tree.using:
        return False
    of_left, in_left = source in sources(node.input("left")), column < node.input("left").width
    kind, known = node.tree.kind, source in sources(pairs(node))
    sides = {JoinKind.LEFT: not of_left, JoinKind.RIGHT: of_left, JoinKind.FULL: of_left is not in_left}
    return known and sides.get(kind, False)


def _kept(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A row that is there without a partner, too: it changes at its own time, or when a pair of it does."""
    if not isinstance(node.tree, Join) or time.source or node.tree.using:
        raise RejectedError("a row of no join")
    is_left = node.tree.kind in (JoinKind.LEFT, JoinKind.ANTI, JoinKind.NOT_IN, JoinKind.FULL)
    is_right = node.tree.kind in (JoinKind.RIGHT, JoinKind.FULL)
    found = origin(node, claim.column)
    mine = found is not None and found.node.tree == node.tree.left and claim.column < node.input("left").width
    if found is None or found.column is None or not (is_left if mine else is_right):
        raise RejectedError("a row that is not kept")
    both, times = pairs(node), list[TimeFact]()
    empty = {one for column in range(both.width) for one in facts.about(both, column) if facts.sets[one].size == 0}
    if not empty & {*claim.present}:
        times.append(facts.time(claim.uses[-1] if claim.uses else -1, both, claim.column))
    if not found.node.is_static:
        times.append(facts.time(claim.uses[0], found.node, found.column))
    if any(one.source for one in times) or len(claim.uses) != len(times):
        raise RejectedError("when a row changes is not what the times are about")
    return _either(times)


def _time_of_sides(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """When the rows of both sides change: what is made of them changes then."""
    sides = [node.input(name) for name in ("left", "right") if isinstance(node.tree, Union | Except | Intersect)]
    changing = [side for side in sides if not side.is_static]
    if not changing or time.source or len(claim.uses) != len(changing):
        raise RejectedError("sides of what has none")
    times = [facts.time(use, side, claim.column) for use, side in zip(claim.uses, changing, strict=True)]
    if any(one.source for one in times) or sides[0].schema[claim.column].type != sides[1].schema[claim.column].type:
        raise RejectedError("times of different kinds")
    return _either(times)


def _is_time(node: PlanNode, column: int) -> bool:
    kind = node.schema[column].type
    return kind is not None and kind.family is Family.TIMESTAMP


def _session_time(tree: Bucket, which: int, fact: TimeFact) -> TimeFact:
    """A session changes when a row of it comes, which is before its end, and after its begin."""
    if fact.source or fact.function.name:
        raise RejectedError("when a session changes is said of its rows")
    if which == 0:
        return TimeFact("", None, fact.high, FunctionOfTime())
    more = -1 if which == 2 else 0
    low, high = (
        None if fact.low is None else fact.low + more,
        None if fact.high is None else fact.high + tree.size + more,
    )
    return TimeFact("", low, high, FunctionOfTime())


def _either(facts: Iterable[TimeFact]) -> TimeFact:
    """What holds where one of some facts does."""
    several = list(facts)
    if len({one.function.name for one in several}) > 1:
        raise RejectedError("different functions of time")
    lows, highs = [one.low for one in several], [one.high for one in several]
    low = None if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return TimeFact("", low, high, max((one.function for one in several), key=lambda one: one.width))


TimeRule = Callable[[CheckedFacts, ClaimedFact, PlanNode, ClaimedTime], TimeFact]
TIME_RULES: Mapping[str, TimeRule] = MappingProxyType({
    "declared": _declared_time,
    "passed": _passed_time,
    "computed": _computed_time,
    "window": _window_time,
    "near": _near,
    "side": _side,
    "through": _through,
    "equal": _equal_time,
    "joined": _joined,
    "newest": _newest,
    "paired": _paired_time,
    "kept": _kept,
    "sides": _time_of_sides,
    "none": _no_time,
})  # fmt: skip
"""The rules of facts about times."""
