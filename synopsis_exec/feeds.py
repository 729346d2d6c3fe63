"""Endless streams that fit a plan and its catalog, in order of time: adversarial ones, and random ones.

Both are made of tuples that satisfy the conditions of the plan's joins (`adversary.pools`), and last several times as
long as its longest window, bucket of time or period, so that what waits ends again and again. The adversary sends all
tuples, as many as may share a timestamp, valid as long as they may be; the random feed picks among them and changes
some values, so that other tuples come, too. Columns that no condition reads have a hundred values. Changes of relations
are among the rows, and punctuations that end keys, of which there are ever new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, islice, zip_longest
from random import Random
from typing import Any, TypeVar

from streambound.analyzer.columns import Column
from streambound.analyzer.errors import UsageError
from streambound.analyzer.query import Comparison
from streambound.analyzer.types import Family
from streambound.analyzer.values import decode
from streambound.criteria.contract import fits_column, value_range
from streambound.synopsis_exec.adversary import RATE, Row, first_timestamp, pools
from streambound.synopsis_exec.changing_rows import GeneratedChanges
from streambound.synopsis_exec.ended_rows import EndlessKeys
from streambound.synopsis_exec.expression_values import START, expression_values, numbered_value
from streambound.synopsis_exec.pace import Pace, in_partitions, pace
from streambound.synopsis_exec.period_rows import with_periods
from streambound.synopsis_exec.plan_ir import Input, JobPlan, Plan
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.operators.circuit_plan import ChangesNode
from streambound_runtime.promises import PeriodContract

P = TypeVar("P", bound=JobPlan)
PHASE = 512
"""Timestamps after which the adversary changes its way: all tuples in turn, or the first ones again and again."""
MODERATE_RATE = 4
EACH = 24
"""Rows of a relation that no joins read, and for which no number is declared."""
_TIMES = 8
"""About how often the longest window or bucket fits into the streams."""
_VALUES = 100
"""Values of columns without conditions; of the narrowest integers there are not many more."""
_WIDE = 1000
_DELETES = 0.2
"""The share of changes that are deletes, once a relation is full."""
_STEPS = 16
"""Timestamps for which rows are valid, or more, where they may be for ever."""
_TRIED = 16
"""Rows that are looked at for one that no valid row conflicts with."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Rows of the relations, and pairs of a stream's name and its next row, with encoded values, without an end.

    After the last rows that are read some ``endings`` may say what is over then.
    """

    relations: dict[str, list[Row]]
    rows: Iterator[tuple[str, Row]]
    endings: Callable[[], Iterator[tuple[str, Row]]] | None = None


def in_order(plan: P) -> tuple[P, tuple[str, ...]]:
    """The plan of a job over feeds, and the streams whose rows come in order, which the catalog need not say.

    Of rows that promise nothing, punctuation records end the timestamps, which feeds do not have, or nothing does.
    """
    told = tuple(stream.name for stream in plan.streams if not stream.arrival.by_rows)
    inputs = (
        replace(item, arrival=replace(item.arrival, lateness=0)) if item.name in told else item for item in plan.inputs
    )
    return replace(plan, inputs=tuple(inputs)), told


def feed(plan: JobPlan, seed: int | None, tuples: int, shares: Mapping[str, float] | None = None) -> Feed:
    """The adversary's streams, or random ones by a ``seed``, whose ``shares`` are their relative frequencies.

    ``tuples`` is about how many will be asked for. Raises UsageError where time, or values of a key that ends, are over
    before.
    """
    random = None if seed is None else Random(f"feed {seed}")
    relations, found = _pools(plan, random)
    if plan.periods:
        relations = with_periods(plan.relations, plan.periods, relations, random or Random("relations"))
    allowed, start = _clock(plan, random, tuples)
    values = constants(plan)
    made = {
        item.name: rows_of(
            item, found[item.name], _free(plan, item), values, random, allowed.rows[item.name],
            plan.periods.get(item.name),
        )
        for item in plan.streams
    }  # fmt: skip
    _check_calendar(plan, start + allowed.step * (tuples // sum(allowed.rows.values())), tuples)
    changes = {node.table: _changes(plan, node, random) for node in plan.changing}
    valid = {
        name: _Valid(one, one.longest or allowed.step * max(_STEPS, 2 * (one.most or 0) // allowed.rows[name]))
        for name, one in plan.periods.items()
        if name in made
    }

    def row(stream: Input, now: int) -> Row | None:
        if stream.name in changes:
            return changes[stream.name](now)
        if stream.name in valid:
            _check_calendar(plan, now + valid[stream.name].longest, tuples)
            return valid[stream.name].next(made[stream.name], now, random)
        return {**next(made[stream.name]), str(stream.timestamp): now}

    keys = EndlessKeys(plan.streams, random)
    rows = keys.pass_on(in_time(plan.streams, allowed, start, shares or {}, random, row))
    return Feed(relations, in_partitions(plan.streams, rows), keys.endings if plan.final else None)


def _pools(plan: JobPlan, random: Random | None) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """Rows of relations, and different tuples of streams, those of all joins in turn."""
    found = [pools(block, random) for block in different_blocks(plan)]
    streams = {item.name: _in_turn(mine.get(item.name, ()) for _, mine in found) for item in plan.streams}
    relations = {
        item.name: _in_turn(static.get(item.name, ()) for static, _ in found)[: item.rows] for item in plan.relations
    }
    known = sorted({v for rows in streams.values() for row in rows for v in row.values() if isinstance(v, int)})
    fill(plan, relations, known, random or Random("relations"))
    return relations, streams


def _in_turn(several: Iterable[Sequence[Row]]) -> list[Row]:
    """Different rows: the first one of each, the second ones, and so on."""
    rows = (row for rows in zip_longest(*several) for row in rows if row is not None)
    return [*{tuple(row.values()): row for row in rows}.values()]


def fill(plan: JobPlan, relations: dict[str, list[Row]], known: Sequence[int], random: Random) -> None:
    """Give rows to the relations that no joins read; ``known`` are integers that other rows have."""
    for item in plan.relations:
        if not relations[item.name]:
            most = EACH if item.rows is None else min(EACH, item.rows)
            relations[item.name] = [
                {column.name: shared_value(column, known, random) for column in item.declared} for _ in range(most)
            ]


def shared_value(column: Column, known: Sequence[int], random: Random) -> Any:
    """A value of a column that other rows may share; sometimes NULL."""
    if random.random() < 0.05:
        return None
    if known and column.domain is None and column.type.family is Family.INTEGER:
        return random.choice([*known, 0, 1])
    return numbered_value(column, random.randrange(4 if column.domain is None else _WIDE))


def different_blocks(plan: JobPlan) -> list[Plan]:
    """The joins in a plan, each query once."""
    found: list[Plan] = []
    for block in plan.blocks:
        if not any([b.branch for b in block.branches] == [b.branch for b in known.branches] for known in found):
            found.append(block)
    return found


# --- time -------------------------------------------------------------------------------------------------------------


def _clock(plan: JobPlan, random: Random | None, tuples: int) -> tuple[Pace, int]:
    """How many rows may come at how distant timestamps, and the first one."""
    if any(contract.high is not None for contract in plan.periods.values()):
        what = f"{plan.name} is over a [time] domain that ends, and what is measured are endless streams"
        raise UsageError(what, remedy="leave the end out, as in domain = [0]")
    rate = RATE if random is None else MODERATE_RATE
    steps = max(1, tuples // sum(pace(plan, rate).rows.values()))
    allowed = pace(plan, rate, -(-_TIMES * _longest(plan) // steps))
    return allowed, _start(plan, allowed.step * steps // 2)


def _check_calendar(plan: JobPlan, end: int, tuples: int) -> None:
    """Raise UsageError for a time that the plan's type does not have."""
    last = value_range(plan.time_type)[1]
    if last is not None and end > last:
        what = f"the times of {plan.name} end with {decode(last, plan.time_type)}, before {tuples:,} tuples"
        raise UsageError(what, remedy="ask for fewer: --tuples")


def _longest(plan: JobPlan) -> int:
    """The longest window, bucket or period that the plan speaks of; 1 where there is none."""
    buckets = [bucket.size + bucket.delay for bucket in plan.closing]
    periods = [contract.longest for contract in plan.periods.values() if contract.longest is not None]
    return max([*buckets, *periods, *(length for block in plan.blocks for length in lengths(block))], default=1)


def _start(plan: JobPlan, before: int) -> int:
    """When streams start: some time before a finite one ends.

    After 0: what is not later than that is late to Spark before it has seen a row.
    """
    ends = any(block.ends for block in plan.blocks)
    first = [first_timestamp(block, before) for block in plan.blocks]
    first += [contract.low for contract in plan.periods.values() if contract.low is not None]
    first += [START] if plan.time_family is Family.TIMESTAMP and not ends else []
    return max(first, default=0) + 1


def in_time(
    streams: Sequence[Input],
    allowed: Pace,
    start: int,
    shares: Mapping[str, float],
    random: Random | None,
    row: Callable[[Input, int], Row | None],
) -> Iterator[tuple[str, Row]]:
    """The rows that streams have at a time, from a ``start`` on: as many as are allowed, or some of them at random."""
    now, most = start, max(shares.get(stream.name, 1.0) for stream in streams)
    while True:
        for stream in streams:
            chance = 0.6 * shares.get(stream.name, 1.0) / most
            for _ in range(allowed.rows[stream.name]):
                if random is None or random.random() < chance:
                    found = row(stream, now)
                    if found is not None:
                        yield stream.name, found
        now += allowed.step * (1 if random is None else random.choice((1, 1, 1, 2, 5)))


def lengths(plan: Plan) -> list[int]:
    """The distances of timestamps that the query mentions."""
    branches = [item.branch for item in plan.branches]
    return [
        abs(int(atom.offset))
        for branch in branches
        for atom in branch.atoms
        if isinstance(atom, Comparison) and atom.right is not None and branch.is_time(atom.left) and atom.offset
    ]


# --- rows -------------------------------------------------------------------------------------------------------------


def rows_of(
    item: Input,
    pool: Sequence[Row],
    free: Sequence[Column],
    values: Mapping[Family, Sequence[Any]],
    random: Random | None,
    most: int,
    contract: PeriodContract | None = None,
) -> Iterator[Row]:
    """A stream's rows without times, of a pool, with other values in ``free`` columns, without an end.

    Some ``values`` are changed at random; without that ``most`` rows come at a time. Keys of lineages are new ones.
    """
    nothing: Row = {column.name: None for column in item.declared}
    read, kinds = expression_values(item), {column.name: column.type.family for column in item.declared}
    changed = [column for column in item.declared if column not in free and column.name != item.timestamp]
    for number in count():
        row, place = nothing, number // max(1, len(pool)) + number
        if random is not None:
            row, place = random.choice(pool) if pool else nothing, random.randrange(_VALUES)
        elif pool:
            step, among = divmod(number, most)
            row = pool[(among if step // PHASE % 2 == 1 else number) % len(pool)]
        found = {**nothing, **row, **{column.name: numbered_value(column, place % _VALUES) for column in free}}
        for column in changed if random is not None else ():
            if random is not None and (random.random() < 0.2 or not pool):
                near = read.get(column.name, values.get(column.type.family, ()))
                found[column.name] = _other(random, column, found[column.name], pool, near)
        if contract is not None and contract.variable:
            found[contract.variable] = f"k {number}" if kinds[contract.variable] is Family.STRING else number
            found[contract.probability] = 0.5 if contract.certain == 1 else contract.certain // 2
        yield found


def _other(random: Random, column: Column, value: Any, pool: Sequence[Row], near: Sequence[Any]) -> Any:
    """Another value of a column: of another tuple, a constant, any, or NULL; the old one where that does not fit."""
    found = value
    match random.randrange(8):
        case 0:
            found = None
        case 1 | 2 if pool:
            found = random.choice(pool)[column.name]
        case 3 | 4 | 5 if near:
            found = random.choice(near)
        case 6 if isinstance(value, int | float):
            found = value + random.choice((-1, 1))
        case _:
            found = numbered_value(column, random.choice((random.randrange(4), random.randrange(_WIDE))))
    return found if fits_column(column, found) else value


def constants(plan: JobPlan) -> dict[Family, Sequence[Any]]:
    """The constants of joins and their neighbours, at which a wrong comparison shows."""
    found: dict[Family, dict[Any, None]] = {}
    for branch in (item.branch for block in plan.blocks for item in block.branches):
        for atom in branch.atoms:
            if isinstance(atom, Comparison) and atom.right is None and not branch.is_time(atom.left):
                mine = found.setdefault(branch.column(atom.left).type.family, {})
                values = [atom.offset] if isinstance(atom.offset, str) else [atom.offset + step for step in (-1, 0, 1)]
                mine.update(dict.fromkeys(values))
    return {family: list(values) for family, values in found.items()}


def _free(plan: JobPlan, item: Input) -> list[Column]:
    """The columns of a stream that may have any values, because no condition reads them."""
    branches = [one.branch for block in plan.blocks for one in block.branches]
    read = [branch.column(one) for branch in branches for atom in branch.atoms for one in atom.attributes]
    told, texts = {str(item.timestamp), *(column.name for column in read)}, {column.expression for column in read}
    if (contract := plan.periods.get(item.name)) is not None:
        told |= {contract.begin, contract.end, contract.variable, contract.probability}
    return [
        column
        for column in item.declared
        if column.name not in told and column.domain is None and column.type.family is not Family.OTHER
        if not any(quoted(column.name) in text for text in texts)
    ]


def _changes(plan: JobPlan, node: ChangesNode, random: Random | None) -> Callable[[int], Row | None]:
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
            return shared_value(column, (), chosen)
        if column.name in node.key:
            return numbered_value(column, number % most)
        return numbered_value(column, number % _VALUES if random is None else random.randrange(_VALUES))

    def change(now: int) -> Row | None:
        number = next(numbers) if random is None else random.randrange(most)
        return relation.change(now, {column.name: value(column, number) for column in columns})

    return change


# --- periods ----------------------------------------------------------------------------------------------------------


class _Valid:
    """The rows that are valid, as far as contracts need them; each for ``longest`` or a random time."""

    def __init__(self, contract: PeriodContract, longest: int) -> None:
        self.contract, self.longest = contract, longest
        self.keys = [columns for _, columns in contract.unique]
        self.latest: list[dict[tuple[Any, ...], int]] = [{} for _ in self.keys]
        self.ends: list[int] = []

    def next(self, rows: Iterator[Row], now: int, random: Random | None) -> Row | None:
        """One of the next rows, valid from now on; None where there are as many as may be, or all conflict."""
        while self.ends and self.ends[0] <= now:
            heappop(self.ends)
        if self.contract.most is not None and len(self.ends) >= self.contract.most:
            return None
        end = now + (self.longest if random is None else random.randint(1, self.longest))
        placed = ({**row, self.contract.begin: now, self.contract.end: end} for row in islice(rows, _TRIED))
        return next(filter(self._takes, placed), None)

    def _takes(self, row: Row) -> bool:
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
