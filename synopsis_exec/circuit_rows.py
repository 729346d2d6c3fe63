"""Rows for a query beyond joins: matches of its blocks among random rows, in several buckets; and changes of relations.

Of a relation that changes, rows that others may join come, are replaced, and go again.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.ended_rows import with_punctuations
from streambound.synopsis_exec.feeds import matching_rows
from streambound.synopsis_exec.pace import within_rates
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound_runtime.operators.circuit_plan import ChangesNode
from streambound_runtime.promises import UPDATE

Row = dict[str, Any]
FEW = 6
"""Different tuples of each stream and block, apart from changed ones."""
EACH = 24
"""About how many rows of each stream each block gets."""
MOMENTS = 16
"""Timestamps of the changes of relations where no stream is read."""
SHARED = 6
"""Values of streams that relations have, too."""
BUCKETS = 4
"""Buckets of time that rows are spread over, in every other run."""


def circuit_rows(plan: PlannedCircuit, seed: int) -> tuple[dict[str, list[Row]], list[tuple[str, Row]]]:
    """Rows of relations, and of the streams in order of time.

    Where groups end with their buckets of time, rows are so close together that they share one, or so far apart that
    they are in several.
    """
    random = Random(f"circuit {seed}")
    relations: dict[str, list[Row]] = {item.name: [] for item in plan.relations}
    rows: list[tuple[str, Row]] = []
    for number, block in enumerate(different_blocks(plan)):
        static, mine = matching_rows(block, seed + number, FEW, EACH)
        rows += mine
        for name, found in static.items():
            most = next((item.rows for item in plan.relations if item.name == name), None)
            known = relations[name]
            known += [row for row in found if row not in known][: None if most is None else most - len(known)]
    times = {stream.name: str(stream.timestamp) for stream in plan.streams}
    fill(plan, relations, _shared(plan, rows, random), random)
    rows += _changes(plan, rows, times, random)
    stretch = _stretch(plan, [row[times[name]] for name, row in rows]) if random.random() < 0.5 else 1
    start = min((row[times[name]] for name, row in rows), default=0)
    rows = [(name, {**row, times[name]: start + (row[times[name]] - start) * stretch}) for name, row in rows]
    rows.sort(key=lambda pair: pair[1][times[pair[0]]])
    return relations, _with_punctuations(plan, within_rates(plan.streams, rows), random)


def _with_punctuations(plan: PlannedCircuit, rows: list[tuple[str, Row]], random: Random) -> list[tuple[str, Row]]:
    """The rows, where punctuations end keys with these among them."""
    if not any(stream.ends_keys for stream in plan.streams):
        return rows
    mine = {stream.name for stream in plan.streams}
    others = [pair for pair in rows if pair[0] not in mine]
    found = with_punctuations(plan.streams, [pair for pair in rows if pair[0] in mine], random, plan.circuit.final)
    times = {stream.name: str(stream.timestamp) for stream in plan.streams}
    return sorted([*others, *((name, row) for _, name, row in found)], key=lambda pair: int(pair[1][times[pair[0]]]))


def _changes(
    plan: PlannedCircuit, rows: list[tuple[str, Row]], times: dict[str, str], random: Random
) -> list[tuple[str, Row]]:
    """Changes of relations among the rows of the streams."""
    moments = sorted({row[times[name]] for name, row in rows}) or list(range(1, MOMENTS))
    inputs = {item.name: item for item in plan.inputs}
    few = _shared(plan, rows, random)
    return [
        (node.table, row)
        for node in plan.changing
        for row in changing_rows(node, inputs[node.table], few, moments, random)
    ]


def _shared(plan: PlannedCircuit, rows: list[tuple[str, Row]], random: Random) -> list[int]:
    """Some integers that rows of streams have."""
    times = {stream.name: stream.timestamp for stream in plan.streams}
    known = sorted({v for name, row in rows for c, v in row.items() if c != times[name] and isinstance(v, int)})
    return known if len(known) <= SHARED else random.sample(known, SHARED)


def fill(plan: PlannedCircuit, relations: dict[str, list[Row]], known: Sequence[int], random: Random) -> None:
    """Give rows to the relations that no block reads."""
    for item in plan.relations:
        most = EACH if item.rows is None else min(EACH, item.rows)
        if not relations[item.name]:
            relations[item.name] += [
                {column.name: some_value(column, known, random) for column in item.declared} for _ in range(most)
            ]


def different_blocks(plan: PlannedCircuit) -> list[Plan]:
    """The blocks, each query once."""
    found: list[Plan] = []
    for block in plan.blocks:
        if not any([b.branch for b in block.branches] == [b.branch for b in known.branches] for known in found):
            found.append(block)
    return found


def _stretch(plan: PlannedCircuit, times: list[int]) -> int:
    """By how much times are too close together for several buckets."""
    buckets = [bucket.size for bucket in plan.closing]
    if not buckets or not times or (plan.time_type.family is Family.INTEGER and max(times) > 2**31):
        return 1
    return max(1, max(buckets) * BUCKETS // max(1, max(times) - min(times)))


CHANGES = 24
"""Changes of each relation."""
MOST = 6
"""Rows at a time of a relation for which no number is declared."""


def changing_rows(
    node: ChangesNode, item: Input, known: Sequence[Any], moments: Sequence[int], random: Random
) -> list[Row]:
    """Encoded changes in order of time, none of which is refused; ``known`` are integers that other rows have."""
    columns = {column.name: column for column in item.declared}
    relation = GeneratedChanges(node, str(item.timestamp), node.most or MOST, random)
    rows = (
        relation.change(moment, {name: some_value(columns[name], known, random) for name in node.columns})
        for moment in sorted(random.choices(moments, k=CHANGES))
    )
    return [row for row in rows if row is not None]


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


def some_value(column: Column, known: Sequence[Any], random: Random) -> Any:
    """A value of a column that other rows may share; sometimes NULL."""
    if random.random() < 0.05:
        return None
    domain = column.domain
    if domain is not None and domain.values:
        return random.choice(domain.values)
    if column.type.family is Family.STRING:
        return random.choice(("a", "b", "c"))
    low = domain.low if domain is not None and domain.low is not None else None
    high = domain.high if domain is not None and domain.high is not None else None
    if low is None and high is None:
        return random.choice([*known, 0, 1]) if column.type.family is Family.INTEGER else random.randint(0, 3)
    first = int(low if low is not None else high - 3)  # type: ignore[operator]
    return random.randint(first, int(high) if high is not None else first + 3)
