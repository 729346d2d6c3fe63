"""The synopses after each timestamp of recorded streams, as text: what `explain --emit synopses` shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from streambound.analyzer.errors import UsageError
from streambound.analyzer.types import Family
from streambound.synopsis_exec.job_file import CompiledJob
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan
from streambound.synopsis_exec.plan_text import kept_in_words
from streambound.synopsis_exec.recorded import Row, recorded_rows
from streambound.synopsis_exec.simulate import ClosedTimestamp, Key, replay
from streambound.synopsis_exec.useful import useful
from streambound_runtime.decoding.reasons import shown
from streambound_runtime.engine.block_joins import LONG_AGO

MOST_ENTRIES = 12
"""Entries shown in one line; the others are counted."""


def steps_text(compiled: CompiledJob, input_dir: Path) -> str:
    """Replay recorded rows through a job's plan and show what arrives, what is returned, what is remembered.

    As in the paper's Figure 2, the synopsis of a set of streams is named after its newest stream: ``s_n`` holds what
    the timestamp added, ``s_p`` what was there before. Rows that a run quarantines are left out and counted at the
    end. Raises InputError for a missing file, and UsageError where columns are computed by Spark.
    """
    plan = compiled.synopsis
    texts = [*(column.expression for item in plan.inputs for column in item.derived), *(c.query for c in plan.computed)]
    if texts:
        what = f"the synopses are shown without Spark, which alone computes {shown(texts[0])}"
        raise UsageError(what, remedy="run the query, or let explain show another stage")
    recorded = {item.name: recorded_rows(item, input_dir, useful(item, plan)) for item in plan.inputs}
    streams = {item.name: recorded[item.name].rows for item in plan.streams}
    relations = {item.name: recorded[item.name].rows for item in plan.relations}
    times = {item.name: item.timestamp or "" for item in plan.streams}
    lines = [f"{' + '.join(_synopsis(plan, name))}: {words}" for name, words in _tables(plan)]
    before: dict[str, dict[Key, int]] = {}
    for step in replay(compiled.job, relations, streams, tables=True):
        arrived = {name: [row for row in rows if row[times[name]] == step.timestamp] for name, rows in streams.items()}
        lines.extend(_step(plan, step, arrived, times, before))
        before = step.tables
    lines.extend(_left_out(sum((found.quarantined for found in recorded.values()), Counter())))
    return "\n".join(lines)


def _left_out(quarantined: Counter[str]) -> Iterator[str]:
    if quarantined:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(quarantined.items()))
        yield f"quarantined: {quarantined.total():,} rows ({reasons})"


def _tables(plan: Plan) -> list[tuple[str, str]]:
    """Each table's name and what it counts."""
    sentences = kept_in_words(plan)
    names = [plan.table_name(branch.number, table) for branch in plan.branches for table in branch.tables]
    return [(name, sentence.removeprefix(f"{name}: ")) for name, sentence in zip(names, sentences, strict=False)]


def _synopsis(plan: Plan, name: str) -> tuple[str, ...]:
    """The names of a table: ``s_n`` and ``s_p`` of its newest stream, or the name in the plan."""
    for branch in plan.branches:
        for table in branch.tables:
            if plan.table_name(branch.number, table) == name and not table.ages:
                prefix = f"{branch.number}:" if len(plan.bound.branches) > 1 else ""
                stream = _newest(branch, table.streams) or "{" + ", ".join(table.streams) + "}"
                return f"{prefix}s_n^{stream}", f"{prefix}s_p^{stream}"
    return (name,)


def _newest(branch: BranchPlan, streams: tuple[str, ...]) -> str | None:
    """The stream that is the newest of this set and of no other set that has a table."""
    newest = _last(branch, streams)
    same = [table for table in branch.tables if newest and _last(branch, table.streams) == newest]
    return newest[0] if len(newest) == 1 and len(same) == 1 else None


def _last(branch: BranchPlan, streams: tuple[str, ...]) -> list[str]:
    """The streams of a set that no other of the set can be newer than."""
    return [s for s in streams if all(branch.facts.never_newer(other, s) for other in streams)]


def _step(
    plan: Plan,
    step: ClosedTimestamp,
    arrived: dict[str, list[Row]],
    times: dict[str, str],
    before: dict[str, dict[Key, int]],
) -> Iterator[str]:
    tuples = [
        f"{name}({', '.join(_value(value) for column, value in row.items() if column != times[name])})"
        for name, rows in arrived.items()
        for row in rows
    ]
    yield f"timestamp {_moment(plan, step.timestamp)}: {' '.join(tuples)}"
    for name, table in step.tables.items():
        names = _synopsis(plan, name)
        if len(names) == 1:
            yield f"  {name} = {_entries(plan, table)}"
            continue
        old = before.get(name, {})
        added = {key: n - old.get(key, 0) for key, n in table.items() if n > old.get(key, 0)}
        kept = {key: min(n, old[key]) for key, n in table.items() if key in old}
        yield f"  {names[0]} = {_entries(plan, added)}"
        yield f"  {names[1]} = {_entries(plan, kept)}"
    if step.results:
        yield f"  returns {', '.join(_entry(plan, tuple(row.values()), n) for row, n in step.results)}"


def _entries(plan: Plan, table: dict[Key, int]) -> str:
    shown = [_entry(plan, key, n) for key, n in _in_order(table)]
    rest = f", and {len(shown) - MOST_ENTRIES} more" if len(shown) > MOST_ENTRIES else ""
    return f"{{{', '.join(shown[:MOST_ENTRIES])}{rest}}}"


def _entry(plan: Plan, values: Key, n: int) -> str:
    return f"({', '.join(map(_value, values))}){'' if plan.distinct else f'×{n}'}"


def _in_order(table: dict[Key, int]) -> list[tuple[Key, int]]:
    return sorted(table.items(), key=lambda entry: [(value is not None, value) for value in entry[0]])


def _value(value: object) -> str:
    if value == LONG_AGO:
        return "long ago"
    return "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)


def _moment(plan: Plan, timestamp: int) -> str:
    if plan.time_family is Family.INTEGER:
        return str(timestamp)
    return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=timestamp)).replace(tzinfo=None))
