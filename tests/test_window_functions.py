"""Each function of `analyzer.algebra.window_functions` over windows that end, of rows that stay, or are taken back.

It is bounded, `recheck` accepts its certificate, and its job prints what the reference evaluator says of every prefix
of random rows, and DuckDB of all of them, within M.
"""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.algebra.window_functions import WINDOW_FUNCTIONS
from support.circuits import prints_as_duckdb

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
CALLS = (
    "ROW_NUMBER()",
    "RANK()",
    "DENSE_RANK()",
    "NTILE(3)",
    "PERCENT_RANK()",
    "CUME_DIST()",
    "LAG(v)",
    "LAG(v, 2, 0)",
    "LEAD(v)",
    "LEAD(v, 2, 0)",
    "COUNT(a)",
    "SUM(v)",
    "MIN(v)",
    "MAX(v)",
    "AVG(v)",
    "FIRST_VALUE(v)",
    "LAST_VALUE(v)",
    "NTH_VALUE(v, 2)",
    "MEDIAN(v)",
    "VAR_SAMP(v)",
    "VAR_POP(v)",
    "STDDEV_SAMP(v)",
    "STDDEV_POP(v)",
)
ORDER = "ORDER BY v, a NULLS FIRST, b NULLS FIRST, ts"
FORMS = {
    "of a window's rows": "SELECT b, v, {} OVER (PARTITION BY ts DIV 4 " + ORDER + ") AS f FROM S",
    "of a window's groups": "SELECT w, v, {} OVER (PARTITION BY w " + ORDER + ") AS f FROM "
    "(SELECT ts DIV 6 AS w, a, b, SUM(v) AS v, MAX(ts) AS ts FROM S GROUP BY ts DIV 6, a, b) AS x",
    "of a key's groups": "SELECT v, {} OVER (" + ORDER + ") AS f FROM "
    "(SELECT b, COUNT(*) AS a, SUM(v) AS v, MAX(b) AS ts FROM S GROUP BY b) AS x",
}


def test_each_function_is_tried() -> None:
    assert {call.partition("(")[0] for call in CALLS} == {n for n, one in WINDOW_FUNCTIONS.items() if one.decided}


*OF_WINDOWS, TAKEN_BACK = FORMS
TRIED = [(call, form) for n, call in enumerate(CALLS) for form in (TAKEN_BACK, OF_WINDOWS[n % len(OF_WINDOWS)])]
"""Each function of rows that are taken back, and in one of the other forms."""


@pytest.mark.parametrize(("call", "form"), TRIED)
def test_a_job_prints_what_the_reference_and_duckdb_say(call: str, form: str) -> None:
    prints_as_duckdb(FORMS[form].format(call), CATALOG, 24, every_prefix=True)
