"""Functions over windows of rows: the rows of each partition that may still be asked for, in their order."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable

from streambound_runtime.operators.by_tick import Row, Weighted
from streambound_runtime.operators.circuit_plan import GroupValue, OverNode, OverValue
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.group_values import value_of
from streambound_runtime.operators.over_partitions import OverPartitions, end_of
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.sums import Number
from streambound_runtime.operators.values import COMPARISONS, factor, greatest, integer, least, minus
from streambound_runtime.periods.aggregating import Reversed
from streambound_runtime.row_values import Value

ROWS = "rows"
OrderKey = tuple[object, ...]
"""What rows are put in order by: NULL and descending order are in it."""
RANKS = ("row_number", "rank", "dense_rank")
ENDS = ("first_value", "last_value")
OPEN = ("open", "open first", "running open")
"""Where rows go, one by one, when their bucket has closed; others do with their partition."""


class OverOperator(OverPartitions[list[Row]]):
    """The operator of an `OverNode` node that keeps rows."""

    def __init__(self, plan: OverNode) -> None:
        super().__init__(plan)
        given = [place for call in plan.calls for place in (call.value, call.default) if place is not None]
        width = plan.width + len(plan.partition) + len(plan.order) + len(given)
        self.names = tuple(map(str, range(width)))
        self.rank = next((place for place, call in enumerate(plan.calls) if call.function in RANKS), 0)

    def entries(self) -> int:
        """The different rows that are kept."""
        return sum(len(set(rows)) for rows in self.kept.values())

    def _partition(self, key: Row, rows: list[Weighted]) -> list[Weighted]:
        plan, before = self.plan, self.kept.get(key, [])
        if key not in self.kept:
            self._open(key, before)
        after = list(before)
        for row, weight in sorted(rows, key=lambda one: one[1]):
            for _ in range(-weight):
                after.remove(row)
            for _ in range(weight):
                insort(after, row, key=self._place)
        if plan.keep in ("last", "near"):
            # Rows come in their order: of those before only the last ones look at what comes after them.
            begin = self._begin(before, rows[0][0])
            old = list(zip(before[begin:], self._values(before, begin), strict=True))
            values = list(zip(after[begin:], self._values(after, begin), strict=True))
        else:
            old, values = self._asked(before), self._asked(after)
            after = [row for row, _ in values] if plan.keep == "first" else after
        changes = [((*row[: plan.width], *mine), -1) for row, mine in old]
        changes += [((*row[: plan.width], *mine), 1) for row, mine in values]
        if plan.keep == "last":
            after = after[len(after) - min(plan.most, len(after)) :]
        if after:
            self.kept[key] = after
        else:
            self.kept.pop(key, None)
        return changes

    def _begin(self, before: list[Row], new: Row) -> int:
        """The first of the rows before a new one whose values depend on it."""
        after = self.plan.after
        if self.plan.keep == "last":
            return max(0, len(before) - after)
        place = self.plan.order[0][0]
        now = integer(new[place])
        return next((n for n, row in enumerate(before) if integer(row[place]) + after >= now), len(before))

    def _asked(self, rows: list[Row]) -> list[tuple[Row, Row]]:
        """The rows that are asked for, with their values."""
        found = list(zip(rows, self._values(rows), strict=True))
        if self.plan.keep not in ("first", "open first"):
            return found
        return [(row, values) for row, values in found if integer(values[self.rank]) <= self.plan.most]

    def _forget(self, now: int) -> None:
        """Drop what is too old when a timestamp has been closed."""
        plan = self.plan
        if plan.keep == "near":
            place = plan.order[0][0]
            for key, rows in list(self.kept.items()):
                left = [row for row in rows if integer(row[place]) + plan.most > now]
                if left:
                    self.kept[key] = left
                else:
                    del self.kept[key]
        if plan.keep in OPEN:
            for key, rows in list(self.kept.items()):
                if left := self._left(key, rows, now):
                    self.kept[key] = left
                else:
                    del self.kept[key]
        super()._forget(now)

    def _left(self, key: Row, rows: list[Row], now: int) -> list[Row]:
        """The rows of a partition that are still kept when a timestamp has been closed."""
        if self.plan.keep == "open first":
            closed = [row for row in rows if self._end(row) <= now]
            ranks = iter(_ranks(self.plan.calls[self.rank].function, [self._peers(row) for row in closed]))
            return [row for row in rows if self._end(row) > now or next(ranks) <= self.plan.most]
        return rows[max(0, self._closed(rows, now) - self.plan.most) :]

    def _closed(self, rows: list[Row], now: int) -> int:
        """How many of the first rows have closed: none comes before one of these, so that they keep their values."""
        return next((place for place, row in enumerate(rows) if self._end(row) > now), len(rows))

    def _end(self, row: Row) -> int:
        """Until when a row may change."""
        bucket = self.plan.bucket
        assert bucket is not None, "rows that close have a bucket"
        return end_of(bucket, row[bucket.key])

    # --- order ------------------------------------------------------------------------------------------------------

    def _place(self, row: Row) -> OrderKey:
        """What a row is put in order by."""
        return place_of(self.plan, row)

    def _peers(self, row: Row) -> OrderKey:
        return peers_of(self.plan, row)

    # --- values -----------------------------------------------------------------------------------------------------

    def _values(self, rows: list[Row], begin: int = 0) -> list[Row]:
        """The functions' values of each row from the one at ``begin`` on."""
        return [*zip(*(self._column(call, rows, begin) for call in self.plan.calls), strict=True)]

    def _column(self, call: OverValue, rows: list[Row], begin: int) -> list[Value]:
        if call.function in RANKS:
            return [*_ranks(call.function, [self._peers(row) for row in rows])[begin:]]
        if call.function in ("lag", "lead"):
            step = -call.offset if call.function == "lag" else call.offset
            return [_beside(call, rows, place, place + step) for place in range(begin, len(rows))]
        frame = self._frame(call, rows)
        return [_aggregate(call, rows[start:end]) for start, end in map(frame, range(begin, len(rows)))]

    def _frame(self, call: OverValue, rows: list[Row]) -> Callable[[int], tuple[int, int]]:
        """The first row of a row's frame, and the one after its last."""
        frame, size = call.frame, len(rows)
        keys = [self._peers(row) for row in rows]
        if frame is None:
            return lambda place: (0, size)
        by_rows, low, high = frame

        def of(place: int) -> tuple[int, int]:
            if by_rows:
                return 0 if low is None else max(0, place + low), size if high is None else max(0, place + high + 1)
            start, end = place, place + 1
            while start > 0 and (keys[start - 1] == keys[place] or self._within(rows, start - 1, place, low)):
                start -= 1
            while end < size and (keys[end] == keys[place] or self._within(rows, end, place, high)):
                end += 1
            return start, end

        return of

    def _within(self, rows: list[Row], other: int, place: int, limit: int | None) -> bool:
        if not limit:  # up to the rows that the whole order leaves equal, whose keys are
            return limit is None
        column, descending, _ = self.plan.order[0]
        mine, its = rows[place][column], rows[other][column]
        if mine is None or its is None:
            return False
        distance = minus(mine, its) if descending else minus(its, mine)
        return COMPARISONS[">=" if other < place else "<="](distance, limit)

    # --- state ------------------------------------------------------------------------------------------------------

    def dump(self) -> State:
        """The rows that are kept, with how often each is there."""
        weights: dict[Row, int] = {}
        for rows in self.kept.values():
            for row in rows:
                weights[row] = weights.get(row, 0) + 1
        return {ROWS: arrow_of_pairs(list(weights.items()), self.names)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.kept, self.ends = {}, []
        for row, weight in pairs_of_arrow(state[ROWS]):
            key = tuple(row[place] for place in self.plan.partition)
            assert isinstance(weight, int), "rows have no sums"
            mine = self.kept[key] if key in self.kept else self._open(key, [])
            mine.extend([row] * weight)
        for rows in self.kept.values():
            rows.sort(key=self._place)


def peers_of(plan: OverNode, row: Row) -> OrderKey:
    """What rows agree in that the order leaves equal."""
    return tuple(_key(row[place], descending, first) for place, descending, first in plan.order)


def place_of(plan: OverNode, row: Row) -> OrderKey:
    """What a row is put in order by: after the order's, by its columns."""
    return (peers_of(plan, row), tuple((value is not None, value) for value in row[: plan.width]))


def aggregate(call: OverValue, rows: int, count: int, total: Number) -> Value:
    """The value of COUNT, SUM or AVG of so many rows, of which so many have a value, that add up to a total."""
    value = GroupValue("", call.function, call.type, (0, 1), places=call.places)
    return value_of(value, [rows, count, total], ())


def _beside(call: OverValue, rows: list[Row], place: int, other: int) -> Value:
    assert call.value is not None, "what is shown of another row"
    if 0 <= other < len(rows):
        return rows[other][call.value]
    return None if call.default is None else rows[place][call.default]


def _aggregate(call: OverValue, rows: list[Row]) -> Value:
    values = [1 if call.value is None else row[call.value] for row in rows]
    if call.function in ENDS:
        return values[0 if call.function == "first_value" else -1] if values else None
    there = [value for value in values if value is not None]
    if call.function in ("min", "max"):
        return (least if call.function == "min" else greatest)(there) if there else None
    return aggregate(call, len(rows), len(there), 0 if call.function == "count" else sum(map(factor, there)))


def _ranks(function: str, keys: list[OrderKey]) -> list[int]:
    found, different = list[int](), 0
    for place, key in enumerate(keys):
        new = not place or key != keys[place - 1]
        different += new
        if function == "row_number":
            found.append(place + 1)
        elif function == "dense_rank":
            found.append(different)
        else:
            found.append(place + 1 if new else found[-1])
    return found


def _key(value: Value, descending: bool, nulls_first: bool) -> OrderKey:
    if value is None:
        return (0 if nulls_first else 2), 0
    return 1, Reversed(value) if descending else value
