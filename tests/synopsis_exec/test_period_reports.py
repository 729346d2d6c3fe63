"""What the jobs of SEQ statements report: the oldest row that has not ended, and what they cannot check."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.job_reports import BatchReport
from streambound.reports.progress import batch_line
from streambound.synopsis_exec.job_spec import BATCH, job_spec
from streambound.synopsis_exec.plan_text import promises_in_words
from streambound.synopsis_exec.simulate import operator_of_circuit, rows_as_delta
from streambound_runtime.engine.plan import CircuitPlan
from support.circuits import checked_circuit, circuit_plan

COLUMNS = {"k": "int", "id": "bigint", "p": "double", "vb": "bigint", "ve": "bigint"}
STREAM = {
    "timestamp": "vb",
    "columns": COLUMNS,
    "period": ["vb", "ve"],
    "key": "id",
    "probability": "p",
    "max_valid": 9,
}
CATALOG = {"time": {"domain": [0]}, "streams": {"a": STREAM}}


def job_of(sql: str) -> Any:
    statement = checked_circuit(sql, CATALOG)
    assert statement.circuit is not None and statement.catalog is not None, statement.diagnostics
    return circuit_plan(statement)


@pytest.mark.parametrize(
    ("sql", "since"),
    [
        ("SEQ VT (SELECT k FROM a)", [1, 1, 4, None]),
        ("SEQ VT (SELECT k, COUNT(*) AS n FROM a GROUP BY k)", [1, 3, 4, None]),
        ("SEQ TP (SELECT * FROM a)", [1, 1, 4, None]),
        ("-- streambound: emit fragments\nSEQ VT (SELECT k, COUNT(*) AS n FROM a GROUP BY k)", [None] * 4),
        ("-- streambound: emit parts\nSEQ VT (SELECT k FROM a)", [None] * 4),
    ],
)
def test_the_begin_of_the_oldest_row_that_has_not_ended(sql: str, since: list[int | None]) -> None:
    """Of k = 1 from 1 to before 5, a second one of it from 3 on for groups, and of k = 2 from 4 to before 9."""
    job = job_spec(job_of(sql), tick=BATCH)
    assert isinstance(job.plan, CircuitPlan)
    operator, found = operator_of_circuit(job.plan, {}, job.streams), []
    grouped = "COUNT" in sql
    rows = [(1, 1, 1, 5), (1 if grouped else 3, 2, 3, 5), (2, 3, 4, 9)]
    for until in (3, 4, 6, None):
        mine = [
            {"k": k, "id": key, "p": 0.5, "vb": begin, "ve": end}
            for k, key, begin, end in rows
            if until is not None and {3: 1, 4: 3, 6: 4}[until] == begin
        ]
        deltas = {"a": rows_as_delta([row["vb"] for row in mine], mine, job.streams[0])} if mine else {}
        operator.step(deltas, until, over=until is None)
        found.append(operator.open_since())
    assert found == since


def test_it_is_told_of_each_batch() -> None:
    report = BatchReport(0, 3, 2, 2, 2, 64, 9, 1, 0, 0, {}, open_since="17")
    assert batch_line(report).endswith("1 results, the oldest row that has not ended begins at 17")


def test_a_key_that_returns_is_a_promise_that_nobody_checks() -> None:
    told = promises_in_words(job_of("SEQ TP (SELECT * FROM a)"))
    assert told == ["that no id of a returns after its row has ended: keys are checked among valid rows"]
    assert promises_in_words(job_of("SEQ VT (SELECT k FROM a)")) == []
