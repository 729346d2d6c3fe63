"""Random queries over temporal-probabilistic relations, whose operands may be joins themselves, and random rows."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from support.tp_worlds import Base, Joined, Query, Row, Selected

JOINS = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT ANTI")
Holds = Callable[[tuple[Any, ...], tuple[Any, ...]], Any]


def less(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one < other


def equal(one: Any, other: Any) -> bool:
    return one is not None and one == other


def drawn_rows(rng: random.Random, most: int) -> list[Row]:
    """Rows of which no two of one fact are valid together, some without any value."""
    rows: list[Row] = []
    for key in range(most):
        begin = rng.randint(0, 6)
        end = begin + rng.randint(1, 5)
        fact = (rng.choice([None, None, "x", "y"]), rng.choice([None, 1, 1, 2]))
        if all(row.fact != fact or row.end <= begin or end <= row.begin for row in rows):
            rows.append(Row(fact, key, rng.choice(["0.5", "0.7", "1", "0.001"]), begin, end))
    return rows


def condition(rng: random.Random, left: Query, right: Query, one: str, other: str) -> tuple[str, Holds]:
    """A condition of two operands with these names, on the second column of each, and perhaps the first."""
    k, j = f"{one}.{left.columns[1]}", f"{other}.{right.columns[1]}"
    n, h = f"{one}.{left.columns[0]}", f"{other}.{right.columns[0]}"
    return rng.choice(
        [
            (f"{k} = {j}", lambda r, s: equal(r[1], s[1])),
            (f"{k} < {j}", lambda r, s: less(r[1], s[1])),
            (f"{k} = {j} AND {n} <> {h}", lambda r, s: equal(r[1], s[1]) and (less(r[0], s[0]) or less(s[0], r[0]))),
            ("1 = 1", lambda r, s: True),
        ]
    )


def drawn_query(rng: random.Random) -> Selected:
    a, b, c = Base("a", ("n", "k")), Base("b", ("h", "j")), Base("c", ("g", "l"))
    inner = Joined(rng.choice(JOINS), a, b, *condition(rng, a, b, "a", "b"))
    found: Query = inner
    names = ("a", "b")
    if rng.random() < 0.6:
        nested = Selected(inner, alias="q")
        sides = ((nested, "q"), (c, "c")) if rng.random() < 0.5 else ((c, "c"), (nested, "q"))
        (left, one), (right, other) = sides
        found = Joined(rng.choice(JOINS), left, right, *condition(rng, left, right, one, other))
        names = (one, other)
    places = tuple(sorted(rng.sample(range(len(found.columns)), rng.randint(1, 2)))) if rng.random() < 0.5 else None
    if rng.random() < 0.3:
        return Selected(found, places, f"{names[0]}.{found.columns[1]} = 1", lambda fact: equal(fact[1], 1))
    return Selected(found, places)
