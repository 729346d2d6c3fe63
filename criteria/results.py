"""Every result of a split query on a few given rows, with the rows that made it: a brute-force evaluation.

Only for the small inputs that witnesses are checked on; the tests compare it with DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne

from msgspec import Struct

from streambound.analyzer.closure import in_order
from streambound.analyzer.expressions.values import computed_value
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Comparison,
    Condition,
    Constant,
    NullTest,
    OneOf,
    Op,
    OutputValue,
    Query,
    TimeValue,
)
from streambound.analyzer.values import Value
from streambound.analyzer.work import spend

_STEPS_A_BRANCH = 15
_OPERATORS = {Op.LT: lt, Op.LE: le, Op.EQ: eq, Op.GE: ge, Op.GT: gt, Op.NE: ne}

MOST_STEPS = 200_000
"""Partial matches after which the evaluation gives up."""


class TooMany(Exception):
    """More partial matches than `MOST_STEPS`."""


class Row(Struct, frozen=True):
    """A tuple of a table, its values encoded by their types; ``tag`` says what it is part of (bits, combined by or)."""

    table: str
    values: Mapping[str, Value | None]
    tag: int = 0


class TaggedResult(Struct, frozen=True):
    """A result's values and the tags of its rows."""

    values: tuple[Value | None, ...]
    tags: int


def results(query: Query, rows: Sequence[Row]) -> Iterator[TaggedResult]:
    """All results of a split query, one per combination of rows; raises TooMany and TooMuchWork."""
    steps = [MOST_STEPS]
    for branch in query.branches:
        spend(_STEPS_A_BRANCH + len(rows) * len(branch.sources) / 4 + len(branch.atoms))
        yield from _of_branch(branch, rows, steps)


def _of_branch(branch: Branch, rows: Sequence[Row], steps: list[int]) -> Iterator[TaggedResult]:
    choices = []
    waiting = [(_aliases(atom), atom) for atom in branch.atoms]
    seen: set[str] = set()
    for source in branch.sources:
        seen.add(source.alias)
        local = [atom for aliases, atom in waiting if aliases == {source.alias}]
        joins = [atom for aliases, atom in waiting if aliases != {source.alias} and aliases <= seen]
        waiting = [(aliases, atom) for aliases, atom in waiting if not aliases <= seen]
        fitting = [row for row in rows if row.table == source.table]
        fitting = [row for row in fitting if all(holds(atom, {source.alias: row}) for atom in local)]
        choices.append((source.alias, fitting, joins))
    for match in _matches(choices, {}, steps):
        tags = 0
        for row in match.values():
            tags |= row.tag
        yield TaggedResult(output(branch, match), tags)


def _aliases(atom: Condition) -> set[str]:
    return {attribute.source for attribute in atom.attributes}


def _matches(
    choices: list[tuple[str, list[Row], list[Condition]]], match: dict[str, Row], steps: list[int]
) -> Iterator[dict[str, Row]]:
    if len(match) == len(choices):
        yield dict(match)
        return
    alias, fitting, tests = choices[len(match)]
    for row in fitting:
        steps[0] -= 1
        if steps[0] < 0:
            raise TooMany
        spend(2)
        match[alias] = row
        if all(holds(atom, match) for atom in tests):
            yield from _matches(choices, match, steps)
        del match[alias]


def output(branch: Branch, match: Mapping[str, Row]) -> tuple[Value | None, ...]:
    """The select list's values; raises NotKnown and Fails where one that is computed has none."""
    return tuple(_shown(item.value, branch, match) for item in branch.outputs)


def _shown(shown: OutputValue, branch: Branch, match: Mapping[str, Row]) -> Value | None:
    match shown:
        case Attribute():
            return _value(shown, match)
        case Constant(value):
            return value
        case TimeValue():
            earlier = _value(shown.minus, match) if shown.minus is not None else 0
            return _value(shown.plus, match) - earlier + shown.offset  # type: ignore[operator]  # never NULL
    return computed_value(shown, [(branch.column(a).type, _value(a, match)) for a in shown.attributes])


def holds(atom: Condition, match: Mapping[str, Row]) -> bool:
    """Whether an atom is true (not false or unknown) of some rows."""
    if isinstance(atom, NullTest):
        return (_value(atom.attribute, match) is None) == atom.is_null
    if isinstance(atom, OneOf):
        return _value(atom.attribute, match) in atom.values
    left = _value(atom.left, match)
    right = atom.offset if atom.right is None else _moved(atom, _value(atom.right, match))
    if left is None or right is None:
        return False
    return bool(_OPERATORS[atom.op](in_order(left), in_order(right)))


def _moved(atom: Comparison, value: Value | None) -> Value | None:
    return value if value is None or isinstance(value, str) or isinstance(atom.offset, str) else value + atom.offset


def _value(attribute: Attribute, match: Mapping[str, Row]) -> Value | None:
    return match[attribute.source].values[attribute.column]
