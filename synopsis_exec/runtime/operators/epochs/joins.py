"""Joins of fragments: pairs of rows that are valid together, and the parts of rows that have no partner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from streambound_runtime.operators.epochs.fragments import Fragment, FragmentRow
from streambound_runtime.operators.epochs.plan import EpochJoin
from streambound_runtime.operators.epochs.rows import Epoch, RowsOfEpoch

Passes = Callable[[EpochJoin, Sequence[FragmentRow]], list[bool]]
"""For which of some pairs the condition of a join is true."""
Pair = tuple[int, int, int, int]
"""The places of a left and a right fragment, and from when to when both are valid."""


def joining(plan: EpochJoin, left_rows: RowsOfEpoch, right_rows: RowsOfEpoch, passes: Passes) -> RowsOfEpoch:
    """The pairs of an epoch, and what is left of rows without a partner."""

    def joined(epoch: Epoch) -> list[Fragment]:
        left, right, kind = left_rows(epoch), right_rows(epoch), plan.kind
        pairs = pairs_of(plan, left, right, passes)
        found = list[Fragment]()
        if kind in ("inner", "left", "right", "full"):
            found += [((*left[i][0], *right[j][0]), b, e, left[i][3] * right[j][3]) for i, j, b, e in pairs]
        if kind in ("semi", "anti", "left", "full"):
            matched = _matched((i, b, e) for i, _, b, e in pairs)
            parts = [(one, matched.get(i, [])) for i, one in enumerate(left)]
            if kind == "semi":
                found += [(row, b, e, n) for (row, _, _, n), spans in parts for b, e in spans]
            else:
                empty = () if kind == "anti" else (None,) * plan.widths[1]
                found += [((*row, *empty), b, e, n) for (row, s, u, n), spans in parts for b, e in _gaps(s, u, spans)]
        if kind in ("right", "full"):
            matched = _matched((j, b, e) for _, j, b, e in pairs)
            empty = (None,) * plan.widths[0]
            for j, (row, s, u, n) in enumerate(right):
                found += [((*empty, *row), b, e, n) for b, e in _gaps(s, u, matched.get(j, []))]
        return found

    return joined


def pairs_of(plan: EpochJoin, left: Sequence[Fragment], right: Sequence[Fragment], passes: Passes) -> list[Pair]:
    """The pairs of a join, by their places, and where both are valid."""
    by_key: dict[FragmentRow, list[int]] = defaultdict(list)
    mine = [key for key, _ in plan.keys]
    theirs = [key for _, key in plan.keys]
    for j in sorted(range(len(right)), key=lambda j: right[j][1]):
        key = tuple(right[j][0][place] for place in theirs)
        if None not in key:
            by_key[key].append(j)
    found = list[Pair]()
    for i, (row, begin, end, _) in enumerate(left):
        for j in by_key.get(tuple(row[place] for place in mine), ()):
            _, other_begin, other_end, _ = right[j]
            if other_begin >= end:
                break
            if begin < other_end:
                found.append((i, j, max(begin, other_begin), min(end, other_end)))
    if not plan.condition or not found:
        return found
    passing = passes(plan, [(*left[i][0], *right[j][0]) for i, j, _, _ in found])
    return [pair for pair, passed in zip(found, passing, strict=True) if passed]


def _matched(spans: Iterator[tuple[int, int, int]]) -> dict[int, list[tuple[int, int]]]:
    """Where each row has a partner: the union of the times, in order."""
    found: dict[int, list[tuple[int, int]]] = {}
    for place, begin, end in sorted(spans):
        mine = found.setdefault(place, [])
        if mine and begin <= mine[-1][1]:
            mine[-1] = (mine[-1][0], max(end, mine[-1][1]))
        else:
            mine.append((begin, end))
    return found


def _gaps(since: int, until: int, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What is left of a time without some others, which lie in it, in order."""
    for begin, end in spans:
        if since < begin:
            yield since, begin
        since = max(since, end)
    if since < until:
        yield since, until
