"""Endless streams for a query beyond select-project-join: tuples of all of its blocks, through many buckets of time.

Columns that no condition reads have a hundred values. The streams last several times as long as the longest
bucket or interval of the query, so that groups and rows that wait are closed again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

from streambound.analyzer.calendar_text import MICROSECONDS, parse_timestamp
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.synopsis_exec.adversary import RATE, Row, first_timestamp, pools
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.circuit_rows import GeneratedChanges, different_blocks, fill, some_value
from streambound.synopsis_exec.ended_rows import EndlessKeys
from streambound.synopsis_exec.feeds import MODERATE_RATE, Feed, compared_columns, in_time, lengths
from streambound.synopsis_exec.pace import in_partitions, pace
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.operators.circuit_plan import ChangesNode

_TIMES = 8
"""About how often the longest bucket or interval fits into the streams."""
_VALUES = 100
_DELETES = 0.2
"""The share of changes that are deletes, once a relation is full."""
_STRIDE = 7919
"""The adversary's step through a pool, a prime: the tuples of one block, which are similar, are not all in a row."""
_START = parse_timestamp("2024-01-01 00:00:00")


def circuit_feed(plan: PlannedCircuit, seed: int | None, shares: Mapping[str, float], tuples: int) -> Feed:
    """The adversary's streams, or random ones by a ``seed`` with these ``shares``; ``tuples`` will be asked for.

    Changes of relations are among the rows; so are punctuations that end keys, of which there are ever new ones. Raises
    UsageError where there are not.
    """
    random = None if seed is None else Random(f"feed {seed}")
    static: dict[str, list[Row]] = {item.name: [] for item in plan.relations}
    different: dict[str, dict[tuple[Any, ...], Row]] = {item.name: {} for item in plan.streams}
    for block in different_blocks(plan):
        relations, mine = pools(block, random)
        for name, rows in mine.items():
            different[name] |= {tuple(row.values()): row for row in rows}
        for name, rows in relations.items():
            most = next((item.rows for item in plan.relations if item.name == name), None)
            new = [row for row in rows if row not in static[name]]
            static[name] += new[: None if most is None else most - len(static[name])]
    found = {name: [*rows.values()] for name, rows in different.items()}
    known = sorted({v for rows in found.values() for row in rows for v in row.values() if isinstance(v, int)})
    fill(plan, static, known, random or Random("relations"))
    keys = EndlessKeys(plan.streams, random)
    rows_in_order = keys.pass_on(_rows(plan, found, random, shares, tuples))
    return Feed(static, in_partitions(plan.streams, rows_in_order), keys.endings if plan.circuit.final else None)


def _rows(
    plan: PlannedCircuit,
    tuples: Mapping[str, Sequence[Row]],
    random: Random | None,
    shares: Mapping[str, float],
    total: int,
) -> Iterator[tuple[str, Row]]:
    rate = RATE if random is None else MODERATE_RATE
    at_once = sum(pace(plan, rate).rows.values())
    steps = max(1, total // at_once)
    allowed = pace(plan, rate, -(-_TIMES * _longest(plan) // steps))
    makers = {item.name: _made(plan, item, tuples[item.name], random) for item in plan.streams}
    changes = {node.table: _changes(plan, node, random) for node in plan.changing}

    def row(stream: Input, now: int) -> Row | None:
        if stream.name in changes:
            return changes[stream.name](now)
        return {**next(makers[stream.name]), str(stream.timestamp): now}

    return in_time(plan.streams, allowed, _start(plan), shares, random, row)


def _changes(plan: PlannedCircuit, node: ChangesNode, random: Random | None) -> Callable[[int], Row | None]:
    """The next change of a relation at a time.

    The adversary's has as many rows as there may be, the random one no more than values of a stream's columns.
    """
    item = next(item for item in plan.streams if item.name == node.table)
    most = node.most or _VALUES
    most = most if random is None else min(most, _VALUES)
    chosen = random or Random(node.table)
    relation = GeneratedChanges(node, str(item.timestamp), most, chosen, _DELETES, fills=True)
    columns = [column for column in item.declared if column.name in node.columns]
    numbers = count()

    def value(column: Column, number: int) -> Any:
        if column.domain is not None:
            return some_value(column, (), chosen)
        if column.name in node.key:
            return _value(column, number % most)
        return _value(column, number % _VALUES if random is None else random.randrange(_VALUES))

    def change(now: int) -> Row | None:
        number = next(numbers) if random is None else random.randrange(most)
        return relation.change(now, {column.name: value(column, number) for column in columns})

    return change


def _longest(plan: PlannedCircuit) -> int:
    """The longest bucket or interval that the query speaks of, in the units of its time; 1 where there is none."""
    buckets = [bucket.size + bucket.delay for bucket in plan.closing]
    return max([1, *buckets, *(length for block in plan.blocks for length in lengths(block))])


def _start(plan: PlannedCircuit) -> int:
    """After 0: what is not later than that is late to Spark before it has seen a row."""
    if plan.time_type.family is Family.TIMESTAMP:
        return _START
    return max(first_timestamp(block) for block in plan.blocks) + 1 if plan.blocks else 1


def _made(plan: PlannedCircuit, item: Input, pool: Sequence[Row], random: Random | None) -> Iterator[Row]:
    """The rows of a pool, in turn or at random, with values of their own in columns without conditions."""
    nothing: Row = {column.name: None for column in item.declared}
    free = _free(plan, item)
    for number in count():
        row: Mapping[str, Any] = {}
        if pool:
            row = pool[number * _STRIDE % len(pool)] if random is None else random.choice(pool)
        place = number // max(1, len(pool)) + number if random is None else random.randrange(_VALUES)
        yield {**nothing, **row, **{column.name: _value(column, place % _VALUES) for column in free}}


def _free(plan: PlannedCircuit, item: Input) -> list[Column]:
    """The columns of a stream that may have any values, because no condition reads them."""
    told = {item.timestamp} | compared_columns(plan.blocks)
    return [
        column
        for column in item.declared
        if column.name not in told and column.domain is None and column.type.family is not Family.OTHER
    ]


def _value(column: Column, number: int) -> Any:
    match column.type.family:
        case Family.STRING:
            return f"v{number}"
        case Family.FLOAT:
            return number / 2
        case Family.BOOLEAN:
            return number % 2
        case Family.TIMESTAMP:
            return _START + number * MICROSECONDS
    return number
