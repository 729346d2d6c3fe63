"""The synopses after each timestamp of recorded streams, as text: what `explain --emit synopses` shows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from analyzer.types import Family
from synopsis_exec.plan_ir import Plan
from synopsis_exec.recorded import Row, recorded_rows
from synopsis_exec.simulate import Step, load_kernel, replay

MOST_ENTRIES = 12
"""Entries of a table shown in one line; the others are counted."""


def steps_text(job_text: str, plan: Plan, input_dir: Path) -> str:
    """Replay recorded rows through a job's kernel and show what arrives, what is returned, what is remembered.

    Raises InputError for a file that is missing or has a bad row.
    """
    streams = {item.name: recorded_rows(item, input_dir) for item in plan.streams}
    relations = {item.name: recorded_rows(item, input_dir) for item in plan.relations}
    times = {item.name: item.timestamp or "" for item in plan.streams}
    lines: list[str] = []
    for step in replay(load_kernel(job_text), relations, streams):
        arrived = {name: [row for row in rows if row[times[name]] == step.timestamp] for name, rows in streams.items()}
        lines.extend(_step(plan, step, arrived, times))
    return "\n".join(lines) + "\n"


def _step(plan: Plan, step: Step, arrived: dict[str, list[Row]], times: dict[str, str]) -> Iterator[str]:
    tuples = [
        f"{name}({', '.join(_value(value) for column, value in row.items() if column != times[name])})"
        for name, rows in arrived.items()
        for row in rows
    ]
    yield f"timestamp {_moment(plan, step.timestamp)}: {' '.join(tuples)}"
    for row, n in step.results:
        cells = ", ".join(f"{name} {_value(value)}" for name, value in row.items())
        yield f"  returns ({cells}){_times(plan, n)}"
    for name, table in step.tables.items():
        shown = [f"({', '.join(map(_value, key))}){_times(plan, n)}" for key, n in _in_order(table)]
        rest = f", and {len(shown) - MOST_ENTRIES} more" if len(shown) > MOST_ENTRIES else ""
        yield f"  {name} = {{{', '.join(shown[:MOST_ENTRIES])}{rest}}}"


def _in_order(table: dict[tuple[Any, ...], int]) -> list[tuple[tuple[Any, ...], int]]:
    return sorted(table.items(), key=lambda entry: [(value is not None, value) for value in entry[0]])


def _times(plan: Plan, n: int) -> str:
    return "" if plan.distinct else f"×{n}"


def _value(value: object) -> str:
    return "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)


def _moment(plan: Plan, timestamp: int) -> str:
    if plan.time_family is Family.INTEGER:
        return str(timestamp)
    return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=timestamp)).replace(tzinfo=None))
