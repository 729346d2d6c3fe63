"""Finite streams that fill the tables of a plan, in the ways in which the adversary of `memory` sends its tuples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streambound.synopsis_exec.adversary import MOST_TIMESTAMPS, RATE, first_timestamp, pools
from streambound.synopsis_exec.pace import Pace, pace
from streambound.synopsis_exec.plan_ir import Input, Plan

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Flood:
    """Rows by relation and by stream, with encoded values."""

    relations: dict[str, list[Row]]
    streams: dict[str, list[Row]]


def floods(plan: Plan, rate: int = RATE, timestamps: int = MOST_TIMESTAMPS) -> Iterator[Flood]:
    """Several ways to strain a plan's memory; which is the hardest depends on the query.

    The tuples go round, so that every one meets every other; or the first ones come at every timestamp, so that their
    values meet at every distance.
    """
    relations, tuples = pools(plan)
    allowed = pace(plan, rate)
    for repeat in (False, True):
        streams = {s.name: _sent(plan, s, tuples[s.name], allowed, timestamps, repeat) for s in plan.streams}
        yield Flood(relations, streams)


def _sent(plan: Plan, stream: Input, pool: list[Row], allowed: Pace, timestamps: int, repeat: bool) -> list[Row]:
    """A stream's rows: at each timestamp the next ones of its pool, or always the first."""
    if not pool:
        return []
    first, rate = first_timestamp(plan), allowed.rows[stream.name]
    rows = []
    for step in range(timestamps):
        for place in range(min(rate, len(pool)) if repeat else rate):
            row = pool[place if repeat else (step * rate + place) % len(pool)]
            rows.append({**row, str(stream.timestamp): first + step * allowed.step})
    return rows
