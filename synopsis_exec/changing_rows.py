"""Changes of relations for a query: rows that others may join come, are replaced, and go again."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.operators.circuit_plan import ChangesNode
from streambound_runtime.promises import UPDATE

Row = dict[str, Any]
CHANGES = 24
"""Changes of each relation."""
MOST = 6
"""Rows at a time of a relation for which no number is declared."""


def changing_rows(
    node: ChangesNode, item: Input, known: Sequence[Any], moments: Sequence[int], random: Random
) -> list[Row]:
    """Encoded changes in order of time, none of which is refused; ``known`` are integers that other rows have."""
    columns = {column.name: column for column in item.declared}
    there: list[Row] = []
    found = list[Row]()
    for moment in sorted(random.choices(moments, k=CHANGES)):
        row = {name: some_value(columns[name], known, random) for name in node.columns}
        if node.time:
            row[node.time] = moment
        same = [one for one in there if node.key and all(one[name] == row[name] for name in node.key)]
        if node.before and not node.key and there and random.random() < 0.5:
            same = [random.choice(there)]
        full = len(there) - len(same) >= (node.most or MOST)
        before: Row | None = None
        if there and (full or random.random() < 0.4):
            row, op = random.choice(there), node.delete
            there.remove(row)
        elif full:
            continue
        else:
            for one in same:
                there.remove(one)
            there.append(row)
            before = same[0] if same and node.before else None
            op = UPDATE if before is not None else node.insert
        change = {**row, node.op: op, str(item.timestamp): moment}
        change |= {
            name: before and before[column] for name, column in zip(node.before, node.columns, strict=bool(node.before))
        }
        if any(_conflicts(change, one, node, item) for one in found):
            there = [one for one in there if one is not row] + ([row] if op == node.delete else same)
            continue
        found.append(change)
    return found


def _conflicts(change: Row, other: Row, node: ChangesNode, item: Input) -> bool:
    """Whether two changes are of the same key at the same time, and have no order."""
    time = str(item.timestamp)
    return bool(node.key) and not node.before and all(change[name] == other[name] for name in (*node.key, time))


def some_value(column: Column, known: Sequence[Any], random: Random) -> Any:
    """A value of a column that other rows may have, too; now and then NULL."""
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
