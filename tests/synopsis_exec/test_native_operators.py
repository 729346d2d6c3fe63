"""A statement over streams whose times are integers, as Spark's own operators take it: over timestamps."""

from __future__ import annotations

import pytest

from streambound.api import catalog_of, statement_of
from streambound.recheck.oracle.time_buckets import with_spark_buckets
from streambound.synopsis_exec.native_operators import native_operators
from support.catalogs import PLAIN
from support.plans import plan_of
from support.product import parsed

WINDOW = "WINDOW(S.ts, '60 SECOND')"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT S.ts DIV 60 AS w, COUNT(*) FROM S GROUP BY S.ts DIV 60 HAVING ts DIV 60 > 2",
            f"SELECT UNIX_SECONDS({WINDOW}.start) DIV 60 AS w, COUNT(*) FROM S GROUP BY {WINDOW} "
            f"HAVING UNIX_SECONDS({WINDOW}.start) DIV 60 > 2",
        ),
        (
            "SELECT S.ts DIV 60 AS w, a FROM S GROUP BY w, 2",
            f"SELECT UNIX_SECONDS({WINDOW}.start) DIV 60 AS w, a FROM S GROUP BY {WINDOW}, 2",
        ),
        (
            "SELECT S.ts FROM S LEFT JOIN T ON T.ts BETWEEN 3 + S.ts AND S.ts + 10 AND 5 >= T.ts - S.ts",
            "SELECT UNIX_SECONDS(S.ts) AS ts FROM S LEFT JOIN T ON "
            "T.ts BETWEEN S.ts + INTERVAL '3' SECOND AND S.ts + INTERVAL '10' SECOND "
            "AND S.ts + INTERVAL '5' SECOND >= T.ts",
        ),
        ("SELECT MAX(ts) FROM S WHERE ts > 4", "SELECT MAX(UNIX_SECONDS(ts)) FROM S WHERE UNIX_SECONDS(ts) > 4"),
        # What a subquery or a common table expression returns is an integer.
        (
            "SELECT x.ts FROM (SELECT ts, a FROM S) AS x WHERE x.ts < 3",
            "SELECT x.ts FROM (SELECT UNIX_SECONDS(ts) AS ts, a FROM S) AS x WHERE x.ts < 3",
        ),
        (
            "WITH S AS (SELECT ts FROM T) SELECT ts FROM S",
            "WITH S AS (SELECT UNIX_SECONDS(ts) AS ts FROM T) SELECT ts FROM S",
        ),
        ("SELECT ts, COUNT(*) FROM S GROUP BY ts", "SELECT UNIX_SECONDS(ts) AS ts, COUNT(*) FROM S GROUP BY ts"),
    ],
)
def test_integers_become_timestamps(sql: str, expected: str) -> None:
    assert native_operators(parsed(sql), catalog_of(PLAIN), ()).sql == expected


def test_duplicates_are_dropped_apart() -> None:
    found = native_operators(parsed("SELECT DISTINCT a FROM S"), catalog_of(PLAIN), ())
    assert (found.sql, found.distinct) == ("SELECT a FROM S", True)


def test_a_star_would_return_the_timestamp() -> None:
    assert "* would return it" in native_operators(parsed("SELECT S.* FROM S"), catalog_of(PLAIN), ()).refused


def test_a_table_function_of_flink_has_no_watermark_left() -> None:
    catalog = catalog_of({"streams": {"S": {"timestamp": "at", "columns": {"a": "bigint", "at": "timestamp"}}}})
    sql = (
        "SELECT window_start, COUNT(*) FROM TUMBLE(TABLE S, DESCRIPTOR(at), INTERVAL '1' MINUTE) GROUP BY window_start"
    )
    tree = statement_of(sql, catalog, None).statement.tree
    assert tree is not None
    assert "no table functions" in native_operators(with_spark_buckets(tree, catalog), catalog, ()).refused


def test_timestamps_stay_as_they_are() -> None:
    catalog = {"streams": {"S": {"timestamp": "at", "columns": {"a": "bigint", "at": "timestamp"}}}}
    sql = "SELECT * FROM S WHERE at > TIMESTAMP '2024-01-01 00:00:00'"
    found = native_operators(parsed(sql), catalog_of(catalog), plan_of("SELECT a FROM S WHERE a = 1", catalog).inputs)
    assert found.sql == "SELECT * FROM S WHERE at > CAST('2024-01-01 00:00:00' AS TIMESTAMP)"
    assert [(view.table, view.time, view.columns) for view in found.views] == [("S", "at", ("`a`", "`at`"))]


def test_joins_may_have_a_key() -> None:
    catalog = {
        "streams": {"a b": {"timestamp": "at", "columns": {"k": "string", "at": "timestamp", "tags": "array<int>"}}},
        "relations": {"R": {"columns": {"k": "string"}}},
    }
    sql = (
        "SELECT x.k FROM `a b` x, R WHERE x.k = R.k UNION ALL "
        "SELECT y.k FROM `a b` y, `a b` z WHERE y.k = 'a' AND y.at < z.at"
    )
    found = native_operators(parsed(sql), catalog_of(catalog), plan_of(sql, catalog).inputs, joins=True)
    assert "_one" not in found.sql and found.keyed.count("_one") == 2
    assert found.keyed.endswith("AND `y`.`_one` = `z`.`_one`")
    assert {(view.table, view.time) for view in found.views} == {("R", None), ("a b", "at")}
    assert all("AS _one" in view.columns[-1] and "timestamp_seconds" not in str(view) for view in found.views)
    assert any("`tags` STRING" in view.schema for view in found.views)
