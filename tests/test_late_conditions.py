"""Conditions over rows of several sources: each job prints what the reference evaluator says of every prefix."""

from __future__ import annotations

import pytest

from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import certificate_of, checked_circuit, proof_of, random_rows, reference, run_circuit
from support.profiles import MORE

NEAR = "S.ts > T.ts AND S.ts <= T.ts + 5"
BOUNDED = {
    f"SELECT S.a, T.v FROM S JOIN T ON {NEAR} AND abs(S.v - T.v) > 2": 10,
    "SELECT S.a, S.b + T.b AS s FROM S, T WHERE S.ts > T.ts AND (S.a + T.b) % 2 = 0": 4,
    "SELECT S.* FROM S JOIN T ON S.ts > T.ts WHERE concat(S.b, T.b) LIKE '%1'": 4,
    "SELECT S.a, T.v % 3 AS w FROM S, T WHERE S.ts > T.ts AND (S.v * (T.v % 3)) >= 2 AND T.b = 1": 6,
    "SELECT d.s, d.w FROM (SELECT S.a AS s, T.b AS w FROM S JOIN T ON S.ts > T.ts) AS d WHERE d.s * d.w > 3": 4,
    "SELECT S.b, COUNT(*) AS n, SUM(T.b) AS t FROM S JOIN T ON S.ts > T.ts AND S.v + T.b + S.b > 2 GROUP BY S.b": 8,
    "SELECT DISTINCT T.b FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3": 8,
    "SELECT S.a, 6 / (S.v - T.b) AS q FROM S, T WHERE S.ts > T.ts AND S.v - T.b <> 0 AND S.v * T.b > 1": 3,
    "SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND S.b = T.b AND S.a + T.b + S.v > 3": 3,
    "SELECT a, b FROM S UNION ALL SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3": 4,
}
"""Statements, and M."""


@pytest.mark.parametrize("seed", range(1, 1 + MORE))
@pytest.mark.parametrize("sql", BOUNDED)
def test_a_job_prints_the_changes_of_every_prefix_and_its_certificate_holds(sql: str, seed: int) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    rows = random_rows(1, seed)
    run = run_circuit(checked, rows)
    assert run.prints(reference(sql, CATALOG, rows))
    assert run.printed
    assert checked.circuit_bound is not None
    assert checked.circuit_bound.entries.value == BOUNDED[sql]
    assert run.peak <= BOUNDED[sql]
    proof = proof_of(checked, certificate_of(checked))
    assert proof.faults == () and proof.entries is not None


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        ("SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3", "unbounded"),
        ("SELECT T.a, COUNT(*) FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3 GROUP BY T.a", "unbounded"),
        ("SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.a * T.a > 3", "unknown"),
        ("SELECT S.a FROM S, T WHERE S.ts > T.ts AND (S.a + T.a) % 2 = 0", "unknown"),
        ("SELECT COUNT(*) FROM S, T WHERE S.ts > T.ts AND (S.a + T.a) % 2 = 0", "unknown"),
        ("SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.a * T.nothing > 3", "error"),
        ("SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.a * T.b", "unsupported"),
    ],
)
def test_what_a_condition_needs_of_a_row_is_kept_of_it(sql: str, verdict: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert (checked.verdict, bool(checked.diagnostics)) == (verdict, True)
