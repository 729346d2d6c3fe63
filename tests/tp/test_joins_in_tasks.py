"""Windows, joins and projections in tasks, compared with all possible worlds; batches are cut anywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from support.profiles import MORE
from support.tp_tasks import WINDOWS, joined
from support.tp_worlds import Base, Joined, Row, differences

A, B = Base("a", ("n", "k")), Base("b", ("h", "j"))


def drawn(rng: random.Random, most: int = 4) -> list[Row]:
    """Good rows: of one fact no two are valid together."""
    rows: list[Row] = []
    for key in range(rng.randint(0, most)):
        begin = rng.randint(-2, 6)
        end = begin + rng.randint(1, 6)
        fact = (rng.choice([None, 0, 1]), rng.choice([None, 1, 1, 2]))
        if all(row.fact != fact or row.end <= begin or end <= row.begin for row in rows):
            rows.append(Row(fact, key, rng.choice(["0.5", "0.7", "1", "0.001"]), begin, end))
    return rows


def sizes(rng: random.Random) -> Iterator[int]:
    while True:
        yield rng.choice([1, 2, 3, 100])


def equal(r: tuple[object, ...], s: tuple[object, ...]) -> bool:
    return r[1] is not None and r[1] == s[1]


@pytest.mark.parametrize("how", WINDOWS)
def test_joins_on_equal_columns(how: str) -> None:
    rng = random.Random(how)
    found = 0
    for _ in range(12 * MORE):
        left, right = drawn(rng), drawn(rng)
        query = Joined(how, A, B, "k = j", equal)
        printed = joined(how, ("a", left), ("b", right), (1, 1), (2, 2), sizes(rng))
        assert differences(iter(printed), query, {"a": left, "b": right}) == [], (left, right)
        found += len(printed)
    assert found > 3


@pytest.mark.parametrize("how", WINDOWS)
def test_joins_of_everything_with_itself(how: str) -> None:
    rng = random.Random(how)
    found = 0
    for _ in range(8 * MORE):
        rows = drawn(rng, 5)
        query = Joined(how, A, Base("a", ("n", "k"), "y"), "1 = 1", lambda r, s: True)
        printed = joined(how, ("a", rows), ("a", rows), None, (2, 2), sizes(rng))
        assert differences(iter(printed), query, {"a": rows}) == [], rows
        found += len(printed)
    assert (found > 10) != (how == "LEFT ANTI")


@pytest.mark.parametrize("how", WINDOWS)
def test_joins_of_everything_with_another_relation(how: str) -> None:
    """Rows without any value match: they are the same fact as none."""
    rng = random.Random(how)
    found = 0
    for _ in range(8 * MORE):
        left, right = drawn(rng), drawn(rng)
        query = Joined(how, A, B, "1 = 1", lambda r, s: True)
        printed = joined(how, ("a", left), ("b", right), None, (2, 2), sizes(rng))
        assert differences(iter(printed), query, {"a": left, "b": right}) == [], (left, right)
        found += len(printed)
    assert found > 3


def test_the_inputs_on_which_the_printed_algorithms_fail() -> None:
    """The maximum that LAWAU forgets, and −1, which is a time."""
    left, right = [Row((0, 1), 1, "0.5", 2, 10)], [Row((0, 1), 1, "0.5", 3, 9), Row((1, 1), 2, "0.5", 4, 5)]
    found = joined("LEFT ANTI", ("a", left), ("b", right), (1, 1), (2, 2), sizes(random.Random(0)))
    assert [row[2:5] for row in found] == [
        (2, 3, "a.1"), (3, 4, "a.1 & !b.1"), (4, 5, "a.1 & !(b.1 | b.2)"), (5, 9, "a.1 & !b.1"), (9, 10, "a.1"),
    ]  # fmt: skip
    left, right = [Row((0, 1), 1, "0.5", -3, 1)], [Row((0, 1), 1, "0.5", -1, 0)]
    found = joined("LEFT ANTI", ("a", left), ("b", right), (1, 1), (2, 2), sizes(random.Random(0)))
    assert [row[2:5] for row in found] == [(-3, -1, "a.1"), (-1, 0, "a.1 & !b.1"), (0, 1, "a.1")]


def test_many_rows_of_one_key_meet_those_that_are_valid() -> None:
    """A long chain: at most three rows are valid at a time."""
    left = [Row((i, 1), i, "0.5", 2 * i, 2 * i + 3) for i in range(5000)]
    right = [Row((i, 1), i, "0.5", 2 * i + 1, 2 * i + 2) for i in range(5000)]
    found = joined("FULL", ("a", left), ("b", right), (1, 1), (2, 2), iter([100] * 10_000))
    assert len(found) == 5000 * 5
