"""Conditions as tests of rows, as far as the engine has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.parts import RowTests
from streambound_runtime.operators.plan import Test


def tests_by_place(alternatives: RowTests) -> tuple[tuple[Test, ...], ...]:
    """Alternatives of tests of columns ``c0`` …, as the engine has them."""
    return tuple(
        tuple(Test(one.column, one.op, one.other, one.value, one.or_null) for one in tests) for tests in alternatives
    )


def tests_of_values(
    view: OperatorView, columns: Sequence[Column], places: Sequence[int]
) -> tuple[tuple[Test, ...], ...]:
    """What the facts of a view say of its columns' values, as tests of ``columns``: of no row if there are none."""
    if any(column.values.size == 0 for column in view.columns):
        return ()
    return (tuple(test for place, column in zip(places, columns, strict=True) for test in _tests(view, place, column)),)


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
