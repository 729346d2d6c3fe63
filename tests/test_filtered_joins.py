"""Conditions above outer, semi and anti joins: verdicts, bounds, and outputs at random, each prefix asked of DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from support.circuits import SEEDS, certificate_of, checked_circuit, proof_of, rounded, run_circuit
from support.prefix_sql import PrefixSql
from support.profiles import MORE

STREAM = {"columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}, "timestamp": "ts", "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
QUERIES = (
    ("SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a = 3", 2),
    ("SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3", 6),
    ("SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a IN (1, 3) AND T.a IS NULL", 4),
    ("SELECT S.a FROM S SEMI JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3", 6),
    ("SELECT S.a FROM S ANTI JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3", 6),
    ("SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3", 6),
    ("SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE T.a BETWEEN 1 AND 3", 6),
    ("SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE S.a < 3 AND T.a > 0", 4),
    ("SELECT S.a, T.a AS c FROM S RIGHT JOIN T ON S.a = T.a WHERE T.a = 2 OR T.a = 3", 4),
    ("SELECT S.a, T.a AS c FROM S RIGHT JOIN T ON S.a = T.a WHERE NOT (S.a IS NULL OR T.a <> 2)", 2),
    ("SELECT S.a, T.b FROM S LEFT JOIN T ON S.a = T.a WHERE T.a = 3 AND T.b IN (1, 2)", 3),
    ("SELECT DISTINCT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a = 3", 3),
    ("SELECT S.a FROM S LEFT JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + 3 WHERE S.a > 1 AND S.a % 2 = 0", 6),
)
OPEN = (
    "SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE T.a IS NULL",
    "SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE S.a = 3 OR S.a IS NULL",
    "SELECT S.b FROM S LEFT JOIN T ON S.a = T.a WHERE T.a = 3 OR S.a = 2",
    "SELECT T.b FROM S LEFT JOIN T ON S.a = T.a WHERE S.a = 3",
)


def some_rows(seed: int) -> dict[str, list[dict[str, Any]]]:
    rng = random.Random(seed)

    def value() -> int | None:
        return None if rng.random() < 0.1 else rng.randint(0, 4)

    return {
        name: [{"a": value(), "b": value(), "ts": now} for now in range(1, 25) for _ in range(rng.randint(0, 2))]
        for name in ("S", "T")
    }


@pytest.mark.parametrize(("sql", "bound"), QUERIES)
def test_they_bound_what_is_kept(sql: str, bound: int) -> None:
    checked, printed = checked_circuit(sql, CATALOG), 0
    assert checked.verdict == "bounded", [one.message for one in checked.diagnostics]
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value == bound
    assert proof_of(checked, certificate_of(checked)).faults == ()
    for seed in range(SEEDS * MORE):
        rows, expected, before = some_rows(seed), Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
        for time, now in PrefixSql(CATALOG).results(sql, rows).items():
            for row in {*now, *before}:
                if now[row] != before[row]:
                    expected[(*map(rounded, row), time)] = now[row] - before[row]
            before = now
        run = run_circuit(checked, rows)
        assert run.prints(expected) and run.peak <= bound
        printed += len(expected)
        if printed and seed + 1 >= MORE:
            break
    assert printed


@pytest.mark.parametrize("sql", OPEN)
def test_they_stay_above_where_rows_filled_with_nulls_pass(sql: str) -> None:
    assert checked_circuit(sql, CATALOG).verdict != "bounded"
