"""Random queries over temporal-probabilistic relations, whose operands may be joins themselves, and random rows."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from support.tp_worlds import Base, Combined, Counted, Joined, Query, Row, Selected

JOINS = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT ANTI", "LEFT SEMI")
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


def drawn_set_operation(rng: random.Random) -> Selected | Combined:
    """A set operation of texts, numbers or both, perhaps as an operand of a join."""
    of_join = rng.random() < 0.4
    wanted = "text and number" if of_join else rng.choice(["text", "number", "text and number"])
    names = [("a", "b"), ("b", "a")] if of_join or rng.random() < 0.5 else [("a", "c"), ("b", "c")]
    sides = [_drawn_side(rng, wanted, *pair) for pair in names]
    found = Combined(rng.choice(["UNION", "EXCEPT", "INTERSECT"]), *sides, alias="q")
    if not of_join:
        return found
    c = Base("c", ("g", "l"))
    operands: list[tuple[Query, str]] = [(found, "q"), (c, "c")]
    rng.shuffle(operands)
    (left, one), (right, other) = operands
    joined = Joined(rng.choice(JOINS), left, right, *condition(rng, left, right, one, other))
    return Selected(joined, rng.choice([None, (0,), (1,)]))


def _drawn_side(rng: random.Random, wanted: str, first: str, second: str) -> Selected:
    columns = {"a": ("n", "k"), "b": ("h", "j"), "c": ("g", "l")}
    one, other = (Base(name, columns[name]) for name in (first, second))
    source: Query = one
    if rng.random() < 0.5:
        source = Joined(rng.choice(JOINS), one, other, *condition(rng, one, other, first, second))
    texts, numbers = [*range(0, len(source.columns), 2)], [*range(1, len(source.columns), 2)]
    places = {
        "text": (rng.choice(texts),), "number": (rng.choice(numbers),),
        "text and number": (rng.choice(texts), rng.choice(numbers)),
    }[wanted]  # fmt: skip
    return Selected(source, places)


def drawn_count(rng: random.Random) -> Counted:
    """The groups of a join, or of the different values of some of its columns."""
    a, b = Base("a", ("n", "k")), Base("b", ("h", "j"))
    source: Query = Joined(rng.choice(JOINS), a, b, *condition(rng, a, b, "a", "b"))
    if rng.random() < 0.4:
        places = tuple(sorted(rng.sample(range(len(source.columns)), 2)))
        source = Selected(source, places, alias="q")
    by, of = rng.sample(range(len(source.columns)), 2)
    return Counted(source, by, rng.choice([None, of]))


def drawn_join_of_counts(rng: random.Random) -> Selected:
    """A join of the groups of a relation with another one."""
    q, c = Counted(Base("a", ("n", "k")), 0, rng.choice([None, 1]), alias="q"), Base("c", ("g", "l"))
    operands: list[tuple[Query, str]] = [(q, "q"), (c, "c")]
    rng.shuffle(operands)
    (left, one), (right, other) = operands
    joined = Joined(rng.choice(JOINS), left, right, *condition(rng, left, right, one, other))
    return Selected(joined, rng.choice([None, (0,), (1,)]))
