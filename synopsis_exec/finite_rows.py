"""Rows for `verify`: matches of a plan's joins among random rows, in several buckets of time; and changes of relations.

Their number is so small that batch SQL can join them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from random import Random

from streambound.analyzer.calendar_text import MICROSECONDS
from streambound.analyzer.types import Family
from streambound.synopsis_exec.adversary import RATE, Row, first_timestamp, pools
from streambound.synopsis_exec.changing_rows import GeneratedChanges
from streambound.synopsis_exec.ended_rows import with_punctuations
from streambound.synopsis_exec.expression_values import START
from streambound.synopsis_exec.feeds import (
    MODERATE_RATE,
    constants,
    different_blocks,
    fill,
    in_time,
    lengths,
    rows_of,
    shared_value,
)
from streambound.synopsis_exec.matches import Match, matches
from streambound.synopsis_exec.pace import in_partitions, pace, within_rates
from streambound.synopsis_exec.period_rows import with_periods
from streambound.synopsis_exec.plan_ir import Input, JobPlan, Plan

Rows = tuple[dict[str, list[Row]], list[tuple[str, Row]]]
"""Rows of relations; and of streams in order of time, each with its stream's name."""

_FEW = 8
"""Different tuples of each stream and block, apart from changed ones."""
COMBINATIONS = 100_000
"""About how many combinations of tuples the statement looks at, where it is only joins."""
_EACH = 24
"""About how many rows of each stream each block of another one gets."""
_MOMENTS = 16
"""Timestamps of the changes of relations where no stream is read."""
_SHARED = 6
"""Values of streams that relations have, too."""
_BUCKETS = 4
"""Buckets of time that rows are spread over, in every other run."""
_CHANGES = 24
"""Changes of each relation."""
_MOST = 6
"""Rows at a time of a relation for which no number is declared."""


def finite_rows(plan: JobPlan, seed: int) -> Rows:
    """Rows that fit the plan and its catalog.

    Where groups end with their buckets of time, rows are so close together that they share one, or so far apart that
    they are in several.
    """
    random = Random(f"rows {seed}")
    relations: dict[str, list[Row]] = {item.name: [] for item in plan.relations}
    rows: list[tuple[str, Row]] = []
    for number, block in enumerate(different_blocks(plan)):
        static, mine = _matching(block, seed + number, _each(block) if block is plan else _EACH)
        rows += mine
        for item in plan.relations:
            new = [row for row in static.get(item.name, ()) if row not in relations[item.name]]
            relations[item.name] = [*relations[item.name], *new][: item.rows]
    times = {stream.name: str(stream.timestamp) for stream in plan.streams}
    known = sorted({v for name, row in rows for c, v in row.items() if c != times[name] and isinstance(v, int)})
    known = known if len(known) <= _SHARED else random.sample(known, _SHARED)
    fill(plan, relations, known, random)
    moments = sorted({row[times[name]] for name, row in rows}) or list(range(1, _MOMENTS))
    rows += _changes(plan, known, moments, random)
    stretch = _stretch(plan, [row[times[name]] for name, row in rows]) if random.random() < 0.5 else 1
    start = min((row[times[name]] for name, row in rows), default=0)
    rows = [(name, {**row, times[name]: start + (row[times[name]] - start) * stretch}) for name, row in rows]
    if plan.periods:
        given = {item.name: [row for name, row in rows if name == item.name] for item in plan.streams} | relations
        found = with_periods(plan.inputs, plan.periods, given, random)
        rows = [(item.name, row) for item in plan.streams for row in found[item.name]]
        relations = {item.name: found[item.name] for item in plan.relations}

    def by_time(pair: tuple[str, Row]) -> int:
        return int(pair[1][times[pair[0]]])

    rows = within_rates(plan.streams, sorted(rows, key=by_time))
    if any(stream.ends_keys for stream in plan.streams):
        rows = [(name, row) for _, name, row in with_punctuations(plan.streams, rows, random, plan.final)]
    return relations, sorted(rows, key=by_time)


def _each(plan: Plan) -> int:
    most = max((len(branch.branch.streams) for branch in plan.branches), default=1)
    return max(8, min(300, int(COMBINATIONS ** (1 / most))))


def _stretch(plan: JobPlan, times: list[int]) -> int:
    """By how much times are too close together for several buckets."""
    buckets = [bucket.size for bucket in plan.closing]
    if not buckets or not times or (plan.time_family is Family.INTEGER and max(times) > 2**31):
        return 1
    return max(1, max(buckets) * _BUCKETS // max(1, max(times) - min(times)))


def _changes(plan: JobPlan, known: list[int], moments: list[int], random: Random) -> Iterator[tuple[str, Row]]:
    """Encoded changes of relations in order of time, none of which is refused."""
    inputs = {item.name: item for item in plan.inputs}
    for node in plan.changing:
        columns = {column.name: column for column in inputs[node.table].declared}
        relation = GeneratedChanges(node, str(inputs[node.table].timestamp), node.most or _MOST, random)
        for moment in sorted(random.choices(moments, k=_CHANGES)):
            row = relation.change(moment, {name: shared_value(columns[name], known, random) for name in node.columns})
            if row is not None:
                yield node.table, row


# --- joins ------------------------------------------------------------------------------------------------------------


def _matching(plan: Plan, seed: int, each: int) -> Rows:
    """About ``each`` rows of each stream: whole matches among random rows.

    Some rows of matches come twice. At the end time goes on for longer than all windows, so that entries are dropped.
    """
    random = Random(f"matches {seed}")
    tick, times = _tick(plan), {stream.name: str(stream.timestamp) for stream in plan.streams}
    static, noise = _random(plan, random, each, tick)
    moments = sorted({row[times[name]] for name, row in noise})
    early, number = moments[: max(1, len(moments) // 2)], max(2 * len(plan.branches), each // 4)
    relations: dict[str, list[Row]] = {item.name: [] for item in plan.relations}
    planted: list[tuple[str, Row]] = []
    for match in islice(matches(plan, random, early, tick), number):
        planted += _planted(random, plan, match, relations)
    for item in plan.relations:
        mine = relations[item.name]
        mine += static[item.name][: max(0, _most_rows(item) - len(mine))]
    late = moments[-1] + sum(lengths(plan)) + tick  # one match may span several windows
    last = [(name, {**row, times[name]: late + tick * step}) for step in (0, 1) for name, row in dict(noise).items()]
    return relations, within_rates(plan.streams, [*planted, *noise, *last])


def _random(plan: Plan, random: Random, each: int, tick: int) -> Rows:
    """Random rows, of few different tuples; unless Spark computes of them which ones it lets through."""
    relations, tuples = pools(plan, random)
    if not any(item.derived for item in plan.inputs):
        tuples = {name: random.sample(pool, min(_FEW, len(pool))) for name, pool in tuples.items()}
        relations = {name: random.sample(pool, min(_FEW, len(pool))) for name, pool in relations.items()}
    values = constants(plan)
    made = {item.name: rows_of(item, tuples[item.name], (), values, random, MODERATE_RATE) for item in plan.streams}
    allowed = pace(plan, MODERATE_RATE, tick)
    start = first_timestamp(plan, allowed.step * each // 2)
    if plan.time_family is Family.TIMESTAMP and not plan.ends:
        start = START

    def row(stream: Input, now: int) -> Row:
        return {**next(made[stream.name]), str(stream.timestamp): now}

    rows = in_partitions(plan.streams, in_time(plan.streams, allowed, start, {}, random, row))
    return relations, list(islice(rows, each * len(plan.streams)))


def _tick(plan: Plan) -> int:
    """The distance of timestamps: a fraction of the shortest window, or the clock's natural unit."""
    unit = MICROSECONDS if plan.time_family is Family.TIMESTAMP else 1
    return max(1, min(lengths(plan), default=4 * unit) // 4)


def _planted(random: Random, plan: Plan, match: Match, relations: dict[str, list[Row]]) -> Iterator[tuple[str, Row]]:
    """A match's rows of streams, those of relations added to these; nothing where a relation would have too many."""
    added: Mapping[str, list[Row]] = {name: [*mine] for name, mine in relations.items()}
    for name, row in match:
        if name in added and row not in added[name]:
            added[name].append(row)
    if all(len(added[item.name]) <= _most_rows(item) for item in plan.relations):
        relations.update(added)
        for pair in match:
            yield from [pair] * (random.choice((1, 1, 1, 2)) if pair[0] not in relations else 0)


def _most_rows(relation: Input) -> int:
    return RATE if relation.rows is None else relation.rows
