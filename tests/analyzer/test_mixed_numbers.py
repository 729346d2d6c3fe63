"""Numbers of different types are compared as Spark compares them: as if the cast were written."""

from __future__ import annotations

import pytest

import streambound

COLUMNS = {
    "k": "int",
    "i": "bigint",
    "d": "double",
    "m": "decimal(9,2)",
    "w": "decimal(38,0)",
    "s": "string",
    "ts": "bigint",
}
CATALOG = {"streams": {name: {"columns": COLUMNS, "timestamp": "ts"} for name in ("S", "T")}}
QUERY = "SELECT S.k FROM S JOIN T ON S.k = T.k AND T.ts BETWEEN S.ts AND S.ts + 5 WHERE S.k BETWEEN 0 AND 9 AND "


@pytest.mark.parametrize(
    ("mixed", "cast"),
    [
        ("S.i < T.d", "CAST(S.i AS DOUBLE) < T.d"),
        ("S.d >= T.i", "S.d >= CAST(T.i AS DOUBLE)"),
        ("S.m = T.i", "S.m = CAST(T.i AS DECIMAL(22, 2))"),
        ("S.m < T.d", "CAST(S.m AS DOUBLE) < T.d"),
        ("S.s = T.i", "CAST(S.s AS BIGINT) = T.i"),
        ("T.m > S.s", "T.m > CAST(S.s AS DOUBLE)"),
    ],
)
def test_what_is_meant_is_the_wider_type(mixed: str, cast: str) -> None:
    one, other = (next(iter(streambound.check(QUERY + condition, CATALOG))) for condition in (mixed, cast))
    assert str(one.verdict) == str(other.verdict) == "bounded"
    assert str(one.bound) == str(other.bound)
    jobs = [streambound.compile(QUERY + condition, CATALOG).compiled.job.plan for condition in (mixed, cast)]
    assert jobs[0] == jobs[1]


def test_what_no_type_has_is_refused() -> None:
    (found,) = streambound.check(QUERY + "S.w < T.m", CATALOG)
    assert str(found.verdict) in ("error", "unsupported")
