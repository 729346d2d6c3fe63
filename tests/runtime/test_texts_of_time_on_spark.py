"""Buckets of time are what Spark says of every day of 120 years: in order of time, each with its last timestamp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from support.buckets_of_time import bucket_of, last_of
from support.profiles import MORE

DAYS = f"""
SELECT explode(sequence(DATE '1990-01-01', DATE '{2389 if MORE > 1 else 2109}-12-31')) AS day
UNION ALL SELECT explode(sequence(DATE '0001-01-01', DATE '0001-03-01'))
UNION ALL SELECT explode(sequence(DATE '0998-12-01', DATE '1001-02-01'))
UNION ALL SELECT explode(sequence(DATE '1582-09-01', DATE '1582-11-01'))
UNION ALL SELECT explode(sequence(DATE '9999-12-01', DATE '9999-12-31'))
"""
"""Years with 2000 and 2100, of which one has a leap day; with `MORE`, all 400 after which days of weeks repeat.

And days of years with fewer digits, of that when the calendar changed, and of the last one.
"""
ROWS = f"""
SELECT DISTINCT CAST(day AS TIMESTAMP) + make_dt_interval(0, 0, 0, second) AS ts
FROM ({DAYS}) LATERAL VIEW explode(array(pmod(hash(day), 86400), 86399.999999)) t AS second
UNION ALL SELECT explode(sequence(TIMESTAMP '2024-02-29 00:00:01', TIMESTAMP '2024-03-02', INTERVAL 37 SECONDS))
"""
IN_ORDER = (
    "yyyy", "yyyyMM", "yyyy-MM", "yyyy/MM/dd", "yyyyMMdd", "yyyy-MM-dd HH", "yyyyMMddHH", "yyyy-MM-dd HH:mm",
    "yyyy-MM-dd'T'HH:mm:ss", "yyyyMMddHHmmss", "yyyy.MM.", "yyyy年MM月dd日", "yyyy' month 'MM",
)  # fmt: skip
OTHER_BUCKETS = (
    "to_date(ts)", "CAST(ts AS DATE)", "date_trunc('second', ts)", "date_trunc('MINUTE', ts)",
    "date_trunc('hour', ts)", "date_trunc('DAY', ts)", "date_trunc('week', ts)", "date_trunc('month', ts)",
    "date_trunc('quarter', ts)", "date_trunc('YEAR', ts)", "date_format(date_trunc('month', ts), 'yyyy-MM')",
    "unix_timestamp(ts)", "unix_timestamp(ts) DIV 600",
)  # fmt: skip
FALLING = (
    "yyyy-M", "yyyy-M-M", "yyyy-MM-d", "yyyy-MMM", "yyyy-MMMM", "yyyy-D", "yyyy-dd", "yyyy-dd-MM", "yyyyHH", "yyyymm",
    "yyyy-MM HH", "yyyy-MM E", "yyyy E", "yyyy-MM-dd H", "yyyy-MM-dd h", "yyyy-MM-dd hh", "yyyy-MM-dd K",
    "yyyy-MM-dd k", "yyyy-MM-dd HH:ss", "MM-yyyy", "dd.MM.yyyy", "yy", "yyMM", "y", "y-MM", "MM", "dd", "HH", "mm",
    "ss", "D", "DDD", "E", "EEEE", "Q",
)  # fmt: skip
"""Patterns whose texts are not in the order of their times."""
NOT_READ = (
    "yyyy1MM", "yyyy'1'MM", "yyyy''MM", "yyyy[MM]", "yyyyy", "yyyy-DDD", "yyyy-QQQ", "yyyy-MM-dd E", "yyyy-MM-dd a",
    "yyyy-MM-dd HH:mm:ss.SSS", "yyyy-MM-MM", "'x'yyyy", "yyyyMM1", "yyyyMM٣",
)  # fmt: skip
"""Patterns whose texts are in the order of their times, but of which a job does not know when a period is over."""
REFUSED = ("YYYY", "YYYY-MM", "yyyy-ww", "yyyy-MM W", "yyyy-MM u", "yyyy-MM e", "yyyy'MM", "yyyy{MM}", "yyyy#MM", "yT")
"""Patterns that Spark does not take."""
ORDINARY = (
    "CAST(ts AS STRING)", "from_unixtime(unix_seconds(ts), 'yyyy-MM')",
    "unix_timestamp(CAST(ts AS STRING), 'yyyy-MM-dd')", "to_date(CAST(ts AS STRING), 'yyyy-MM-dd')",
    "substring(CAST(ts AS STRING), 1, 7)", "quarter(ts)", "month(ts)", "weekofyear(ts)", "dayofyear(ts)",
    "hour(ts)", "trunc(ts, 'MM')", "last_day(ts)", "to_timestamp(ts)", "date_trunc('microsecond', ts)",
    "date_trunc('no unit', ts)",
)  # fmt: skip
LAST = 253_402_300_799_999_999
"""The last microsecond of the year 9999."""
MOST = 200
"""Periods of an expression that are looked at."""


def formatted(pattern: str) -> str:
    return f'date_format(ts, "{pattern}")'


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    found = spark.sql(ROWS).coalesce(2).sortWithinPartitions("ts").cache()
    assert found.count() > 90_000
    yield found
    found.unpersist()


def values_of(rows: Any, expressions: Sequence[str]) -> tuple[pa.Array, list[pa.Array]]:
    """The timestamps, in order, as microseconds, and the values of expressions there."""
    named = (f"{one} AS c{n}" for n, one in enumerate(expressions))
    table = rows.selectExpr("unix_micros(ts) AS at", *named).toArrow().sort_by("at").combine_chunks()
    return table["at"].combine_chunks(), [table[f"c{n}"].combine_chunks() for n in range(len(expressions))]


def steps_back(values: pa.Array) -> int:
    """How often a value is less than the one before."""
    return int(pc.sum(pc.less(values[1:], values[:-1])).as_py())


def test_buckets_do_not_fall_and_each_has_its_last_timestamp(rows: Any) -> None:
    expressions = (*map(formatted, IN_ORDER), *OTHER_BUCKETS)
    at, columns = values_of(rows, expressions)
    for expression, values in zip(expressions, columns, strict=True):
        assert steps_back(values) == 0, expression
        bucket = bucket_of(expression)
        assert bucket is not None, expression
        encoded = (
            values
            if pa.types.is_string(values.type)
            else values.cast(pa.int32() if bucket.how == "date" else pa.int64())
        )
        new = pc.indices_nonzero(pc.not_equal(encoded[1:], encoded[:-1]))
        starts = [0, *(pc.add(new, 1).to_pylist()), len(at)]
        assert len(starts) > 120, expression
        stride = max(1, len(starts) // MOST)
        for number in {*range(0, len(starts) - 1, stride), *range(10), *range(len(starts) - 10, len(starts) - 1)}:
            first, after = starts[number], starts[number + 1]
            last = last_of(bucket, encoded[first].as_py())
            assert at[after - 1].as_py() <= last, (expression, values[first])
            assert after == len(at) or last < at[after].as_py(), (expression, values[first])
            assert last - at[first].as_py() < bucket.size or last > LAST, (expression, values[first])


def test_other_texts_fall_or_are_not_read_or_are_refused(spark: Any, rows: Any) -> None:
    few = rows.where("ts < TIMESTAMP '2030-01-01' OR ts > TIMESTAMP '9999-01-01'")
    _, falling = values_of(few, tuple(map(formatted, FALLING)))
    assert [pattern for pattern, values in zip(FALLING, falling, strict=True) if not steps_back(values)] == []
    _, others = values_of(few, tuple(map(formatted, NOT_READ)))
    assert [pattern for pattern, values in zip(NOT_READ, others, strict=True) if steps_back(values)] == []
    for pattern in REFUSED:
        with pytest.raises(Exception, match=r"(?i)pattern"):
            spark.sql(f"SELECT {formatted(pattern)} FROM VALUES (TIMESTAMP '2024-12-01') AS t(ts)").collect()
    for expression in (*map(formatted, (*FALLING, *NOT_READ, *REFUSED)), *ORDINARY):
        assert bucket_of(expression) is None, expression
