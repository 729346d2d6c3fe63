"""Subqueries and queries of relations in DuckDB's SQL: their texts, and what is left to Spark and why."""

from __future__ import annotations

from itertools import count
from typing import Any

import pyarrow as pa
import pytest

from streambound.analyzer.constants import BOOLEAN, kind_of
from streambound.analyzer.engine_queries import AskingExpression, engine_asking, engine_query
from streambound.analyzer.expressions.engine_sql import NotInEngine
from streambound.analyzer.types import DataType
from streambound_runtime.expressions import query

COLUMNS = {"a": kind_of("bigint"), "i": kind_of("int"), "s": kind_of("string"), "x": kind_of("double"),
           "d": kind_of("date"), "o": kind_of("array<int>")}  # fmt: skip
RELATIONS = {"r": COLUMNS, "q": COLUMNS}


def asking(text: str, kind: DataType = BOOLEAN, condition: bool = True) -> AskingExpression | NotInEngine:
    numbers = count(1)
    return engine_asking(text, COLUMNS, kind, RELATIONS, lambda: f"subquery {next(numbers)}", condition)


@pytest.mark.parametrize(
    ("text", "sql", "subqueries"),
    [
        ("NOT EXISTS(SELECT 1 FROM `R` AS `R` WHERE s = 'x' AND R.a = `_row`.`i`)",
         'NOT "subquery 1"',
         ['EXISTS(SELECT 1 FROM "R" AS "R" WHERE "R"."s" = \'x\' AND "R"."a" = CAST("_row"."i" AS BIGINT))']),
        ("`i` IN (SELECT a FROM `R` AS `R`) OR `x` > 1",
         '"subquery 1" OR ("x" > 1)',
         ['(CAST("_row"."i" AS BIGINT)) IN (SELECT "R"."a" FROM "R" AS "R")']),
        ("10 DIV `a` > (SELECT COUNT(*) FROM `R` AS `R`) AND EXISTS(SELECT 1 FROM `Q` AS `Q`)",
         '(CASE WHEN',
         ['EXISTS(SELECT 1 FROM "Q" AS "Q")', '(SELECT COUNT(*) AS "count(*)" FROM "R" AS "R")']),
        ("EXISTS(SELECT 1 FROM `R` AS `R` WHERE EXISTS(SELECT 1 FROM `Q` AS `Q` WHERE Q.a = R.a AND i = 1))",
         '"subquery 1"',
         ['EXISTS(SELECT 1 FROM "R" AS "R" WHERE EXISTS(SELECT 1 FROM "Q" AS "Q" WHERE "Q"."a" = "R"."a" AND '
          '"Q"."i" = 1))']),
    ],
)  # fmt: skip
def test_subqueries_are_columns_of_the_row(text: str, sql: str, subqueries: list[str]) -> None:
    found = asking(text)
    assert isinstance(found, AskingExpression), found
    assert found.sql.startswith(sql)
    assert sorted(one.lower() for _, one in found.subqueries) == sorted(one.lower() for one in subqueries)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT a % 2 AS k, COUNT(*) + 1 AS n, SUM(i) AS m FROM `R` AS `R` GROUP BY a % 2", [(0, 2, 2), (1, 3, 4)]),
        ("SELECT (a % 2) * 10 AS k FROM `R` AS `R` GROUP BY a % 2 HAVING MAX(s) > 'b'", [(10,)]),
        ("SELECT COUNT(DISTINCT s) AS n, COUNT(*) FILTER (WHERE a > 1) AS m, AVG(a) AS v FROM `R` AS `R`",
         [(3, 2, 2.0)]),
        ("SELECT DISTINCT y.a FROM `R` AS `y` LEFT JOIN `Q` AS `z` ON y.a = z.a + 1 WHERE z.a IS NULL", [(1,)]),
        ("SELECT q.* FROM (SELECT * FROM (SELECT a, i FROM `R` AS `R`) AS `k`(`u`, `v`) WHERE u = v + 0) AS `q`",
         [(1, 1), (2, 2), (3, 3)]),
        ("SELECT a FROM `R` AS `R` EXCEPT ALL SELECT i FROM `Q` AS `Q` WHERE i < 3", [(3,)]),
        ("SELECT a FROM `R` AS `R` WHERE a NOT IN (SELECT a FROM `Q` AS `Q` WHERE Q.s > R.s)", [(1,), (2,), (3,)]),
        ("SELECT y.a FROM `R` AS `y` LEFT SEMI JOIN `Q` AS `z` ON y.a = z.a + 1 JOIN `R` AS `w` ON w.a = y.a "
         "WHERE w.i < 3", [(2,)]),
        ("SELECT y.a FROM `R` AS `y` LEFT ANTI JOIN `Q` AS `z` ON y.a = z.a + 1 AND z.s = 'a'", [(1,), (3,)]),
        ("SELECT COUNT(*) AS n FROM `R` AS `R` WHERE a > 9 HAVING COUNT(*) = 0", [(0,)]),
        ("SELECT a FROM `R` AS `R` UNION SELECT CAST(NULL AS BIGINT) FROM `Q` AS `Q`", [(None,), (1,), (2,), (3,)]),
    ],
)  # fmt: skip
def test_queries_give_what_they_give_in_spark(sql: str, rows: list[tuple[Any, ...]]) -> None:
    text = engine_query(sql, RELATIONS)
    assert isinstance(text, str), text
    table = pa.table({"a": [1, 2, 3], "i": pa.array([1, 2, 3], pa.int32()), "s": ["a", "b", "c"]})
    found = query(text, R=table, Q=table).to_pylist()
    assert sorted((tuple(row.values()) for row in found), key=str) == sorted(rows, key=str)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT SUM(x) AS n FROM `R` AS `R`", "SUM of double"),
        ("SELECT STDDEV(a) AS n FROM `R` AS `R`", "order of rows"),
        ("SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS n FROM `R` AS `R`", "window"),
        ("SELECT a FROM `R` AS `R` ORDER BY a LIMIT 1", "LIMIT: it is not among"),
        ("SELECT SOUNDEX(s) AS n FROM `R` AS `R`", "soundex"),
        ("SELECT o FROM `R` AS `R`", "array<int>"),
        ("SELECT y.a FROM `R` AS `y` JOIN `Q` AS `z` USING (a)", "USING"),
        (
            "SELECT y.a FROM `R` AS `y` LEFT SEMI JOIN `Q` AS `z` ON y.a = z.a RIGHT JOIN `R` AS `w` ON w.a = y.a",
            "SEMI JOIN",
        ),
        ("SELECT a FROM `R` AS `R` JOIN `Q` AS `Q` ON R.i = Q.i", "there are several"),
        ("SELECT y.a FROM `R` AS `y` LEFT JOIN `Q` AS `z` ON y.a IN (SELECT a FROM `Q` AS `Q`)", "stands in ON"),
        ("SELECT s, a FROM `R` AS `R` GROUP BY s", "no key"),
        ("SELECT 1 AS n FROM `R` AS `R` GROUP BY 1", "constant"),
        ("SELECT a IN (SELECT a FROM `Q` AS `Q`) AS v FROM `R` AS `R`", "it is a value"),
        ("SELECT d FROM `R` AS `R` EXCEPT SELECT s FROM `Q` AS `Q`", "cast one side"),
        ("SELECT DATE_ADD(d, 1) AS n FROM `R` AS `R`", "years"),
        ("SELECT a FROM `T` AS `T`", "no relation"),
        ("WITH k AS (SELECT a FROM `R` AS `R`) SELECT a FROM k AS k", "WITH"),
    ],
)
def test_what_is_left_to_spark_is_told(sql: str, words: str) -> None:
    found = engine_query(sql, RELATIONS)
    assert isinstance(found, NotInEngine), found
    assert words in found.words


@pytest.mark.parametrize(
    ("text", "kind", "condition", "there"),
    [
        ("`a` IN (SELECT a FROM `R` AS `R`)", "boolean", True, True),
        ("`a` IN (SELECT a FROM `R` AS `R`)", "boolean", False, False),
        ("NOT (`a` IN (SELECT a FROM `R` AS `R`) AND (`s` = 'x' OR `i` > 1))", "boolean", True, True),
        ("CASE WHEN `a` IN (SELECT a FROM `R` AS `R`) THEN 1 ELSE 0 END", "int", False, True),
        ("CASE `s` = 'x' WHEN `a` IN (SELECT a FROM `R` AS `R`) THEN 1 ELSE 0 END", "int", False, False),
        ("COALESCE(`a` IN (SELECT a FROM `R` AS `R`), TRUE)", "boolean", True, False),
        ("(`a` IN (SELECT a FROM `R` AS `R`)) IS NULL", "boolean", True, False),
        ("EXISTS(SELECT 1 FROM `R` AS `R` WHERE COALESCE(a IN (SELECT a FROM `Q` AS `Q`), TRUE))", "boolean", True,
         False),
        ("EXISTS(SELECT 1 FROM `R` AS `R`)", "boolean", False, True),
    ],
)  # fmt: skip
def test_in_is_asked_only_whether_it_is_true(text: str, kind: str, condition: bool, there: bool) -> None:
    assert isinstance(asking(text, kind_of(kind), condition), AskingExpression) is there
