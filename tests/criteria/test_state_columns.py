"""How many bytes the states of operators take: what is said, and what jobs save."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from test_circuit_corpus import CASES

from streambound.analyzer.errors import StreamboundError
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.check import Checked, unproved
from streambound.criteria.dataflow.decision import JudgedOperators
from streambound.criteria.dataflow.state_columns import StateColumn, state_bytes, state_columns
from streambound.jobs import planned_circuit
from streambound.reports.outcome import outcome
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.simulate import deltas_of, operator_of_circuit
from streambound_runtime.engine.plan import CircuitPlan
from support.choices import Choices
from support.circuits import checked_circuit, circuit_plan, encoded_rows, random_ends
from support.operator_queries import in_words_of, operator_query
from support.operator_runs import World
from support.profiles import MORE

FACTOR = 5
"""An entry of one number and a counter may have a counter that is saved in fewer bits, or a value in 8 bytes of 32."""
NO_ENTRIES = ("begun", ": told")
"""What a job saves beside entries: that it has begun, and that the rows of a relation have come."""
SEEDS = 6
EACH = 6


def saved(plan: PlannedCircuit, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[int, int]]:
    """Entries and bytes of what a job saves after each of some ticks over rows."""
    job, given = job_spec(plan, tick="batch"), encoded_rows(plan, {name: list(mine) for name, mine in rows.items()})
    assert isinstance(job.plan, CircuitPlan)
    relations = {one.name: given[one.name] for one in (*job.relations, *plan.computed)}
    operator, batches = operator_of_circuit(job.plan, relations, job.streams), dict[int, dict[str, list[Any]]]()
    for stream in job.streams:
        for row in given[stream.name]:
            batches.setdefault(row[stream.timestamp], {}).setdefault(stream.name, []).append(row)
    before = 0
    times = sorted(batches)
    for end in random_ends(times, 4) if times else ():
        place = times.index(end) + 1
        ticks = {time: {stream.name: batches[time].get(stream.name, []) for stream in job.streams} for time in times}
        operator.step(deltas_of(job.streams, times[before:place], ticks))
        before = place
        tables = [table for name, table in operator.dump().items() if not name.endswith(NO_ENTRIES) and table.num_rows]
        yield sum(table.num_rows for table in tables), sum(table.nbytes for table in tables)


def compared(checked: Checked, plan: PlannedCircuit, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> int:
    """How often something was saved, which never took more bytes than is said, nor far fewer than its widest entry."""
    judged = checked.circuit
    assert isinstance(judged, JudgedOperators)
    most = state_bytes(judged.judgement)
    if isinstance(most, StateColumn):
        return 0
    widths = [sum((one.bytes or 0) + 1 for one in columns) for _, columns in state_columns(judged.judgement)]
    numbers = [sum(one.name == "number" for one in columns) for _, columns in state_columns(judged.judgement)]
    least = min((width - 8 * n for width, n in zip(widths, numbers, strict=True)), default=0)  # of 64 bits as they fit
    doubles = any(one.name == "sum" for _, columns in state_columns(judged.judgement) for one in columns)
    found = 0
    for entries, size in saved(plan, rows):
        if entries:
            found += 1
            assert size <= max(widths) * entries, (size, entries, widths)
            assert most.value is None or size <= most.value
            assert doubles or size * FACTOR >= least * entries, (size, entries, widths)
    return found


def test_public_cases_take_no_more_bytes_than_is_said() -> None:
    found, known = 0, 0
    for case in [case for case in CASES if case["verdict"] == "bounded"][:: 1 if MORE > 1 else 5]:
        checked = checked_circuit(case["sql"], case["catalog"])
        if isinstance(checked.circuit, JudgedOperators) and checked.circuit_bound is not None:
            found += compared(checked, circuit_plan(checked, case["mode"] == "final"), case["input"]) > 0
            bound = outcome(checked).bound
            assert bound is not None and (bound.bytes is None) == (bound.entries is None)
            known += bound.bytes is not None
    assert found >= 24 and known >= 27


def test_random_statements_take_no_more_bytes_than_is_said() -> None:
    """With doubles, texts, relations that change, windows."""
    assert sum(map(compared_at_random, range(SEEDS * MORE))) >= 2 * SEEDS


def compared_at_random(seed: int) -> int:
    """How many states of random statements were compared."""
    choices, found = Choices.seeded(seed), 0
    with World(choices) as world:
        for _ in range(EACH):
            text = in_words_of(operator_query(choices)[0], duckdb=False)
            checked = unproved(split_statements(SourceText("random.sql", text))[0], world.catalog)
            if not isinstance(checked.circuit, JudgedOperators) or str(checked.verdict) != "bounded":
                continue
            try:
                plan = planned_circuit(checked, world.catalog)
                if plan is not None and not plan.computed:
                    found += compared(checked, plan, world.rows)
            except (StreamboundError, NotKnown):  # what is computed by Spark alone
                continue
    return found


T: dict[str, Any] = {
    "timestamp": "ts",
    "columns": {"a": "bigint", "s": "string", "m": "decimal(20,2)", "ts": "bigint"},
    "domain": {"a": [1, 9], "s": ["red", "green", "blue and more"], "m": [0, 1]},
    "max_per_timestamp": 1,
}
GROUPS = 10
"""Nine values and NULL."""
OF_64_BITS, OF_128_BITS, WIDE = 9, 17, 33
"""What numbers take, and where they are NULL."""


@pytest.mark.parametrize(
    ("sql", "size"),
    [
        ("SELECT a, COUNT(*) AS n FROM S GROUP BY a", GROUPS * (OF_64_BITS + OF_128_BITS)),
        ("SELECT s, COUNT(*) AS n FROM S GROUP BY s", 4 * (8 + len("blue and more") + 1 + OF_128_BITS)),
        ("SELECT a, MAX(m) AS m FROM S GROUP BY a", GROUPS * (OF_64_BITS + OF_128_BITS + WIDE)),
        ("SELECT a, AVG(ts) AS m FROM S GROUP BY a", GROUPS * (OF_64_BITS + 3 * OF_128_BITS)),
        ("SELECT a, s FROM S EXCEPT SELECT a, s FROM T", 4 * GROUPS * (9 + 22 + 2 * OF_128_BITS)),
        (
            "SELECT a, SUM(a) OVER (ORDER BY ts ROWS 2 PRECEDING) AS n FROM T",
            2 * (5 * OF_64_BITS + 22 + WIDE + OF_128_BITS),
        ),
        ("SELECT t, COUNT(*) AS n FROM S GROUP BY t, ts DIV 10", "S.t"),
        ("SELECT a, MAX(v) AS n FROM S GROUP BY a", GROUPS * (OF_64_BITS + OF_128_BITS + 8 + 4 * 5 + 1)),
        ("SELECT a, MAX(upper(v)) AS n FROM S GROUP BY a", "UPPER(v)"),
        ("SELECT a, COUNT(DISTINCT t) AS n FROM S GROUP BY a, ts DIV 10", "S.t"),
    ],
)
def test_bytes_of_entries(sql: str, size: int | str) -> None:
    texts = {**T, "columns": {**T["columns"], "t": "string", "v": "varchar(5)"}}
    judged = checked_circuit(sql, {"streams": {"S": texts, "T": T}}).circuit
    assert isinstance(judged, JudgedOperators)
    found = state_bytes(judged.judgement)
    assert (found.name if isinstance(found, StateColumn) else found.value) == size
