"""Texts of time that are buckets, and those that are texts like any other."""

from __future__ import annotations

import re
from ast import literal_eval
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest

from streambound.analyzer.algebra.date_patterns import unit_of_pattern
from streambound.recheck.derivation.claims import NotCheckedError
from streambound_runtime.operators.circuit_plan import TimeBucket
from support.buckets_of_time import bucket_of, last_of
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
PARTS = ("year", "month", "day", "hour", "minute", "second")
LASTS = {
    "year": ("2024", "2024-12-31 23:59:59"), "month": ("2024年12月", "2024-12-31 23:59:59"),
    "day": ("2024/02/29", "2024-02-29 23:59:59"), "hour": ("2024-02-29T07", "2024-02-29 07:59:59"),
    "minute": ("202402290758", "2024-02-29 07:58:59"), "second": ("2024-02-29 07:58:03", "2024-02-29 07:58:03"),
}  # fmt: skip


def grouped(pattern: str) -> str:
    return f'SELECT date_format(ts, "{pattern}") AS m, COUNT(*) AS n FROM S GROUP BY date_format(ts, "{pattern}")'


def moment(choices: Choices) -> datetime:
    """A time near others: of two years, months, days, hours, minutes or seconds."""
    return datetime(*(choices.pick(pair) for pair in ((2024, 2025), (2, 11), (9, 10), (3, 12), (8, 30), (1, 59))))


def formatted(pattern: str, time: datetime) -> str:
    """What DATE_FORMAT makes of a time by a pattern of fields of the calendar, of numbers, and of words in quotes."""
    fields = {"y": "%Y", "M": "%m", "d": "%d", "H": "%H", "m": "%M", "s": "%S"}
    parts = [found[0] for found in re.finditer(r"'[^']*'|([A-Za-z])\1*|[^A-Za-z']", pattern)]
    return "".join(one.strip("'") if one[0] not in fields else time.strftime(fields[one[0]]) for one in parts)


@pytest.mark.parametrize(("pattern", "unit"), UNITS.items())
def test_texts_in_the_order_of_their_times_close(pattern: str, unit: str) -> None:
    bucket = bucket_of(f'date_format(ts, "{pattern}")')
    assert bucket is not None
    assert unit_of_pattern(pattern) == bucket.how == unit
    checked = checked_circuit(grouped(pattern), CATALOG)
    assert checked.verdict == "bounded"
    assert proof_of(checked, certificate_of(checked)).faults == ()


def test_words_in_quotes_do_not_make_a_period_longer() -> None:
    """Of forty days three months may be open, and two years."""
    later = "S JOIN S AS t ON S.a = t.a AND t.ts BETWEEN S.ts AND S.ts + INTERVAL 40 DAYS"
    open_groups = []
    for pattern in ("yyyy-MM", "yyyy' month 'MM", "yyyy"):
        sql = grouped(pattern).replace("(ts", "(S.ts").replace("FROM S", f"FROM {later}")
        bound = checked_circuit(sql, CATALOG).circuit_bound
        assert bound is not None
        open_groups.append(bound.states[-1].size.value)
    assert open_groups == [3, 3, 2]


@pytest.mark.parametrize("pattern", ORDINARY)
def test_another_text_is_no_bucket(pattern: str) -> None:
    assert unit_of_pattern(pattern) is None


@pytest.mark.parametrize("pattern", ["yyyy1MM", "yyyy-M-M", "yyyy-MM-dd hh"])
def test_groups_of_another_text_are_not_bounded_and_no_certificate_says_so(pattern: str) -> None:
    other = checked_circuit(grouped(pattern), CATALOG)
    assert other.verdict in ("unknown", "unbounded")
    claimed = certificate_of(checked_circuit(grouped("yyyyMM"), CATALOG))
    text = str(claimed).replace("yyyyMM", pattern)
    with suppress(NotCheckedError):  # neither accepted nor refuted
        assert proof_of(other, literal_eval(text)).faults


def test_texts_are_in_the_order_of_their_times_and_one_is_of_one_period() -> None:
    fields, between = ("yyyy", "MM", "dd", "HH", "mm", "ss"), ("", "-", "/", " ", "'T'", "年")
    others = (*fields, *between, "'", "1", "y", "M", "E", "''", "[", "a")
    choices, units = Choices.seeded(0), Counter[str]()
    for _ in range(900):
        parts = [field + choices.pick(between) for field in fields[: choices.integer(1, len(fields))]]
        if choices.chance(30):
            parts.insert(choices.integer(0, len(parts)), choices.pick(others))
        pattern = "".join(parts)
        unit = unit_of_pattern(pattern)
        if unit is None:
            continue
        units[unit] += 1
        times = sorted(moment(choices) for _ in range(20))
        texts = [formatted(pattern, time) for time in times]
        assert texts == sorted(texts), pattern
        periods = [time.timetuple()[: PARTS.index(unit) + 1] for time in times]
        assert len({*zip(texts, periods, strict=True)}) == len({*texts}) == len({*periods}), pattern
    assert units.total() > 300 and {*units} == {*PARTS}


@pytest.mark.parametrize(("unit", "text", "last"), [(unit, *ends) for unit, ends in LASTS.items()])
def test_the_last_timestamp_of_a_text(unit: str, text: str, last: str) -> None:
    seconds = datetime.fromisoformat(last).replace(tzinfo=UTC).timestamp()
    assert last_of(TimeBucket(0, 1, unit), text) == int(seconds) * 1_000_000 + 999_999


def test_a_text_with_other_digits_is_never_taken_for_a_period() -> None:
    with pytest.raises(duckdb.Error, match="a text of a month has other digits: 2024112"):
        last_of(TimeBucket(0, 1, "month"), "2024112")
