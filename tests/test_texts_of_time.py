"""Texts of time that are buckets, and those that are texts like any other."""

from __future__ import annotations

from ast import literal_eval
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest

from streambound.analyzer.expressions.dialect import parsed
from streambound.criteria.operators.buckets import unit_of_pattern
from streambound.recheck.circuits.buckets import function_of
from streambound_runtime.operators.circuit_plan import TimeBucket
from support.buckets_of_time import last_of
from support.choices import Choices
from support.circuits import certificate_of, checked_circuit, proof_of

CATALOG: dict[str, Any] = {
    "streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "timestamp"}, "max_per_timestamp": 2}}
}
UNITS = {
    "yyyy": "year", "yyyyMM": "month", "yyyy/MM/": "month", "yyyy-MM-dd": "day", "yyyyMMddHH": "hour",
    "yyyy-MM-dd'T'HH:mm": "minute", "yyyy年MM月dd日 HH:mm:ss": "second",
}  # fmt: skip
ORDINARY = (
    "yyyy1MM", "yyyy'1'MM", "yyyy''MM", "yyyy-MM'", "yyyy[MM]", "yyyy-M", "yyyy-M-M", "yy-yyMM", "yyyyy", "yyyy-dd",
    "MM-yyyy", "YYYY-MM", "yyyy-ww", "yyyy-D", "yyyy-MM-dd E", "yyyy-MM-dd hh", "yyyy-MM-dd a", "yyyy-MMM",
    "yyyyMM٣", "y", "yy", "G yyyy", "uuuu", "", "-",
)  # fmt: skip
LASTS = {
    "year": ("2024", "2024-12-31 23:59:59"), "month": ("2024年12月", "2024-12-31 23:59:59"),
    "day": ("2024/02/29", "2024-02-29 23:59:59"), "hour": ("2024-02-29T07", "2024-02-29 07:59:59"),
    "minute": ("202402290758", "2024-02-29 07:58:59"), "second": ("2024-02-29 07:58:03", "2024-02-29 07:58:03"),
}  # fmt: skip


def grouped(pattern: str) -> str:
    return f'SELECT date_format(ts, "{pattern}") AS m, COUNT(*) AS n FROM S GROUP BY date_format(ts, "{pattern}")'


def rechecked(pattern: str) -> str | None:
    found = function_of(parsed(f'date_format(ts, "{pattern}")'), integers=False)
    return None if found is None else found.how


@pytest.mark.parametrize(("pattern", "unit"), UNITS.items())
def test_texts_in_the_order_of_their_times_close(pattern: str, unit: str) -> None:
    assert unit_of_pattern(pattern) == rechecked(pattern) == unit
    checked = checked_circuit(grouped(pattern), CATALOG)
    assert checked.verdict == "bounded"
    assert proof_of(checked, certificate_of(checked)).faults == ()


@pytest.mark.parametrize("pattern", ORDINARY)
def test_another_text_is_no_bucket(pattern: str) -> None:
    assert unit_of_pattern(pattern) is None and rechecked(pattern) is None


@pytest.mark.parametrize("pattern", ["yyyy1MM", "yyyy-M-M", "yyyy-MM-dd hh"])
def test_groups_of_another_text_are_not_bounded_and_no_certificate_says_so(pattern: str) -> None:
    other = checked_circuit(grouped(pattern), CATALOG)
    assert other.verdict in ("unknown", "unbounded")
    claimed = certificate_of(checked_circuit(grouped("yyyyMM"), CATALOG))
    text = str(claimed).replace("yyyyMM", pattern)
    assert proof_of(other, literal_eval(text)).faults


def test_both_readings_of_patterns_agree() -> None:
    """The criterion's and the checker's, each with code of its own."""
    parts = ("yyyy", "MM", "dd", "HH", "mm", "ss", "-", "/", " ", "'T'", "'", "1", "y", "M", "E", "''", "[", "年", "a")
    choices, units = Choices.seeded(0), 0
    for _ in range(5_000):
        pattern = "yyyy" + "".join(choices.pick(parts) for _ in range(choices.integer(0, 5)))
        unit = unit_of_pattern(pattern)
        assert unit == rechecked(pattern), pattern
        units += unit is not None
    assert units > 300


@pytest.mark.parametrize(("unit", "text", "last"), [(unit, *ends) for unit, ends in LASTS.items()])
def test_the_last_timestamp_of_a_text(unit: str, text: str, last: str) -> None:
    seconds = datetime.fromisoformat(last).replace(tzinfo=UTC).timestamp()
    assert last_of(TimeBucket(0, 1, unit), text) == int(seconds) * 1_000_000 + 999_999


def test_a_text_with_other_digits_is_never_taken_for_a_period() -> None:
    with pytest.raises(duckdb.Error, match="a text of a month has other digits: 2024112"):
        last_of(TimeBucket(0, 1, "month"), "2024112")
