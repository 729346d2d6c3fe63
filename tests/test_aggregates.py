"""Each aggregate of `analyzer.algebra.aggregate_functions` by groups, of rows that stay, or are taken back.

It is bounded, `recheck` accepts its certificate, and its job prints what the reference evaluator says of every prefix
of random rows, and DuckDB of all of them, within M.
"""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.algebra.aggregate_functions import NULL_OF_NONE
from support.circuits import checked_circuit, is_bounded, prints_as_duckdb

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": COLUMNS, "domain": {"a": [0, 9], "b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
CALLS = {
    "COUNT(b)": "",
    "COUNT(DISTINCT b)": "",
    "SUM(b)": "",
    "SUM(DISTINCT b)": "",
    "AVG(b)": "",
    "VAR_SAMP(b)": "",
    "VAR_POP(b)": "",
    "STDDEV_SAMP(b)": "",
    "STDDEV_POP(b)": "",
    "MIN(b)": "",
    "MAX(b)": "",
    "MIN_BY(b, -b)": "",
    "MAX_BY(b, -b)": "",
    "MEDIAN(b)": "",
    "PERCENTILE(b, 0.25)": "QUANTILE_CONT(CAST(b AS DOUBLE), 0.25)",
    "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY b DESC)": "",
    "MODE() WITHIN GROUP (ORDER BY b)": "",
    "MODE() WITHIN GROUP (ORDER BY b DESC)": "",
    "PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY b DESC)": "",
}
"""Calls of the value b, in DuckDB's words where these differ."""
FORMS = {
    "by a key": "SELECT a, {} AS m FROM S GROUP BY a",
    "of some rows of a window": "SELECT ts DIV 4 AS w, {} FILTER (WHERE v > 0) AS m FROM S GROUP BY ts DIV 4",
    "of a join": "SELECT a, {} AS m FROM (SELECT S.a, T.b FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND "
    "S.ts + 2) AS x GROUP BY a",
}
TAKEN_BACK = "SELECT {} AS m FROM (SELECT a, COUNT(*) AS b FROM S GROUP BY a) AS x"


def test_each_aggregate_is_tried() -> None:
    assert {call.partition("(")[0] for call in CALLS} == {*NULL_OF_NONE, "COUNT"}


TRIED = [(call, form) for n, call in enumerate(CALLS) for form in (TAKEN_BACK, [*FORMS.values()][n % len(FORMS)])]
"""Each aggregate of rows that are taken back, and in one of the other forms."""


@pytest.mark.parametrize(("call", "form"), TRIED)
def test_a_job_prints_what_the_reference_and_duckdb_say(call: str, form: str) -> None:
    prints_as_duckdb(form.format(call), CATALOG, 24, form.format(CALLS[call] or call), every_prefix=True)


@pytest.mark.parametrize("call", CALLS)
def test_what_a_relation_that_does_not_change_gives_is_not_kept(call: str) -> None:
    relation = {"columns": {"k": "bigint", "b": "bigint"}, "rows": 9}
    sql = f"SELECT S.v, q.m FROM S JOIN (SELECT k, {call} AS m FROM R GROUP BY k) AS q ON q.k = S.a"
    checked = checked_circuit(sql, {**CATALOG, "relations": {"R": relation}})
    assert str(checked.verdict) == "bounded" and checked.circuit is None


@pytest.mark.parametrize("call", [one for one in CALLS if one.startswith(("COUNT(D", "SUM(D", "ME", "PERC", "MODE"))])
def test_values_without_bounds_are_not_accepted(call: str) -> None:
    assert not is_bounded(f"SELECT {call.replace('b', 'v')} AS m FROM S", CATALOG)
