"""Names of columns above operators: each means one column, or the error says which and where."""

from __future__ import annotations

import pytest

import streambound

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
domain = { a = [0, 3] }

[streams.T]
timestamp = "ts"
columns = { b = "bigint", y = "bigint", ts = "bigint" }
"""
COUNTS = "(SELECT a, COUNT(*) AS n FROM S GROUP BY a) v"


@pytest.mark.parametrize(
    ("sql", "code", "at", "help"),
    [
        (f"SELECT v.zz FROM {COUNTS}", "SB102", "v.zz", ""),
        (f"SELECT v.aa FROM {COUNTS}", "SB102", "v.aa", "did you mean v.a?"),
        (f"SELECT a FROM {COUNTS} WHERE m > 3", "SB102", "m", ""),
        (f"SELECT w.a FROM {COUNTS}", "SB101", "w.a", ""),
        ("SELECT S.a, T.q FROM S LEFT JOIN T ON S.b = T.b", "SB102", "T.q", "did you mean T.y?"),
        ("SELECT S.a, T.y FROM S LEFT JOIN T AS t2 ON S.b = t2.b", "SB101", "T.y", "did you mean t2?"),
        ("SELECT S.a, b FROM S LEFT JOIN T ON S.b = T.b", "SB103", "b", "write S.b"),
        ("SELECT a, MAX(n) FROM (SELECT a, b, COUNT(*) n FROM S GROUP BY a, b) v WHERE q.a = 1 GROUP BY a", "SB101",
         "q.a", ""),
        ("SELECT S.a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.q = S.a)", "SB102", "T.q", "did you mean T.y?"),
        ("SELECT a FROM S UNION SELECT q FROM T", "SB102", "q", ""),
        ("SELECT c.n FROM (SELECT a AS n, b AS n FROM S GROUP BY a, b) c", "SB103", "c.n",
         "give each of them a name of its own, with AS"),
    ],
)  # fmt: skip
def test_a_name_that_means_no_column_or_several_is_an_error_at_its_place(
    sql: str, code: str, at: str, help: str
) -> None:
    (result,) = streambound.check(sql, CATALOG)
    (diagnostic,) = result.diagnostics
    assert (result.verdict, diagnostic.code.value) == ("error", code)
    start = sql.rindex(f" {at}") + 1 if code == "SB103" and at == "b" else sql.index(at)
    assert diagnostic.span.column == start + 1
    assert diagnostic.help == help


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT A, v.N FROM {COUNTS} ORDER BY n",
        "SELECT b FROM S LEFT JOIN T USING (b) WHERE S.b BETWEEN 0 AND 3",
        "SELECT S.a FROM S WHERE S.a NOT IN (SELECT T.b FROM T WHERE T.b BETWEEN 0 AND 2 AND a < 3)",
        "SELECT a AS b, COUNT(*) FROM S GROUP BY a HAVING COUNT(*) > 1",
    ],
)
def test_a_name_may_be_of_any_case_of_a_row_outside_or_of_both_sides_once(sql: str) -> None:
    (result,) = streambound.check(sql, CATALOG)
    assert result.verdict != "error", result.diagnostics
