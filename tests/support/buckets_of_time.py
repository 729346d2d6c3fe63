"""The bucket of time that a job closes groups by, and its last timestamp, as the engine computes it."""

from __future__ import annotations

from functools import cache

import duckdb

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.dataflow.decision import of_judgement
from streambound.criteria.dataflow.judge import judge
from streambound.synopsis_exec.operations.plan import plan_of_operators
from streambound_runtime.engine import time_buckets
from streambound_runtime.operators.circuit_plan import TimeBucket


@cache
def _database() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(config={"threads": 1})
    database.execute("SET TimeZone = 'UTC'")
    return database


CATALOG = catalog_from_mapping(
    {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "timestamp"}, "max_per_timestamp": 2}}}
)


def bucket_of(expression: str) -> TimeBucket | None:
    """The bucket by which the job of groups by an expression over a timestamp forgets them; None for one without."""
    sql = f"SELECT {expression} AS v, COUNT(*) AS n FROM S GROUP BY {expression}"
    (statement,) = split_statements(SourceText("q.sql", sql))
    judgement = judge(statement, CATALOG)
    if judgement is None or judgement.entries is None:
        return None
    return next(iter(plan_of_operators(of_judgement(judgement), statement).closing), None)


def last_of(bucket: TimeBucket, value: int | str) -> int:
    """The last timestamp of the bucket with this encoded value, in microseconds."""
    sql = time_buckets.last_of(bucket, "v", isinstance(value, str))
    given = "CAST(? AS BIGINT)" if bucket.how == "div" else "?"
    ((last,),) = _database().execute(f"SELECT {sql} FROM (SELECT {given} AS v)", [value]).fetchall()
    return int(last)
