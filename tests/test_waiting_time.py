"""`ttl` of a stream: its rows wait in joins for so long, as if each join said so."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import CatalogError
from streambound.reports.outcome import outcome
from streambound.reports.text_report import bound_text
from streambound.synopsis_exec.plan import make_plan
from support.circuits import (
    certificate_of,
    checked_circuit,
    circuit_plan,
    in_duckdb,
    in_the_end,
    proof_of,
    random_ends,
    random_rows,
    run_plan,
    with_smaller_states,
)

STREAM: dict[str, Any] = {
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "max_per_timestamp": 25,
}
PLAIN = {"streams": {"S": STREAM, "T": STREAM}}
PROMISED = {"streams": {"S": STREAM | {"ttl": 4}, "T": STREAM | {"ttl": 6}}}
WINDOW = "T.ts <= S.ts + 4 AND S.ts <= T.ts + 6"
SAME = [
    ("SELECT S.a, T.v FROM S JOIN T ON S.b = T.b", f"SELECT S.a, T.v FROM S JOIN T ON S.b = T.b AND {WINDOW}"),
    ("SELECT S.a, T.v FROM S, T WHERE S.b = T.b", f"SELECT S.a, T.v FROM S, T WHERE S.b = T.b AND {WINDOW}"),
    ("SELECT b, T.v FROM S JOIN T USING (b)", f"SELECT S.b, T.v FROM S JOIN T ON S.b = T.b AND {WINDOW}"),
    (
        "SELECT S.a, T.v FROM S LEFT JOIN T ON S.b = T.b",
        f"SELECT S.a, T.v FROM S LEFT JOIN T ON S.b = T.b AND {WINDOW}",
    ),
    (
        "SELECT q.a, T.v FROM (SELECT a, b, ts AS t FROM S WHERE v > 0) AS q FULL JOIN T ON q.b = T.b",
        "SELECT q.a, T.v FROM (SELECT a, b, ts AS t FROM S WHERE v > 0) AS q FULL JOIN T ON q.b = T.b "
        "AND T.ts <= q.t + 4 AND q.t <= T.ts + 6",
    ),
    (
        "SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.b)",
        f"SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.b AND {WINDOW})",
    ),
    (
        "SELECT S.a, T.v, R.v AS w FROM S JOIN T ON S.b = T.b JOIN S AS R ON R.b = T.b",
        f"SELECT S.a, T.v, R.v AS w FROM S JOIN T ON S.b = T.b AND {WINDOW} JOIN S AS R ON R.b = T.b "
        "AND T.ts <= R.ts + 4 AND R.ts <= T.ts + 6 AND S.ts BETWEEN R.ts - 4 AND R.ts + 4",
    ),
]


@pytest.mark.parametrize(("sql", "written"), SAME)
def test_a_promise_is_a_window_of_each_join(sql: str, written: str) -> None:
    promised, plain = checked_circuit(sql, PROMISED), checked_circuit(written, PLAIN)
    bounds = [outcome(one).bound for one in (promised, plain)]
    assert [bound and (bound.entries, bound.promises) for bound in bounds] == [
        (bounds[1] and bounds[1].entries, ("S.ttl = 4", "T.ttl = 6")),
        (bounds[1] and bounds[1].entries, ()),
    ]
    assert str(checked_circuit(sql, PLAIN).verdict) == "unbounded"
    assert promised.catalog is not None
    joins = promised.decision
    plan = circuit_plan(promised) if joins is None else make_plan(joins, promised.catalog)
    printed = 0
    for seed in range(3):
        rows = random_rows(1, seed, 25)
        ticks = random_ends(sorted({row["ts"] for mine in rows.values() for row in mine}))
        run = run_plan(plan, rows, ticks)
        assert in_the_end(run.printed) == in_duckdb(written, rows)
        printed += len(run.printed)
    assert printed


def test_the_certificate_is_of_the_statement_with_the_promise() -> None:
    checked = checked_circuit("SELECT S.a, T.v FROM S LEFT JOIN T ON S.b = T.b", PROMISED)
    certificate = certificate_of(checked)
    assert not proof_of(checked, certificate).faults
    assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate))
    without = checked_circuit("SELECT S.a, T.v FROM S LEFT JOIN T ON S.b = T.b", PLAIN)
    assert proof_of(without, certificate).faults


def test_the_verdict_names_the_promise() -> None:
    day = {"columns": {"k": "bigint", "ts": "timestamp"}, "timestamp": "ts", "ttl": "1 day"}
    hour = {**day, "ttl": "1 hour", "max_rate": {"rows": 10, "per": "1 second"}}
    sql = "SELECT o.k FROM orders AS o JOIN payments AS p ON o.k = p.k"
    shown = bound_text(outcome(checked_circuit(sql, {"streams": {"orders": day, "payments": hour}})))
    assert shown.endswith(", under your promise orders.ttl = 1 day and payments.ttl = 1 hour")


@pytest.mark.parametrize("sql", ["SELECT a, COUNT(*) AS n FROM S GROUP BY a", "SELECT DISTINCT a FROM S"])
def test_what_is_no_join_does_not_forget_by_it(sql: str) -> None:
    assert str(checked_circuit(sql, PROMISED).verdict) == "unbounded"


def test_a_stream_alone_is_read_as_it_is() -> None:
    bound = outcome(checked_circuit("SELECT a FROM S WHERE v > 0", PROMISED)).bound
    assert bound is not None and (bound.entries, bound.promises) == (0, ())


def test_rows_with_periods_have_none() -> None:
    stream = {"columns": {"b": "bigint", "e": "bigint"}, "timestamp": "b", "period": ["b", "e"], "ttl": 4}
    with pytest.raises(CatalogError, match="whatever their ttl"):
        catalog_from_mapping({"streams": {"S": stream}})
