"""SEQ VT over streams in this process: a statement's job, step by step, and what it has printed and remembers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from streambound.criteria.check import Checked
from streambound.synopsis_exec.job_spec import BATCH, job_spec
from streambound.synopsis_exec.simulate import operator_of_circuit, rows_as_delta
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators.by_tick import RejectedRow
from support.choices import Choices
from support.circuits import circuit_plan, encoded_rows
from support.snapshots import COLUMNS, HIGH, LOW, generated

TableRows = Mapping[str, list[dict[str, Any]]]
PROMISES: list[dict[str, Any]] = [
    {"max_per_timestamp": 3},
    {"max_valid": 4},
    {"max_rate": {"rows": 2, "per": 3}},
    {"max_rate": {"rows": 2, "per": 3}, "max_per_timestamp": 2},
    {"max_duration": 3, "max_valid": 9},
    {"snapshot_key": ["a"]},
]
VALUES: dict[str, Any] = {"a": {"values": [-1, 0, 1, 2, 3]}, "b": {"low": 0, "high": 6}, "c": {"values": ["x", "y"]}}
FIRST_DAY = date(2024, 1, 1)
"""The day that the number 0 stands for where bounds are dates."""


@dataclass
class PeriodRun:
    """What has been printed after each frontier, and the entries there; ``limit`` is M."""

    printed: list[tuple[int | None, Counter[tuple[Any, ...]]]] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    limit: int | None = None
    rejected: list[RejectedRow] = field(default_factory=list)

    @property
    def all(self) -> Counter[tuple[Any, ...]]:
        """All that was printed: values, begin, end, multiplicity."""
        return Counter(row for _, rows in self.printed for row in rows.elements())


def run_periods(
    checked: Checked,
    rows: TableRows,
    every: int = 1,
    restarts: bool = False,
    by_timestamp: bool = False,
    frontiers: Sequence[int] = (),
) -> PeriodRun:
    """A bounded statement's job over encoded rows, closing ``every`` so many points of time at once.

    Or it closes up to each of some ``frontiers``, and then the rest. ``restarts``: after each step another operator
    takes over the state. ``by_timestamp``: each timestamp is a tick.
    """
    assert checked.circuit is not None and checked.catalog is not None
    plan = circuit_plan(checked)
    job = job_spec(plan, tick=BATCH)
    given = encoded_rows(plan, rows)
    assert isinstance(job.plan, CircuitPlan)
    job = replace(job, plan=replace(job.plan, by_timestamp=by_timestamp))
    relations = {relation.name: given[relation.name] for relation in job.relations}
    operator = operator_of_circuit(job.plan, relations, job.streams)
    times = [row[stream.timestamp] for stream in job.streams for row in given[stream.name]]
    found, last = PeriodRun(limit=operator.limit), max(times, default=0) + 1
    first = min(times, default=0)
    stops = [min(since + every, last) for since in range(first, last, every)] if not frontiers else [*frontiers, last]
    for since, until in pairwise([min([first, *stops]), *stops]):
        deltas = {}
        for stream in job.streams:
            mine = [row for row in given[stream.name] if since <= row[stream.timestamp] < until]
            parts = sorted(mine, key=lambda row: row[stream.timestamp])
            if parts:
                deltas[stream.name] = rows_as_delta([row[stream.timestamp] for row in parts], parts, stream)
        _note(found, until, operator.step(deltas, until), operator.entries())
        found.rejected += operator.rejected
        if restarts:
            state = operator.dump()
            operator = operator_of_circuit(job.plan, relations, job.streams)
            operator.load(state)
    _note(found, None, operator.step({}, None, over=True), 0)
    return found


def _note(found: PeriodRun, until: int | None, delta: Any, entries: int) -> None:
    weights = zip(delta.rows(), delta.weights().tolist(), strict=True)
    found.printed.append((until, Counter((*map(_rounded, row), count) for row, count in weights)))
    found.entries.append(entries)


def _rounded(value: Any) -> Any:
    return round(value, 9) + 0.0 if isinstance(value, float) else value


def drawn(seed: int) -> tuple[str, dict[str, Any]]:
    """A statement, and a catalog that may or may not bound it."""
    rng = random.Random(seed)
    emit = rng.choice(["", "", "-- streambound: emit fragments\n", "-- streambound: emit parts\n"])
    streams, relations = dict[str, Any](), dict[str, Any]()
    static = rng.choice(["u", ""])
    for name, kinds in COLUMNS.items():
        table = {"columns": {**kinds, "vb": "bigint", "ve": "bigint"}, "period": ["vb", "ve"]}
        if rng.random() < 0.4:
            table["domain"] = {column: VALUES[column] for column in kinds if column in VALUES}
        if name == static:
            relations[name] = table | rng.choice([{}, {"rows": 7}])
        else:
            promise = rng.choice(PROMISES)
            promise = promise if "a" in kinds or "snapshot_key" not in promise else {"max_valid": 2}
            streams[name] = {**table, **promise, "timestamp": "vb"}
    time = {"domain": rng.choice([[LOW], [LOW, HIGH], [LOW, HIGH]])}
    return f"{emit}SEQ VT ({generated(Choices.seeded(seed)).sql})", {
        "time": time,
        "streams": streams,
        "relations": relations,
    }


def with_dates(catalog: Mapping[str, Any]) -> dict[str, Any]:
    """A catalog whose periods are of numbers, with dates for them."""
    found = deepcopy(dict(catalog))
    for table in (*found.get("streams", {}).values(), *found.get("relations", {}).values()):
        table["columns"] |= dict.fromkeys(table["period"], "date")
    if "time" in found:
        found["time"] = {"domain": [day(end) for end in found["time"]["domain"]]}
    return found


def day(number: int | None) -> str | None:
    """The date that a number stands for, as text."""
    return None if number is None else str(FIRST_DAY + timedelta(number))
