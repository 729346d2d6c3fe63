"""Functions over the ordered rows of a partition: ranks, rows before and after, aggregates over frames."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from streambound.analyzer.types import DataType
from streambound.analyzer.work import spend
from streambound.incremental.aggregates import AggregateOf
from streambound.incremental.row_expression import RowExpression
from streambound.incremental.zset import Row, Value, ZSet

_STEPS = 2


class RowOrder(Struct, frozen=True):
    """An expression of ORDER BY."""

    value: RowExpression
    descending: bool = False
    nulls_first: bool = True

    def of(self, row: Row) -> tuple[int, _Backwards | tuple[Fraction, bytes]]:
        """What rows are compared by."""
        value = self.value(row)
        if value is None:
            return (0 if self.nulls_first else 2), (Fraction(0), b"")
        plain = (Fraction(0), value.encode()) if isinstance(value, str) else (value, b"")
        return 1, _Backwards(plain) if self.descending else plain

    @property
    def text(self) -> str:
        """The key as readers see it."""
        return self.value.text + " DESC" * self.descending


class _Backwards(Struct, frozen=True):
    """A value that is less the greater it is."""

    value: tuple[Fraction, bytes]

    def __lt__(self, other: _Backwards) -> bool:
        return other.value < self.value


class Bounds(Struct, frozen=True):
    """A frame: from ``start`` to ``end``, counted in rows, or in units of the one sort key; None without an end.

    Both are relative to the current row: 0 is its own place (with RANGE, all of its peers).
    """

    rows: bool
    start: Fraction | None
    end: Fraction | None


class WindowOf(Struct, frozen=True):
    """A function over a window; ``offset`` of LAG and LEAD, ``aggregate`` and ``frame`` of an aggregate.

    It is of the rows that are true of ``where``, if there is one; ``distinct``: each value counts once.
    """

    name: str
    kind: DataType
    argument: RowExpression | None = None
    offset: int = 1
    default: RowExpression | None = None
    aggregate: AggregateOf | None = None
    frame: Bounds | None = None
    text: str = ""
    distinct: bool = False
    where: RowExpression | None = None


class OverPartition(Struct, frozen=True):
    """Each row of a partition with the values of some calls behind it.

    Rows that the order leaves equal follow the order of all their columns, NULL first.
    """

    order: tuple[RowOrder, ...]
    calls: tuple[WindowOf, ...]

    def of(self, rows: ZSet) -> ZSet:
        """The rows of a bag with the values."""
        ordered = in_order(rows, self.order)
        keys: Keys = [tuple(key.of(row) for key in self.order) for row in ordered]
        columns = [_values(call, ordered, keys, self.order) for call in self.calls]
        return (
            ZSet.of((*row, *values) for row, values in zip(ordered, zip(*columns, strict=True), strict=True))
            if columns
            else rows
        )

    @property
    def text(self) -> str:
        """What is computed, as readers see it."""
        return ", ".join(call.text for call in self.calls)


class FirstOfPartition(Struct, frozen=True):
    """The first rows of a partition in an order, after some others; None: all that are left."""

    order: tuple[RowOrder, ...]
    count: int | None
    skipped: int = 0

    def of(self, rows: ZSet) -> ZSet:
        """The rows of a bag that are among the first."""
        end = None if self.count is None else self.skipped + self.count
        return ZSet.of(in_order(rows, self.order)[self.skipped : end])

    @property
    def text(self) -> str:
        """What is kept, as readers see it."""
        ordered = ", ".join(key.text for key in self.order)
        return f"first {self.count}" + (f" by {ordered}" if ordered else "")


def in_order(rows: ZSet, order: Sequence[RowOrder]) -> list[Row]:
    """The rows of a bag, each as often as it is there, in an order that no two different rows share."""
    listed = [row for row, weight in rows.items() for _ in range(weight)]
    return sorted(listed, key=lambda row: ([key.of(row) for key in order], [_total(value) for value in row]))


def _total(value: Value) -> tuple[int, Fraction, bytes]:
    """A value's place among all values, NULL first."""
    if value is None:
        return 0, Fraction(0), b""
    return (2, Fraction(0), value.encode()) if isinstance(value, str) else (1, value, b"")


Keys = list[tuple[object, ...]]


def _values(call: WindowOf, rows: list[Row], keys: Keys, order: tuple[RowOrder, ...]) -> list[Value]:
    """The values of a call, a row at a time."""
    spend(_STEPS * len(rows))
    peers = _first_peers(keys)
    match call.name:
        case "row_number":
            return [Fraction(place + 1) for place in range(len(rows))]
        case "rank":
            return [Fraction(peer + 1) for peer in peers]
        case "dense_rank":
            number = {peer: Fraction(n) for n, peer in enumerate(dict.fromkeys(peers), 1)}
            return [number[peer] for peer in peers]
        case "percent_rank":
            return [Fraction(peer / max(len(rows) - 1, 1)) for peer in peers]
        case "cume_dist":
            ends = dict(zip(peers, range(1, len(rows) + 1), strict=True))
            return [Fraction(ends[peer] / len(rows)) for peer in peers]
        case "ntile":
            size, larger = divmod(len(rows), call.offset)
            numbers = (n for n in range(call.offset) for _ in range(size + (n < larger)))
            return [Fraction(number + 1) for number in numbers]
        case "lag" | "lead":
            step = -call.offset if call.name == "lag" else call.offset
            return [_beside(call, rows, place, place + step) for place in range(len(rows))]
    values: list[Value] = []
    for place in range(len(rows)):
        if call.frame is None and place and peers[place] == peers[place - 1]:  # peers have the same frame
            values.append(values[-1])
        else:
            spend(_STEPS * len(rows))
            values.append(_of_frame(call, _frame(call.frame, rows, keys, place, order)))
    return values


def _first_peers(keys: Keys) -> list[int]:
    """The place of each row's first peer."""
    found: list[int] = []
    for place, key in enumerate(keys):
        found.append(found[-1] if place and key == keys[place - 1] else place)
    return found


def _of_frame(call: WindowOf, frame: list[Row]) -> Value:
    if call.where is not None:
        frame = [row for row in frame if call.where(row)]
    if call.aggregate is not None:
        frame = list({call.aggregate.arguments[0](row): row for row in frame}.values()) if call.distinct else frame
        return call.aggregate.of(ZSet.of(frame))
    assert call.argument is not None
    place = {"last_value": len(frame) - 1, "nth_value": call.offset - 1}.get(call.name, 0)
    return call.argument(frame[place]) if 0 <= place < len(frame) else None


def _beside(call: WindowOf, rows: list[Row], place: int, other: int) -> Value:
    assert call.argument is not None
    if 0 <= other < len(rows):
        return call.argument(rows[other])
    return call.default(rows[place]) if call.default is not None else None


def _frame(frame: Bounds | None, rows: list[Row], keys: Keys, place: int, order: tuple[RowOrder, ...]) -> list[Row]:
    """The rows of the frame of one row. Without a frame: up to the last peer, or all without an order."""
    if frame is None:
        return rows if not order else [row for row, key in zip(rows, keys, strict=True) if not keys[place] < key]
    if frame.rows:
        start = 0 if frame.start is None else max(place + int(frame.start), 0)
        end = len(rows) if frame.end is None else max(place + int(frame.end) + 1, 0)
        return rows[start:end]
    return [
        row for row, key in zip(rows, keys, strict=True) if _within(frame, rows[place], row, keys[place], key, order)
    ]


def _within(frame: Bounds, own: Row, row: Row, own_key: object, key: object, order: tuple[RowOrder, ...]) -> bool:
    """Whether a row is in a RANGE frame: NULL has only NULL beside it."""
    if own_key == key:
        return (frame.start is None or frame.start <= 0) and (frame.end is None or frame.end >= 0)
    (sort,) = order if len(order) == 1 else (None,)
    before = key < own_key  # type: ignore[operator]
    limit = frame.start if before else frame.end
    if limit is None:
        return True
    if sort is None:
        return False
    mine, other = sort.value(own), sort.value(row)
    if not isinstance(mine, Fraction) or not isinstance(other, Fraction):
        return False
    distance = mine - other if sort.descending else other - mine
    return (frame.start is None or distance >= frame.start) and (frame.end is None or distance <= frame.end)
