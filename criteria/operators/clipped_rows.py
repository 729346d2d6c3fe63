"""How far the rows that wait for a view are clipped (Propositions D4 and D5, with the harmless joins of theory §4).

Of a column that is only compared with columns of the view, whose values have limits, all beyond these fare alike:
one of each side stands for them. So ``S.v > (SELECT COUNT(*) …)`` keeps no S.v below −1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.values import Value
from streambound.criteria.operators.judge import groups
from streambound.criteria.operators.parts import ClippedColumn
from streambound.criteria.parts import RowTest
from streambound.criteria.size import Number, Size, product
from streambound_runtime.promises import Domain

Limits = tuple[int | None, int | None]
"""The least and the greatest of some values; None for no limit."""


def clipped(
    split: Query, tests: Sequence[RowTest], domains: Mapping[int, Domain[Value]], shown: Sequence[str]
) -> tuple[Size | None, tuple[ClippedColumn, ...]]:
    """How many rows ``l0, l1 …`` of a query, clipped where it helps, there can be; None for no number.

    The ``tests`` are those of a pair; of columns ``r0`` … of the view the ``domains`` are known, by their number. What
    is ``shown`` is kept as it is.
    """
    if (whole := groups(split)) is not None or not split.branches:
        return whole, ()
    clips, sizes = [], []
    for place in range(len(split.branches[0].outputs)):
        name = f"l{place}"
        own = _around(_interval(branch, place) for branch in split.branches)
        ends = None if own is None or name in shown or None not in own else _thresholds(name, tests, domains)
        if own is None or ends is None:
            continue
        clip = ClippedColumn(name, *(None if end is None else end + n for end, n in zip(ends, (-1, 1), strict=True)))
        low = max((end for end in (own[0], clip.low) if end is not None), default=None)
        high = min((end for end in (own[1], clip.high) if end is not None), default=None)
        if low is not None and high is not None:
            clips.append(clip)
            sizes.append(Number(max(0, high - low + 1)))
    gone = {int(clip.column[1:]) for clip in clips}
    rest = groups(replace(split, branches=tuple(_without(branch, gone) for branch in split.branches)))
    return (None, ()) if rest is None else (product([rest, *sizes]), tuple(clips))


def _thresholds(name: str, tests: Sequence[RowTest], domains: Mapping[int, Domain[Value]]) -> Limits | None:
    """Between which values those are that a column is compared with; None where something else is asked of it."""
    found: list[Limits] = []
    for test in tests:
        if name not in (test.column, test.other):
            continue
        more = 0 if test.value is None else test.value
        other = test.other if test.column == name else test.column
        if test.op == "is not null":
            continue
        if not isinstance(more, int) or test.op in ("in", "is null"):
            return None
        if test.other is None:
            found.append((more, more))
            continue
        domain = domains.get(int(str(other)[1:])) if str(other).startswith("r") else None
        if domain is None:
            return None
        shift = more if test.column == name else -more
        found.append((_moved(domain.low, shift), _moved(domain.high, shift)))
    return (
        _around(found) if any(test.other is not None and name in (test.column, test.other) for test in tests) else None
    )


def _moved(end: Value | None, shift: int) -> int | None:
    return None if end is None or isinstance(end, str) else int(end) + shift


def _around(several: Iterable[Limits | None]) -> Limits | None:
    """The least limits around some; None where one of them is."""
    found = list(several)
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    lows, highs = [one[0] for one in known], [one[1] for one in known]
    low = None if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return low, high


def _interval(branch: Branch, place: int) -> Limits | None:
    """The limits of an integer column of a branch; None for another one."""
    value, closure = branch.outputs[place].value, Facts.of(branch).closure
    if not isinstance(value, Attribute) or closure.sort(value) is not Sort.DISCRETE:
        return None
    low, high = closure.interval(value) if value in closure.nodes else branch.column(value).ends
    return (None if low is None else int(low), None if high is None else int(high))


def _without(branch: Branch, places: set[int]) -> Branch:
    return replace(branch, outputs=tuple(one for n, one in enumerate(branch.outputs) if n not in places))
