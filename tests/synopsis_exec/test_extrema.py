"""Sets that keep one extremum per key: the paper's trap, types, offsets, windows, cases; DuckDB says what is right."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streambound.criteria.bound import bound
from support.catalogs import Catalog, streams, with_relation
from support.choices import Choices
from support.kernel import Run, run_kernel
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE
from support.streams import Rows, adversarial_rows, small_rows

BIGINT = with_relation(streams())
DOUBLE = with_relation(streams(a="double", b="double"))
STRING = with_relation(streams(a="string", b="string"))
DECIMAL = with_relation(streams(a="decimal(6,2)", b="decimal(6,2)"))

QUERIES: dict[str, tuple[str, Catalog]] = {
    "the greatest": ("FROM S, T WHERE S.ts > T.ts AND S.a < T.a", BIGINT),
    "the least, strictly": ("FROM S, T WHERE S.ts > T.ts AND S.a > T.a", DOUBLE),
    "the least, or equal": ("FROM S, T WHERE S.ts > T.ts AND S.a >= T.a", DOUBLE),
    "of strings": ("FROM S, T WHERE S.ts > T.ts AND S.a < T.a", STRING),
    "of strings, or equal": ("FROM S, T WHERE S.ts > T.ts AND S.a <= T.a AND S.a <= T.b", STRING),
    "of decimals": ("FROM S, T WHERE S.ts > T.ts AND S.a + 0.25 < T.a AND S.b < T.a", DECIMAL),
    "with an offset": ("FROM S, T WHERE S.ts > T.ts AND S.a > T.a + 3", BIGINT),
    "of two attributes": ("FROM S, T WHERE S.ts > T.ts AND S.a < T.a AND S.a < T.b", BIGINT),
    "in a chain": ("FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.a < U.a", BIGINT),
    "of two streams": ("FROM S, T, U WHERE S.ts > T.ts AND S.ts > U.ts AND S.a < T.a AND S.b > U.b", BIGINT),
    "in a window": ("FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 2 AND S.a < T.a", BIGINT),
    "after a wait": ("FROM S, T WHERE S.ts >= T.ts + 3 AND S.a < T.a", BIGINT),
    "beside another window": (
        "FROM S, T, U WHERE S.ts > T.ts AND U.ts BETWEEN T.ts AND T.ts + 2 AND S.a < T.a AND U.b = T.b", BIGINT),
    "per key": ("FROM S, T WHERE S.ts > T.ts AND S.a < T.a AND S.b = T.b AND T.b BETWEEN 0 AND 2", BIGINT),
    "two, per key": (
        "FROM S, T, U WHERE S.ts > T.ts AND S.ts > U.ts AND S.a < T.a AND S.a > U.a AND T.b = U.b"
        " AND S.b = T.b AND T.b BETWEEN 0 AND 2", BIGINT),
    "two, per key that nothing later has": (
        "FROM S, T, U WHERE T.ts > S.ts AND T.ts > U.ts AND S.a < T.a AND U.a < T.b AND S.b = U.b AND U.b IN (0, 1)",
        BIGINT),
    "two that came after a third": (
        "FROM S, T, U, V WHERE V.ts > S.ts AND V.ts > T.ts AND S.ts > U.ts AND T.ts > U.ts + 1"
        " AND V.a < S.a AND V.b > T.b", BIGINT),
    "two that came before a third": (
        "FROM S, T, U, V WHERE V.ts > S.ts AND V.ts > T.ts AND V.ts > U.ts AND S.ts < U.ts AND T.ts < U.ts"
        " AND V.a < S.a AND V.b > T.b", BIGINT),
    "one for two limits": (
        "FROM S, T, U WHERE S.ts > T.ts AND T.a < S.a AND S.a >= U.b AND U.b <= S.b AND U.a = 1", BIGINT),
    "clipped on the other side": (
        "FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.a < U.a AND T.a < U.a AND U.a > 0 AND T.a < 3", BIGINT),
    "whatever comes first": ("FROM S, T WHERE S.a < T.a", BIGINT),
    "with other than": ("FROM S, T WHERE S.ts > T.ts AND S.a <> T.a", BIGINT),
    "with a relation": (
        "FROM S, T, U, R WHERE S.ts > T.ts AND S.ts > U.ts AND S.a < T.a AND S.b < U.a AND T.b = R.a AND U.b = R.b",
        BIGINT),
    "beside a finite stream": (
        "FROM S, T, U WHERE S.ts > T.ts AND U.ts < 5 AND T.a < U.a AND T.b < S.b AND S.b < U.b", BIGINT),
    "in two cases": ("FROM S, T WHERE S.ts > T.ts AND T.a < S.a AND S.a < T.b AND T.a <= 0 AND T.b >= 0", BIGINT),
    "in two cases by a relation": (
        "FROM S, T, R WHERE S.ts > T.ts AND T.a < S.a AND S.a < T.b AND T.a <= R.a AND T.b >= R.a AND S.b > -9",
        BIGINT),
    "in two dense cases": (
        "FROM S, T WHERE S.ts > T.ts AND S.a <= T.a AND S.a <= T.b AND S.b <= T.b AND T.a >= 1 AND S.b <= 1", DOUBLE),
    "in a union": (
        "FROM S, T WHERE S.ts > T.ts AND S.a < T.a UNION SELECT 2 AS one FROM S, U WHERE S.ts > U.ts AND S.a > U.a",
        BIGINT),
}  # fmt: skip


def _run(sql: str, catalog: Catalog, rows: Rows) -> Run:
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None
    run = run_kernel(decision, catalog, rows)
    assert run.printed == Oracle(catalog, rows).prefix_expected(sql)
    assert run.limit is None or run.peak <= run.limit
    return run


@pytest.mark.parametrize("name", QUERIES)
def test_every_prefix_prints_what_sql_says(name: str) -> None:
    rest, catalog = QUERIES[name]
    sql, kept = f"SELECT DISTINCT 1 AS one {rest}", 0
    layouts = (table.layout for table in bound(decided(sql, catalog).derivation.split).tables)  # type: ignore[union-attr]
    assert any(layout.extrema for layout in layouts)
    for seed in range(2 * MORE):
        choices = Choices.seeded(seed)
        rows = (adversarial_rows if seed % 3 else small_rows)(choices, catalog)
        for late, stream in enumerate(rows):  # so that not everything matches at once
            if seed % 2 and stream != "R":
                rows[stream] = [row for row in rows[stream] if row["ts"] % (late + 2) == 0]
        kept += bool(_run(sql, catalog, rows).peak)
    assert kept > 0


def test_a_value_that_came_after_the_tuple_above_it_does_not_count() -> None:
    """The paper's strategy would match X with the 100 that is newer than Y."""
    sql = "SELECT DISTINCT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.a < U.a"
    rows: Rows = {"U": [_row(1, 5), _row(3, 100)], "T": [_row(2, 0)], "S": [_row(4, 50)], "V": [], "R": []}
    run = _run(sql, BIGINT, rows)
    assert not sum(run.printed.values(), Counter())
    rows["T"].append(_row(5, 0))
    rows["S"].append(_row(6, 50))
    assert [now for now, printed in _run(sql, BIGINT, rows).printed.items() if printed] == [6]


def test_a_better_value_does_not_outlive_its_window() -> None:
    """The greatest value goes first; the one that it outdid is still there, for it is of another timestamp."""
    sql = "SELECT DISTINCT S.b FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 2 AND S.a < T.a AND S.b IN (1, 2, 3)"
    rows: Rows = {
        "T": [_row(0, 100), _row(1, 10)], "S": [_row(2, 50, 1), _row(3, 50, 2), _row(3, 9, 3)], "U": [], "V": [],
        "R": []}  # fmt: skip
    run = _run(sql, BIGINT, rows)
    assert {now: set(printed) for now, printed in run.printed.items() if printed} == {2: {(1,)}, 3: {(3,)}}


def test_the_same_result_is_returned_once() -> None:
    sql = "SELECT DISTINCT T.b FROM S, T WHERE S.ts > T.ts AND S.a < T.a AND T.b BETWEEN 1 AND 2"
    rows: Rows = {
        "T": [_row(n, n, 1 + n % 2) for n in range(9)], "S": [_row(n, 0) for n in range(1, 9)], "U": [], "V": [],
        "R": []}  # fmt: skip
    run = _run(sql, BIGINT, rows)
    assert {now: set(printed) for now, printed in run.printed.items() if printed} == {2: {(2,)}, 3: {(1,)}}
    assert run.peak == run.limit == 4


def _row(ts: int, a: int, b: int = 0) -> dict[str, Any]:
    return {"a": a, "b": b, "ts": ts}
