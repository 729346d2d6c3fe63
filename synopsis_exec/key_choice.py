"""Whether executors fold a query's large batches by key: an equality spans all its streams, and divides its tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute
from streambound.analyzer.types import DataType, Family
from streambound.criteria.tables import Table
from streambound.synopsis_exec.emit import Lines, literal
from streambound.synopsis_exec.kernel_choice import row_kernel_reason
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan
from streambound.synopsis_exec.range_choice import no_ranges_reason, reach

_MOST_CHOICES = 64
"""Choices of columns that are looked at."""
_FEW = 64
"""Values of a key that leave a larger cluster idle, where ranges of time, which are as many as it needs, do not."""


class Key(NamedTuple):
    """The column of each stream that an equality over all streams compares, and where it is.

    ``places`` are those of its value in the entries of tables, by the tables' names; ``in_results`` says that the
    select list has it, ``few`` that it is known to have fewer values than a cluster may have processors.
    """

    columns: dict[str, str]
    places: dict[str, int]
    in_results: bool
    few: bool


def by_key(plan: Plan) -> bool:
    """Whether a job folds large batches by key: where it can, unless ranges of time are better.

    These are where they need one pass only, because every table forgets, or where there are few keys.
    """
    if no_key_reason(plan) or (not no_ranges_reason(plan) and reach(plan) is not None):
        return False
    key = key_of(plan)
    return no_ranges_reason(plan) is not None or (key is not None and not key.few)


def key_text(lines: Lines, plan: Plan) -> None:
    """Append what a job has to know of the key that a query has."""
    key = key_of(plan)
    assert key is not None
    lines.call("KEYS = {", [f"{literal(name)}: {literal(column)}" for name, column in key.columns.items()], "}")
    lines.call("KEY_PLACES = {", [f"{literal(table)}: {place}" for table, place in key.places.items()], "}")
    lines.add(f"IN_RESULTS = {key.in_results}")
    if row_kernel_reason(plan):  # else the kernel of columns needs it, too
        lines.add(f"DISTINCT = {plan.distinct}")


def no_key_reason(plan: Plan) -> str | None:
    """Why large batches are not folded by key; None where they may be."""
    if key_of(plan) is None:
        return "no equality that all tables keep spans all its streams"
    tables = [table for branch in plan.branches for table in branch.tables]
    if any(table.ages or table.lapses or table.deadline is not None for table in tables):
        return "it remembers timestamps, which all keys must see pass"
    return None


def key_of(plan: Plan) -> Key | None:
    """The key by which the batches of a query can be folded; None where there is none."""
    found: list[dict[str, str]] = [{}]
    for branch in plan.branches:
        mine = list(_columns(plan, branch))
        both = ((one, more) for one in found for more in mine)
        found = [{**one, **more} for one, more in both if all(one.get(name, more[name]) == more[name] for name in more)]
        found = found[:_MOST_CHOICES]
    names = {item.name for item in plan.streams}
    keys = (_key(plan, columns) for columns in found if columns.keys() == names)
    return next((key for key in keys if key is not None), None)


def _columns(plan: Plan, branch: BranchPlan) -> Iterator[dict[str, str]]:
    """The columns, by the streams of a branch, that are always equal; a stream used twice has one, too."""
    first, *others = branch.branch.streams
    for attribute in branch.facts.closure.nodes:
        if attribute.source != first.alias:
            continue
        mine = _equal(branch.facts, attribute)
        sets: dict[str, set[str]] = {}
        for source in (first, *others):
            there = {other.column for other in mine if other.source == source.alias}
            sets[source.table] = sets.get(source.table, there) & there
        for columns in islice(product(*map(sorted, sets.values())), _MOST_CHOICES):
            chosen = dict(zip(sets, columns, strict=True))
            if _alike(plan, chosen):
                yield chosen


def _equal(facts: Facts, attribute: Attribute) -> list[Attribute]:
    """What always equals an attribute, without an offset, itself among them."""
    return [other for other in facts.alike(attribute) if facts.difference(other, attribute) == 0]


def _alike(plan: Plan, columns: dict[str, str]) -> bool:
    """Whether equal values of some streams' columns travel to the executors as the same text."""
    kinds = set[tuple[Family, int | None, str]]()
    for item in plan.streams:
        if item.name in columns and columns[item.name] != item.timestamp:
            kind = next((column.type for column in item.columns if column.name == columns[item.name]), None)
            kinds.add(_kind(kind) if kind is not None else (Family.OTHER, None, ""))
        elif item.name in columns:
            return False
    return len(kinds) == 1 and not {Family.FLOAT, Family.OTHER} & {family for family, *_ in kinds}


def _kind(kind: DataType) -> tuple[Family, int | None, str]:
    return kind.family, kind.scale, kind.name if kind.family is Family.TIMESTAMP else ""


def _key(plan: Plan, columns: dict[str, str]) -> Key | None:
    """The key that some columns are; None where a table does not hold it."""
    places = {}
    for branch in plan.branches:
        mine = _keys(branch, columns)
        for table in branch.tables:
            place = _place(branch.facts, table, mine)
            if place is None:
                return None
            places[plan.table_name(branch.number, table)] = place
    outputs = zip(*(branch.outputs for branch in plan.branches), strict=True)
    in_results = any(
        all(output.value in _keys(branch, columns) for branch, output in zip(plan.branches, same, strict=True))
        for same in outputs
    )
    return Key(columns, places, in_results, all(_few(branch, columns) for branch in plan.branches))


def _keys(branch: BranchPlan, columns: dict[str, str]) -> frozenset[Attribute]:
    """What equals the key in a branch."""
    first = branch.branch.streams[0]
    return frozenset(_equal(branch.facts, Attribute(first.alias, columns[first.table])))


def _few(branch: BranchPlan, columns: dict[str, str]) -> bool:
    """Whether the conditions or the catalog leave the key few values in a branch."""
    first, facts = branch.branch.streams[0], branch.facts
    key = Attribute(first.alias, columns[first.table])
    listed, (low, high) = facts.listed(key), facts.closure.interval(key)
    if listed is not None and len(listed) < _FEW:
        return True
    if facts.closure.sort(key) is not Sort.DISCRETE or low is None or high is None:
        return False
    return high - low + 1 < _FEW


def _place(facts: Facts, table: Table, keys: frozenset[Attribute]) -> int | None:
    """Where the entries of a table hold the key; None where not all do."""
    for place, stored in enumerate(table.key):
        sources = {attribute.source for attribute in stored.attributes}
        everywhere = all(sources & {*member.streams, *member.after} for member in table.members)
        if stored.attribute in keys and stored.exact and everywhere:
            return place + bool(table.members)
    return None
