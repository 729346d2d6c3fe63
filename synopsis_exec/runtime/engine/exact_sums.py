"""Exact sums of doubles: functions of DuckDB over whole columns. They are rounded once, whatever the order of the rows.

An exact sum is a text, ``[-]HEXpEXP`` for HEX · 2^EXP with an odd HEX, or ``0``: so a state keeps it. Rows are added up
as arrays: a double is an integer of 53 bits and an exponent, and integers of nearby exponents are added in 64 bits, in
parts that cannot overflow. Only the sum of a group, or of a frame, is a number of Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streambound_runtime.arrays import Doubles, Integers, Numbers
from streambound_runtime.operators.exact import greatest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Dyadic = tuple[int, int]
"""An integer and the exponent of the power of two that it is multiplied with."""

_FRACTION = 52
_SPECIAL = 0x7FF
"""The exponent's bits of what is no finite number."""
_LEAST = -1074
"""The exponent of the least double."""
_BIN = 4
"""The low bits in which exponents may differ to be added up together."""
_PART = 18
"""Integers of 53 bits are added up in three parts of this number of bits."""
_ONES = (1 << _PART) - 1
_MOST = 1 << 29
"""Below this number of rows, by their weights, sums of parts fit into 64 bits: 18 bits, moved by up to 15."""


# --- functions of DuckDB ---------------------------------------------------------------------------------------------


def add_exact_sums(database: DuckDBPyConnection) -> None:
    """Make the functions known to a database."""
    from duckdb.func import ARROW, SPECIAL

    for name, function, given, type in _FUNCTIONS:
        database.create_function(name, function, [*given], type, type=ARROW, null_handling=SPECIAL)


def exact_sum(values: pa.ChunkedArray, weights: pa.ChunkedArray) -> pa.Array:
    """The sum of each list of doubles, each as often as its weight says; NULL is none.

    Raises OverflowError for what is not finite.
    """
    return _of_lists(values, weights, _terms)


def exact_squares(values: pa.ChunkedArray, weights: pa.ChunkedArray) -> pa.Array:
    """As `exact_sum`, of the squares of the doubles."""
    return _of_lists(values, weights, _squares)


def exact_total(texts: pa.ChunkedArray) -> pa.Array:
    """The sum of each list of exact sums; NULL is none."""
    return _as_texts(_added(map(_read, filter(None, several or ()))) for several in texts.to_pylist())


def exact_running(texts: pa.ChunkedArray) -> pa.Array:
    """Of each list of exact sums the sums up to each of them."""
    running = (
        accumulate(map(_read, several), lambda one, other: _added((one, other))) for several in texts.to_pylist()
    )
    return pa.array([[_text(*total) for total in totals] for totals in running], pa.list_(pa.string()))


def exact_product(texts: pa.ChunkedArray) -> pa.Array:
    """The product of each list of exact sums."""
    return _as_texts(_multiplied(map(_read, several)) for several in texts.to_pylist())


def exact_quotient(totals: pa.ChunkedArray, divisors: pa.ChunkedArray) -> pa.Array:
    """The doubles nearest to exact sums by integers; NULL for a divisor of 0."""
    pairs = zip(totals.to_pylist(), _integers(divisors).tolist(), strict=True)
    return _as_doubles(_double(*_read(total), number) if number else None for total, number in pairs)


def exact_variance(
    numbers: pa.ChunkedArray, totals: pa.ChunkedArray, squares: pa.ChunkedArray, least: pa.ChunkedArray
) -> pa.Array:
    """The doubles nearest to variances: of a number of values with this sum, and that of their squares.

    The divisor is the number less ``least``, 0 or 1; NULL where it is 0.
    """
    columns = (_integers(numbers).tolist(), totals.to_pylist(), squares.to_pylist(), _integers(least).tolist())
    return _as_doubles(_variance(*row) for row in zip(*columns, strict=True))


def exact_frames(values: pa.ChunkedArray, firsts: pa.ChunkedArray, lasts: pa.ChunkedArray) -> pa.Array:
    """Of each list of doubles the sums of its frames: from the first to the last place, from 1; NULL for none."""
    rows = zip(*((list.values for list in column.combine_chunks()) for column in (values, firsts, lasts)), strict=True)
    sums = [None if one is None else _of_frames(one, first.to_numpy(), last.to_numpy()) for one, first, last in rows]
    return pa.array(sums, pa.list_(pa.string()))


_FUNCTIONS: tuple[tuple[str, Callable[..., pa.Array], tuple[str, ...], str], ...] = (
    ("exact_sum", exact_sum, ("DOUBLE[]", "HUGEINT[]"), "VARCHAR"),
    ("exact_squares", exact_squares, ("DOUBLE[]", "HUGEINT[]"), "VARCHAR"),
    ("exact_total", exact_total, ("VARCHAR[]",), "VARCHAR"),
    ("exact_running", exact_running, ("VARCHAR[]",), "VARCHAR[]"),
    ("exact_product", exact_product, ("VARCHAR[]",), "VARCHAR"),
    ("exact_quotient", exact_quotient, ("VARCHAR", "HUGEINT"), "DOUBLE"),
    ("exact_variance", exact_variance, ("HUGEINT", "VARCHAR", "VARCHAR", "HUGEINT"), "DOUBLE"),
    ("exact_frames", exact_frames, ("DOUBLE[]", "BIGINT[]", "BIGINT[]"), "VARCHAR[]"),
)


# --- numbers of Python's ---------------------------------------------------------------------------------------------


def exact_text(number: int | Fraction) -> str:
    """An exact number whose denominator is a power of two as a text.

    >>> exact_text(Fraction(3, 8)), exact_text(-40), exact_text(0)
    ('3p-3', '-5p3', '0')
    """
    number = Fraction(number)
    return _text(number.numerator, 1 - number.denominator.bit_length())


def _text(number: int, exponent: int) -> str:
    if not number:
        return "0"
    zeros = (number & -number).bit_length() - 1
    return f"{number >> zeros:x}p{exponent + zeros}"


def _read(text: str) -> Dyadic:
    number, _, exponent = text.partition("p")
    return int(number, 16), int(exponent or 0)


def _added(several: Iterable[Dyadic]) -> Dyadic:
    total, least = 0, 0
    for number, exponent in several:
        if exponent < least:
            total, least = total << (least - exponent), exponent
        total += number << (exponent - least)
    return total, least


def _multiplied(several: Iterable[Dyadic]) -> Dyadic:
    product, exponents = 1, 0
    for number, exponent in several:
        product, exponents = product * number, exponents + exponent
    return product, exponents


def _variance(number: int, total: str, squares: str, least: int) -> float | None:
    if number == least or not number:
        return None
    (sum, below), (square, exponent) = _read(total), _read(squares)
    found = _added([(number * square, exponent), (-sum * sum, 2 * below)])
    return _double(*found, number * (number - least))


def _double(number: int, exponent: int, divisor: int) -> float:
    """The double that is nearest to a quotient; raises OverflowError where it is beyond all doubles."""
    try:
        return (number << exponent) / divisor if exponent > 0 else number / (divisor << -exponent)
    except OverflowError:
        raise OverflowError("a sum of doubles, or what is computed of it, does not fit double") from None


def _as_texts(numbers: Iterable[Dyadic]) -> pa.Array:
    return pa.array([_text(*one) for one in numbers], pa.string())


def _as_doubles(numbers: Iterable[float | None]) -> pa.Array:
    return pa.array(list(numbers), pa.float64())


# --- columns ---------------------------------------------------------------------------------------------------------

Terms = tuple[Integers, Integers]
"""Numbers that are added up: integers of 53 bits and a sign, and the exponents of the powers of two."""
Adding = Callable[[Integers, Numbers], Numbers]
"""Adds numbers up that some rows, by their places, have: for each group, or frame."""


def _of_lists(values: pa.ChunkedArray, weights: pa.ChunkedArray, terms_of: Callable[[Doubles], Terms]) -> pa.Array:
    lists = values.combine_chunks()
    flat, n = lists.flatten(), _integers(weights.combine_chunks().flatten())
    groups: Integers = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    if flat.null_count:
        there = flat.is_valid().to_numpy(zero_copy_only=False)
        flat, n, groups = flat.drop_null(), n[there], groups[there]
    terms = terms_of(flat.to_numpy())
    again = len(terms[0]) // max(1, len(groups))  # a square is two terms
    rows_of_terms = np.tile(np.arange(len(groups)), again)
    groups, n = groups[rows_of_terms], n[rows_of_terms]

    def added(rows: Integers, numbers: Numbers) -> Numbers:
        sums: Numbers = np.zeros(len(lists), dtype=numbers.dtype)  # type: ignore[assignment]  # as the numbers are
        np.add.at(sums, groups[rows], numbers)
        return sums

    return _as_texts(_sums(terms, n, len(lists), added))


def _of_frames(values: pa.Array, firsts: Integers, lasts: Integers) -> list[str]:
    """The sums of frames, of which equal ones are added up once."""
    ends, which = np.unique(np.stack([firsts - 1, lasts], axis=1), axis=0, return_inverse=True)

    def added(rows: Integers, numbers: Numbers) -> Numbers:
        upto: Numbers = np.zeros(len(values) + 1, dtype=numbers.dtype)  # type: ignore[assignment]  # as the numbers are
        upto[rows + 1] = numbers
        upto = np.add.accumulate(upto)  # beyond 64 bits it wraps, and so does the difference, to what is right
        sums: Numbers = upto[ends[:, 1]] - upto[ends[:, 0]]
        return sums

    once = np.ones(len(values), dtype=np.int64)
    found = [_text(*one) for one in _sums(_terms(values.fill_null(0.0).to_numpy()), once, len(ends), added)]
    return [found[place] for place in which.ravel().tolist()]


def _sums(terms: Terms, weights: Numbers, size: int, added: Adding) -> Iterator[Dyadic]:
    """The sums of numbers, each times its weight, in ``size`` groups or frames."""
    numbers: Numbers
    numbers, exponents = terms
    bins, move = exponents >> _BIN, exponents & ((1 << _BIN) - 1)
    if greatest(weights) * len(weights) >= _MOST:
        weights, numbers = weights.astype(object), numbers.astype(object)
    totals, least = [0] * size, 0
    for count, bin in enumerate(np.unique(bins).tolist()):
        least = least if count else bin << _BIN
        rows = np.flatnonzero(bins == bin)
        mine, by, n = numbers[rows], move[rows], weights[rows]
        parts = (mine & _ONES, (mine >> _PART) & _ONES, mine >> 2 * _PART)
        low, middle, high = (added(rows, (part << by) * n) for part in parts)
        middle = middle + (low >> _PART)
        high, rest = high + (middle >> _PART), (low & _ONES) | ((middle & _ONES) << _PART)
        some = np.flatnonzero((rest != 0) | (high != 0))
        found = zip(some.tolist(), high[some].tolist(), rest[some].tolist(), strict=True)
        at = (bin << _BIN) - least
        for place, above, below in found:
            totals[place] += ((above << 2 * _PART) + below) << at
    return ((total, least) for total in totals)


def _terms(values: Doubles) -> Terms:
    """Doubles as integers by powers of two; raises OverflowError for what is not finite."""
    plain = values.view(np.int64)
    exponents = (plain >> _FRACTION) & _SPECIAL
    for place in np.flatnonzero(exponents == _SPECIAL)[:1]:
        way = "leave it out in WHERE, or declare a domain of its column, outside of which rows are quarantined"
        raise OverflowError(
            f"a number that is added up is {float(values[place])}, and sums are of finite numbers: {way}"
        )
    bits = (plain & ((1 << _FRACTION) - 1)) | (np.minimum(exponents, 1) << _FRACTION)
    return np.where(plain < 0, -bits, bits), np.maximum(exponents, 1) + (_LEAST - 1)


def _squares(values: Doubles) -> Terms:
    """The squares of doubles, each of which is the sum of two: the rounded one and the rest (Dekker, 1971)."""
    _terms(values)  # all are finite
    part, power = np.frexp(values)
    square, upper = part * part, part * 134217729.0
    upper = upper - (upper - part)
    lower = part - upper
    rest = ((upper * upper - square) + 2 * upper * lower) + lower * lower
    numbers, exponents = _terms(np.concatenate([square, rest]))
    return numbers, exponents + np.tile(2 * power, 2)


def _integers(column: pa.Array | pa.ChunkedArray) -> Numbers:
    """Integers of 128 bits, as which decimals travel: of 64 bits where all fit, else of Python's."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    words = np.frombuffer(column.buffers()[1], dtype=np.int64).reshape(-1, 2)
    words = words[column.offset : column.offset + len(column)]
    low, high = words[:, 0], words[:, 1]
    if (high == low >> 63).all():
        return low
    return np.array([int(value) for value in column.to_pylist()], dtype=object)
