"""Sets that keep one extremum per key: the trap of the paper, windows, results once; others in `test_synopsis`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from streambound.criteria.bound import bound
from support.catalogs import Catalog, streams, with_relation
from support.kernel import Run, run_kernel
from support.oracle import Oracle
from support.product import decided
from support.streams import Rows

BIGINT = with_relation(streams())


def _run(sql: str, catalog: Catalog, rows: Rows) -> Run:
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None
    run = run_kernel(decision, catalog, rows)
    assert run.printed == Oracle(catalog, rows).prefix_expected(sql)
    assert run.limit is None or run.peak <= run.limit
    return run


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
