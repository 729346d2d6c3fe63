"""Exact sums of doubles in DuckDB against fractions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf, nan
from random import Random
from typing import Any

import duckdb
import pytest

from streambound_runtime.engine.exact_sums import add_exact_sums, exact_text

Rows = list[tuple[float | None, int]]

EXTREMES = (5e-324, -5e-324, 1.7e308, -1.7e308, 1e16, 1.0, -1e16, 0.1, -0.0, 2.2250738585072014e-308, 3e-310, 2.0**-52)
LARGE = (1, -1, 2**63, -(2**63), 2**70, -(2**100))
SUMS: dict[str, Rows] = {
    "none": [],
    "NULL only": [(None, 1)],
    "what a rounded sum loses": [(1e16, 1), (1.0, 1), (-1e16, 1)],
    "the least one and the greatest ones": [(5e-324, 1), (1.7e308, 1), (1.7e308, 1), (-1.7e308, 1)],
    "negative zero": [(-0.0, 1), (-0.0, 3)],
    "denormal numbers": [(5e-324, 3), (3e-310, 1), (2.2250738585072014e-308, -1)],
    "many equal ones": [(0.1, 1)] * 3000,
    "large weights": [(0.1, 2**63), (0.3, -(2**100)), (1e300, 2**70)],
    "the least weight of 64 bits": [(0.1, -(2**63)), (-0.1, -(2**63))],
    "all taken back": [(0.1, 1), (1e16, 1), (0.1, -1), (1e16, -1)],
}


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as found:
        add_exact_sums(found)
        yield found


def value(database: duckdb.DuckDBPyConnection, sql: str, *given: object) -> Any:
    ((found,),) = database.execute(f"SELECT {sql}", list(given)).fetchall()
    return found


def total(rows: Rows, power: int = 1) -> Fraction:
    return sum((Fraction(one) ** power * n for one, n in rows if one is not None), Fraction(0))


def both_sums(database: duckdb.DuckDBPyConnection, rows: Rows) -> tuple[str, str]:
    lists = [one for one, _ in rows], [n for _, n in rows]
    sums = [value(database, f"exact_{name}(?::DOUBLE[], ?::HUGEINT[])", *lists) for name in ("sum", "squares")]
    return sums[0], sums[1]


@pytest.mark.parametrize("name", SUMS)
def test_sums_and_squares(name: str, database: duckdb.DuckDBPyConnection) -> None:
    rows = SUMS[name]
    assert both_sums(database, rows) == (exact_text(total(rows)), exact_text(total(rows, 2)))


def test_sums_of_random_groups(database: duckdb.DuckDBPyConnection) -> None:
    """More groups than DuckDB has rows in a vector, of numbers of all sizes."""
    random = Random(4)
    groups: dict[int, Rows] = {group: random_numbers(random) for group in range(3000)}
    database.execute("CREATE TABLE t (g BIGINT, v DOUBLE, w HUGEINT)")
    given = [(group, one, n) for group, rows in groups.items() for one, n in rows]
    random.shuffle(given)
    columns = ", ".join(f"unnest(?::{kind}[])" for kind in ("BIGINT", "DOUBLE", "HUGEINT"))
    database.execute(f"INSERT INTO t SELECT {columns}", [list(column) for column in zip(*given, strict=True)])
    found = database.execute("SELECT g, exact_sum(list(v), list(w)), exact_squares(list(v), list(w)) FROM t GROUP BY g")
    sums = {group: both for group, *both in found.fetchall()}
    assert len(sums) > 2048
    for group, both in sums.items():
        assert both == [exact_text(total(groups[group])), exact_text(total(groups[group], 2))]


def random_numbers(random: Random) -> Rows:
    weights = LARGE if random.random() < 0.01 else LARGE[:2]
    numbers = (lambda: random.choice(EXTREMES), lambda: random.uniform(-100, 100), lambda: None)
    return [(random.choice(numbers)(), random.choice(weights)) for _ in range(random.randrange(6))]


def test_quotients_are_rounded_once(database: duckdb.DuckDBPyConnection) -> None:
    random, compared = Random(1), 0
    for _ in range(300):
        rows = random_numbers(random)
        for divisor in (1, 3, -7, 2**65):
            number = total(rows)
            if abs(number / divisor) < 1.7e308:
                text = value(database, "exact_total(?::VARCHAR[])", [exact_text(total([one])) for one in rows])
                assert value(database, "exact_quotient(?, ?::HUGEINT)", text, divisor) == float(number / divisor)
                compared += number != 0
    assert compared > 300
    assert value(database, "exact_quotient('1', 0::HUGEINT)") is None
    assert value(database, "exact_total([NULL, '3p-1'])") == "3p-1"


@pytest.mark.parametrize(
    ("values", "least", "expected"),
    [
        ([0.1], 0, 0.0),
        ([0.1], 1, None),
        ([], 0, None),
        ([1e8, 1e8 + 1], 0, 0.25),
        ([1e-200, 3e-200], 1, 0.0),
        ([1e153, -1e153], 0, 1e306),
        (
            [0.1, 0.2, 0.7],
            1,
            float(
                Fraction(total([(0.1, 1), (0.2, 1), (0.7, 1)], 2) - total([(0.1, 1), (0.2, 1), (0.7, 1)]) ** 2 / 3) / 2
            ),
        ),
    ],
)
def test_variances(
    values: Sequence[float], least: int, expected: float | None, database: duckdb.DuckDBPyConnection
) -> None:
    sums = both_sums(database, [(one, 1) for one in values])
    found = value(database, "exact_variance(?::HUGEINT, ?, ?, ?::HUGEINT)", len(values), *sums, least)
    assert found == expected


def test_frames(database: duckdb.DuckDBPyConnection) -> None:
    random = Random(3)
    values = [one for _ in range(200) for one, _ in random_numbers(random)]
    firsts = [random.randint(1, len(values)) for _ in values]
    lasts = [random.randint(first - 1, min(len(values), first + 20)) for first in firsts]
    found = value(database, "exact_frames(?::DOUBLE[], ?::BIGINT[], ?::BIGINT[])", values, firsts, lasts)
    frames = (values[first - 1 : last] for first, last in zip(firsts, lasts, strict=True))
    assert found == [exact_text(total([(one, 1) for one in frame])) for frame in frames]
    assert value(database, "exact_frames(NULL, NULL, NULL)") is None


@pytest.mark.parametrize("number", [inf, -inf, nan])
@pytest.mark.parametrize("function", ["exact_sum(?, [1, 1])", "exact_squares(?, [1, 1])", "exact_frames(?, [1], [1])"])
def test_what_is_not_finite_is_no_summand(number: float, function: str, database: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.InvalidInputException, match=f"a number that is added up is {number}, and sums are of"):
        value(database, function, [1.0, number])


def test_a_sum_beyond_all_doubles_is_an_error_where_it_is_rounded(database: duckdb.DuckDBPyConnection) -> None:
    most = value(database, "exact_sum([1.7e308, 1.7e308], [1, 1])")
    with pytest.raises(duckdb.InvalidInputException, match="does not fit double"):
        value(database, "exact_quotient(?, 1::HUGEINT)", most)
    assert value(database, "exact_quotient(?, 2::HUGEINT)", most) == 1.7e308
