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
