"""Rows with periods for a query over streams: generated ones, and which of some rows a catalog's contracts allow.

This is a reading of the catalog of its own, row by row; a job's is `streambound_runtime.operators.valid_together`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from streambound.analyzer.query import Condition
from streambound.analyzer.types import Family
from streambound.criteria.contract import fits_column
from streambound.criteria.periods.parts import JudgedConditions, OfRelation
from streambound.synopsis_exec.plan_ir import Input
from streambound.synopsis_exec.useful import holds
from streambound_runtime.promises import PeriodContract

Row = dict[str, Any]
T = TypeVar("T")
_MOMENTS = 14
"""Points of time at which generated rows begin."""
_TICKS = 5
"""How many of the distances between them a row is valid for, about, where no contract says less."""
_SHARED = 4
"""Values that columns of a type have in common, so that rows are equal and meet."""
_ROWS = 8
"""Rows of a relation for which no number is declared."""


# --- contracts --------------------------------------------------------------------------------------------------------


def allowed(
    contract: PeriodContract, rows: Sequence[tuple[T, Row]], timed: bool, judged: Callable[[Row], bool] = lambda _: True
) -> list[tuple[T, Row]]:
    """The rows whose periods are good, in order; of a stream (``timed``) by what is valid together, if ``judged``.

    Of a relation's random variables all that share a key, or a fact at a common time, are bad.

    Of a conflict the rows that begin later are bad; of one begin all that conflict with each other, or are too many.
    """
    good = [pair for pair in rows if has_good_period(contract, pair[1])]
    if not timed and contract.variable:
        good = _alone(contract, good, (contract.variable,), at_all=True)
        return _alone(contract, good, contract.fact)
    keys = [columns for columns in ((contract.variable,), contract.fact, contract.key) if any(columns)]
    if not timed or (contract.most is None and not keys):
        return good
    kept, together = list[Row](), [n for n, (_, row) in enumerate(good) if judged(row)]
    taken = {*range(len(good))} - {*together}
    for begin in sorted({row[contract.begin] for _, row in good}):
        kept = [row for row in kept if row[contract.end] > begin]
        new = [n for n in together if good[n][1][contract.begin] == begin]
        for key in keys:
            known = {_values(key, row) for row in kept}
            new = [n for n in new if _values(key, good[n][1]) not in known]
            often = Counter(_values(key, good[n][1]) for n in new)
            new = [n for n in new if often[_values(key, good[n][1])] == 1]
        if contract.most is not None and len(kept) + len(new) > contract.most:
            continue
        kept += [good[n][1] for n in new]
        taken.update(new)
    return [pair for n, pair in enumerate(good) if n in taken]


def judging(options: JudgedConditions, relations: Mapping[str, Sequence[Row]]) -> Callable[[Row], bool]:
    """Whether a row is judged beside others: one that satisfies one of the conjunctions, or any where there are none.

    ``relations`` are the rows that some conditions are about.
    """
    asked = {one for conditions in options for one in conditions if isinstance(one, OfRelation)}
    theirs = {one: [other for _, other in one.columns] for one in asked}
    partners = {one: {_values(theirs[one], row) for row in relations.get(one.relation, ())} for one in asked}

    def satisfies(row: Row, one: Condition | OfRelation) -> bool:
        if not isinstance(one, OfRelation):
            return holds(one, row)
        mine = _values([name for name, _ in one.columns], row)
        return None not in mine and mine in partners[one]

    return lambda row: not options or any(all(satisfies(row, one) for one in conditions) for conditions in options)


def _alone(
    contract: PeriodContract, rows: Sequence[tuple[T, Row]], key: Sequence[str], at_all: bool = False
) -> list[tuple[T, Row]]:
    """The rows of a relation without another one of the same key that is valid at a common time, or ``at_all``."""

    def meet(one: Row, other: Row) -> bool:
        together = one[contract.begin] < other[contract.end] and other[contract.begin] < one[contract.end]
        return one is not other and _values(key, one) == _values(key, other) and (at_all or together)

    return [(tag, row) for tag, row in rows if not any(meet(row, other) for _, other in rows)]


def _values(key: Sequence[str], row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in key)


def has_good_period(contract: PeriodContract, row: Row) -> bool:
    """Whether a row's period alone breaks no contract."""
    begin, end = row[contract.begin], row[contract.end]
    if begin is None or end is None or begin >= end:
        return False
    if (contract.low is not None and begin < contract.low) or (contract.high is not None and end > contract.high):
        return False
    if contract.variable and (row[contract.variable] is None or not _is_probability(row, contract)):
        return False
    return contract.longest is None or end - begin <= contract.longest


def _is_probability(row: Row, contract: PeriodContract) -> bool:
    value = row[contract.probability]
    return value is not None and 0 < value <= contract.certain


# --- generated rows ---------------------------------------------------------------------------------------------------


def with_periods(
    inputs: Sequence[Input], contracts: Mapping[str, PeriodContract], rows: Mapping[str, list[Row]], random: Random
) -> dict[str, list[Row]]:
    """Rows of streams, and some more of relations, with periods at few points of time; about one in twenty is bad.

    Values are spread over columns of one type. A stream's rows are in order of their begins.
    """
    pools = _pools([row for mine in rows.values() for row in mine], inputs, random)
    moments = _moments([contracts[i.name] for i in inputs if i.name in contracts], inputs, random)
    found: dict[str, list[Row]] = {}
    for item in inputs:
        mine = rows.get(item.name, [])
        if item.timestamp is None:
            most = _ROWS if item.rows is None else min(item.rows, _ROWS)
            mine = [{column.name: None for column in item.declared} for _ in range(most)]
        made = [_mixed(row, item, pools, random) for row in mine]
        if item.name in contracts and contracts[item.name].variable:
            made = [
                _random_variable(row, number, item, contracts[item.name], random) for number, row in enumerate(made)
            ]
        if item.name in contracts:
            made = [_placed(row, contracts[item.name], moments, random) for row in made]
        if item.timestamp is not None:
            made = [row for row in made if row[item.timestamp] is not None]
            made.sort(key=lambda row, time=item.timestamp: int(row[time]))  # type: ignore[misc]
        found[item.name] = made
    return found


def _pools(rows: Sequence[Row], inputs: Sequence[Input], random: Random) -> dict[Family, list[Any]]:
    """A few values of each type that some rows have."""
    kinds = {column.name: column.type.family for item in inputs for column in item.declared}
    found: dict[Family, dict[Any, None]] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None and name in kinds:
                found.setdefault(kinds[name], {})[value] = None
    return {kind: random.sample(list(values), min(_SHARED, len(values))) for kind, values in found.items()}


def _mixed(row: Row, item: Input, pools: Mapping[Family, list[Any]], random: Random) -> Row:
    found = dict(row)
    for column in item.declared:
        pool = [value for value in pools.get(column.type.family, ()) if fits_column(column, value)]
        pool += list(column.domain.values)[:_SHARED] if column.domain is not None else []
        if pool and random.random() < 0.6:
            found[column.name] = random.choice(pool)
    return found


def _random_variable(row: Row, number: int, item: Input, contract: PeriodContract, random: Random) -> Row:
    """The row with a key of its own and a probability; some have none, or one beyond 1."""
    kind = next(column.type.family for column in item.declared if column.name == contract.variable)
    p = random.choice((0.1, 0.25, 0.5, 0.5, 0.7, 1.0)) if random.randrange(40) else random.choice((0.0, 2.0, None))
    if p is not None and contract.certain != 1:
        p = int(p * contract.certain)
    key = f"k {number}" if kind is Family.STRING else number % 2 if kind is Family.BOOLEAN else number
    return {**row, contract.variable: key, contract.probability: p}


def _moments(contracts: Sequence[PeriodContract], inputs: Sequence[Input], random: Random) -> list[int]:
    """Points of time: so far apart that rows overlap, and that rates allow them."""
    longest = min((one.longest for one in contracts if one.longest is not None), default=None)
    low = max((one.low for one in contracts if one.low is not None), default=None)
    high = min((one.high for one in contracts if one.high is not None), default=None)
    tick = max(1, (longest or _TICKS) // _TICKS)
    tick = max([tick, *(item.max_rate.per // 2 for item in inputs if item.max_rate is not None)])
    start = low if low is not None else 0
    found = [start]
    for _ in range(_MOMENTS):
        found.append(found[-1] + tick * random.choice((1, 1, 1, 2)))
    if high is not None and found[-1] >= high:
        return sorted(random.sample(range(start, high), min(_MOMENTS, high - start)))
    return found


def _placed(row: Row, contract: PeriodContract, moments: Sequence[int], random: Random) -> Row:
    begin = random.choice(moments)
    longest = contract.longest if contract.longest is not None else moments[-1] - moments[0] + 1
    ends = [moment for moment in moments if begin < moment <= begin + longest]
    end = random.choice(ends[:_TICKS]) if ends and random.random() < 0.9 else begin + random.randint(1, longest)
    if contract.high is not None:
        end = min(end, contract.high)
    match random.randrange(60):
        case 0:
            end = begin
        case 1 if contract.longest is not None:
            end = begin + contract.longest + 1
    return {**row, contract.begin: begin, contract.end: None if random.randrange(60) == 0 else end}
