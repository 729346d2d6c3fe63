"""Literals with a suffix, numbers for texts and ``*`` in odd places have a verdict, or words, and are no defect."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.constants import STRING, Folded, numeral
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.expressions.registry import BY_NAME
from support.circuits import checked_circuit

CATALOG: dict[str, Any] = {
    "streams": {
        name: {
            "timestamp": "ts",
            "columns": {"b": "bigint", "c": "bigint", "d": "double", "s": "string", "ts": "timestamp"},
            "max_per_timestamp": 4,
        }
        for name in ("S", "T")
    }
}


@pytest.mark.parametrize(
    "condition",
    [
        "HAVING COUNT(*) > 5L",
        "HAVING SUM(c) > 0.5D",
        "HAVING AVG(c) > -1.5BD",
        "HAVING COUNT(*) % 5S = 2Y",
        "HAVING 1e1 < COUNT(*)",
        "HAVING MEDIAN(c) > 1.5F",
    ],
)
def test_a_witness_is_found_for_literals_with_a_suffix(condition: str) -> None:
    assert checked_circuit(f"SELECT b, COUNT(*) AS n FROM S GROUP BY b {condition}", CATALOG).verdict == "unbounded"


def test_a_percentile_at_a_literal_with_a_suffix() -> None:
    sql = "SELECT PERCENTILE(c, {0}) AS p FROM S WHERE c BETWEEN 1 AND 9"
    assert {checked_circuit(sql.format(part), CATALOG).verdict for part in ("0.5", "0.5D", "0.5BD")} == {"bounded"}
    assert checked_circuit(sql.format("1.5D"), CATALOG).verdict == "unsupported"


@pytest.mark.parametrize("condition", ["WHERE s LIKE 5 GROUP BY b", "GROUP BY b HAVING sign(MAX(s)) > 0"])
def test_a_search_goes_on_where_a_value_is_not_known(condition: str) -> None:
    assert checked_circuit(f"SELECT b, COUNT(*) AS n FROM S {condition}", CATALOG).verdict in ("unknown", "unbounded")


def _value(name: str, *arguments: Folded) -> object:
    function = BY_NAME[name]
    assert function.value is not None
    return function.value(function.kind(arguments), arguments)


def test_what_is_given_for_a_text_is_cast_to_one() -> None:
    assert _value("like", Folded("5", STRING), numeral("5")) == 1
    assert _value("instr", Folded("a12", STRING), numeral("12")) == 2
    assert _value("substring", numeral("12345"), numeral("2"), numeral("3")) == "234"
    with pytest.raises(NotKnown):
        _value("repeat", Folded("a", STRING), Folded("2", STRING))


@pytest.mark.parametrize(
    ("sql", "column", "what"),
    [
        *((f"SELECT {name}(*) FROM S", 9 + len(name), "*") for name in ("MIN", "SUM", "BOOL_AND", "MEDIAN", "abs")),
        ("SELECT COUNT(DISTINCT *) FROM S", 23, "*"),
        ("SELECT COUNT(*, b) FROM S", 14, "*"),
        ("SELECT COUNT(S.*) FROM S", 14, "S.*"),
        ("SELECT RANK(*) OVER (ORDER BY ts) FROM S", 13, "*"),
        ("SELECT LAG(*) OVER (ORDER BY ts) FROM S", 12, "*"),
        ("SELECT b FROM S GROUP BY b HAVING MIN(*) > 1", 39, "*"),
        ("SELECT MAX(*) AS m FROM (SELECT COUNT(*) AS n FROM S GROUP BY b) q", 12, "*"),
        ("SELECT q1.b FROM S q1 JOIN T q2 ON q1.* = q2.*", 36, "q1.*"),
        ("SELECT q1.b FROM S q1 LEFT JOIN T q2 ON q1.b = q2.b AND q1.*", 57, "q1.*"),
        ("SELECT q1.b FROM S q1 WHERE EXISTS (SELECT 1 FROM T q2 WHERE q1.* = q2.*)", 62, "q1.*"),
        ("SELECT b, SUM(c) OVER (PARTITION BY S.* ORDER BY ts) FROM S", 37, "S.*"),
        ("SELECT COUNT(*) FROM S GROUP BY *", 33, "*"),
    ],
)
def test_a_star_that_is_no_list_is_refused_where_it_stands(sql: str, column: int, what: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    (found,) = checked.diagnostics
    assert (str(found.code), found.span.column) == ("SB110", column)
    assert found.message == f"{what} is outside the query language here"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM S",
        "SELECT COUNT(*) OVER (ORDER BY ts) AS n FROM S",
        "SELECT COUNT(*) FILTER (WHERE b > 1) FROM S",
        "SELECT S.*, 1 AS one FROM S",
        "SELECT * EXCEPT (b) FROM S",
    ],
)
def test_others_stay_what_they_are(sql: str) -> None:
    assert checked_circuit(sql, CATALOG).verdict == "bounded"
