"""Generated changes of a relation: rows that others may join come, are replaced, and go again."""

from __future__ import annotations

from random import Random
from typing import Any

from streambound_runtime.operators.circuit_plan import ChangesNode
from streambound_runtime.promises import UPDATE

Row = dict[str, Any]


class GeneratedChanges:
    """The rows of a relation, and how they change: at most ``most`` at a time, of which ``deletes`` is the share.

    Until there have been ``most`` no row is deleted, where it ``fills``.
    """

    def __init__(
        self, node: ChangesNode, time: str, most: int, random: Random, deletes: float = 0.4, fills: bool = False
    ) -> None:
        self.node, self.time, self.most, self.random = node, time, most, random
        self.deletes, self.fills = deletes, fills
        self.there: list[Row] = []
        self.places: dict[tuple[Any, ...], int] = {}
        self.moment, self.touched = 0, set[tuple[Any, ...]]()

    def change(self, moment: int, row: Row) -> Row | None:
        """An encoded change, of a row that may come or of one that is there; None where none of them can be.

        Times do not fall. Of a key there is one change at a time, since several have no order, unless they are updates
        that have the row before.
        """
        node, random = self.node, self.random
        if moment != self.moment:
            self.moment, self.touched = moment, set()
        row = {**row, node.time: moment} if node.time else row
        same = self.places.get(self._key(row)) if node.key else None
        if node.before and not node.key and self.there and random.random() < 0.5:
            same = random.randrange(len(self.there))
        full = len(self.there) - (same is not None) >= self.most
        self.fills = self.fills and len(self.there) < self.most
        gone = random.randrange(len(self.there)) if self.there and self._deletes(full) else None
        if gone is None and full:
            return None
        old = gone if gone is not None else same
        row = self.there[gone] if gone is not None else row
        if node.key and not node.before:
            if self._key(row) in self.touched:
                return None
            self.touched.add(self._key(row))
        before = None if old is None else self._remove(old)
        if gone is None:
            self.places[self._key(row)] = len(self.there)
            self.there.append(row)
        before = before if node.before and gone is None else None
        op = node.delete if gone is not None else UPDATE if before is not None else node.insert
        images = zip(node.before, node.columns, strict=bool(node.before))
        return {**row, node.op: op, self.time: moment, **{name: before and before[column] for name, column in images}}

    def _deletes(self, full: bool) -> bool:
        return full or (not self.fills and self.random.random() < self.deletes)

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.node.key)

    def _remove(self, place: int) -> Row:
        """Take a row out; the last one comes to its place."""
        row, last = self.there[place], self.there.pop()
        self.places.pop(self._key(row), None)
        if last is not row:
            self.there[place] = last
            self.places[self._key(last)] = place
        return row
