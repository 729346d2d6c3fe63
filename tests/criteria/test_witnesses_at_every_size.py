"""Witnesses hold at every size: what only near times, few values or few rows tell apart proves nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.columns import Column
from streambound.analyzer.types import parse_type
from streambound.criteria.check import executed
from streambound.criteria.witnesses.constants import DAY, Constants
from support.circuits import checked_circuit
from support.grown import SAMPLED, SIZE, grown

pytestmark = pytest.mark.xdist_group("corpus")  # its cases are checked once, in one process

DATA = Path(__file__).parent.parent / "data"
CASES = [
    case
    for name in ("circuits.jsonl", "corpus.jsonl")
    for line in (DATA / name).read_text().splitlines()
    if (case := json.loads(line)).get("verdict") == "unbounded"
]
PARTS, EACH = 8, 24
PAYMENTS: dict[str, Any] = {
    "streams": {
        "payments": {
            "timestamp": "ts",
            "columns": {"payment_id": "bigint", "card_id": "bigint", "ts": "timestamp"},
            "max_rate": {"rows": 500, "per": "1 second"},
        }
    }
}
NARROW: dict[str, Any] = {
    "streams": {"S": {"timestamp": "ts", "columns": {"a": "tinyint", "b": "bigint", "name": "string", "ts": "bigint"}}}
}
SOON = (
    "SELECT payment_id FROM (SELECT payment_id, ts, {} OVER (PARTITION BY card_id ORDER BY ts{}) AS pt "
    "FROM payments) x WHERE ts < pt + INTERVAL {}"
)
ROWS = " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING"
SECONDS = "unix_timestamp(ts) - unix_timestamp(pt)"
LAGGED = (
    "SELECT payment_id FROM (SELECT *, LAG(ts{}) OVER (PARTITION BY card_id ORDER BY ts) AS pt FROM payments) x WHERE "
)
NEAR = [
    LAGGED.format("") + f"{SECONDS} < 60",
    LAGGED.format("") + f"{SECONDS} < 10",
    LAGGED.format(", 2") + f"{SECONDS} BETWEEN 3 AND 3600",
    LAGGED.format("") + "ts < pt + INTERVAL 1 MINUTE OR pt IS NULL AND card_id = 5",
    SOON.format("MAX(ts)", ROWS, "1 HOUR"),
]
FEW = ["a", "b % 97", "b & 63", "CASE WHEN b > 5 THEN 1 ELSE 3 END", "(b DIV 10) % 10", "left(name, 2)"]


@pytest.mark.parametrize("sql", NEAR)
def test_rows_that_only_near_times_tell_apart_prove_nothing(sql: str) -> None:
    """With max_rate only so many rows are near the newest one."""
    assert str(checked_circuit(sql, PAYMENTS).verdict) != "unbounded"


@pytest.mark.parametrize("sql", [SOON.format("LEAD(ts)", "", "1 MINUTE"), SOON.format("MIN(ts)", ROWS, "1 MINUTE")])
def test_rows_that_matter_however_old_they_are_do(sql: str) -> None:
    """The last row of each card is printed when the next one comes; of two rows before, any old one is the first."""
    checked = checked_circuit(sql, PAYMENTS)
    assert str(checked.verdict) == "unbounded"
    assert grown(checked)


@pytest.mark.parametrize("value", FEW)
def test_what_has_few_values_tells_no_elements_apart(value: str) -> None:
    of_sums = f"SELECT {value} AS x, COUNT(*) OVER (ORDER BY {value}) AS r FROM S"
    assert str(checked_circuit(of_sums, NARROW).verdict) != "unbounded"


@pytest.mark.parametrize("value", ["b", "b * 3", "b - 7"])
def test_what_has_many_values_does(value: str) -> None:
    checked = checked_circuit(f"SELECT {value} AS x, SUM({value}) OVER (ORDER BY {value}) AS r FROM S", NARROW)
    assert str(checked.verdict) == "unbounded"
    assert grown(checked)


def test_no_more_rows_are_sent_than_are_counted() -> None:
    """What is shown of the first 30 rows only needs 30 rows."""
    counted = "SELECT b FROM (SELECT b, SUM(b) OVER (ORDER BY b) AS r, COUNT(*) OVER () AS n FROM S) q WHERE n < {}"
    assert str(checked_circuit(counted.format(30), NARROW).verdict) != "unbounded"


@pytest.mark.parametrize(
    "sql, days",
    [
        ("SELECT payment_id FROM payments WHERE ts > ts - INTERVAL 3 MONTHS AND ts > ts - INTERVAL 2 DAYS", 93),
        ("SELECT payment_id FROM payments WHERE ts < ts + INTERVAL 5 WEEKS", 35),
        ("SELECT date_trunc('year', ts) AS y, COUNT(*) FROM payments GROUP BY date_trunc('year', ts)", 366),
        ("SELECT window(ts, '40 days') AS w, COUNT(*) FROM payments GROUP BY window(ts, '40 days')", 40),
    ],
)
def test_lengths_of_time_are_summed(sql: str, days: int) -> None:
    assert _constants(sql, PAYMENTS).duration >= days * DAY


def test_divisors_are_multiplied_and_numbers_summed() -> None:
    found = _constants("SELECT (b DIV 10) % 7 AS x, COUNT(*) FROM S WHERE b > 5 GROUP BY (b DIV 10) % 7", NARROW)
    assert found.multiple % 70 == 0
    assert found.total >= 22


@pytest.mark.parametrize(
    "kind, fresh",
    [("bigint", True), ("int", True), ("double", True), ("string", True), ("decimal(12,2)", True), ("date", True),
     ("tinyint", False), ("smallint", False), ("boolean", False), ("decimal(2,0)", False)],
)  # fmt: skip
def test_a_type_has_always_one_more_value_or_few(kind: str, fresh: bool) -> None:
    parsed = parse_type(kind)
    assert parsed is not None
    assert _constants("SELECT b FROM S", NARROW).is_fresh(Column("c", parsed)) is fresh


def test_a_part_of_a_digest_is_opaque() -> None:
    found = _constants("SELECT left(md5(name), 1) AS x, COUNT(*) FROM S GROUP BY left(md5(name), 1)", NARROW)
    assert found.opaque == {"name"}


def test_a_stream_in_two_places_may_have_other_derived_columns_in_each() -> None:
    """A row that is an element of one place is no row with the columns that were derived for the other."""
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "v": "bigint", "ts": "bigint"}}}}
    joined = "FROM S AS x JOIN S AS y ON x.v = y.v"
    sql = f"SELECT MIN(y.ts) AS m {joined} AND x.a <= y.a EXCEPT ALL SELECT COUNT(y.ts) AS n {joined}"
    assert str(checked_circuit(sql, catalog).verdict) in ("unknown", "unbounded")


def _constants(sql: str, catalog: Mapping[str, Any]) -> Constants:
    statement = executed(checked_circuit(sql, catalog))
    assert statement is not None
    return Constants.of(statement)


def _cases(part: int) -> Iterator[dict[str, Any]]:
    yield from CASES[part :: 3 * PARTS]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_witnesses_of_all_cases_hold_at_larger_sizes(part: int) -> None:
    held = 0
    for number, case in enumerate(_cases(part)):
        checked = checked_circuit(case["sql"], case["catalog"])
        assert grown(checked, SIZE), case["sql"]
        assert number % EACH or grown(checked, SAMPLED), case["sql"]
        held += 1
    assert held > 3
