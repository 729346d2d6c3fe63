"""Arrays of the rows of closed windows: verdicts, and changes of jobs against the reference evaluator and DuckDB."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.results import json_value, typed_columns
from support.circuits import TWO_STREAMS, checked_circuit, prints_as_duckdb, proved, random_rows, reference, run_circuit

OF_DUCKDB = {
    "ARRAY_AGG(v ORDER BY ts)": "array_agg(v ORDER BY ts, v)",
    "ARRAY_AGG(v ORDER BY a DESC)": "array_agg(v ORDER BY a DESC NULLS LAST, v)",
    "ARRAY_AGG(v ORDER BY v DESC)": "array_agg(v ORDER BY v DESC)",
    "SORT_ARRAY(COLLECT_LIST(v), FALSE)": "array_agg(v ORDER BY v DESC)",
    "COLLECT_SET(v)": "array_agg(DISTINCT v ORDER BY v)",
    "SORT_ARRAY(COLLECT_SET(v) FILTER (WHERE b = 1))": "coalesce(array_agg(DISTINCT v ORDER BY v) "
    "FILTER (WHERE b = 1), [])",
    "ARRAY_AGG(a + v ORDER BY b)": "coalesce(array_agg(a + v ORDER BY b NULLS FIRST, a + v) "
    "FILTER (WHERE a + v IS NOT NULL), [])",
}
OTHERS = (
    "SELECT S.ts DIV 4 AS w, ARRAY_AGG(T.v ORDER BY S.v DESC) AS l, MEDIAN(T.v) AS m FROM S "
    "JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 2 AND S.ts GROUP BY S.ts DIV 4",
    "SELECT w + 1 AS w, l FROM (SELECT ts DIV 4 AS w, ARRAY_AGG(DISTINCT a ORDER BY a DESC) AS l FROM S "
    "GROUP BY ts DIV 4) WHERE w > 0",
    "SELECT x.w, y.l FROM (SELECT DISTINCT ts DIV 4 AS w FROM S) AS x LEFT JOIN (SELECT ts DIV 4 AS w, "
    "ARRAY_AGG(v ORDER BY ts) AS l FROM T WHERE b = 1 GROUP BY ts DIV 4) AS y ON x.w = y.w",
    "SELECT ts DIV 4 AS w, b, COLLECT_SET(a) FILTER (WHERE v > 0) AS l FROM S GROUP BY ts DIV 4, b "
    "HAVING size(ARRAY_AGG(v ORDER BY ts)) > 1",
)


@pytest.mark.parametrize("call", OF_DUCKDB)
def test_arrays_of_a_window_are_those_of_batch_sql(call: str) -> None:
    sql = f"SELECT ts DIV 4 AS w, {call} AS l FROM S GROUP BY ts DIV 4"
    prints_as_duckdb(sql, TWO_STREAMS, duck=sql.replace(call, OF_DUCKDB[call]), every_prefix=True)


@pytest.mark.parametrize("sql", OTHERS)
def test_arrays_below_other_operators_are_those_of_the_reference_evaluator(sql: str) -> None:
    checked, most = proved(sql, TWO_STREAMS)
    rows = random_rows(1, 3)
    found = run_circuit(checked, rows, ticks=5)
    assert found.printed and found.prints(reference(sql, TWO_STREAMS, rows, found.ends)) and found.peak <= most


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT b, ARRAY_AGG(b ORDER BY b) AS l FROM S GROUP BY b", "grows for ever"),
        ("SELECT SORT_ARRAY(COLLECT_SET(b)) AS l FROM S", "grows for ever"),
        (
            "SELECT session_window(CAST(ts AS TIMESTAMP), '3 seconds').start AS w, COLLECT_SET(b) AS l FROM S "
            "GROUP BY session_window(CAST(ts AS TIMESTAMP), '3 seconds')",
            "grows for ever",
        ),
        ("SELECT ts DIV 4 AS w, COLLECT_LIST(v) AS l FROM S GROUP BY ts DIV 4", "have no order of their own"),
        ("SELECT ts DIV 4 AS w, ARRAY_AGG(v ORDER BY a, b) AS l FROM S GROUP BY ts DIV 4", "in the order of one"),
        ("SELECT ts DIV 4 AS w, ARRAY_AGG(v ORDER BY a NULLS LAST) AS l FROM S GROUP BY ts DIV 4", "NULL is the least"),
        ("SELECT ts DIV 4 AS w, ARRAY_AGG(DISTINCT v ORDER BY a) AS l FROM S GROUP BY ts DIV 4", "y is not x"),
        (
            "SELECT w, l[0] AS n FROM (SELECT ts DIV 4 AS w, COLLECT_SET(v) AS l FROM S GROUP BY ts DIV 4)",
            "computes with an array",
        ),
    ],
)
def test_other_arrays_are_refused_with_words(sql: str, why: str) -> None:
    checked = checked_circuit(sql, TWO_STREAMS)
    assert checked.verdict == "unsupported" and why in checked.diagnostics[0].message


@pytest.mark.parametrize(
    ("element", "encoded", "line", "values"),
    [
        ("bigint", "[1,-2]", "[1,-2]", [1, -2]),
        ("string", '["a\\"","é"]', '["a\\"","é"]', ['a"', "é"]),
        ("decimal(9,2)", "[150]", "[1.50]", [Decimal("1.50")]),
        ("date", "[1]", '["1970-01-02"]', [date(1970, 1, 2)]),
        ("timestamp", "[1500000]", '["1970-01-01T00:00:01.500000Z"]', [datetime(1970, 1, 1, 0, 0, 1, 500000, UTC)]),
        ("boolean", "[0,1]", "[false,true]", [False, True]),
        ("double", "[0.1,1e300]", "[0.1,1e+300]", [0.1, 1e300]),
        ("bigint", "[]", "[]", []),
    ],
)
def test_arrays_are_lists_in_json_and_arrow(element: str, encoded: str, line: str, values: list[object]) -> None:
    kind = sql_type(f"list<{element}>")
    assert json_value(encoded, kind) == line
    found = typed_columns([f'{{"l":{line}}}', '{"l":null}'], {"l": kind})["l"]
    assert found.type == kind.arrow and found.to_pylist() == [values, None]
