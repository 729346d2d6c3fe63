"""Functions over windows of rows: each job prints what the reference evaluator says of every prefix, in at most M."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import floor
from typing import Any

import pytest

from streambound.synopsis_exec import simulate
from streambound_runtime.engine.loop import Engine
from streambound_runtime.operators.delta import Delta
from support.circuits import (
    certificate_of,
    checked_circuit,
    proof_of,
    proved,
    random_rows,
    reference,
    run_circuit,
    with_smaller_states,
)
from support.profiles import MORE

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
CATALOG: dict[str, dict[str, Any]] = {
    "streams": {
        name: {
            "timestamp": "ts",
            "columns": COLUMNS,
            "domain": {"b": [0, 2]},
            "max_per_timestamp": 2,
        }
        for name in ("S", "T")
    }
}


def first(rank: str, order: str, condition: str, partition: str = "PARTITION BY b", body: str = "S") -> str:
    return f"SELECT * FROM (SELECT *, {rank}() OVER ({partition} ORDER BY {order}) AS r FROM {body}) WHERE {condition}"


def beside(functions: str, condition: str) -> str:
    """Rows whose row before or after them is near in time, of which there are many keys."""
    calls = functions.format("OVER (PARTITION BY a ORDER BY ts")
    return f"SELECT * FROM (SELECT a, v, ts, {calls} FROM S) q WHERE {condition}"


FEW = "(SELECT b, a % 2 AS a, v FROM S WHERE a > 0)"
GROUPED = "(SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)"
CLOSING = "(SELECT ts DIV 4 AS z, a, SUM(v) AS t FROM S GROUP BY ts DIV 4, a)"
NEAR = "SELECT S.a, S.b, S.v, T.v AS w FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts - 2 AND S.ts"
OVER = "OVER (PARTITION BY b ORDER BY ts"
EARLIER = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
BOUNDED = {
    first("ROW_NUMBER", "ts", "r = 1"): 4,
    first("ROW_NUMBER", "ts", "r <= 3 AND v > 0"): 12,
    first("ROW_NUMBER", "ts DESC", "r <= 2"): 8,
    first("ROW_NUMBER", "v DESC", "r <= 3"): 12,
    first("ROW_NUMBER", "v DESC, a", "r < 3", ""): 2,
    first("ROW_NUMBER", "a DESC NULLS FIRST, v", "2 >= r"): 8,
    first("ROW_NUMBER", "a", "r BETWEEN 2 AND 3", "PARTITION BY b + 1"): None,
    first("RANK", "ts", "r <= 2"): 16,
    first("RANK", "v DESC", "r <= 2", body=FEW): 24,
    first("DENSE_RANK", "a % 3, v", "r <= 2", "", FEW): 24,
    first("RANK", "v % 4 DESC", "r <= 2", "PARTITION BY ts DIV 4, b", "(SELECT ts, b, v FROM S WHERE v > 0)"): None,
    f"SELECT b, v, r FROM ({first('RANK', 'v DESC', 'r <= 3')})": 12,
    "SELECT v FROM S QUALIFY DENSE_RANK() OVER (PARTITION BY b ORDER BY v DESC NULLS LAST) <= 2": 8,
    "SELECT b, COUNT(*) AS n FROM (SELECT a, b, RANK() OVER (PARTITION BY b ORDER BY v) AS r, DENSE_RANK() OVER "
    "(PARTITION BY b ORDER BY v) AS d FROM S) AS x WHERE r <= 2 GROUP BY b": None,
    "SELECT w, r FROM (SELECT S.a, T.b AS w, RANK() OVER (ORDER BY S.v) AS r FROM S JOIN T ON S.b = T.b AND T.ts "
    "BETWEEN S.ts - 2 AND S.ts) WHERE r < 3": None,
    "SELECT c, COUNT(*) AS n FROM (SELECT r AS d, b AS c FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY ts) AS r "
    "FROM S)) WHERE c > 0 GROUP BY c": None,
    f"SELECT c FROM (SELECT r AS d, v AS c FROM ({first('RANK', 'v DESC', 'r <= 3')}))": 12,
    f"SELECT 1 AS one FROM ({first('DENSE_RANK', 'v DESC', 'r <= 3')})": None,
    first("DENSE_RANK", "ts DESC", "r <= 2"): 16,
    first("ROW_NUMBER", "v DESC", "r <= 2", "PARTITION BY ts DIV 4"): 2,
    first("ROW_NUMBER", "v DESC", "r <= 2", "PARTITION BY ts DIV 4, a"): 6,
    first("ROW_NUMBER", "v, w", "r <= 2", body=f"({NEAR})"): None,
    first("ROW_NUMBER", "t DESC", "r <= 2", "", GROUPED): 4,
    first("RANK", "n DESC", "r <= 2", "", GROUPED): 4,
    first("DENSE_RANK", "t", "r >= 2", "", GROUPED): 4,
    first("ROW_NUMBER", "t DESC", "r <= 2", "PARTITION BY z", CLOSING): 6,
    first("RANK", "t", "r > 1", "PARTITION BY z", CLOSING): 6,
    f"SELECT b, t, SUM(n) OVER (ORDER BY t ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM {GROUPED}": 4,
    f"SELECT b, t, MAX(n) OVER () AS s FROM {GROUPED}": 4,
    f"SELECT a, b, ts, LAG(v) {OVER}) AS w FROM S": 4,
    f"SELECT a, b, ts, LAG(v, 3) {OVER}) AS w FROM S": 12,
    "SELECT a, ts, LAG(a, 2) OVER (ORDER BY ts) AS w FROM S WHERE v > 0": 2,
    f"SELECT a, LAG(v) {OVER}) AS w, SUM(v) {OVER} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS t FROM S": 8,
    f"SELECT a, v, LAG(v) {OVER}) AS w, LAG(a, 2) {OVER}) AS u FROM S": 8,
    f"SELECT a, v, LEAD(v) {OVER}) AS w FROM S": 4,
    f"SELECT a, v, LEAD(v, 2, 0) {OVER}, a DESC) AS w, LAG(a, 1, v + 1) {OVER}, a DESC) AS u FROM S": 12,
    f"SELECT a, v, LEAD(v) {OVER}) AS w, MAX(v) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS m FROM S"
    "": 6,
    f"SELECT a, SUM(v) {OVER} ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS w FROM S": 12,
    f"SELECT a, SUM(v) {OVER} ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS w FROM S": 8,
    f"SELECT a, FIRST_VALUE(v) {OVER} ROWS 2 PRECEDING) AS w, LAST_VALUE(a) {OVER} ROWS BETWEEN 1 FOLLOWING AND 2 "
    "FOLLOWING) AS u FROM S": 16,
    f"SELECT a, MIN(v) {OVER} RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS w FROM S": 6,
    "SELECT a, LEAD(v) OVER (PARTITION BY ts DIV 4, a ORDER BY ts) AS w FROM S": 6,
    f"SELECT t, n, LEAD(n) OVER (ORDER BY t) AS w, LAG(t) OVER (ORDER BY t) AS u FROM {GROUPED}": 4,
    f"SELECT z, t, LEAD(t, 1, -1) OVER (ORDER BY z, a) AS w FROM {CLOSING}": 7,
    f"SELECT * FROM (SELECT b, v, ROW_NUMBER() {OVER}) AS r, LAG(v) {OVER}) AS w FROM S) WHERE r <= 3": 12,
    "SELECT * FROM (SELECT b, v, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS r, "
    "v - LAG(v) OVER (PARTITION BY b ORDER BY v DESC) AS w FROM S) WHERE r <= 3": 12,
    f"SELECT a, ts, LAG(v) {OVER}) AS w, COUNT(*) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN 3 PRECEDING AND "
    f"CURRENT ROW) AS t, MAX(v) {OVER} ROWS 1 PRECEDING) AS x FROM S WHERE v > -2": 10,
    "SELECT * FROM (SELECT a, v, ts, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS r, "
    "LAG(a) OVER (PARTITION BY b ORDER BY ts) AS w FROM S) WHERE r <= 2": 12,
    f"SELECT b, t, SUM(n) OVER (ORDER BY t) AS s, ROW_NUMBER() OVER (ORDER BY n, b) AS r FROM {GROUPED}": 8,
    f"SELECT a, b, SUM(v) {OVER} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS w FROM S": 8,
    f"SELECT a, b, AVG(v) {OVER} ROWS 3 PRECEDING) AS w FROM S": 12,
    f"SELECT a, b, COUNT(a) {OVER} RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS w FROM S": 6,
    "SELECT a, v, MIN(v) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN 4 PRECEDING AND CURRENT ROW) AS w FROM S": 8,
    first("ROW_NUMBER", "ts", "v > 2"): 4,
    f"SELECT a, SUM(v) {OVER}) AS s, COUNT(a) {OVER} ROWS UNBOUNDED PRECEDING) AS n, AVG(v) {OVER}) AS m FROM S": 4,
    f"SELECT a, MIN(v) {OVER}) AS l, MAX(a) {OVER} ROWS UNBOUNDED PRECEDING) AS g, COUNT(*) {OVER}, a) AS n FROM S": 8,
    f"SELECT v, FIRST_VALUE(v) {OVER}, v) AS f, LAST_VALUE(a) {OVER}, v) AS g, RANK() {OVER}, v) AS r FROM S": 4,
    "SELECT a, ROW_NUMBER() OVER (ORDER BY ts) AS r, DENSE_RANK() OVER (ORDER BY ts, a DESC) AS d, "
    "RANK() OVER (ORDER BY ts) AS k FROM S WHERE v > -2": 2,
    "SELECT a, SUM(v) OVER (PARTITION BY ts DIV 4, a ORDER BY ts) AS s FROM S": 6,
    f"SELECT a, SUM(v) {OVER}) AS s, LAG(v) {OVER}) AS w, LEAD(v) {OVER}) AS u FROM S": 12,
    f"SELECT a, SUM(v) {OVER} {EARLIER}) AS s, COUNT(*) {OVER} {EARLIER}) AS n, LAST_VALUE(a) {OVER} {EARLIER}) AS l, "
    f"FIRST_VALUE(a) {OVER} {EARLIER}) AS f, MAX(v) {OVER} {EARLIER}) AS m, RANK() {OVER}) AS r FROM S": 4,
    f"SELECT b, n - AVG(n) OVER (ORDER BY b {EARLIER}) AS d FROM {GROUPED}": 4,
    f"SELECT a, v, FIRST_VALUE(a) {OVER} ROWS 2 PRECEDING) AS f, LAST_VALUE(v) {OVER} ROWS 1 PRECEDING) AS l FROM S": 8,
    f"SELECT b, SUM(n) OVER (ORDER BY b) AS s, FIRST_VALUE(n) OVER (ORDER BY b DESC) AS f FROM {GROUPED}": 8,
    f"SELECT COUNT(*) {OVER} RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING) AS w FROM S": 6,
    beside("LAG(ts) {0}) AS x", "ts < x + 4"): 6,
    beside("ts - LAG(ts, 2) {0}) AS x, SUM(v) {0} ROWS 2 PRECEDING) AS y", "x <= 6"): 12,
    beside("MAX(ts) {0} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS x", "3 > ts - x"): 4,
    beside("LEAD(ts) {0}) AS x, LEAD(v) {0}) AS y", "x BETWEEN ts AND ts + 4"): 8,
    beside("LEAD(ts, 2) {0}) AS x, SUM(v) {0} ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS y", "x - 5 <= ts"): 10,
    beside("LAG(ts) {0}) AS x, LEAD(v) {0}) AS y, LEAD(ts) {0}) AS z", "x > ts - 3 AND z - ts < 4"): 10,
    beside("FIRST_VALUE(ts) {0} ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS x", "x < ts + 3"): 4,
}
"""Statements, and the entries of the function; None where there are others below, or their number does not matter."""


class Restarted(Engine):
    """A circuit that is saved and loaded before every second step."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.arguments, self.steps = arguments, 0

    def step(self, *arguments: Any, **more: Any) -> Delta:
        if self.steps % 2:
            state = self.dump()
            Engine.__init__(self, *self.arguments)
            self.load(state)
        self.steps += 1
        return super().step(*arguments, **more)


@pytest.mark.parametrize("seed", range(1, 1 + MORE))
@pytest.mark.parametrize(("sql", "entries"), BOUNDED.items())
def test_a_job_that_is_restarted_prints_the_changes_of_every_prefix(
    sql: str, entries: int | None, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    if entries is not None:
        sizes = [state.size.value for state in bound.states if state.name.startswith("over")]
        assert None not in sizes and sum(size or 0 for size in sizes) == entries
    rows = random_rows(1, seed)
    monkeypatch.setattr(simulate, "Engine", Restarted)
    run = run_circuit(checked, rows)
    assert run.printed and run.prints(reference(sql, CATALOG, rows))
    assert run.peak <= bound.entries.value


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        (first("ROW_NUMBER", "ts DESC", "r = 1", "PARTITION BY a"), "unbounded"),
        (first("ROW_NUMBER", "v DESC", "r <= 2", "PARTITION BY a, b"), "unbounded"),
        (first("ROW_NUMBER", "v", "v > 2"), "unbounded"),
        ("SELECT a, SUM(v) OVER (PARTITION BY a ORDER BY ts) AS s FROM S", "unbounded"),
        (f"SELECT a, SUM(v) {OVER} DESC) AS s FROM S", "unbounded"),
        (f"SELECT a, SUM(v) {OVER} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS s FROM S", "unknown"),
        (f"SELECT a, SUM(v) {OVER} RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS s FROM S", "unknown"),
        (f"SELECT LAG(v) {OVER}) AS w, LAG(a) OVER (PARTITION BY a ORDER BY ts) AS u FROM S", "unbounded"),
        (first("RANK", "v", "r <= 2"), "unbounded"),
        ("SELECT a FROM S QUALIFY RANK() OVER (PARTITION BY b ORDER BY v DESC) = 1", "unbounded"),
        ("SELECT a FROM S QUALIFY DENSE_RANK() OVER (ORDER BY v DESC) <= 5", "unbounded"),
        ("SELECT v FROM S QUALIFY DENSE_RANK() OVER (PARTITION BY a ORDER BY v DESC) <= 5", "unbounded"),
        (first("RANK", "v", "r <= 2", "PARTITION BY ts DIV 4"), "bounded"),
        ("SELECT a, LAG(a) OVER (ORDER BY v) AS w FROM S QUALIFY RANK() OVER (ORDER BY v) <= 2", "unbounded"),
        ("SELECT a, b, LAG(v) OVER (PARTITION BY a ORDER BY ts) AS w FROM S", "unbounded"),
        ("SELECT a, b, LEAD(v) OVER (PARTITION BY a ORDER BY ts) AS w FROM S", "unbounded"),
        (f"SELECT LEAD(v) {OVER}) AS w, LEAD(v) OVER (ORDER BY ts) AS u FROM S", "unsupported"),
        (f"SELECT LEAD(v, 1, 'x') {OVER}) AS w FROM S", "unsupported"),
        (f"SELECT FIRST_VALUE(v, true) {OVER} ROWS 2 PRECEDING) AS w FROM S", "unsupported"),
        (f"SELECT COUNT(a, v) {OVER} ROWS 2 PRECEDING) AS w FROM S", "unsupported"),
        ("SELECT a, b, LAG(v) OVER (PARTITION BY b ORDER BY v) AS w FROM S", "unbounded"),
        (beside("LAG(ts) {0}) AS x, LEAD(v) {0}) AS y", "ts < x + 4"), "unbounded"),
        (beside("LAG(ts) {0}) AS x, LAG(v, 2) {0}) AS y", "ts < x + 4"), "unbounded"),
        (beside("LEAD(ts) {0}) AS x", "ts < x + 4"), "unbounded"),
        (beside("MIN(ts) {0} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS x", "ts < x + 4"), "unbounded"),
        ("SELECT a, b, SUM(v) OVER (PARTITION BY a ORDER BY ts ROWS 3 PRECEDING) AS w FROM S", "unbounded"),
    ],
)
def test_partitions_without_a_number_are_not_bounded(sql: str, verdict: str) -> None:
    assert checked_circuit(sql, CATALOG).verdict == verdict


@pytest.mark.parametrize("sql", [sql for sql in BOUNDED if "(SELECT a, v, ts, " in sql])
def test_certificates_of_rows_that_are_near_in_time_hold(sql: str) -> None:
    checked, _ = proved(sql, CATALOG)
    assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate_of(checked)))


@pytest.mark.parametrize("kind", ["double", "decimal(9,2)"])
@pytest.mark.parametrize(
    "frame", ["ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "RANGE BETWEEN 3 PRECEDING AND CURRENT ROW", ""]
)
def test_sums_over_windows_of_decimals_and_doubles(kind: str, frame: str) -> None:
    """A decimal is encoded as so many hundredths, its mean with four places more; rounded half up."""
    sql = f"SELECT a, ts, SUM(v) {OVER} {frame}) AS s, AVG(v) {OVER} {frame}) AS m FROM S"
    catalog = {"streams": {"S": {**CATALOG["streams"]["S"], "columns": {**COLUMNS, "v": kind}}}}
    rows = {"S": random_rows(1, 7)["S"]}
    checked = checked_circuit(sql, catalog)
    assert checked.verdict == "bounded", checked.diagnostics
    run = run_circuit(checked, rows)
    expected: Counter[tuple[Any, ...]] = Counter()
    for (a, ts, total, mean, now), n in reference(sql, CATALOG, rows).items():
        if mean is not None and kind != "double":
            whole = Fraction(mean).limit_denominator(1000) * 10_000
            mean = floor(abs(whole) + Fraction(1, 2)) * (1 if whole > 0 else -1)
        expected[a, ts, total, mean, now] += n
    assert expected and run.prints(expected)


def test_an_infinite_number_that_is_added_up_is_an_error_with_a_way_out() -> None:
    catalog = {"streams": {"S": {**CATALOG["streams"]["S"], "columns": {**COLUMNS, "v": "double"}}}}
    rows = [{"a": 1, "b": 1, "v": value, "ts": ts} for ts, value in enumerate((1.5, float("-inf")), 1)]
    checked = checked_circuit(f"SELECT AVG(v) {OVER}) AS s FROM S", catalog)
    with pytest.raises(OverflowError, match="added up is -inf, and sums are of finite numbers: leave it out in WHERE"):
        run_circuit(checked, {"S": rows})
