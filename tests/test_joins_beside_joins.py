"""Outer, semi and anti joins of which a side is a join of streams, within windows: views of rows that close.

Each job prints what the reference evaluator says of every prefix, and keeps at most M.
"""

from __future__ import annotations

import pytest

from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import certificate_of, checked_circuit, prints_as_duckdb, proof_of, with_smaller_states

JOINED = "S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2"
LATER = "r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 3"
BOUNDED = {
    "of the first stream": f"SELECT p.a, l.v, r.v AS w FROM {JOINED} LEFT JOIN T AS r ON {LATER}",
    "of the second stream": f"SELECT p.a, l.v, r.v AS w FROM {JOINED} LEFT JOIN S AS r ON r.v = l.v "
    "AND r.ts BETWEEN l.ts - 2 AND l.ts + 1",
    "of both": f"SELECT p.a, l.v, r.v AS w FROM {JOINED} LEFT JOIN T AS r ON {LATER} AND r.v > l.v",
    "semi": f"SELECT p.a, l.v FROM {JOINED} LEFT SEMI JOIN T AS r ON {LATER}",
    "anti": f"SELECT p.a, l.v FROM {JOINED} LEFT ANTI JOIN T AS r ON {LATER}",
    "not exists": f"SELECT p.a, l.v FROM {JOINED} WHERE NOT EXISTS (SELECT 1 FROM T AS r WHERE {LATER} AND r.v < l.v)",
    "the inner side": "SELECT p.a, p.v FROM S AS p WHERE NOT EXISTS (SELECT 1 FROM T AS l JOIN T AS r ON l.b = r.b "
    "AND r.ts BETWEEN l.ts AND l.ts + 1 WHERE l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2)",
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_job_prints_the_changes_of_every_prefix(name: str) -> None:
    duck = BOUNDED[name].replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI")
    prints_as_duckdb(BOUNDED[name], CATALOG, number=20, duck=duck, every_prefix=True)


@pytest.mark.parametrize("name", BOUNDED)
def test_recheck_proves_the_bound_and_no_smaller_one(name: str) -> None:
    checked = checked_circuit(BOUNDED[name], CATALOG)
    certificate = certificate_of(checked)
    assert not proof_of(checked, certificate).faults
    assert all(proof_of(checked, smaller).faults for smaller in with_smaller_states(certificate))


@pytest.mark.parametrize("join", ["LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
def test_what_waits_without_end_is_refused(join: str) -> None:
    checked = checked_circuit(f"SELECT p.b FROM {JOINED} {join} T AS r ON r.b = p.b AND r.ts >= p.ts", CATALOG)
    found = checked.diagnostics[-1]
    assert checked.verdict == "unknown" and "a row of the other side may come later" in found.message
    assert found.help.startswith("limit how much later a partner may come")
