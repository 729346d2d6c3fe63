"""Endless streams of rows with periods that fit a query and its catalog, in order of their begins.

The rows satisfy the query's conditions (`adversary.pools`), with many values in columns without conditions, and no
contract puts one aside. The adversary's are valid as long as they may be, with as many as may be at a time; random ones
for a random time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count, islice
from random import Random
from typing import Any

from streambound.analyzer.columns import Column
from streambound.analyzer.errors import UsageError
from streambound.analyzer.types import Family
from streambound.analyzer.values import decode
from streambound.criteria.contract import value_range
from streambound.synopsis_exec.adversary import RATE, Row, first_timestamp, pools
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.feeds import Feed, compared_columns
from streambound.synopsis_exec.pace import pace
from streambound.synopsis_exec.period_rows import with_periods
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.promises import PeriodContract

_STEPS = 16
"""The number of steps in which a row begins and ends, where each may take longer than a timestamp."""
_VALUES = 100
"""Values of columns without conditions; of the narrowest integers there are not many more."""
_TRIED = 16
"""Rows that are looked at for one that no valid row conflicts with."""


def period_feed(plan: PlannedCircuit, seed: int | None, tuples: int) -> Feed:
    """The adversary's streams, or random ones by a ``seed``; ``tuples`` will be asked for.

    Raises UsageError where time comes to an end before.
    """
    endless = next((one for one in plan.periods.values() if one.high is not None), None)
    if endless is not None:
        what = f"{plan.name} is over a [time] domain that ends, and what is measured are endless streams"
        raise UsageError(what, remedy="leave the end out, as in domain = [0]")
    random = Random(f"feed {seed}")
    static: dict[str, list[Row]] = {item.name: [] for item in plan.relations}
    found: dict[str, list[Row]] = {item.name: [] for item in plan.streams}
    for block in plan.blocks:
        relations, mine = pools(block, None if seed is None else random)
        for name, rows in (*relations.items(), *mine.items()):
            (static if name in static else found)[name] += rows
    static = with_periods(plan.relations, plan.periods, static, random)
    return Feed(static, _rows(plan, found, None if seed is None else random, tuples))


def _rows(
    plan: PlannedCircuit, tuples: Mapping[str, Sequence[Row]], random: Random | None, total: int
) -> Iterator[tuple[str, Row]]:
    first = max([first_timestamp(plan.blocks[0]), *(one.low for one in plan.periods.values() if one.low is not None)])
    last = value_range(plan.time_type)[1] or 0
    longest = [one.longest for one in plan.periods.values() if one.longest is not None]
    steps = total // sum(pace(plan, RATE).rows.values()) + 1
    enough = (last - first) // steps // 2  # so that the calendar does not end before
    allowed = pace(plan, RATE, max(1, min(min(longest, default=1) // _STEPS, enough)))
    what = f"the times of {plan.name} end with {decode(last, plan.time_type)}, before {total:,} tuples"
    over = UsageError(what, remedy="ask for fewer: --tuples")
    if first + steps * allowed.step > last:
        raise over
    valid = {name: _Valid(contract) for name, contract in plan.periods.items()}
    free = {item.name: _free(plan, item, plan.periods[item.name]) for item in plan.streams}
    makers = {
        item.name: _made(item, plan.periods[item.name], tuples[item.name], free[item.name], random)
        for item in plan.streams
    }
    for now in count(first, allowed.step):
        for stream in plan.streams:
            contract, rate = plan.periods[stream.name], allowed.rows[stream.name]
            most = contract.longest or allowed.step * max(_STEPS, 2 * (contract.most or 0) // rate)
            for _ in range(rate):
                if valid[stream.name].is_full(now):
                    break
                end = now + (most if random is None else random.randint(1, most))
                if end > last:
                    raise over
                for row in islice(makers[stream.name], _TRIED):
                    placed = {**row, contract.begin: now, contract.end: end}
                    if valid[stream.name].takes(placed):
                        yield stream.name, placed
                        break


def _free(plan: PlannedCircuit, item: Input, contract: PeriodContract) -> list[Column]:
    """The columns of a stream that may have any values, because no condition reads them."""
    told = {contract.begin, contract.end, contract.variable, contract.probability} | compared_columns(plan.blocks)
    return [
        column
        for column in item.declared
        if column.name not in told and column.domain is None and column.type.family in (Family.STRING, Family.INTEGER)
    ]


def _made(
    item: Input, contract: PeriodContract, pool: Sequence[Row], free: Sequence[Column], random: Random | None
) -> Iterator[Row]:
    """The rows of a pool, in turn or at random, with values of their own in free columns; keys of lineages are new."""
    nothing = {column.name: None for column in item.declared}
    kind = next((column.type.family for column in item.declared if column.name == contract.variable), None)
    for number in count():
        row = (
            pool[number % len(pool)] if random is None and pool else random.choice(pool) if random and pool else nothing
        )
        own: dict[str, Any] = {
            column.name: f"v{number % _VALUES}" if column.type.family is Family.STRING else number % _VALUES
            for column in free
        }
        if contract.variable:
            own[contract.variable] = f"k {number}" if kind is Family.STRING else number
            own[contract.probability] = 0.5 if contract.certain == 1 else contract.certain // 2
        yield {**nothing, **row, **own}


class _Valid:
    """The rows that are valid, as far as contracts need them."""

    def __init__(self, contract: PeriodContract) -> None:
        self.contract = contract
        self.keys = [columns for _, columns in contract.unique]
        self.latest: list[dict[tuple[Any, ...], int]] = [{} for _ in self.keys]
        self.ends: list[int] = []

    def is_full(self, now: int) -> bool:
        """Whether as many rows as may be are valid at a time, which no earlier one follows."""
        while self.ends and self.ends[0] <= now:
            heappop(self.ends)
        return self.contract.most is not None and len(self.ends) >= self.contract.most

    def takes(self, row: Row) -> bool:
        """Whether a row breaks no contract where not all are valid; then it is valid, too."""
        begin, end = row[self.contract.begin], row[self.contract.end]
        values = [tuple(row[name] for name in key) for key in self.keys]
        if any(latest.get(key, begin) > begin for key, latest in zip(values, self.latest, strict=True)):
            return False
        heappush(self.ends, end)
        for key, latest in zip(values, self.latest, strict=True):
            latest[key] = end
            if len(latest) > 4 * len(self.ends) + _TRIED:
                for old in [one for one, last in latest.items() if last <= begin]:
                    del latest[old]
        return True
