"""Aggregates of sessions: groups that begin as those of a row alone, and are merged where they touch."""

from __future__ import annotations

from streambound_runtime.operators.by_tick import Row
from streambound_runtime.operators.circuit_plan import GroupNode
from streambound_runtime.operators.group import GroupBy, GroupState
from streambound_runtime.operators.group_values import HeldValues
from streambound_runtime.operators.values import integer


class SessionGroups(GroupBy):
    """The operator of a `GroupNode` with a session: a session is one group, whose end moves as rows come.

    Rows are not taken back below it, so that no session is taken apart.
    """

    def __init__(self, plan: GroupNode, final: bool) -> None:
        super().__init__(plan, final)
        assert plan.session is not None
        self.start, self.end = plan.session
        self.open: dict[Row, set[Row]] = {}

    def _touched(self, key: Row, before: dict[Row, Row | None]) -> GroupState:
        """The session that a row is in, merged of those that it brings together."""
        start, end = self._times(key)
        alike = [(one, *self._times(one)) for one in self.open.get(self._of(key), ())]
        touching = [(one, begin, until) for one, begin, until in alike if begin <= end and start <= until]
        joined = [one for one, _, _ in touching]
        values = list(key)
        values[self.start] = min([start, *(begin for _, begin, _ in touching)])
        values[self.end] = max([end, *(until for _, _, until in touching)])
        merged = tuple(values)
        if joined == [merged]:
            return super()._touched(merged, before)
        group = self._empty()
        for one in joined:
            before.setdefault(one, self._row(one))
            group = _merged(group, self.groups[one])
            self._drop(one)
        before.setdefault(merged, None)
        self.apart += sum(held.size for held in group.values)
        return self._keep(merged, group)

    def _keep(self, key: Row, group: GroupState) -> GroupState:
        self.open.setdefault(self._of(key), set()).add(key)
        return super()._keep(key, group)

    def _drop(self, key: Row) -> None:
        super()._drop(key)
        mine = self.open[self._of(key)]
        mine.discard(key)
        if not mine:
            del self.open[self._of(key)]

    def _times(self, key: Row) -> tuple[int, int]:
        return integer(key[self.start]), integer(key[self.end])

    def _of(self, key: Row) -> Row:
        return tuple(value for place, value in enumerate(key) if place not in (self.start, self.end))


def _merged(one: GroupState, other: GroupState) -> GroupState:
    """The group of the rows of both."""
    for place, total in enumerate(other.sums):
        one.sums[place] += total
    for mine, held in zip(one.values, other.values, strict=True):
        assert isinstance(mine, HeldValues), "sessions are of rows, not of what other windows hold"
        assert isinstance(held, HeldValues), "as the other one's"
        for value, weight in held.weights.items():
            mine.add(value, weight)
    return one
