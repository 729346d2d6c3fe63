"""Where a job keeps what it remembers: decided when a query is compiled, so that a job never changes its mind.

* *stateless*: nothing is remembered, and each row gives its results by itself.
* *buckets*: an equality spans all streams, and M is large or not a number: rows that agree meet on an executor.
* *driver*: every other query; its synopsis is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from streambound.analyzer.catalog import Kind
from streambound.analyzer.closure import Closure
from streambound.analyzer.errors import UsageError
from streambound.analyzer.query import Attribute
from streambound.criteria.bound import QueryBound
from streambound.criteria.judged import CircuitBound
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan
from streambound_runtime.spec import Placement

PLACEMENTS = ("driver", "buckets", "stateless")
LARGE = 1_000_000
"""Entries from which on a synopsis is better not on the driver."""
BUCKETS = 16
"""Into so many parts a synopsis is split. A checkpoint has them, so that the number stays what it was."""


def placement(plan: Plan, forced: str | None = None) -> Placement:
    """The placement of a plan; raises UsageError for a forced one that it cannot have."""
    no_state, no_key = _remembered(plan), _undivided(plan)
    key = () if no_key else tuple(_keys(plan)[0][stream.name] for stream in plan.streams)
    much, size = how_large(plan.bound)
    if forced == "stateless" and no_state:
        raise _refused(forced, no_state)
    if forced == "buckets" and no_key:
        raise _refused(forced, no_key)
    because = {
        "stateless": "nothing is remembered",
        "buckets": f"all streams agree in {', '.join(sorted({*key}))}, and {size}",
        "driver": f"{no_state}; {no_key or size}",
    }
    where = "stateless" if not no_state else "buckets" if much and not no_key else "driver"
    why = because[where] if forced in (None, where) else "--placement says so"
    where = forced or where
    return Placement(where, why, key, BUCKETS) if where == "buckets" else Placement(where, why)


def how_large(bound: QueryBound | CircuitBound) -> tuple[bool, str]:
    """Whether there may be many entries, or no number of them is known; and that in words."""
    entries = bound.entries
    if bound.grows:
        return True, "there is no M"
    if entries.value is None or entries.value > LARGE:
        return True, f"M = {entries.text} may exceed {LARGE:,}"
    return False, f"M is at most {entries.value:,}"


def _refused(forced: str, why: str) -> UsageError:
    return UsageError(f"the query cannot be placed in {forced}: {why}", remedy="leave out --placement")


def _remembered(plan: Plan) -> str:
    """Why a plan is not stateless; nothing where it is."""
    if plan.distinct:
        return "a set remembers the results that it has returned"
    if any(branch.tables for branch in plan.branches):
        return "partial matches are remembered"
    if any(len(_streams(branch)) != 1 for branch in plan.branches):
        return "rows of several streams meet at a timestamp"
    counted = [stream.name for stream in plan.streams if stream.max_per_timestamp is not None]
    if counted:
        return f"max_per_timestamp counts the rows of {', '.join(counted)}"
    counted = [stream.name for stream in plan.streams if stream.max_rate is not None]
    return f"max_rate counts the rows of {', '.join(counted)}" if counted else ""


def _undivided(plan: Plan) -> str:
    """Why a plan cannot be in buckets; nothing where it can."""
    if not any(branch.tables for branch in plan.branches):
        return "no partial matches are remembered"
    if plan.distinct and plan.kept is not None:
        return "results of a set that are computed of several rows are compared with each other"
    keys = _keys(plan)
    if not keys:
        return "no equality spans all streams"
    if plan.distinct and not any(_selected(plan, key) for key in keys):
        return "the set does not have the column in which its streams agree"
    return ""


def _keys(plan: Plan) -> list[Mapping[str, str]]:
    """The columns, by stream, whose values are equal in every match of every branch; of a set, selected ones first."""
    first, *others = [list(_of_branch(branch)) for branch in plan.branches]
    every = [key for key in first if all(_agrees(key, found) for found in others)]
    streams = {stream.name for stream in plan.streams}
    merged: list[Mapping[str, str]] = []
    for key in every:
        together = dict(key)
        for found in others:
            together |= next(other for other in found if _fits(together, other))
        if together.keys() == streams and len({_large(plan, name, column) for name, column in together.items()}) == 1:
            merged.append(together)
    return sorted(merged, key=lambda key: not _selected(plan, key)) if plan.distinct else merged


def _agrees(key: Mapping[str, str], found: list[dict[str, str]]) -> bool:
    return any(_fits(key, other) for other in found)


def _fits(key: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two branches take the same column of each stream that both have."""
    return all(other.get(name, column) == column for name, column in key.items())


def _of_branch(branch: BranchPlan) -> Iterator[dict[str, str]]:
    """One column of each stream, all of them equal in every match: a stream that comes twice has the same one twice."""
    aliases, closure = _streams(branch), branch.facts.closure
    of_streams = sorted(a for a in closure.nodes if a.source in aliases and a != branch.facts.time(a.source))
    for attribute in (a for a in of_streams if a.source == next(iter(aliases))):
        found: dict[str, str] = {}
        for alias, table in aliases.items():
            alike = [a.column for a in of_streams if a.source == alias and equal(closure, a, attribute)]
            options = [column for column in alike if found.get(table, column) == column]
            if not options:
                break
            found[table] = options[0]
        else:
            yield found


def equal(closure: Closure, x: Attribute, y: Attribute) -> bool:
    """Whether ``x = y`` is in P+."""
    pair = closure.pair(x, y)
    if x == y or pair is None:
        return x == y
    matrix, i, j = pair
    limits = (matrix.limit(i, j), matrix.limit(j, i))
    return all(limit is not None and limit == (Fraction(0), False) for limit in limits)


def _streams(branch: BranchPlan) -> dict[str, str]:
    """The streams of a branch by alias."""
    return {source.alias: source.table for source in branch.sources if source.kind is not Kind.RELATION}


def _selected(plan: Plan, key: Mapping[str, str]) -> bool:
    """Whether one column of the results is the key in every branch, so that equal results are of one bucket."""
    places = [
        {place for place, output in enumerate(branch.outputs) if _is_key(branch, output.value, key)}
        for branch in plan.branches
    ]
    return bool(set.intersection(*places))


def _is_key(branch: BranchPlan, value: object, key: Mapping[str, str]) -> bool:
    closure = branch.facts.closure
    members = [Attribute(alias, key[table]) for alias, table in _streams(branch).items()]
    return isinstance(value, Attribute) and value in closure.nodes and equal(closure, value, members[0])


def _large(plan: Plan, stream: str, column: str) -> bool:
    """Whether integers of a column exceed 64 bits: such are encoded otherwise, and so are in other buckets."""
    from streambound_runtime.decoding.sql_types import sql_type

    item = next(item for item in plan.streams if item.name == stream)
    return sql_type(next(each.type.name for each in (*item.declared, *item.columns) if each.name == column)).large
