"""Punctuations by enumeration: patterns as the sets of values that they stand for, on a grid finer than their ends.

Shares no code with the package: what a pattern means is written here a second time, and operators are computed naively.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from streambound.punctuation.pattern import ConstantPattern, Empty, Listed, Pattern, RangePattern, Wildcard
from support.choices import Choices

ENDS = (0, 1, 2)
"""The values that patterns name; the grid has values between and beyond them."""
ORDERED = (-1, 0, 0.5, 1, 1.5, 2, 3)
GRID = (*ORDERED, None)


@dataclass(frozen=True)
class Said:
    """A punctuation as the package has it, and the rows of the grid that match it."""

    punctuation: tuple[Pattern, ...]
    values: tuple[frozenset[Any], ...]

    def describes(self, row: tuple[Any, ...]) -> bool:
        return all(value in values for value, values in zip(row, self.values, strict=True))


def pattern(choices: Choices) -> tuple[Pattern, frozenset[Any]]:
    """A pattern and its values."""
    kind = choices.weighted(
        [(4, "wildcard"), (4, "range"), (3, "up to"), (2, "constant"), (2, "list"), (1, "empty"), (1, "from")]
    )
    low, high = choices.pick(ENDS), choices.pick(ENDS)
    with_low, with_high = choices.chance(60), choices.chance(60)
    if kind == "wildcard":
        return Wildcard(), frozenset(GRID)
    if kind == "empty":
        return Empty(), frozenset()
    if kind == "constant":
        value = choices.pick((*ENDS, None))
        return ConstantPattern(value), frozenset({value})
    if kind == "list":
        values = tuple(v for v in (*ENDS, None) if choices.chance(50))
        return Listed(values), frozenset(values)
    lower = [v for v in ORDERED if v > low or (with_low and v == low)] if kind != "up to" else list(ORDERED)
    upper = [v for v in ORDERED if v < high or (with_high and v == high)] if kind != "from" else list(ORDERED)
    ends = (None if kind == "up to" else low, None if kind == "from" else high)
    return RangePattern(*ends, open_low=not with_low, open_high=not with_high), frozenset(lower) & frozenset(upper)


def said(choices: Choices, width: int) -> Said:
    """A punctuation of so many attributes; often of one of them alone."""
    only = choices.integer(0, width - 1) if choices.chance(60) else None
    everything = (Wildcard(), frozenset(GRID))
    parts = [pattern(choices) if only in (None, place) else everything for place in range(width)]
    return Said(tuple(p for p, _ in parts), tuple(values for _, values in parts))


@dataclass(frozen=True)
class Stream:
    """A grammatical stream: its rows and punctuations in order of arrival."""

    width: int
    elements: tuple[tuple[Any, ...] | Said, ...]
    nulls: bool = True

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(element for element in self.elements if not isinstance(element, Said))

    @property
    def all_said(self) -> tuple[Said, ...]:
        return tuple(element for element in self.elements if isinstance(element, Said))

    @property
    def punctuations(self) -> tuple[tuple[Pattern, ...], ...]:
        return tuple(element.punctuation for element in self.all_said)

    def closed(self, row: tuple[Any, ...]) -> bool:
        """Whether a row has been promised not to come any more."""
        return any(one.describes(row) for one in self.all_said)

    @property
    def to_come(self) -> Iterator[tuple[Any, ...]]:
        """Every row that may still come."""
        values = GRID if self.nulls else ORDERED
        return (row for row in product(values, repeat=self.width) if not self.closed(row))


def stream(choices: Choices, width: int, most: int = 10, nulls: bool = True, before: Stream | None = None) -> Stream:
    """A random grammatical stream, or a random continuation of one."""
    found = before or Stream(width, (), nulls)
    values = GRID if nulls else ORDERED
    for _ in range(choices.integer(0, most)):
        if choices.chance(40):
            element: tuple[Any, ...] | Said = said(choices, width)
        else:
            element = tuple(choices.pick(values) for _ in range(width))
            if found.closed(element):
                continue
        found = Stream(width, (*found.elements, element), nulls)
    return found


def after(whole: Stream, start: Stream) -> Stream:
    """The continuation alone."""
    return Stream(whole.width, whole.elements[len(start.elements) :], whole.nulls)
