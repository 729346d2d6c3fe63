"""What is refused: the construct that is to blame is marked and named, and what its help says to write is decided."""

from __future__ import annotations

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import Checked, check_source
from streambound.criteria.vocabulary import Verdict

CATALOG = catalog_from_mapping({
    "streams": {
        "S": {
            "timestamp": "ts", "domain": {"k": [1, 9], "b": [1, 9]},
            "columns": {"k": "bigint", "b": "bigint", "x": "double", "xs": "array<int>", "ts": "timestamp"},
        },
        "T": {"timestamp": "ts", "domain": {"k": [1, 9]}, "columns": {"k": "bigint", "y": "bigint", "ts": "timestamp"}},
    },
    "relations": {"R": {"columns": {"k": "bigint", "c": "bigint"}, "rows": 10}},
})  # fmt: skip
SOON = "T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR"
ASKED = f"(SELECT 1 FROM T WHERE T.k = S.k AND {SOON})"
HOURS = "(SELECT window(ts, '1 hour') AS w, COUNT(*) AS n FROM S GROUP BY window(ts, '1 hour')) AS m"
NOT_IN = f"S.b NOT IN (SELECT T.y FROM T WHERE {SOON})"
BESIDE = "this is outside the query language so far: NOT IN beside another subquery below OR"
ORDERED = "ORDER BY … LIMIT is outside the query language"
NUMBERED = "ROW_NUMBER() OVER (ORDER BY {}) AS rn FROM (…) AS q, and write WHERE {}"
NOT_EXISTS = f"NOT EXISTS (SELECT 1 FROM T WHERE T.y = S.b AND {SOON})"


def ranked(query: str, order: str, condition: str) -> str:
    """The rows of a query whose number in an order satisfies a condition."""
    return (
        f"SELECT * FROM (SELECT q.*, ROW_NUMBER() OVER (ORDER BY {order}) AS rn FROM ({query}) AS q) WHERE {condition}"
    )


GROUPS = "SELECT k, COUNT(*) AS n FROM S GROUP BY k"
CASES: dict[str, tuple[str, str, str]] = {
    f"{GROUPS} ORDER BY n DESC LIMIT 3": (
        "ORDER BY",
        ORDERED,
        ranked(GROUPS, "n DESC", "rn <= 3"),
    ),
    f"{GROUPS} HAVING COUNT(*) > 1 ORDER BY COUNT(*) LIMIT 3": ("ORDER BY", ORDERED, ""),
    "SELECT S.k FROM S ORDER BY S.k, S.b DESC LIMIT 5 OFFSET 2": (
        "ORDER BY",
        ORDERED,
        ranked("SELECT k, b FROM S", "k, b DESC", "rn > 2 AND rn <= 7"),
    ),
    "SELECT k, RANK() OVER (PARTITION BY k ORDER BY x) AS r FROM S ORDER BY r": (
        "ORDER BY",
        "ORDER BY is outside the query language",
        "",
    ),
    f"{GROUPS} LIMIT 3": ("LIMIT", "LIMIT is outside the query language", ""),
    "SELECT k FROM S FETCH FIRST 5 ROWS ONLY": (
        "FETCH",
        "FETCH is outside the query language",
        "",
    ),
    "SELECT COUNT(*) AS n FROM (SELECT k FROM S ORDER BY k LIMIT 3) AS q": (
        "ORDER BY",
        ORDERED,
        f"SELECT COUNT(*) AS n FROM ({ranked('SELECT k FROM S', 'k', 'rn <= 3')}) AS q",
    ),
    "SELECT k FROM S FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'": (
        "'2024-01-01 00:00:00'",
        "AS OF elsewhere than beside JOIN is outside the query language",
        "SELECT k FROM S",
    ),
    f"SELECT S.k FROM S WHERE {NOT_IN} OR {NOT_IN.replace('S.b', 'S.k')}": (
        NOT_IN.replace("S.b", "S.k"),
        BESIDE,
        "",
    ),
    f"SELECT S.k, S.k IN (SELECT T.k FROM T WHERE {SOON}) AS e FROM S": (
        f"S.k IN (SELECT T.k FROM T WHERE {SOON})",
        "this is outside the query language so far: IN with a subquery over streams inside an expression",
        f"SELECT S.k, EXISTS {ASKED} AS e FROM S",
    ),
    "SELECT k, (SELECT T.y FROM T WHERE T.k = S.k) AS e FROM S": (
        "(SELECT T.y FROM T WHERE T.k = S.k)",
        "this is outside the query language so far: a value that a subquery over a stream has for each row",
        "SELECT k, (SELECT MAX(T.y) FROM T WHERE T.k = S.k AND T.ts BETWEEN S.ts - INTERVAL 1 HOUR AND S.ts) AS e "
        "FROM S",
    ),
    f"SELECT m.n FROM T JOIN {HOURS} ON window(T.ts, '1 hour') = m.w": (
        "window(T.ts, '1 hour')",
        "window inside a condition or an expression is outside the query language",
        f"SELECT m.n FROM (SELECT *, window(ts, '1 hour') AS w FROM T) AS t JOIN {HOURS} ON t.w = m.w",
    ),
    "WITH RECURSIVE a AS (SELECT k FROM R UNION SELECT b.k FROM b), b AS (SELECT a.k FROM a) SELECT k FROM a": (
        "b",
        "mutual recursion is outside the query language: a and b read each other",
        "",
    ),
    "SELECT k, CUME_DIST() OVER (ORDER BY ts) FROM S": (
        "CUME_DIST() OVER (ORDER BY ts)",
        "this is outside the query language so far: the window function CUME_DIST",
        "",
    ),
    "SELECT k, COUNT(DISTINCT x) OVER (PARTITION BY k ORDER BY ts) AS n FROM S": (
        "COUNT(DISTINCT x) OVER (PARTITION BY k ORDER BY ts)",
        "this is outside the query language so far: DISTINCT, FILTER or IGNORE NULLS over a window",
        "",
    ),
    "SELECT k, ARRAY_AGG(x) FROM S GROUP BY k": (
        "ARRAY_AGG(x)",
        "the aggregate ARRAY_AGG is outside the query language",
        "",
    ),
    "SELECT k FROM S WHERE k = ANY (SELECT k FROM T)": (
        "k FROM T",
        "ANY and ALL with a subquery over streams are outside the query language",
        "SELECT k FROM S WHERE k IN (SELECT k FROM T)",
    ),
    "SELECT S.k FROM S, UNNEST(S.xs) AS u(e)": ("(S.xs) AS u(e)", "UNNEST in FROM is outside the query language", ""),
    "SELECT S.k FROM S ASOF JOIN T ON S.ts >= T.ts": ("ASOF", "ASOF JOIN is outside the query language", ""),
    "SELECT DISTINCT ON (k) k, b FROM S": (
        "k",
        "DISTINCT ON is outside the query language",
        "SELECT k, b FROM (SELECT k, b, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM S) WHERE n = 1",
    ),
    "SELECT k FROM S TABLESAMPLE (10 PERCENT)": (
        "TABLESAMPLE",
        "TABLESAMPLE is outside the query language",
        "SELECT k FROM S WHERE pmod(hash(k), 10) = 0",
    ),
    "SELECT (SELECT MAX(c) FROM R SORT BY 1) AS m, k FROM S": ("SORT BY", "SORT BY is outside the query language", ""),
    "SELECT k FROM S CLUSTER BY k": ("CLUSTER BY", "CLUSTER BY is outside the query language", "SELECT k FROM S"),
    "SELECT k FROM S EMIT CHANGES": ("EMIT", "EMIT is outside the query language", "SELECT k FROM S"),
    "SELECT k FROM db.S": ("db.S", "qualified names are outside the query language", "SELECT k FROM S"),
    "SELECT k FROM S WHERE b BETWEEN SYMMETRIC 3 AND 1": (
        "b BETWEEN SYMMETRIC 3 AND 1",
        "BETWEEN SYMMETRIC is outside the query language",
        "SELECT k FROM S WHERE b BETWEEN LEAST(3, 1) AND GREATEST(3, 1)",
    ),
    "SELECT S.k FROM S JOIN R VERSION AS OF 3 AS r ON r.k = S.k": (
        "3",
        "VERSION AS OF is outside the query language",
        "SELECT S.k FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts AS r ON r.k = S.k",
    ),
    "SELECT S.k FROM S JOIN R FOR SYSTEM_TIME BETWEEN S.ts AND S.ts AS r ON r.k = S.k": (
        "S.ts AND S.ts",
        "SYSTEM_TIME BETWEEN is outside the query language",
        "",
    ),
    "SELECT k FROM S WHERE k IN (SELECT k FROM R ORDER BY k FETCH FIRST 3 ROWS WITH TIES)": (
        "FETCH",
        "LIMIT or FETCH of more than a number of rows (WITH TIES, PERCENT, BY) is outside the query language",
        "SELECT k FROM S WHERE k IN (SELECT k FROM R ORDER BY k FETCH FIRST 3 ROWS ONLY)",
    ),
    "APPLY CHANGES INTO t FROM STREAM S KEYS (k) SEQUENCE BY ts": ("APPLY", "APPLY is outside the query language", ""),
    "CREATE FLOW f AS AUTO CDC INTO t FROM STREAM(S) KEYS (k) SEQUENCE BY ts": (
        "AUTO",
        "AUTO CDC is outside the query language",
        "",
    ),
}


def checked(sql: str) -> Checked:
    (item,) = check_source(SourceText("q.sql", sql), CATALOG)
    return item


@pytest.mark.parametrize("sql", CASES)
def test_the_construct_is_blamed_and_the_help_leads_out(sql: str) -> None:
    mark, message, instead = CASES[sql]
    item = checked(sql)
    (told,) = item.diagnostics
    assert item.verdict is Verdict.UNSUPPORTED
    assert (str(told.code), told.message, sql[told.span.start : told.span.end]) == ("SB110", message, mark)
    assert told.help
    if instead:
        assert checked(instead).verdict in (Verdict.BOUNDED, Verdict.UNBOUNDED), checked(instead).diagnostics


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (f"{GROUPS} ORDER BY n DESC LIMIT 3", NUMBERED.format("n DESC", "rn <= 3")),
        (f"{GROUPS} ORDER BY COUNT(*) LIMIT 3", NUMBERED.format("…", "rn <= 3")),
        ("SELECT k FROM S ORDER BY S.k LIMIT 5 OFFSET 2", NUMBERED.format("k", "rn > 2 AND rn <= 7")),
    ],
)  # fmt: skip
def test_the_way_out_of_limit_is_written_for_the_query(sql: str, words: str) -> None:
    assert words in checked(sql).diagnostics[0].help


def test_a_name_that_is_defined_further_down_is_no_unknown_stream() -> None:
    sql = "WITH a AS (SELECT k FROM b), b AS (SELECT k FROM S) SELECT k FROM a"
    (told,) = checked(sql).diagnostics
    assert (str(told.code), told.message, told.help) == (
        "SB101",
        "'b' is defined below a, which reads it",
        "move it before a",
    )
    assert checked("WITH b AS (SELECT k FROM S), a AS (SELECT k FROM b) SELECT k FROM a").verdict is Verdict.BOUNDED
