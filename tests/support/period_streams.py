"""SEQ VT over streams in this process: a statement's job, step by step, and what it has printed and remembers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streambound.criteria.check import Checked
from streambound.synopsis_exec.circuit_plan import make_circuit_plan
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.simulate import evaluated, rows_as_delta
from streambound_runtime.operators.circuit import CircuitOperator
from streambound_runtime.operators.circuit_plan import CircuitPlan
from streambound_runtime.operators.rejected_row import RejectedRow
from support.circuits import encoded_rows

TableRows = Mapping[str, list[dict[str, Any]]]


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


def run_periods(checked: Checked, rows: TableRows, every: int = 1, restarts: bool = False) -> PeriodRun:
    """A bounded statement's job over encoded rows, closing ``every`` so many points of time at once.

    ``restarts``: after each step another operator takes over the state.
    """
    assert checked.circuit is not None and checked.catalog is not None
    plan = make_circuit_plan(checked.circuit, checked.statement, checked.catalog)
    job = job_spec(plan)
    given = encoded_rows(plan, rows)
    assert isinstance(job.plan, CircuitPlan)
    relations = {relation.name: given[relation.name] for relation in job.relations}
    operator = CircuitOperator(job.plan, relations, evaluated, job.streams)
    times = [row[stream.timestamp] for stream in job.streams for row in given[stream.name]]
    found, last = PeriodRun(limit=operator.limit), max(times, default=0) + 1
    for since in range(min(times, default=0), last, every):
        until = min(since + every, last)
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
            operator = CircuitOperator(job.plan, relations, evaluated, job.streams)
            operator.load(state)
    _note(found, None, operator.step({}, None, over=True), 0)
    return found


def _note(found: PeriodRun, until: int | None, delta: Any, entries: int) -> None:
    weights = zip(delta.rows(), delta.weights().tolist(), strict=True)
    found.printed.append((until, Counter((*map(_rounded, row), count) for row, count in weights)))
    found.entries.append(entries)


def _rounded(value: Any) -> Any:
    return round(value, 9) + 0.0 if isinstance(value, float) else value
