"""Times that have ended, as intervals: the patterns of punctuations on a timestamp.

An interval is where it begins (None: with the first timestamp) and before what it ends. Tucker, Maier, Sheard and
Fegaras, "Exploiting punctuation semantics in continuous data streams", TKDE 15(3), 2003: a union of streams promises
what each of them does; a sort passes on what is ended from the first timestamp on.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

Interval = tuple[int | None, int]
Ended = tuple[Interval, ...]
"""Intervals in order that do not touch."""
END = 2**63
"""Beyond every timestamp."""


def joined(intervals: Iterable[Interval]) -> Ended:
    """The same times as intervals in order that do not touch.

    >>> joined([(5, 7), (None, 3), (3, 4)])
    ((None, 4), (5, 7))
    """
    found: list[Interval] = []
    for low, end in sorted(intervals, key=lambda pair: (pair[0] is not None, pair[0] or 0)):
        if found and (low is None or low <= found[-1][1]):
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif low is None or low < end:
            found.append((low, end))
    return tuple(found)


def in_all(streams: Iterable[Ended]) -> Ended:
    """The times that have ended in each of some streams; all where there is none.

    >>> in_all([((None, 5),), ((None, 2), (4, 9))])
    ((None, 2), (4, 5))
    """
    return reduce(_in_both, streams, ((None, END),))


def _in_both(one: Ended, other: Ended) -> Ended:
    found = []
    for low, end in one:
        for begin, stop in other:
            first = begin if low is None else low if begin is None else max(low, begin)
            last = min(end, stop)
            if first is None or first < last:
                found.append((first, last))
    return joined(found)


def closed(ended: Ended) -> int | None:
    """The timestamp before which all have ended, without a gap; None while none has."""
    return ended[0][1] if ended and ended[0][0] is None else None
