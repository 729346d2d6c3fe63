"""Joins of views whose rows close, on buckets of time that are close together: A5 on both sides.

Let l and r be the last timestamps of the buckets of a left and a right row, after which they change for W_l and W_r at
most, and let the condition say ``lo <= l - r <= hi``. What a left row is joined with changes until
``max(l + W_l, r + W_r)`` is closed, and ``r <= l - lo``: it waits ``max(W_l, W_r - lo)`` after l, and a right row
``max(W_r, W_l + hi)`` after r, whatever else the rows hold. Equal buckets are the case lo = hi = 0. A semi, anti
or left join counts a left row's partners as long as that row waits, which is then what W_l is for its right rows. M
is what is open on both sides for so long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product as product_of

from streambound.analyzer.algebra.nodes import JoinKind
from streambound.criteria.operators.closing_rows import taken_over
from streambound.criteria.operators.parts import Closing
from streambound.criteria.operators.states import ClosingRows, RowsOfSide
from streambound.criteria.parts import RowTest
from streambound.criteria.size import Size, product, total

_SHIFTS: dict[str, Callable[[int], int]] = {
    "start": lambda size: size - 1,
    "end": lambda size: -1,
    "last": lambda size: 0,
    "session": lambda size: 0,
    **{unit: lambda size: size - 1 for unit in ("second", "minute", "hour", "day", "week")},
}
"""What is added to a bucket's value to have its last timestamp, by what the value is."""
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


@dataclass(frozen=True, slots=True)
class NearBuckets:
    """Rows of both sides of a join whose buckets' last timestamps differ by ``low`` to ``high``, left less right."""

    left: ClosingRows
    right: ClosingRows
    low: int
    high: int
    kind: JoinKind

    @property
    def more(self) -> tuple[int, int]:
        """How much longer than they change rows of both sides wait."""
        mine, theirs = self.left.columns[0].delay, self.right.columns[0].delay
        left = max(mine, theirs - self.low)
        until = mine if self.kind is JoinKind.INNER else left
        return left - mine, max(0, until + self.high - theirs)

    @property
    def closing(self) -> tuple[Closing, Closing]:
        """When the rows of both sides go."""
        left, right = (rows.columns[0] for rows in (self.left, self.right))
        return replace(left, delay=left.delay + self.more[0]), replace(right, delay=right.delay + self.more[1])

    @property
    def rows(self) -> tuple[Size, Size]:
        """The most rows of both sides that wait."""
        return self.left.open(self.more[0]), self.right.open(self.more[1])

    def results(self, kind: JoinKind, shown: Sequence[str]) -> tuple[ClosingRows, ...]:
        """The closing columns of the pairs, of which these are ``shown``; of an outer join's right side none closes."""
        mine = joined(self.left, "l", shown, partial(self._left_open, kind), self.more[0])
        return mine + joined(self.right, "r", shown, self._right_open, self.more[1]) if kind is JoinKind.INNER else mine

    def _left_open(self, kind: JoinKind, more: int) -> Size:
        """The results whose left row was open so much earlier: its partners close ``high`` after it at most."""
        (left, right), (mine, theirs) = self.closing, self.more
        rows = self.left.open(mine + more)
        if kind in (JoinKind.SEMI, JoinKind.ANTI):
            return rows
        pairs = product([rows, self.right.open(max(0, left.delay + self.high + more - right.delay + theirs))])
        return total([rows, pairs]) if kind is JoinKind.LEFT else pairs

    def _right_open(self, more: int) -> Size:
        (left, right), (mine, theirs) = self.closing, self.more
        return product(
            [self.left.open(max(0, right.delay - self.low + more - left.delay + mine)), self.right.open(theirs + more)]
        )


def joined(
    rows: ClosingRows, side: str, shown: Sequence[str], open: Callable[[int], Size], more: int = 0
) -> tuple[ClosingRows, ...]:
    """The rows of a join by the columns that rows of a side, ``l`` or ``r``, close by; they do so ``more`` later.

    ``shown`` is what the join's columns are called in its pairs, and ``open`` as of `ClosingRows`.
    """
    every = frozenset(int(name[1:]) for name in shown if name.startswith(side))
    sides = tuple(one.earlier(more) for one in (*rows.sides, RowsOfSide(every, rows.open)))
    found = ClosingRows(tuple(replace(one, delay=one.delay + more) for one in rows.columns), open, None, sides)
    return taken_over([found], lambda key: [n for n, name in enumerate(shown) if name == f"{side}{key}"])


def near_buckets(
    left: Sequence[ClosingRows], right: Sequence[ClosingRows], tests: Sequence[RowTest], kind: JoinKind
) -> NearBuckets | None:
    """Rows of both sides that the condition of a join holds close together; None where there are none."""
    for mine, theirs in product_of(left, right):
        pairs = list(product_of(mine.columns, theirs.columns))
        found = [limits for test in tests for pair in pairs if (limits := _limits(test, *pair)) is not None]
        lows = [low for low, _ in found if low is not None]
        highs = [high for _, high in found if high is not None]
        if lows and highs:
            return NearBuckets(mine, theirs, max(lows), min(highs), kind)
    return None


def _limits(test: RowTest, left: Closing, right: Closing) -> tuple[int | None, int | None] | None:
    """What a test says of ``l - r``: at least, and at most, so much; None for a test of something else."""
    names = (f"l{left.key}", f"r{right.key}")
    if test.op not in _FLIPPED or {test.column, test.other} != set(names) or not isinstance(test.value or 0, int):
        return None
    value = test.value if isinstance(test.value, int) else 0
    op = test.op
    if test.column != names[0]:
        op, value = _FLIPPED[op], -value
    if (left.how, left.size) == (right.how, right.size) and op == "==" and not value:
        return 0, 0
    if test.value is None:  # of texts, whose patterns may differ
        return None
    numbered = left.how == right.how == "div" and left.size == right.size
    if not numbered:
        if left.how not in _SHIFTS or right.how not in _SHIFTS:
            return None
        value += _SHIFTS[left.how](left.size) - _SHIFTS[right.how](right.size)
    each = left.size if numbered else 1
    low = {"==": value, ">=": value, ">": value + 1}.get(op)
    high = {"==": value, "<=": value, "<": value - 1}.get(op)
    return None if low is None else low * each, None if high is None else high * each
