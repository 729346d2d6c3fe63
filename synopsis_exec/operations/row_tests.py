"""What rows satisfy whose fate is open (Lemma 2), as tests of a row alone: by facts of views, or of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Constant, Query, TimeValue
from streambound.analyzer.types import Family
from streambound.criteria.dataflow.view import OperatorView
from streambound_runtime.operators.plan import Test


def tests_of_values(
    view: OperatorView, columns: Sequence[Column], places: Sequence[int]
) -> tuple[tuple[Test, ...], ...]:
    """The facts of a view about its columns' values, as alternatives of tests of ``columns``; none for no rows."""
    if any(column.values.size == 0 for column in view.columns):
        return ()
    return (tuple(test for place, column in zip(places, columns, strict=True) for test in _tests(view, place, column)),)


def tests_of_times(
    view: OperatorView, own: Sequence[ColumnFacts], columns: Sequence[Column], places: Sequence[int]
) -> Iterator[Test]:
    """How far columns are from the time of a source that another column has, where their ``own`` facts say less."""
    names = dict(zip(places, (column.name for column in columns), strict=True))
    for place, name in names.items():
        for one in () if view.columns[place].values.null else view.columns[place].times:
            exact = TimePromise(one.source, 0, 0)
            other = next((names[at] for at in places if at != place and exact in view.columns[at].times), None)
            if one.source == NOW or one.function or other is None or one in own[place].times:
                continue
            if one.low is not None:
                yield Test(other, "<=", name, -one.low, or_null=True)
            if one.high is not None:
                yield Test(other, ">=", name, -one.high, or_null=True)


def _tests(view: OperatorView, place: int, column: Column) -> Iterator[Test]:
    values = view.columns[place].values
    if values.only_null:
        yield Test(column.name, "is null")
        return
    if values.listed is not None and column.type.family in (Family.INTEGER, Family.STRING):
        yield Test(column.name, "in", None, tuple(_plain(one) for one in sorted(values.listed, key=str)), values.null)
        return
    low, high = values.ends if column.type.family in (Family.INTEGER, Family.TIMESTAMP, Family.DATE) else (None, None)
    if low is None and high is None and not values.null:
        yield Test(column.name, "is not null")
    if low is not None:
        yield Test(column.name, ">=", None, _plain(low), values.null)
    if high is not None:
        yield Test(column.name, "<=", None, _plain(high), values.null)


def _plain(value: Fraction | int | str) -> int | float | str:
    if isinstance(value, str):
        return value
    return int(value) if Fraction(value).denominator == 1 else float(value)


def tests_of_results(splits: Sequence[Query], columns: tuple[Column, ...]) -> tuple[tuple[Test, ...], ...]:
    """Alternatives of tests for rows that some branch of some split query can have as its result."""
    found = (tuple(_tests_of_branch(branch, columns)) for split in splits for branch in split.branches)
    return tuple(dict.fromkeys(found))


def _tests_of_branch(branch: Branch, columns: tuple[Column, ...]) -> Iterator[Test]:
    facts = Facts.of(branch)
    named = [(column.name, output.value) for column, output in zip(columns, branch.outputs, strict=True)]
    known = [(name, value) for name, value in named if isinstance(value, Attribute)]
    for name, value in named:
        if isinstance(value, Constant):
            yield Test(name, "is null") if value.value is None else Test(name, "==", None, _plain(value.value))
        elif isinstance(value, TimeValue) and value.minus is not None:
            yield from _distance(facts, name, value, value.minus)
    for name, attribute in known:
        if attribute in facts.closure.null:
            yield Test(name, "is null")
        else:
            yield from _interval(facts, name, attribute)
    for number, (name, attribute) in enumerate(known):
        for other, second in known[number + 1 :]:
            yield from _difference(facts, name, attribute, other, second)


def _interval(facts: Facts, name: str, attribute: Attribute) -> Iterator[Test]:
    """The ends and the list of an attribute's values; one that nothing is compared with may be NULL."""
    or_null = attribute not in facts.closure.compared
    if (listed := facts.listed(attribute)) is not None:
        yield Test(name, "in", None, tuple(_plain(value) for value in listed), or_null)
        return
    if attribute not in facts.closure.nodes or facts.closure.sort(attribute) is Sort.STRING:
        return
    low, high = facts.closure.interval(attribute)
    if low is not None:
        yield Test(name, ">=", None, _plain(low), or_null)
    if high is not None:
        yield Test(name, "<=", None, _plain(high), or_null)


def _distance(facts: Facts, name: str, value: TimeValue, minus: Attribute) -> Iterator[Test]:
    """The ends of a distance of two times."""
    most, least = facts.lag(value.plus.source, minus.source), facts.lag(minus.source, value.plus.source)
    if least is not None:
        yield Test(name, ">=", None, value.offset - least)
    if most is not None:
        yield Test(name, "<=", None, value.offset + most)


def _difference(facts: Facts, name: str, x: Attribute, other: str, y: Attribute) -> Iterator[Test]:
    """``x <= y + c`` and ``y <= x + c``, where the closure says so of values that are compared; two of one agree."""
    if x == y:
        or_null = x not in facts.closure.compared
        yield Test(name, "==", other, or_null=or_null)
        yield Test(other, "==", name, or_null=or_null)
        return
    if not {x, y} <= facts.closure.compared or not {x, y} <= facts.closure.nodes.keys():
        return
    pair = facts.closure.pair(x, y)
    if pair is None or facts.closure.sort(x) is not Sort.DISCRETE:
        return
    matrix, i, j = pair
    for one, two, (left, right) in ((name, other, (i, j)), (other, name, (j, i))):
        limit = matrix.limit(left, right)
        if limit is not None:
            yield Test(one, "<=", two, _plain(limit[0]))
