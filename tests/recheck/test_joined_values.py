"""Groups of semi, anti and outer joins (B6): `recheck` counts them, and refuses what is too small."""

from __future__ import annotations

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from support.derivations import Outcome, checked, derived, falsified, named

STREAM = {
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "domain": {"a": [1, 9], "b": [0, 2]},
}
PAIR = {"k": "bigint", "y": "bigint"}
CATALOG = {
    "streams": {"S": STREAM, "T": STREAM},
    "relations": {
        "R": {"columns": PAIR, "changes": {"timestamp": "ts", "op": "op"}, "rows": 6},
        "V": {"columns": PAIR, "rows": 4},
    },
}
STATEMENTS = (
    "SELECT b, COUNT(*) AS n FROM S WHERE NOT EXISTS (SELECT 1 AS one FROM T WHERE T.a = S.a) GROUP BY b",
    "SELECT b, COUNT(*) AS n FROM S WHERE a NOT IN (SELECT T.a FROM T) GROUP BY b",
    "SELECT S.b, COUNT(T.a) AS n FROM S LEFT JOIN T ON S.a = T.a AND T.v > 0 GROUP BY S.b",
    "SELECT S.b, MAX(T.a) AS m FROM S LEFT JOIN T ON S.a = T.a GROUP BY S.b",
    "SELECT S.b, T.b AS c, COUNT(DISTINCT T.a) AS n FROM S FULL JOIN T ON S.a = T.a WHERE S.b > 0 GROUP BY S.b, T.b",
    "SELECT S.b, COUNT(*) AS n FROM S LEFT JOIN T ON S.a = T.a WHERE S.b BETWEEN 1 AND 7 GROUP BY S.b",
    "SELECT MAX(b) AS n FROM S WHERE EXISTS (SELECT 1 AS one FROM T WHERE T.a = S.a)",
    "SELECT MIN(R.y) AS m, SUM(S.v) AS n FROM S JOIN R ON S.b = R.k",
    "SELECT R.y, COUNT(*) AS n FROM R JOIN S ON R.k = S.b AND S.a = 1 GROUP BY R.y",
    "SELECT V.k, COUNT(DISTINCT V.k) AS n FROM V LEFT JOIN S ON V.k = S.b GROUP BY V.k",
    "SELECT S.b, SUM(R.y) AS total FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts ON R.k = S.a GROUP BY S.b",
)


@pytest.mark.parametrize("sql", STATEMENTS)
def test_groups_of_a_join_are_counted_by_the_values_of_its_columns(sql: str) -> None:
    (one,) = derived(sql, catalog_from_mapping(CATALOG))
    assert checked(one) == (Outcome.ACCEPTED, "")
    smaller = [
        document
        for path, how, document in falsified(one.document)
        if how == "less" and named(path) in ("states.size.value", "states.count.columns.size")
    ]
    assert smaller
    assert {checked(one, document)[0] for document in smaller} == {Outcome.REJECTED}
