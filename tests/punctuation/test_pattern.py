"""Patterns: `match` and `combine` against the sets of values that patterns stand for."""

from __future__ import annotations

import doctest
from itertools import product

import pytest
from hypothesis import given

from streambound.punctuation import pattern as pattern_module
from streambound.punctuation.combine import combine, combine_sets, is_empty
from streambound.punctuation.match import match, set_match
from streambound.punctuation.pattern import (
    ConstantPattern,
    Empty,
    Listed,
    Pattern,
    RangePattern,
    Wildcard,
    combine_pattern,
    is_empty_pattern,
    match_pattern,
)
from support.choices import Choices, drawn
from support.grid import GRID, Said, said
from support.profiles import examples


def test_doctests() -> None:
    assert doctest.testmod(pattern_module).failed == 0


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Wildcard(), Wildcard(), Wildcard()),
        (Wildcard(), RangePattern(), RangePattern()),  # a range has no NULL
        (ConstantPattern(None), RangePattern(), Empty()),
        (ConstantPattern(3), RangePattern(3, 9), ConstantPattern(3)),
        (RangePattern(3, 9, open_low=True), ConstantPattern(3), Empty()),
        (RangePattern(1, 3), RangePattern(3, 9), ConstantPattern(3)),
        (RangePattern(1, 3, open_high=True), RangePattern(3, 9), Empty()),
        (RangePattern(None, 5), RangePattern(3, None), RangePattern(3, 5)),
        (RangePattern(None, 5), RangePattern(None, 5, open_high=True), RangePattern(None, 5, open_high=True)),
        (Listed((1, 2, 7)), RangePattern(2, 9), Listed((2, 7))),
        (Listed((1, 2)), Listed((2, 3)), ConstantPattern(2)),
        (Listed((1, 2)), ConstantPattern(5), Empty()),
        (RangePattern("D", "G"), RangePattern("F"), RangePattern("F", "G")),
        (Empty(), Wildcard(), Empty()),
        (Empty(), Listed((1,)), Empty()),
    ],
)
def test_combined_patterns(one: Pattern, other: Pattern, both: Pattern) -> None:
    assert combine_pattern(one, other) == combine_pattern(other, one) == both


@examples(200)
@given(drawn(lambda choices: (said(choices, 2), said(choices, 2))))
def test_match_and_combine_are_membership_and_intersection(pair: tuple[Said, Said]) -> None:
    one, other = pair
    both = combine(one.punctuation, other.punctuation)
    for row in product(GRID, repeat=2):
        assert match(row, one.punctuation) == one.describes(row)
        assert match(row, both) == (one.describes(row) and other.describes(row))
        assert set_match(row, (one.punctuation, other.punctuation)) == (one.describes(row) or other.describes(row))
    empty = not any(one.describes(row) and other.describes(row) for row in product(GRID, repeat=2))
    assert is_empty(both) == empty
    assert combine_sets([one.punctuation], [other.punctuation]) == (() if empty else (both,))


def test_random_patterns_are_of_every_kind_and_often_empty() -> None:
    """So that the properties cannot become true of nothing."""
    patterns = [p for seed in range(300) for p in said(Choices.seeded(seed), 2).punctuation]
    assert {type(p) for p in patterns} == {Wildcard, ConstantPattern, RangePattern, Listed, Empty}
    assert 40 < sum(map(is_empty_pattern, patterns)) < 250
    assert any(match_pattern(None, p) for p in patterns)
