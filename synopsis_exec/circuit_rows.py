"""Rows for a query beyond select-project-join: matches of each of its blocks, among random rows, in several buckets."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from streambound.analyzer.types import Family
from streambound.synopsis_exec.changing_rows import changing_rows, some_value
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.ended_rows import with_punctuations
from streambound.synopsis_exec.feeds import matching_rows
from streambound.synopsis_exec.pace import within_rates
from streambound.synopsis_exec.plan_ir import Plan

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
