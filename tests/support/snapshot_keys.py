"""Rows of a stream with a snapshot key, some of which break it."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from support.snapshots import HIGH, LOW

Row = tuple[Any, ...]
"""The key and another value, begin and end."""


def good(rows: list[Row]) -> list[Row]:
    """The rows of which none begins while another one of its ``a`` is valid; of one begin none, if there are two."""
    kept = list[Row]()
    for begin in sorted({row[-2] for row in rows}):
        free = [row for row in rows if row[-2] == begin and all(k[0] != row[0] or k[-1] <= begin for k in kept)]
        often = Counter(row[0] for row in free)
        kept += [row for row in free if often[row[0]] == 1]
    return kept


def drawn(seed: int) -> list[Row]:
    """Rows of few keys and times."""
    random, found = Random(seed), list[Row]()
    for _ in range(20):
        begin = random.randrange(LOW, HIGH)
        found.append((random.choice((None, 0, 1, 2, 3)), random.randrange(4), begin, random.randint(begin + 1, HIGH)))
    return found
