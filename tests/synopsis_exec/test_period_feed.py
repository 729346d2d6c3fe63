"""Endless rows with periods: no contract puts one aside, and they fill what is remembered."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from streambound.analyzer.errors import UsageError
from streambound.jobs import planned_circuit
from streambound.synopsis_exec.feeds import feed
from support.circuits import checked_circuit
from support.period_streams import run_periods

COLUMNS = {"id": "bigint", "n": "string", "k": "int", "p": "double", "vb": "bigint", "ve": "bigint"}
STREAM = {"timestamp": "vb", "columns": COLUMNS, "period": ["vb", "ve"], "key": "id", "probability": "p"}
STATEMENTS = {
    "SEQ VT (SELECT n, COUNT(*) AS c FROM s WHERE k > 3 GROUP BY n)": {"max_duration": 12, "max_per_timestamp": 4},
    "SEQ VT (SELECT n, MAX(k) AS m FROM s GROUP BY n)": {"max_valid": 40},
    "SEQ VT (SELECT s.n, t.k FROM s JOIN t ON s.k = t.k)": {"max_valid": 20, "snapshot_key": ["n"]},
    "SEQ TP (SELECT * FROM s)": {"max_duration": 10, "max_rate": {"rows": 5, "per": 3}},
    "SEQ TP (SELECT s.n, s.k, t.n AS m, t.k AS j FROM s LEFT JOIN t ON s.k = t.k)": {"max_valid": 20},
}
RUN = [*STATEMENTS.items()]


def planned(sql: str, more: dict[str, Any], **top: Any) -> Any:
    checked = checked_circuit(sql, {"streams": {name: {**STREAM, **more} for name in "st"}, **top})
    assert checked.catalog is not None
    return checked, planned_circuit(checked, checked.catalog)


@pytest.mark.parametrize(("sql", "more", "seed"), [(*one, (None, 1)[n % 2]) for n, one in enumerate(RUN)])
def test_rows_fit_and_fill(sql: str, more: dict[str, Any], seed: int | None) -> None:
    checked, plan = planned(sql, more)
    rows: dict[str, list[dict[str, Any]]] = {item.name: [] for item in plan.streams}
    for name, row in islice(feed(plan, seed, 900).rows, 900):
        rows[name].append(row)
    run = run_periods(checked, rows, every=20)
    assert not run.rejected
    assert run.all
    half = len(run.entries) // 2
    assert max(run.entries[:half]) > 15
    assert max(run.entries[half:]) <= 1.2 * max(run.entries[:half]), "it is full long before"
    assert run.limit is None or max(run.entries) <= run.limit


def test_time_that_ends_has_no_endless_stream() -> None:
    _, plan = planned(*RUN[0], time={"domain": [0, 100]})
    with pytest.raises(UsageError, match=r"is over a \[time\] domain that ends"):
        feed(plan, None, 900)
