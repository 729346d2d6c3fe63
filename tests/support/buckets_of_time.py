"""The last timestamp of a bucket of time, as the engine computes it."""

from __future__ import annotations

from functools import cache

import duckdb

from streambound_runtime.engine import time_buckets
from streambound_runtime.operators.circuit_plan import TimeBucket


@cache
def _database() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(config={"threads": 1})
    database.execute("SET TimeZone = 'UTC'")
    return database


def last_of(bucket: TimeBucket, value: int | str) -> int:
    """The last timestamp of the bucket with this encoded value, in microseconds."""
    sql = time_buckets.last_of(bucket, "v", isinstance(value, str))
    ((last,),) = _database().execute(f"SELECT {sql} FROM (SELECT ? AS v)", [value]).fetchall()
    return int(last)
