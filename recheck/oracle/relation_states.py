"""The rows of a relation that changes, at each time: from its changes, by definition, with nothing of the runtime.

The changes of a timestamp are summed before they are judged. A delete of what is not there means nothing, and neither
do several different inserts of one key at one timestamp.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

Row = tuple[Any, ...]


class RowChange(Struct, frozen=True):
    """A row that comes or goes at a time; with ``images`` it is known whole, also when it goes."""

    time: int
    deletes: bool
    row: Row
    images: bool = False


def states(changes: Iterable[RowChange], key: Sequence[int]) -> list[tuple[int, list[Row]]]:
    """The rows that are there from each time of a change on, in order of time; ``key``: places of its columns.

    >>> states([RowChange(2, True, (1,)), RowChange(1, False, (1,)), RowChange(1, True, (2,))], [])
    [(1, [(1,)]), (2, [])]
    """
    by_time: dict[int, list[RowChange]] = defaultdict(list)
    for change in changes:
        by_time[change.time].append(change)
    found, now = [], Counter[Row]()
    for time in sorted(by_time):
        now = _by_key(now, by_time[time], key) if key else _bag(now, by_time[time])
        found.append((time, list(now.elements())))
    return found


def last_rows(changes: Iterable[RowChange], key: Sequence[int]) -> list[Row]:
    """The rows that are there in the end: keys, or rows without a key, are independent of each other.

    >>> last_rows([RowChange(1, False, (1, 5)), RowChange(2, False, (1, 6)), RowChange(3, False, (2, 7))], [0])
    [(1, 6), (2, 7)]
    """
    apart: dict[Row, list[RowChange]] = defaultdict(list)
    for change in changes:
        apart[tuple(change.row[place] for place in key) if key else change.row].append(change)
    return [row for mine in apart.values() for row in states(mine, key)[-1][1]]


def _bag(before: Counter[Row], changes: list[RowChange]) -> Counter[Row]:
    total = Counter(before)
    for change in changes:
        total[change.row] += -1 if change.deletes else 1
    return +total


def _by_key(before: Counter[Row], changes: list[RowChange], key: Sequence[int]) -> Counter[Row]:
    rows = {tuple(row[place] for place in key): row for row in before}
    touched = {tuple(change.row[place] for place in key) for change in changes}
    for one in touched:
        mine = [change for change in changes if tuple(change.row[place] for place in key) == one]
        if mine[0].images:
            mine = _first_and_last(mine)
        inserts = {change.row for change in mine if not change.deletes}
        deletes = 0 if mine and mine[0].images and inserts else sum(change.deletes for change in mine)
        new = next(iter(inserts)) if len(inserts) == 1 else None
        candidates = [row for row in (new, rows.get(one)) if row is not None]
        if len(candidates) > deletes:
            rows[one] = candidates[0]
        else:
            rows.pop(one, None)
    return Counter(rows.values())


def _first_and_last(changes: list[RowChange]) -> list[RowChange]:
    """Changes without those that cancel: an insert goes if a later change deletes the same row."""
    come = [change for change in changes if not change.deletes]
    gone = []
    for change in changes:
        if change.deletes:
            same = next((one for one in come if one.row == change.row), None)
            if same is None:
                gone.append(change)
            else:
                come.remove(same)
    return come + gone
