"""Queries that can never return a row are reported as such (SB150), and cost nothing: domains, NULL, the empty string.

Each case stands beside one that differs in a value and is no longer empty, so that nothing is called empty too early.
DuckDB is asked whether rows drawn from the domains give a result.
"""

from __future__ import annotations

from typing import Any

import pytest

from streambound.synopsis_exec.verify import gives_nothing
from support.choices import Choices
from support.circuits import checked_circuit, circuit_plan, run_circuit
from support.oracle import prefix_expected
from support.product import decided
from support.streams import adversarial_rows, small_rows

COLUMNS = {"a": "bigint", "b": "bigint", "c": "string", "d": "double", "n": "string", "ts": "bigint"} | dict.fromkeys(
    "pqr", "boolean"
)
DOMAIN = {"a": [1, 3, 5], "c": ["b", "a"], "d": [2.5, 0.5, 1.5]}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": COLUMNS, "domain": DOMAIN},
        "T": {"timestamp": "ts", "columns": COLUMNS},
    }
}
EMPTY = [
    ("S.a > 1 AND S.a <> 3 AND S.a <> 5", "S.a > 1 AND S.a <> 3 AND S.a <> 4"),
    ("S.a NOT IN (1, 3, 5)", "S.a NOT IN (1, 2, 3)"),
    ("S.a > 1 AND S.a < 5 AND S.a = T.a AND T.a <> 3", "S.a > 1 AND S.a < 5 AND S.a = T.a AND T.a <> 2"),
    ("S.c > 'b'", "S.c >= 'b'"),
    ("S.c = 'z'", "S.c = 'a'"),
    ("S.c NOT IN ('a', 'b')", "S.c NOT IN ('a', 'c')"),
    ("S.c > 'a' AND S.c < 'b'", "S.c > 'a' AND S.c <= 'b'"),
    ("S.d > 0.5 AND S.d < 1.5", "S.d > 0.5 AND S.d < 2"),
    ("S.d = T.d AND T.d > 1.5 AND T.d < 2.5", "S.d = T.d AND T.d > 1 AND T.d < 2.5"),
    ("S.p <> S.q AND S.q <> S.r AND S.p <> S.r", "S.p <> S.q AND S.q <> S.r"),
    ("T.b BETWEEN 1 AND 2 AND T.a = 1 AND S.b <> T.b AND S.b <> T.a + 1 AND S.b <> T.a AND S.b BETWEEN 1 AND 2",
     "T.b BETWEEN 1 AND 2 AND T.a = 1 AND S.b <> T.b AND S.b <> T.a AND S.b BETWEEN 1 AND 2"),
    ("S.ts IS NULL", "S.ts IS NOT NULL"),
    ("S.n < ''", "S.n <= ''"),
    ("S.n <= T.n AND T.n <= '' AND S.n > ''", "S.n <= T.n AND T.n <= '' AND S.n >= ''"),
    ("S.a IN (2, 4, 6, 8, 10, 12)", "S.a IN (2, 4, 5, 8, 10, 12)"),
    ("S.b IN (2, 4, 6, 8, 10, 12) AND S.b > 8 AND S.b < 10", "S.b IN (2, 4, 6, 8, 10, 12) AND S.b >= 8 AND S.b < 10"),
    ("T.b IN (2, 4, 6, 8, 10) AND T.b IN (1, 3, 5, 7, 9)", "T.b IN (2, 4, 6, 8, 10) AND T.b IN (1, 3, 5, 8, 9)"),
]  # fmt: skip


def _sql(condition: str, select: str = "S.b") -> str:
    return f"SELECT {select} FROM S, T WHERE T.ts > S.ts AND {condition}"


@pytest.mark.parametrize("condition", [empty for empty, _ in EMPTY])
def test_an_empty_query_is_bounded_and_reported(condition: str) -> None:
    decision = decided(_sql(condition), CATALOG)
    assert decision.verdict == "bounded"
    assert [diagnostic.code for diagnostic in decision.diagnostics][:1] == ["SB150"]
    for seed in range(3):
        for make in (small_rows, adversarial_rows):
            expected = prefix_expected(_sql(condition), CATALOG, make(Choices.seeded(seed), CATALOG, 8))
            assert not any(expected.values())


@pytest.mark.parametrize(
    ("condition", "false"),
    [("false", True), ("1 = 2", True), ("NULL", True), ("S.b = 1 AND NOT true", True), ("S.b = 1 AND S.b = 2", False)],
)
def test_a_condition_that_is_false_is_not_called_a_contradiction(condition: str, false: bool) -> None:
    (diagnostic,) = decided(_sql(condition), CATALOG).diagnostics
    why = "its condition is never true" if false else "its conditions contradict each other"
    assert (diagnostic.code, diagnostic.message) == ("SB150", f"this query can never produce a row: {why}")


@pytest.mark.parametrize("condition", [possible for _, possible in EMPTY])
def test_its_neighbour_is_not_empty(condition: str) -> None:
    decision = decided(_sql(condition), CATALOG)
    assert "SB150" not in [diagnostic.code for diagnostic in decision.diagnostics]


def test_at_most_the_empty_string_is_the_empty_string() -> None:
    assert decided(_sql("S.n <= ''", "S.n"), CATALOG).verdict == "bounded"
    assert decided(_sql("S.n >= ''", "S.n"), CATALOG).verdict == "unbounded"


@pytest.mark.parametrize(
    ("sql", "nothing"),
    [
        ("SELECT S.a, COUNT(*) AS n FROM S WHERE S.b > 5 AND S.b < 3 GROUP BY S.a", True),
        ("SELECT S.a, COUNT(*) AS n FROM S WHERE S.b > 3 AND S.b < 5 GROUP BY S.a", False),
        ("SELECT COUNT(*) AS n FROM S WHERE S.b > 5 AND S.b < 3", False),
    ],
)
def test_groups_of_nothing_are_none(sql: str, nothing: bool) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.circuit is not None and checked.catalog is not None
    assert gives_nothing(circuit_plan(checked)) is nothing


def test_a_timestamp_is_never_null_without_a_time_order() -> None:
    decision = decided("SELECT S.a FROM S, T WHERE S.ts IS NULL", CATALOG)
    assert decision.verdict == "bounded"
    assert [diagnostic.code for diagnostic in decision.diagnostics] == ["SB150"]


def test_the_row_of_no_rows_is_there_from_the_first_timestamp_of_any_stream() -> None:
    """What no row satisfies is not joined; its stream's time goes on, and results are as of it."""
    sql = "SELECT COUNT(*) AS n FROM T LEFT ANTI JOIN S ON S.a = T.a AND S.a > 3 AND S.a < 5 AND S.ts > 0 AND S.b < S.b"
    row = dict.fromkeys(COLUMNS, None)
    found = run_circuit(checked_circuit(sql, CATALOG), {"S": [row | {"ts": 1}], "T": [row | {"ts": 3}]}, ticks=None)
    assert found.prints({(0, 1): 1, (0, 3): -1, (1, 3): 1})
