"""USING between queries: as DuckDB shows it, ``*`` and names without an alias among it, within M."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import checked_circuit, circuit_plan, prints_as_duckdb, proved

STREAM = {"columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}, "timestamp": "ts"}
CATALOG: dict[str, Any] = {"streams": {name: {**STREAM, "domain": {"a": [0, 9], "b": [0, 2]}} for name in ("S", "T")}}
P = "(SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p"
Q = "(SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q"
R = "(SELECT MAX(v) AS n, b FROM T GROUP BY b) AS r"
QUERIES = {
    "all columns": f"SELECT * FROM {P} JOIN {Q} USING (b)",
    "all columns, left": f"SELECT * FROM {Q} LEFT JOIN {P} USING (b)",
    "its name": f"SELECT b + 1 AS c, m FROM {P} JOIN {Q} USING (b) WHERE b > 0",
    "both sides": f"SELECT p.b AS c, q.b AS d, n FROM {P} LEFT JOIN {Q} USING (b)",
    "semi": f"SELECT b, n FROM {P} LEFT SEMI JOIN {Q} USING (b)",
    "anti": f"SELECT * FROM {P} LEFT ANTI JOIN {Q} USING (b)",
    "twice": f"SELECT * FROM {P} JOIN {Q} USING (b) LEFT JOIN {R} USING (b, n)",
    "all columns, right": f"SELECT * FROM {Q} RIGHT JOIN {P} USING (b)",
    "all columns, full": f"SELECT * FROM {Q} FULL JOIN {P} USING (b)",
    "its name, full": f"SELECT b, m - n AS d FROM {P} FULL JOIN {Q} USING (b) WHERE b > 0 OR n > 2",
    "both sides, right": f"SELECT b, p.b AS c, q.b AS d FROM {P} RIGHT JOIN {Q} USING (b)",
    "of a key": f"SELECT b, COUNT(*) AS c, MAX(m) AS x FROM {Q} JOIN {P} USING (b) GROUP BY b HAVING b > 0",
    "beside ON": f"SELECT x.*, r.n AS k FROM (SELECT * FROM {P} JOIN {Q} USING (b)) AS x JOIN {R} ON x.b = r.b",
    "in one query, and not in another": f"SELECT x.c FROM (SELECT COUNT(*) AS c FROM (SELECT * FROM {P} JOIN {Q} "
    f"USING (b)) AS y) AS x JOIN (SELECT p.b AS k, q.b AS l FROM {P} JOIN {Q} ON p.n = q.m) AS z ON z.k = x.c",
    **{
        f"of streams, {how}": f"SELECT b, S.b AS c, T.b AS d, T.a AS e FROM S {how} JOIN T USING (b) "
        "WHERE T.b > 0 OR S.a < 5"
        for how in ("LEFT", "RIGHT", "FULL")
    },
    "of streams, all columns": "SELECT t.*, s.a AS x, s.b AS y FROM (SELECT b, a FROM S) AS s "
    "LEFT JOIN (SELECT a, b FROM T) AS t USING (b)",
    "of streams, semi": "SELECT S.b, b AS c FROM S LEFT SEMI JOIN T USING (b, a)",
    "of streams, grouped": "SELECT T.b AS k, COUNT(*) AS n FROM S LEFT JOIN T USING (b) GROUP BY T.b",
}


STARS = {
    "SELECT T.* EXCEPT (v, ts, a) FROM S LEFT JOIN T ON S.b = T.b": "SELECT T.b FROM S LEFT JOIN T ON S.b = T.b",
    "SELECT S.* EXCEPT (v, ts, b), T.b AS c FROM S FULL JOIN T ON S.b = T.b": "SELECT S.a, T.b AS c FROM S FULL JOIN T "
    "ON S.b = T.b",
    "SELECT * EXCEPT (v, ts, a) FROM S RIGHT JOIN T USING (b)": "SELECT b FROM S RIGHT JOIN T USING (b)",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT t.* EXCEPT (v, ts) FROM S LEFT JOIN T AS t USING (b)) AS q": "SELECT "
    "COUNT(*) AS n FROM (SELECT DISTINCT t.a, t.b FROM S LEFT JOIN T AS t USING (b)) AS q",
}
"""``*`` that shows some columns, and the same as a list."""


@pytest.mark.parametrize("sql", STARS)
def test_columns_that_a_star_leaves_out_are_not_kept(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG, duck=sql.replace("EXCEPT (", "EXCLUDE ("))
    assert proved(sql, CATALOG)[1] == proved(STARS[sql], CATALOG)[1]


@pytest.mark.parametrize("sql", QUERIES.values(), ids=list(QUERIES))
def test_the_columns_are_those_of_duckdb(sql: str) -> None:
    duck = sql.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI").replace("EXCEPT (", "EXCLUDE (")
    prints_as_duckdb(sql, CATALOG, duck=duck)


def test_a_name_that_one_side_lacks() -> None:
    (told,) = checked_circuit(f"SELECT * FROM {P} JOIN {Q} USING (n)", CATALOG).diagnostics
    assert str(told.code) == "SB102" and told.message == "USING names 'n', which both sides must have"


def test_the_columns_that_it_names_come_first_as_in_spark() -> None:
    swapped = "(SELECT COUNT(*) AS n, b FROM S GROUP BY b) AS p"
    checked = checked_circuit(f"SELECT * FROM {swapped} LEFT JOIN {Q} USING (b)", CATALOG)
    assert [column.name for column in circuit_plan(checked).columns] == ["b", "n", "m"]


def test_a_name_that_a_full_join_has_made_of_two() -> None:
    (told,) = checked_circuit(f"SELECT * FROM {P} FULL JOIN {Q} USING (b) JOIN {R} USING (b)", CATALOG).diagnostics
    assert str(told.code) == "SB110" and "has made one column already" in told.message and told.help == "write ON"


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT T.b FROM S JOIN S AS U ON S.ts = U.ts LEFT JOIN T USING (b)", "USING (b"),
        ("SELECT T.b FROM S LEFT JOIN T AS U ON S.b = U.b LEFT JOIN T USING (b)", "USING (b"),
        ("SELECT b FROM S LEFT JOIN T USING (b) JOIN S AS U ON U.ts = S.ts", "SELECT b"),
    ],
)
def test_a_name_that_several_columns_have_is_ambiguous(sql: str, place: str) -> None:
    (told,) = checked_circuit(sql, CATALOG).diagnostics
    assert str(told.code) == "SB103"
    assert sql[: told.span.end].endswith(place)


def test_the_name_that_one_side_lacks_is_marked() -> None:
    sql = "SELECT S.b FROM S LEFT JOIN T USING (b, nope)"
    (told,) = checked_circuit(sql, CATALOG).diagnostics
    assert (str(told.code), sql[told.span.start : told.span.end]) == ("SB102", "nope")


def test_a_semi_join_shows_one_side() -> None:
    (told,) = checked_circuit("SELECT T.b FROM S LEFT SEMI JOIN T USING (b)", CATALOG).diagnostics
    assert str(told.code) == "SB101"
