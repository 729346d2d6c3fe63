"""TIMESTAMPADD and TIMESTAMPDIFF as sums and differences: the same truth for every distance, and the same verdicts."""

from __future__ import annotations

import operator
from fractions import Fraction
from math import trunc

import pytest
from sqlglot import exp

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.elapsed import difference, moved
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.query import Op
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict

HOLDS = {Op.LT: operator.lt, Op.LE: operator.le, Op.EQ: operator.eq, Op.GE: operator.ge, Op.GT: operator.gt}
COLUMNS = {"k": "bigint", "d": "date", "ts": "timestamp"}
CATALOG = catalog_from_mapping(
    {"streams": {name: {"timestamp": "ts", "columns": COLUMNS, "domain": {"k": [1, 3]}} for name in ("S", "T")}}
)
MILLISECONDS = 1_000


@pytest.mark.parametrize("op", HOLDS)
@pytest.mark.parametrize("count", range(-3, 4))
@pytest.mark.parametrize("flipped", [False, True])
def test_a_difference_is_cut_off_towards_zero(op: Op, count: int, flipped: bool) -> None:
    call, number = parsed("timestampdiff(MILLISECOND, S.ts, T.ts)"), parsed(str(count))
    found = difference(number, op.flipped, call) if flipped else difference(call, op, number)
    assert found is not None
    sides, comparisons = found
    assert sides.sql("spark") == "T.ts - S.ts"
    for distance in range(-5 * MILLISECONDS, 5 * MILLISECONDS + 1, 250):
        expected = HOLDS[op](trunc(Fraction(distance, MILLISECONDS)), count)
        assert all(HOLDS[one](distance, length(interval)) for one, interval in comparisons) == expected, distance


def length(interval: exp.Interval) -> int:
    assert interval.args["unit"].name == "MICROSECOND"
    return int(interval.this.this)


@pytest.mark.parametrize(
    "text",
    [
        "timestampdiff(MONTH, S.ts, T.ts)", "timestampdiff(MINUTE, S.ts)", "datediff(S.ts, T.ts)",
        "f(MINUTE, S.ts, T.ts)", "timestampdiff(MINUTE, S.ts, (SELECT MAX(ts) FROM T))",
    ],
)  # fmt: skip
def test_other_calls_stay_functions(text: str) -> None:
    assert difference(parsed(text), Op.LE, parsed("3")) is None
    assert difference(parsed("timestampdiff(MINUTE, S.ts, T.ts)"), Op.NE, parsed("3")) is None
    assert difference(parsed("timestampdiff(MINUTE, S.ts, T.ts)"), Op.LE, parsed("k")) is None
    assert moved(parsed("timestampadd(MONTH, 3, S.ts)")) is None
    assert moved(parsed("timestampadd(MINUTE, k, S.ts)")) is None


ALIKE = {
    "T.ts BETWEEN S.ts AND timestampadd(MINUTE, 30, S.ts)": "T.ts BETWEEN S.ts AND S.ts + INTERVAL 30 MINUTES",
    "T.ts > dateadd(HOUR, -1, S.ts) AND T.ts <= S.ts": "T.ts > S.ts - INTERVAL 1 HOUR AND T.ts <= S.ts",
    "timestampdiff(MINUTE, S.ts, T.ts) BETWEEN 0 AND 30":
        "T.ts - S.ts > INTERVAL -1 MINUTE AND T.ts - S.ts < INTERVAL 31 MINUTES",
    "datediff(HOUR, S.ts, T.ts) = 0": "T.ts - S.ts > INTERVAL -1 HOUR AND T.ts - S.ts < INTERVAL 1 HOUR",
    "T.ts >= S.ts AND 5 > timestampdiff(SECOND, S.ts, T.ts)": "T.ts >= S.ts AND T.ts - S.ts < INTERVAL 5 SECONDS",
}  # fmt: skip


@pytest.mark.parametrize("condition", ALIKE)
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
def test_windows_are_those_of_intervals(condition: str, join: str) -> None:
    found = []
    for one in (condition, ALIKE[condition]):
        sql = f"SELECT S.k FROM S {join} T ON S.k = T.k AND {one}"
        (item,) = check_source(SourceText("q.sql", sql), CATALOG)
        found.append((item.verdict, item.bound and [(one.table, one.size) for one in item.bound.tables]))
    assert found[0] == found[1]
    assert found[0][0] is Verdict.BOUNDED


@pytest.mark.parametrize(
    ("call", "blamed"),
    [
        ("timestampdiff('MINUTE', ts, ts)", "timestampdiff takes a unit of time first, and 'MINUTE' is none"),
        ("timestampadd(MINUTES, 3, ts)", "timestampadd takes a unit of time first, and MINUTES is none"),
        ("timestampdiff(DAYOFYEAR, ts, ts)", "timestampdiff takes a unit of time first, and DAYOFYEAR is none"),
    ],
)
def test_a_unit_is_one_of_those_of_spark(call: str, blamed: str) -> None:
    sql = f"SELECT k FROM S WHERE {call} IS NOT NULL"
    (item,) = check_source(SourceText("q.sql", sql), CATALOG)
    (told,) = item.diagnostics
    assert (str(told.code), told.message, sql[told.span.start : told.span.end]) == ("SB104", blamed, call)
    assert "MINUTE" in told.help
