"""USING between queries: as DuckDB shows it, ``*`` and names without an alias among it, within M."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import checked_circuit, circuit_plan, random_rows, run_circuit

STREAM = {"columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}, "timestamp": "ts"}
CATALOG: dict[str, Any] = {"streams": {name: {**STREAM, "domain": {"a": [0, 9], "b": [0, 2]}} for name in ("S", "T")}}
P = "(SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p"
Q = "(SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q"
R = "(SELECT MAX(v) AS n, b FROM T GROUP BY b) AS r"


def test_a_name_that_one_side_lacks() -> None:
    (told,) = checked_circuit(f"SELECT * FROM {P} JOIN {Q} USING (n)", CATALOG).diagnostics
    assert str(told.code) == "SB102" and told.message == "USING names 'n', which both sides must have"


def test_the_columns_that_it_names_come_first_as_in_spark() -> None:
    swapped = "(SELECT COUNT(*) AS n, b FROM S GROUP BY b) AS p"
    checked = checked_circuit(f"SELECT * FROM {swapped} LEFT JOIN {Q} USING (b)", CATALOG)
    assert [column.name for column in circuit_plan(checked).columns] == ["b", "n", "m"]


def test_a_name_that_a_full_join_has_made_of_two_is_the_first_that_is_there() -> None:
    checked = checked_circuit(
        f"SELECT b, p.n, q.m, r.n AS x FROM {P} FULL JOIN {Q} USING (b) JOIN {R} USING (b)", CATALOG
    )
    by_on = checked_circuit(
        f"SELECT COALESCE(p.b, q.b) AS b, p.n, q.m, r.n AS x FROM {P} FULL JOIN {Q} ON p.b = q.b JOIN {R} "
        "ON COALESCE(p.b, q.b) = r.b",
        CATALOG,
    )
    assert str(checked.verdict) == str(by_on.verdict) == "bounded"
    assert [column.name for column in circuit_plan(checked).columns] == ["b", "n", "m", "x"]
    rows = random_rows(1, 3)
    assert run_circuit(checked, rows).prints(run_circuit(by_on, rows).printed)


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
