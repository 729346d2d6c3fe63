"""Joins in tasks against what is said of each point: rows, and the texts and probabilities that it writes itself."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat

import pytest

from streambound_runtime.lineage.probability import decimal
from support.profiles import MORE
from support.tp_tasks import WINDOWS, joined
from support.tp_worlds import Row

Windows = Counter[tuple[object, ...]]


def drawn(rng: random.Random, most: int) -> list[Row]:
    """Rows of different facts, of few keys, which may be NULL; many begin or end together."""
    rows = []
    for key in range(rng.randint(0, most)):
        begin = rng.randint(0, 20)
        fact = (key, rng.choice([None, 1, 1, 1, 2]))
        rows.append(Row(fact, key, rng.choice(["0.5", "0.3", "0.7", "1", "0.001"]), begin, begin + rng.randint(1, 9)))
    return rows


def written(row: tuple[str, Row], matches: Sequence[tuple[str, Row]]) -> tuple[str, float]:
    """The text and probability of a row without a match."""
    p, others = 1.0, sorted((f"{name}.{match.key}", float(match.p)) for name, match in matches)
    for _, chance in others:
        p *= 1.0 - chance
    text, own = f"{row[0]}.{row[1].key}", float(row[1].p)
    if not others:
        return text, own
    names = " | ".join(name for name, _ in others)
    return (f"{text} & !({names})" if len(others) > 1 else f"{text} & !{names}"), decimal(own * p)


def by_point(how: str, left: Sequence[Row], right: Sequence[Row]) -> Windows:
    """Each row's windows: runs of points with the same matches."""
    found = Windows()
    sides = (("a", left), ("b", right))
    match = lambda r, s, t: r.fact[1] is not None and r.fact[1] == s.fact[1] and s.begin <= t < s.end  # noqa: E731
    if how != "LEFT ANTI":
        for r in left:
            for s in right:
                begin, end = max(r.begin, s.begin), min(r.end, s.end)
                if begin < end and match(r, s, begin):
                    found[*r.fact, *s.fact, begin, end, f"a.{r.key} & b.{s.key}", decimal(float(r.p) * float(s.p))] += 1
    for side, wanted in enumerate((how in ("LEFT", "FULL", "LEFT ANTI"), how in ("RIGHT", "FULL"))):
        (name, rows), (other, others) = sides[side], sides[1 - side]
        for r in rows if wanted else ():
            begin, values = r.begin, r.fact if how == "LEFT ANTI" else (*r.fact, None, None)
            values = values if side == 0 else (None, None, *r.fact)
            matches = [[s for s in others if match(r, s, t)] for t in range(r.begin, r.end)]
            for t in range(r.begin + 1, r.end + 1):
                same = matches[begin - r.begin]
                if t == r.end or matches[t - r.begin] != same:
                    if all(s.p != "1" for s in same):
                        found[*values, begin, t, *written((name, r), [(other, s) for s in same])] += 1
                    begin = t
    return found


@pytest.mark.parametrize("how", WINDOWS)
@pytest.mark.parametrize("seed", range(2 * MORE))
def test_windows_are_those_of_each_point(how: str, seed: int) -> None:
    rng = random.Random(f"{how} {seed}")
    left, right = drawn(rng, 25), drawn(rng, 25)
    scale = rng.choice([1, 2**58])  # from the least time nearly to the greatest, or close together
    sides = [
        [replace(row, begin=row.begin * scale - 2**62, end=row.end * scale - 2**62) for row in rows]
        for rows in (left, right)
    ]
    found = joined(how, ("a", sides[0]), ("b", sides[1]), (1, 1), (2, 2), sizes(rng))
    near = (
        (*values, (begin + 2**62) // scale, (end + 2**62) // scale, text, p) for *values, begin, end, text, p in found
    )
    assert Counter(near) == by_point(how, left, right)


def sizes(rng: random.Random) -> Iterator[int]:
    """Of batches: all of one row, or of a few, or large ones."""
    if rng.random() < 0.2:
        yield from repeat(1)
    while True:
        yield rng.choice([1, 2, 3, 100])
