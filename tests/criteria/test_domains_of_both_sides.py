"""P4: |dom| of rows that come from two streams counts a value once that both declare; so do what they remember."""

from __future__ import annotations

import pytest
from criteria.test_periods_without_length import checked, peaks

from support.circuits import certificate_of, proof_of
from support.profiles import MORE
from support.snapshots import HIGH, LOW

LENGTH = HIGH - LOW
FEW = {"domain": {"a": [-1, 0, 1, 2, 3]}, "max_duration": LENGTH, "max_per_timestamp": 7}
"""Five values, and NULL."""

DIFFERENCES = [
    "SELECT r.a FROM r EXCEPT ALL SELECT s.a FROM s",
    "SELECT r.a FROM r INTERSECT ALL SELECT s.a FROM s",
    "SELECT r.a FROM r WHERE r.a > 0 EXCEPT ALL (SELECT s.a FROM s UNION ALL SELECT x.a FROM r AS x)",
    "SELECT c0, COUNT(*) AS n FROM (SELECT r.a AS c0 FROM r INTERSECT ALL SELECT s.a FROM s) GROUP BY c0",
]


@pytest.mark.parametrize("sql", DIFFERENCES)
def test_both_sides_of_a_difference_share_the_entries_of_a_value_and_end(sql: str) -> None:
    """6·L entries, not twice as many; and 6 open rows, or groups with theirs."""
    assert max(peaks(sql, 6 * LENGTH + 6 + 6, range(2 * MORE), r=FEW, s=FEW)) > 2


def test_a_value_and_end_that_both_sides_have_is_one_entry() -> None:
    sql = "SELECT r.a FROM r EXCEPT ALL SELECT s.a FROM s"
    statement = checked(sql, r=FEW, s=FEW)
    bound = statement.circuit_bound
    assert bound is not None and bound.entries.value == 6 * LENGTH + 6
    other = checked(sql, r=FEW, s={**FEW, "domain": {"a": [-1, 0, 7]}, "max_duration": 2})
    assert other.circuit_bound is not None
    assert other.circuit_bound.entries.value == 6 * LENGTH + 4 * 2 + 6, "apart these are fewer than 7·L"


UNITED = [
    ("SELECT DISTINCT c0 FROM (SELECT r.a AS c0 FROM r UNION ALL SELECT s.a FROM s)", 6 + 6),
    (
        "SELECT c0, MAX(c1) AS m FROM (SELECT a AS c0, b AS c1 FROM r UNION ALL SELECT a, a FROM s) GROUP BY c0",
        6 * LENGTH + 6,
    ),
    ("SELECT r.a FROM r UNION ALL SELECT s.a FROM s", 6 * LENGTH + 6),
    ("SELECT r.a + 1 AS c0 FROM r UNION ALL SELECT s.a FROM s", 2 * 6 * (LENGTH + 1)),
    ("SELECT s.a AS c0 FROM s UNION ALL SELECT r.a + 1 FROM r", 2 * 6 * (LENGTH + 1)),
]
"""Of expressions nothing is declared."""


@pytest.mark.parametrize(("sql", "entries"), UNITED)
def test_what_is_united_has_the_values_of_both(sql: str, entries: int) -> None:
    statement = checked(sql, r=FEW, s=FEW)
    assert statement.circuit_bound is not None and statement.circuit_bound.entries.value == entries
    assert max(peaks(sql, entries, range(2 * MORE), r=FEW, s=FEW)) > 2


@pytest.mark.parametrize("sql", [*DIFFERENCES, *(sql for sql, _ in UNITED)])
def test_certificates_of_two_sides_hold(sql: str) -> None:
    statement = checked(sql, r=FEW, s={**FEW, "max_valid": 100})
    found = proof_of(statement, certificate_of(statement))
    assert found.faults == ()
    assert found.entries is not None
