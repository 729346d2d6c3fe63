"""Endless streams that fit a query and its catalog, in order of time: adversarial ones, and random ones.

Both are made of tuples that satisfy the query's conditions (`adversary.pools`). The adversary sends all of them, as
many as may share a timestamp; the random feed picks among them and changes some values, so that other tuples come too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from streambound.analyzer.calendar_text import MICROSECONDS, parse_timestamp
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Comparison
from streambound.analyzer.types import Family
from streambound.criteria.contract import fits_column
from streambound.synopsis_exec.adversary import RATE, Row, first_timestamp, pools
from streambound.synopsis_exec.expression_values import expression_values, nested_texts
from streambound.synopsis_exec.matches import Match, matches
from streambound.synopsis_exec.pace import Pace, in_partitions, pace, within_rates
from streambound.synopsis_exec.plan_ir import Input, Plan

if TYPE_CHECKING:
    from streambound.synopsis_exec.circuit_plan import PlannedCircuit

P = TypeVar("P", Plan, "PlannedCircuit")
PHASE = 512
"""Timestamps after which the adversary changes its way: all tuples in turn, or the first ones again and again."""
MODERATE_RATE = 4
_WIDE = 1000
_START = parse_timestamp("2024-01-01 00:00:00")
_TEXTS = ("", "a", "b", "text 0001")


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


def adversarial_feed(plan: Plan, rate: int = RATE) -> Feed:
    """The tuples of `adversary.pools`, without an end: all of them in turn, then the first ones again and again."""
    relations, tuples = pools(plan)
    return Feed(relations, in_partitions(plan.streams, _flood(plan, tuples, rate)))


def _flood(plan: Plan, tuples: Mapping[str, list[Row]], rate: int) -> Iterator[tuple[str, Row]]:
    first, allowed = first_timestamp(plan), pace(plan, rate)
    for step in count():
        again = step // PHASE % 2 == 1
        for stream in plan.streams:
            pool, most = tuples[stream.name] or [_nulls(stream)], allowed.rows[stream.name]
            for place in range(min(most, len(pool)) if again else most):
                row = pool[place if again else (step * most + place) % len(pool)]
                yield stream.name, {**row, str(stream.timestamp): first + step * allowed.step}


def _nulls(stream: Input) -> Row:
    """The tuple that a stream sends where none can be part of a result."""
    return {column.name: None for column in stream.declared if column.name != stream.timestamp}


# --- random -----------------------------------------------------------------------------------------------------------


def random_feed(
    plan: Plan, seed: int, shares: Mapping[str, float] | None = None, few: int | None = None, timestamps: int = 1000
) -> Feed:
    """Random streams; the same seed gives the same ones.

    ``shares`` are the streams' relative frequencies, 1 by default; ``few`` is the number of different tuples of
    each stream, so that many of them match; ``timestamps`` is about how many will be needed, so that finite
    streams end halfway.
    """
    random = Random(seed)
    relations, tuples = pools(plan, random)
    if few is not None:
        tuples = {name: random.sample(pool, min(few, len(pool))) for name, pool in tuples.items()}
        relations = {name: random.sample(pool, min(few, len(pool))) for name, pool in relations.items()}
    rows = _random(plan, random, tuples, dict(shares or {}), timestamps)
    return Feed(relations, in_partitions(plan.streams, rows))


def matching_rows(
    plan: Plan, seed: int, few: int | None, each: int
) -> tuple[dict[str, list[Row]], list[tuple[str, Row]]]:
    """Rows of relations, and about ``each`` rows of each stream in order of time: whole matches among random rows.

    Some rows of matches come twice. At the end time goes on for longer than all windows, so that entries are dropped.
    """
    random = Random(f"matches {seed}")
    feed = random_feed(plan, seed, few=few, timestamps=each)
    noise = list(islice(feed.rows, each * len(plan.streams)))
    times = {stream.name: str(stream.timestamp) for stream in plan.streams}
    moments = sorted({row[times[name]] for name, row in noise})
    tick, number = _tick(plan), max(2 * len(plan.branches), each // 4)
    early = moments[: max(1, len(moments) // 2)]
    relations: dict[str, list[Row]] = {item.name: [] for item in plan.relations}
    planted: list[tuple[str, Row]] = []
    for match in islice(matches(plan, random, early, tick), number):
        planted += _planted(random, plan, match, relations)
    for name, mine in relations.items():
        mine += feed.relations[name][: max(0, _most_rows(plan, name) - len(mine))]
    late = moments[-1] + _widest(plan) + tick
    last = [(name, {**row, times[name]: late + tick * step}) for step in (0, 1) for name, row in dict(noise).items()]
    rows = within_rates(plan.streams, [*planted, *noise, *last])
    return relations, sorted(rows, key=lambda pair: pair[1][times[pair[0]]])


def _planted(random: Random, plan: Plan, match: Match, relations: dict[str, list[Row]]) -> Iterator[tuple[str, Row]]:
    """A match's rows of streams, those of relations added to these; nothing where a relation would have too many."""
    added = {name: [*mine] for name, mine in relations.items()}
    for name, row in match:
        if name in added and row not in added[name]:
            added[name].append(row)
    if all(len(mine) <= _most_rows(plan, name) for name, mine in added.items()):
        relations.update(added)
        for pair in match:
            yield from [pair] * (random.choice((1, 1, 1, 2)) if pair[0] not in relations else 0)


def _most_rows(plan: Plan, relation: str) -> int:
    declared = next(item.rows for item in plan.relations if item.name == relation)
    return RATE if declared is None else declared


def _random(
    plan: Plan, random: Random, tuples: Mapping[str, list[Row]], shares: Mapping[str, float], timestamps: int
) -> Iterator[tuple[str, Row]]:
    allowed, constants = pace(plan, MODERATE_RATE, _tick(plan)), _constants(plan)

    def row(stream: Input, now: int) -> Row:
        return {**_row(random, stream, tuples[stream.name], constants), str(stream.timestamp): now}

    return in_time(plan.streams, allowed, _start(plan, allowed.step * timestamps // 2), shares, random, row)


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


def _tick(plan: Plan) -> int:
    """The distance of timestamps: a fraction of the shortest window, or the clock's natural unit."""
    unit = MICROSECONDS if plan.time_family is Family.TIMESTAMP else 1
    return max(1, min(lengths(plan), default=4 * unit) // 4)


def _widest(plan: Plan) -> int:
    """The sum of all windows, since one match may span several."""
    return sum(lengths(plan))


def lengths(plan: Plan) -> list[int]:
    """The distances of timestamps that the query mentions."""
    branches = [item.branch for item in plan.branches]
    return [
        abs(int(atom.offset))
        for branch in branches
        for atom in branch.atoms
        if isinstance(atom, Comparison) and atom.right is not None and branch.is_time(atom.left) and atom.offset
    ]


def compared_columns(blocks: Sequence[Plan]) -> set[str]:
    """The columns that occur in conditions."""
    return {
        branch.column(side).name
        for branch in (one.branch for block in blocks for one in block.branches)
        for atom in branch.atoms
        if isinstance(atom, Comparison)
        for side in (atom.left, atom.right)
        if side is not None
    }


def _start(plan: Plan, before: int) -> int:
    """When the streams start: not before time does, and some time before a finite stream ends."""
    ends = [end for item in plan.branches for end in item.facts.finite_streams.values()]
    if ends:
        return max(0, min(ends) - before) if plan.time_family is Family.INTEGER else min(ends) - before
    return _START if plan.time_family is Family.TIMESTAMP else first_timestamp(plan)


def _constants(plan: Plan) -> dict[Family, Sequence[Any]]:
    """The query's constants and their neighbours, at which a wrong comparison shows."""
    found: dict[Family, dict[Any, None]] = {}
    for branch in (item.branch for item in plan.branches):
        for atom in branch.atoms:
            if isinstance(atom, Comparison) and atom.right is None and not branch.is_time(atom.left):
                mine = found.setdefault(branch.column(atom.left).type.family, {})
                values = [atom.offset] if isinstance(atom.offset, str) else [atom.offset + step for step in (-1, 0, 1)]
                mine.update(dict.fromkeys(values))
    return {family: list(values) for family, values in found.items()}


def _row(random: Random, stream: Input, pool: Sequence[Row], constants: Mapping[Family, Sequence[Any]]) -> Row:
    """A tuple of the pool, some of its values changed."""
    read = expression_values(stream)
    columns = [column for column in stream.declared if column.name != stream.timestamp]
    chosen = random.choice(pool) if pool else _nulls(stream)
    return {
        column.name: _other(
            random, column, chosen[column.name], pool, read.get(column.name, constants.get(column.type.family, ()))
        )
        if random.random() < 0.2 or not pool
        else chosen[column.name]
        for column in columns
    }


def _other(random: Random, column: Column, value: Any, pool: Sequence[Row], constants: Sequence[Any]) -> Any:
    """Another value of a column: of another tuple, a constant, any, or NULL; the old one where that does not fit."""
    found = value
    match random.randrange(8):
        case 0:
            found = None
        case 1 | 2 if pool:
            found = random.choice(pool)[column.name]
        case 3 | 4 | 5 if constants:
            found = random.choice(constants)
        case 6 if isinstance(value, int | float):
            found = value + random.choice((-1, 1))
        case _:
            found = _any(random, column)
    return found if fits_column(column, found) else value


def _any(random: Random, column: Column) -> Any:
    if column.domain is not None and column.domain.values:
        return random.choice(column.domain.values)
    match column.type.family:
        case Family.STRING:
            return random.choice(_TEXTS)
        case Family.FLOAT:
            return random.randrange(-_WIDE, _WIDE) / 2
        case Family.BOOLEAN:
            return random.randrange(2)
        case Family.TIMESTAMP:
            return _START + random.randrange(_WIDE) * MICROSECONDS
        case Family.OTHER:
            return random.choice(nested_texts(column.type))
    return random.randrange(_WIDE)
