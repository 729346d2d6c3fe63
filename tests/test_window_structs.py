"""Windows of time as one value that other operators read: as the same query over the two ends says, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import SEEDS, checked_circuit, random_rows, run_circuit
from support.profiles import MORE

MINUTE = 60_000_000
COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"}
STREAM = {"columns": COLUMNS, "timestamp": "ts", "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
W, E = "window(ts, '4 minutes')", "window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e"
COUNTED = f"(SELECT {W} AS w, b, COUNT(*) AS n FROM S GROUP BY {W}, b)"
BY_ENDS = f"(SELECT {E}, b, COUNT(*) AS n FROM S GROUP BY {W}, b)"
OTHERS = f"(SELECT {W} AS w, COUNT(*) AS m FROM T GROUP BY {W})"
OTHERS_BY_ENDS = f"(SELECT {E}, COUNT(*) AS m FROM T GROUP BY {W})"
NUMBERED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY n DESC, b) AS r FROM {}"
QUERIES = {
    "a key": (
        f"SELECT w.start AS s, w.end AS e, MAX(n) AS m FROM {COUNTED} GROUP BY w",
        f"SELECT s, e, MAX(n) AS m FROM {BY_ENDS} GROUP BY s, e",
    ),
    "a key, by number": (
        f"SELECT x.start AS s, b, m FROM (SELECT q.w AS x, b, SUM(n) AS m FROM {COUNTED} q WHERE n > 0 GROUP BY 1, 2)",
        f"SELECT s, b, SUM(n) AS m FROM {BY_ENDS} WHERE n > 0 GROUP BY s, e, b",
    ),
    "an end": (
        f"SELECT q.w.start AS s, SUM(n) AS m FROM {COUNTED} AS q GROUP BY q.w.start HAVING MIN(w.end) IS NOT NULL",
        f"SELECT s, SUM(n) AS m FROM {BY_ENDS} GROUP BY s HAVING MIN(e) IS NOT NULL",
    ),
    "a partition": (
        f"SELECT w.start AS s, b, r FROM ({NUMBERED.format('w', COUNTED)}) WHERE r < 3",
        f"SELECT s, b, r FROM ({NUMBERED.format('s, e', BY_ENDS)}) WHERE r < 3",
    ),
    "an order": (
        f"SELECT w.end AS e, m - LAG(m) OVER (ORDER BY w) AS d FROM {OTHERS}",
        f"SELECT e, m - LAG(m) OVER (ORDER BY s, e) AS d FROM {OTHERS_BY_ENDS}",
    ),
    "a join": (
        f"SELECT p.w.start AS s, p.n, q.m FROM {COUNTED} AS p JOIN {OTHERS} AS q ON p.w = q.w AND p.n > q.m",
        f"SELECT p.s, p.n, q.m FROM {BY_ENDS} AS p JOIN {OTHERS_BY_ENDS} AS q ON p.s = q.s AND p.e = q.e AND p.n > q.m",
    ),
    "a join that leaves it NULL": (
        f"SELECT p.w.start AS s, p.n, q.m, q.w.end AS e FROM {COUNTED} AS p LEFT JOIN {OTHERS} AS q ON p.w = q.w "
        "WHERE q.w IS NULL OR p.n > q.m",
        f"SELECT p.s, p.n, q.m, q.e FROM {BY_ENDS} AS p LEFT JOIN {OTHERS_BY_ENDS} AS q ON p.s = q.s AND p.e = q.e "
        "WHERE q.s IS NULL OR p.n > q.m",
    ),
    "an anti join in other words": (
        f"SELECT p.w.start AS s, p.n FROM {COUNTED} AS p LEFT JOIN {OTHERS} AS q ON p.w = q.w AND p.n = q.m "
        "WHERE q.w IS NULL",
        f"SELECT p.s, p.n FROM {BY_ENDS} AS p LEFT JOIN {OTHERS_BY_ENDS} AS q ON p.s = q.s AND p.e = q.e AND p.n = q.m "
        "WHERE q.s IS NULL",
    ),
    "how many are there": (
        f"SELECT p.w.start AS s, COUNT(*) AS n, COUNT(q.w) AS m FROM {COUNTED} AS p LEFT JOIN {OTHERS} AS q "
        "ON p.w = q.w AND p.n = q.m GROUP BY p.w",
        f"SELECT p.s, COUNT(*) AS n, COUNT(q.s) AS m FROM {BY_ENDS} AS p LEFT JOIN {OTHERS_BY_ENDS} AS q "
        "ON p.s = q.s AND p.e = q.e AND p.n = q.m GROUP BY p.s, p.e",
    ),
    "in a subquery": (
        f"SELECT p.w.start AS s, p.n FROM {COUNTED} AS p WHERE EXISTS (SELECT 1 FROM {OTHERS} AS q WHERE q.w = p.w "
        "AND q.m > p.n)",
        f"SELECT p.s, p.n FROM {BY_ENDS} AS p WHERE EXISTS (SELECT 1 FROM {OTHERS_BY_ENDS} AS q WHERE q.s = p.s AND "
        "q.e = p.e AND q.m > p.n)",
    ),
    "of common tables": (
        f"WITH p AS {COUNTED}, q AS (SELECT w, b FROM p WHERE n > 1) SELECT w.end, COUNT(*) AS c FROM q GROUP BY w",
        f"SELECT e AS end, COUNT(*) AS c FROM {BY_ENDS} WHERE n > 1 GROUP BY s, e",
    ),
    "once": (
        f"SELECT w.start AS s, w.end AS e FROM (SELECT DISTINCT {W} AS w FROM S)",
        f"SELECT DISTINCT {E} FROM S",
    ),
    "once, of groups": (
        f"SELECT w.start AS s, w.end AS e FROM (SELECT DISTINCT w FROM {COUNTED} WHERE n > 1)",
        f"SELECT DISTINCT s, e FROM {BY_ENDS} WHERE n > 1",
    ),
    "both sides of a union": (
        f"SELECT w.start AS s, n FROM (SELECT w, n FROM {COUNTED} UNION ALL SELECT w, m FROM {OTHERS})",
        f"SELECT s, n FROM {BY_ENDS} UNION ALL SELECT s, m FROM {OTHERS_BY_ENDS}",
    ),
    "called as its function": (
        f"SELECT window.start AS s, COUNT(*) AS c FROM (SELECT {W}, b FROM S GROUP BY {W}, b) GROUP BY window",
        f"SELECT s, COUNT(*) AS c FROM {BY_ENDS} GROUP BY s, e",
    ),
    "of nothing but rows": (
        f"SELECT w.start AS s, v FROM (SELECT {W} AS w, v FROM S WHERE v > 0)",
        "SELECT window(ts, '4 minutes').start AS s, v FROM S WHERE v > 0",
    ),
}


@pytest.mark.parametrize(("sql", "by_ends"), QUERIES.values(), ids=list(QUERIES))
def test_a_window_is_its_two_ends(sql: str, by_ends: str) -> None:
    one, two = checked_circuit(sql, CATALOG), checked_circuit(by_ends, CATALOG)
    assert str(one.verdict) == str(two.verdict) == "bounded", [d.message for d in (*one.diagnostics, *two.diagnostics)]
    assert one.circuit_bound is not None and two.circuit_bound is not None
    assert one.circuit_bound.entries.value == two.circuit_bound.entries.value
    printed = 0
    for seed in range(SEEDS * MORE):
        rows = random_rows(MINUTE, seed)
        found = run_circuit(one, rows)
        assert found.prints(run_circuit(two, rows).printed)
        printed += len(found.printed)
        if printed and seed + 1 >= MORE:
            break
    assert printed


def test_the_ends_of_one_that_is_renamed() -> None:
    checked = checked_circuit(f"SELECT x.start AS s, y FROM {COUNTED} AS q (x, k, y) WHERE k = 1", CATALOG)
    by_ends = checked_circuit(f"SELECT s, n AS y FROM {BY_ENDS} WHERE b = 1", CATALOG)
    assert str(checked.verdict) == str(by_ends.verdict) == "bounded", checked.diagnostics
    rows = random_rows(MINUTE, 1)
    assert run_circuit(checked, rows).prints(run_circuit(by_ends, rows).printed)
