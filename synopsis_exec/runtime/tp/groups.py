"""GROUP BY over rows with lineages: each number of rows that a group can have, and in which worlds it has it.

A group is there in the worlds that have a row of it, and expected values are over all worlds: by the linearity of
expectation the sum of what each row adds, times its probability, whatever rows have to do with each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.formulas import (
    FALSE,
    TRUE,
    Formula,
    LineageTooLargeError,
    conjunction,
    disjunction,
    negation,
    variables,
)
from streambound_runtime.lineage.probability import decimal, possible
from streambound_runtime.operators.period_plan import EXPECTED_COUNT, EXPECTED_SUM, SliceAggregate

Given = Callable[[LineageTooLargeError, int, int], Exception]
"""The error for a lineage from one point of time to another."""


class Member(NamedTuple):
    """A row of a group, with what is aggregated of it."""

    begin: int
    end: int
    lineage: Formula
    values: Sequence[int | float | None]


class GroupRow(NamedTuple):
    """A row of the result: its aggregates."""

    values: tuple[int | float, ...]
    begin: int
    end: int
    lineage: Formula


def of_group(
    members: Sequence[Member], aggregates: Sequence[SliceAggregate], nodes: int, given: Given
) -> Iterator[GroupRow]:
    """The rows of a group between neighbouring ends of its members, which are in order of begin.

    The values of a row are the columns that are aggregated, one for each aggregate. Raises what ``given`` makes of a
    LineageTooLargeError.
    """
    points = sorted({time for one in members for time in (one.begin, one.end)})
    valid, following = list[Member](), 0
    for begin, end in pairwise(points):
        valid = [one for one in valid if one.end > begin]
        while following < len(members) and members[following].begin <= begin:
            valid.append(members[following])
            following += 1
        try:
            for count, lineage in _counted(valid, aggregates, nodes) if valid else ():
                values = (_value(one, n, valid, count, nodes) for n, one in enumerate(aggregates))
                yield GroupRow(tuple(values), begin, end, lineage)
        except LineageTooLargeError as error:
            raise given(error, begin, end) from error


def _value(one: SliceAggregate, place: int, valid: Sequence[Member], count: int, nodes: int) -> int | float:
    if one.function not in (EXPECTED_COUNT, EXPECTED_SUM):
        return count
    parts = []
    for member in valid:
        value: int | float | None = 1 if one.column is None else member.values[place]
        if value is not None:
            chance = possible(member.lineage, nodes) or 0.0
            parts.append(chance if one.function == EXPECTED_COUNT else chance * float(value))
    return decimal(math.fsum(parts))


def _counted(valid: Sequence[Member], aggregates: Sequence[SliceAggregate], nodes: int) -> list[tuple[int, Formula]]:
    """The possible counts of a group, each with its lineage; without a COUNT, 0 with the lineage of any row."""
    place = next((n for n, one in enumerate(aggregates) if one.function == "count"), None)
    if place is None:
        return [(0, absorbed(disjunction(one.lineage for one in valid)))]
    counted, rest = list[Formula](), list[Formula]()
    for one in valid:
        there = aggregates[place].column is None or one.values[place] is not None
        (counted if there else rest).append(one.lineage)
    if 2 ** len(counted) > nodes:
        raise LineageTooLargeError(len(variables(disjunction(counted))), nodes)
    exactly = [TRUE]
    for lineage in counted:
        none = negation(lineage)
        exactly = [
            disjunction((conjunction((same, none)), conjunction((less, lineage))))
            for same, less in zip([*exactly, FALSE], [FALSE, *exactly], strict=True)
        ]
    exactly[0] = conjunction((exactly[0], disjunction(rest)))
    found = ((count, absorbed(lineage)) for count, lineage in enumerate(exactly))
    return [(count, lineage) for count, lineage in found if lineage is not FALSE]
