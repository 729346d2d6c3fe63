"""Tests and terms of a plan as functions of a row's values, by the places of its variables or columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from streambound_runtime.operators.plan import Term, Test
from streambound_runtime.operators.values import COMPARISONS, minus, plus
from streambound_runtime.row_values import Value

Passes = Callable[[Sequence[Value]], bool]
ValueOf = Callable[[Sequence[Value]], Value]


def any_of(columns: Sequence[str], alternatives: tuple[tuple[Test, ...], ...] | None) -> Passes | None:
    """Whether a row passes all tests of some alternative; None where there are no alternatives: every row does."""
    if alternatives is None:
        return None
    places = {name: place for place, name in enumerate(columns)}
    several = [every_test([one_test(test, places) for test in tests]) for tests in alternatives]
    return lambda row: any(passes is None or passes(row) for passes in several)


def every_test(tests: list[Passes]) -> Passes | None:
    """One test that passes where all do, three times as fast as `all`; None for an empty list."""
    if len(tests) < 2:
        return tests[0] if tests else None
    first, others = tests[0], every_test(tests[1:])
    assert others is not None
    return lambda row: first(row) and others(row)


def one_test(test: Test, places: Mapping[str, int]) -> Passes:
    """A test of the values at some places; a comparison with NULL is not true."""
    left, offset = places[test.left], test.offset
    if test.or_null:
        passes = one_test(replace(test, or_null=False), places)
        return lambda row: row[left] is None or passes(row)
    match test.op:
        case "is null":
            return lambda row: row[left] is None
        case "is not null":
            return lambda row: row[left] is not None
        case "in":
            options = frozenset(offset if isinstance(offset, tuple) else ())
            return lambda row: row[left] in options and row[left] is not None
    assert offset is None or isinstance(offset, int | float | str), "formulas are resolved, and only lists are members"
    compare = COMPARISONS[test.op]
    if test.right is None:
        return lambda row: row[left] is not None and compare(row[left], offset)
    right = places[test.right]
    if not offset:
        return lambda row: row[left] is not None and row[right] is not None and compare(row[left], row[right])
    return lambda row: row[left] is not None and row[right] is not None and compare(row[left], plus(row[right], offset))


def term_value(term: Term, places: Mapping[str, int]) -> ValueOf:
    """The value of a term without limits; NULL stays NULL. Its formulas are resolved (`operators.formula`)."""
    offset = term.offset
    assert offset is None or isinstance(offset, int | float | str), "formulas are resolved"
    if term.variable is None:
        return lambda row: offset
    place = places[term.variable]
    if term.minus is not None:
        earlier = places[term.minus]
        return lambda row: plus(minus(row[place], row[earlier]), offset)
    return moved(place, offset)


def moved(place: int, offset: Value) -> ValueOf:
    """The value at a place plus a constant; NULL stays NULL."""
    if not offset:
        return lambda row: row[place]
    return lambda row: None if row[place] is None else plus(row[place], offset)
