"""Statements that mean the same remember as much, however they are written: verdict and M of each form."""

from __future__ import annotations

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.dataflow.judge import judge

_COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "k": "string", "ts": "timestamp"}
_STREAM = {
    "timestamp": "ts",
    "columns": _COLUMNS,
    "domain": {"b": [0, 2], "k": ["x", "y"]},
    "max_rate": {"rows": 10, "per": "1 second"},
}
_CHANGES = {"timestamp": "ts", "op": "op", "key": ["a"]}
_RELATION = {"columns": {"a": "bigint", "y": "bigint"}, "rows": 50, "changes": _CHANGES}
CATALOG = catalog_from_mapping({"streams": dict.fromkeys(("S", "T"), _STREAM), "relations": {"R": _RELATION}})


def size(sql: str) -> int | str:
    """M, or what there is instead."""
    (statement,) = some_statements(SourceText("q.sql", sql), None, CATALOG.models)
    found = judge(statement, CATALOG)
    assert found is not None, sql
    if found.entries is None:
        return "no rule" if found.outside else "unbounded"
    return found.entries.text if found.entries.value is None else found.entries.value


# --- conditions -------------------------------------------------------------------------------------------------------

CONDITIONS = {
    "contradictions": ("FALSE", "a > 3 AND a < 2", "b > 1 AND b < 1", "k = 'x' AND k = 'y'", "a IS NULL AND a > 1"),
    "inequalities": (
        "a > 3",
        "NOT (NOT (a > 3))",
        "NOT (a <= 3)",
        "a > 3 AND 1 = 1",
        "1 = 1 AND a > 3",
        "a > 3 OR FALSE",
        "3 < a",
        "a - 3 > 0",
        "CASE WHEN a > 3 THEN 1 END IS NOT NULL",
        "IF(a > 3, TRUE, FALSE)",
        "COALESCE(a > 3, FALSE)",
        "(a > 3) IS TRUE",
        "a > 3 AND a > 1",
    ),
    "lists": (
        "b IN (0, 1)",
        "b = 0 OR b = 1",
        "b BETWEEN 0 AND 1",
        "b >= 0 AND b <= 1",
        "b IN (1, 0, 1)",
        "NOT (b NOT IN (0, 1))",
        "NOT (b < 0 OR b > 1)",
        "b > -1 AND 2 > b",
        "CASE WHEN b = 0 THEN 'x' WHEN b = 1 THEN 'y' END IS NOT NULL",
    ),
    "texts": ("k IN ('x')", "k = 'x'", "'x' = k", "NOT (k <> 'x')", "k = 'x' AND k IS NOT NULL"),
    "conjunctions": (
        "a = 1 AND b = 2",
        "b = 2 AND a = 1",
        "NOT (a <> 1 OR b <> 2)",
        "a = 1 AND b > 1 AND b <= 2",
        "b = 2 AND (a = 1 OR a = 1 AND b = 0)",
    ),
    "ranges": (
        "a BETWEEN 0 AND 5",
        "a >= 0 AND a <= 5",
        "a IN (0, 1, 2, 3, 4, 5)",
        "NOT (a < 0 OR a > 5)",
        "a BETWEEN 0 AND 9 AND a BETWEEN -4 AND 5",
        "a + 1 BETWEEN 1 AND 6",
    ),
    "other values": ("b <> 1", "b < 1 OR b > 1", "NOT (b = 1)", "b NOT IN (1)", "b IN (0, 2)", "1 <> b"),
}
_WINDOW = "T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE"
ABOVE = {
    "groups": "SELECT a, b, SUM(v) FROM S WHERE {} GROUP BY a, b",
    "values": "SELECT COUNT(DISTINCT b) FROM S WHERE {}",
    "windows": "SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE {} GROUP BY window(ts, '1 minute'), a",
    "LAG": "SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM S WHERE {}) q",
    "first rows": (
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S WHERE {}) q WHERE r <= 2"
    ),
    "anti join": "SELECT S.b FROM (SELECT * FROM S WHERE {}) S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.b)",
    "outer join": f"SELECT S.a, T.v FROM (SELECT * FROM S WHERE {{}}) S LEFT JOIN T ON S.b = T.b AND {_WINDOW}",
    "set operation": "SELECT b FROM S WHERE {} EXCEPT SELECT b FROM T",
    "view": (
        "SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S WHERE {} GROUP BY b) q "
        "JOIN T ON T.b = q.b AND T.v BETWEEN 0 AND 3"
    ),
}


@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("name", CONDITIONS)
def test_equivalent_conditions_remember_as_much(name: str, above: str) -> None:
    wanted, *others = (size(ABOVE[above].format(text)) for text in CONDITIONS[name])
    assert [found for found in others if found != wanted] == []


def test_conditions_are_told_apart() -> None:
    """What is compared is not the same for all conditions."""
    assert len({size(ABOVE["values"].format(forms[0])) for forms in CONDITIONS.values()}) > 3


# --- statements -------------------------------------------------------------------------------------------------------

FORMS = {
    "a subquery that renames": (
        "SELECT b, COUNT(*) FROM S GROUP BY b",
        "SELECT q.x, COUNT(*) FROM (SELECT b AS x, v AS w FROM S) q GROUP BY q.x",
        "SELECT x, COUNT(*) FROM (SELECT y AS x FROM (SELECT b AS y FROM S) p) q GROUP BY x",
        "WITH q AS (SELECT b AS x FROM S) SELECT x, COUNT(*) FROM q GROUP BY x",
        "SELECT x, n FROM (SELECT b, COUNT(*) FROM S GROUP BY b) AS q(x, n)",
        "SELECT b, COUNT(*) FROM (SELECT * FROM S) S GROUP BY b",
        "SELECT b, COUNT(1) FROM S GROUP BY b",
        "SELECT b, COUNT(*) FROM S GROUP BY 1",
        "SELECT b, COUNT(b IS NULL) FROM S GROUP BY b",
        "SELECT b, SUM(1) FROM S GROUP BY b",
    ),
    "a subquery that renames, below LAG": (
        "SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM S) q",
        "SELECT x FROM (SELECT LAG(w) OVER (PARTITION BY c ORDER BY t) AS x FROM (SELECT b AS c, v AS w, ts "
        "AS t FROM S) p) q",
        "WITH p AS (SELECT b AS c, v AS w, ts AS t FROM S), q AS (SELECT LAG(w) OVER (PARTITION BY c ORDER "
        "BY t) AS x FROM p) SELECT x FROM q",
    ),
    "a subquery that renames, in a join": (
        "SELECT S.a, T.v FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT p.x, q.y FROM (SELECT a AS x, ts AS t FROM S) p JOIN (SELECT a AS x, v AS y, ts AS t FROM T) "
        "q ON p.x = q.x AND q.t BETWEEN p.t AND p.t + INTERVAL 1 MINUTE",
    ),
    "sides of an outer join": (
        "SELECT S.a, T.v FROM S LEFT JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT p.x, q.y FROM (SELECT a AS x, ts AS t FROM S) p LEFT JOIN (SELECT a AS x, v AS y, ts AS t "
        "FROM T) q ON p.x = q.x AND q.t BETWEEN p.t AND p.t + INTERVAL 1 MINUTE",
        "SELECT S.a, T.v FROM T RIGHT JOIN S ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT S.a, T.v FROM T RIGHT JOIN S ON T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE AND T.a = S.a",
    ),
    "BETWEEN in an outer join": (
        "SELECT S.a, T.v FROM S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT S.a, T.v FROM S LEFT JOIN (SELECT * FROM T WHERE TRUE) T ON S.b = T.b AND T.ts >= S.ts AND "
        "T.ts <= S.ts + INTERVAL 1 MINUTE",
    ),
    "complementary branches": (
        "SELECT b, COUNT(*) FROM S GROUP BY b",
        "SELECT b, COUNT(*) FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a <= 0 OR a IS "
        "NULL) q GROUP BY b",
    ),
    "branches of a union beside OR": (
        "SELECT b, COUNT(*) FROM S WHERE a > 0 OR a < -5 GROUP BY b",
        "SELECT b, COUNT(*) FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) q GROUP BY b",
    ),
    "branches beside OR, below LAG": (
        "SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM S WHERE a > 0 OR a < -5) q",
        "SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM (SELECT * FROM S WHERE a > "
        "0 UNION ALL SELECT * FROM S WHERE a < -5) p) q",
    ),
    "branches beside OR, in an anti join": (
        "SELECT T.b FROM T WHERE NOT EXISTS (SELECT 1 FROM S WHERE S.b = T.b AND (S.a > 0 OR S.a < -5))",
        "SELECT T.b FROM T WHERE NOT EXISTS (SELECT 1 FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * "
        "FROM S WHERE a < -5) S WHERE S.b = T.b)",
    ),
    "branches beside OR, in an outer join": (
        "SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 0 OR a < -5) S LEFT JOIN T ON S.b = T.b AND T.ts "
        "BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) S LEFT "
        "JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
    ),
    "branches beside OR, in windows": (
        "SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a > 0 OR a < -5 GROUP BY window(ts, "
        "'1 minute'), a",
        "SELECT window(ts, '1 minute').start, a, COUNT(*) FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT "
        "* FROM S WHERE a < -5) q GROUP BY window(ts, '1 minute'), a",
    ),
    "branches beside OR, each row once": (
        "SELECT DISTINCT b, k FROM S WHERE a > 0 OR a < -5",
        "SELECT b, k FROM S WHERE a > 0 UNION SELECT b, k FROM S WHERE a < -5",
        "SELECT DISTINCT b, k FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) q",
    ),
    "ON beside WHERE": (
        "SELECT S.a, T.v FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT S.a, T.v FROM S, T WHERE S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT S.a, T.v FROM S CROSS JOIN T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE AND T.a = S.a",
        "SELECT S.a, T.v FROM T JOIN S ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT S.a, T.v FROM T JOIN S ON T.a = S.a WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
        "SELECT q.a, q.v FROM (SELECT S.a, S.ts AS s, T.ts AS t, T.v FROM S JOIN T USING (a)) q WHERE q.t "
        "BETWEEN q.s AND q.s + INTERVAL 1 MINUTE",
    ),
    "ON beside WHERE, of a view": (
        "SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN T ON T.b = q.b AND T.v "
        "BETWEEN 0 AND 3",
        "SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q, T WHERE T.b = q.b AND T.v BETWEEN 0 AND 3",
        "SELECT q.n, T.v FROM T JOIN (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q ON T.b = q.b AND T.v "
        "BETWEEN 0 AND 3",
        "SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN (SELECT * FROM T WHERE v "
        "BETWEEN 0 AND 3) T ON q.b = T.b",
        "SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN T USING (b) WHERE T.v BETWEEN 0 AND 3",
    ),
    "USING of what is not bounded": (
        "SELECT S.a, T.v FROM S LEFT JOIN T ON S.a = T.a",
        "SELECT a, T.v FROM S LEFT JOIN T USING (a)",
    ),
    "USING in an outer join": (
        "SELECT S.b, T.k FROM S LEFT JOIN T ON S.b = T.b",
        "SELECT b, T.k FROM S LEFT JOIN T USING (b)",
        "SELECT b, T.k FROM T RIGHT JOIN S USING (b)",
    ),
    "USING in a full join": (
        "SELECT COALESCE(S.b, T.b), T.k FROM S FULL JOIN T ON S.b = T.b",
        "SELECT b, T.k FROM S FULL JOIN T USING (b)",
    ),
    "HAVING beside a filter": (
        "SELECT b, COUNT(*) AS n FROM S GROUP BY b HAVING COUNT(*) > 3",
        "SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q WHERE n > 3",
        "WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b) SELECT b, n FROM q WHERE NOT n <= 3",
    ),
    "HAVING of a key": (
        "SELECT a, COUNT(*) AS n FROM S GROUP BY a HAVING a BETWEEN 0 AND 4",
        "SELECT * FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) q WHERE a BETWEEN 0 AND 4",
        "SELECT a, COUNT(*) AS n FROM S WHERE a BETWEEN 0 AND 4 GROUP BY a",
        "SELECT a, COUNT(*) AS n FROM (SELECT * FROM S WHERE a BETWEEN 0 AND 4) S GROUP BY a",
    ),
    "EXISTS beside IN": (
        "SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.b = S.b)",
        "SELECT S.v FROM S WHERE S.b IN (SELECT T.b FROM T)",
        "SELECT S.v FROM S LEFT SEMI JOIN T ON T.b = S.b",
        "SELECT S.v FROM S WHERE EXISTS (SELECT * FROM T WHERE S.b = T.b)",
    ),
    "EXISTS beside IN, in a window": (
        "SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + "
        "INTERVAL 1 MINUTE)",
        "SELECT S.v FROM S WHERE S.a IN (SELECT T.a FROM T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE)",
        "SELECT S.v FROM S LEFT SEMI JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
    ),
    "NOT EXISTS beside an anti join": (
        "SELECT S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts "
        "+ INTERVAL 1 MINUTE)",
        "SELECT S.v FROM S LEFT ANTI JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE",
    ),
    "DISTINCT beside GROUP BY": (
        "SELECT DISTINCT b, k FROM S",
        "SELECT b, k FROM S GROUP BY b, k",
        "SELECT b, k FROM S UNION SELECT b, k FROM S",
        "SELECT DISTINCT * FROM (SELECT DISTINCT b, k FROM S) q",
        "SELECT DISTINCT k, b FROM S",
    ),
    "DISTINCT beside GROUP BY, of a view": (
        "SELECT DISTINCT n FROM (SELECT b, COUNT(*) % 2 AS n FROM S GROUP BY b) q",
        "SELECT n FROM (SELECT b, COUNT(*) % 2 AS n FROM S GROUP BY b) q GROUP BY n",
    ),
    "the first rows": (
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r <= 2",
        "SELECT a FROM S QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) <= 2",
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r < 3",
        "WITH q AS (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) SELECT a FROM q "
        "WHERE r IN (1, 2)",
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE NOT r > 2",
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r = 1 OR r = 2",
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r BETWEEN 1 AND 2",
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER w AS r FROM S WINDOW w AS (PARTITION BY b ORDER BY v)) q "
        "WHERE r <= 2",
        "SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) - 1 AS r FROM S) q WHERE r <= 1",
    ),
    "COUNT of some rows": (
        "SELECT b, COUNT(*) FILTER (WHERE v > 3) FROM S GROUP BY b",
        "SELECT b, SUM(CASE WHEN v > 3 THEN 1 ELSE 0 END) FROM S GROUP BY b",
        "SELECT b, COUNT(CASE WHEN v > 3 THEN 1 END) FROM S GROUP BY b",
        "SELECT b, COUNT_IF(v > 3) FROM S GROUP BY b",
        "SELECT b, SUM(IF(v > 3, 1, 0)) FROM S GROUP BY b",
    ),
    "COUNT of different values": (
        "SELECT COUNT(DISTINCT b) FROM S",
        "SELECT COUNT(b) FROM (SELECT DISTINCT b FROM S) q",
        "SELECT COUNT(b) FROM (SELECT b FROM S GROUP BY b) q",
    ),
    "sums over a join": (
        "SELECT S.b, SUM(S.v + T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b",
        "SELECT S.b, SUM(S.v) + SUM(T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b",
        "SELECT b, SUM(x) FROM (SELECT S.b, S.v + T.v AS x FROM S JOIN T ON S.b = T.b) q GROUP BY b",
        "SELECT T.b, SUM(S.v + T.v) FROM T, S WHERE S.b = T.b GROUP BY T.b",
    ),
    "sides of INTERSECT": (
        "SELECT b, k FROM S INTERSECT SELECT b, k FROM T",
        "SELECT b, k FROM T INTERSECT SELECT b, k FROM S",
    ),
    "EXCEPT beside MINUS": (
        "SELECT b, k FROM S EXCEPT SELECT b, k FROM T",
        "SELECT b, k FROM S MINUS SELECT b, k FROM T",
    ),
    "WITH beside subqueries": (
        "SELECT q.b, q.n, p.n FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN (SELECT b, COUNT(*) AS "
        "n FROM T GROUP BY b) p ON p.b = q.b",
        "WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP "
        "BY b) SELECT q.b, q.n, p.n FROM q JOIN p ON p.b = q.b",
        "WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP "
        "BY b) SELECT q.b, q.n, p.n FROM q, p WHERE p.b = q.b",
        "WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP "
        "BY b) SELECT q.b, q.n, p.n FROM p JOIN q ON p.b = q.b",
        "WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP "
        "BY b) SELECT b, q.n, p.n FROM p JOIN q USING (b)",
    ),
    "<> beside < or >": (
        "SELECT S.b, T.b FROM S JOIN T ON S.b <> T.b",
        "SELECT S.b, T.b FROM S JOIN T ON S.b < T.b OR S.b > T.b",
        "SELECT S.b, T.b FROM S JOIN T ON NOT (S.b = T.b)",
    ),
    "windows of time": (
        "SELECT window(ts, '1 minute').start AS w, a, COUNT(*) FROM S GROUP BY window(ts, '1 minute'), a",
        "SELECT w, a, COUNT(*) FROM (SELECT window(ts, '1 minute').start AS w, a FROM S) q GROUP BY w, a",
        "SELECT date_trunc('minute', ts) AS w, a, COUNT(*) FROM S GROUP BY date_trunc('minute', ts), a",
        "SELECT w, a, COUNT(*) FROM (SELECT date_trunc('minute', ts) AS w, a FROM S) q GROUP BY w, a",
        "SELECT a, window.end, COUNT(*) FROM S GROUP BY a, window(ts, '60 seconds')",
        "SELECT window_start, a, COUNT(*) FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY "
        "window_start, a",
    ),
    "a relation that is joined": (
        "SELECT R.y, COUNT(*) FROM S JOIN R ON S.b = R.a GROUP BY R.y",
        "SELECT R.y, COUNT(*) FROM R JOIN S ON S.b = R.a GROUP BY R.y",
        "SELECT R.y, COUNT(*) FROM R, S WHERE S.b = R.a GROUP BY R.y",
        "SELECT R.y, COUNT(1) FROM S JOIN R ON R.a = S.b AND 1 = 1 GROUP BY R.y",
        "SELECT y, COUNT(*) FROM (SELECT R.y FROM S JOIN R ON S.b = R.a) q GROUP BY y",
    ),
    "averages": (
        "SELECT b, AVG(v) FROM S GROUP BY b",
        "SELECT b, SUM(v) / COUNT(v) FROM S GROUP BY b",
        "SELECT b, MEAN(v) FROM S GROUP BY b",
    ),
    "the greatest value over a join": (
        "SELECT S.b, MAX(T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b",
        "SELECT S.b, MAX(T.v) FROM T JOIN S ON S.b = T.b GROUP BY S.b",
        "SELECT b, MAX(v) FROM (SELECT S.b, T.v FROM S JOIN T ON S.b = T.b) q GROUP BY b",
        "SELECT T.b, MAX(T.v) FROM T JOIN S ON S.b = T.b GROUP BY T.b",
        "SELECT S.b, -MIN(-T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b",
    ),
    "a value of a subquery, of what is not bounded": (
        "SELECT a FROM S WHERE v > (SELECT AVG(v) FROM T)",
        "SELECT a FROM S, (SELECT AVG(v) AS m FROM T) q WHERE v > q.m",
        "WITH q AS (SELECT AVG(v) AS m FROM T) SELECT a FROM S JOIN q ON v > m",
        "SELECT a FROM S WHERE (SELECT AVG(v) FROM T) < v",
    ),
    "a value of a subquery": (
        "SELECT b FROM S WHERE b > (SELECT AVG(v) FROM T)",
        "SELECT b FROM S, (SELECT AVG(v) AS m FROM T) q WHERE b > q.m",
        "WITH q AS (SELECT AVG(v) AS m FROM T) SELECT b FROM S JOIN q ON b > m",
    ),
    "rows without a partner": (
        "SELECT S.b FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.b)",
        "SELECT S.b FROM S LEFT ANTI JOIN T ON T.b = S.b",
        "SELECT S.b FROM S LEFT JOIN T ON T.b = S.b WHERE T.ts IS NULL",
    ),
    "running sums": (
        "SELECT b, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS UNBOUNDED PRECEDING) FROM S",
        "SELECT b, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM S",
        "SELECT b, SUM(v) OVER (PARTITION BY b ORDER BY ts) FROM S",
    ),
}
UNBOUNDED = {
    "USING of what is not bounded",
    "EXISTS beside IN",
    "a value of a subquery, of what is not bounded",
}


@pytest.mark.parametrize("name", FORMS)
def test_equivalent_statements_remember_as_much(name: str) -> None:
    wanted, *others = map(size, FORMS[name])
    assert isinstance(wanted, int) is (name not in UNBOUNDED)
    assert [found for found in others if found != wanted] == []
