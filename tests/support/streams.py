"""Random rows that fit a catalog: small values so that joins hit, or adversarial ones that strain the memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from support.choices import Choices
from support.encoding import Row

Rows = dict[str, list[Row]]
_DOUBLES = (0.5, 1.0, 1.5, 2.0, -1.0)
_STRINGS = ("a", "ab", "b", "", "z")
_DECIMALS = ("0.50", "1.00", "1.25", "1.50", "-0.75")
_FIRST_DAY = date(2024, 1, 1)
_FIRST_MOMENT = datetime(2024, 1, 1)
HUGE = 10**9


def small_rows(choices: Choices, catalog: Mapping[str, Any], timestamps: int = 9) -> Rows:
    """Several rows per timestamp, gaps, duplicates, NULLs, and few different values."""
    return _rows(choices, catalog, timestamps, _small, _times_with_gaps(choices, timestamps))


def adversarial_rows(choices: Choices, catalog: Mapping[str, Any], timestamps: int = 12) -> Rows:
    """Every timestamp brings many different values of every column, extremes among them."""
    return _rows(choices, catalog, timestamps, _hostile, list(range(timestamps)), crowd=6)


def _times_with_gaps(choices: Choices, timestamps: int) -> list[int]:
    times, now = [], choices.integer(0, 2)
    for _ in range(timestamps):
        times.append(now)
        now += choices.weighted([(70, 1), (20, 2), (10, 4)])
    return times


def _rows(
    choices: Choices,
    catalog: Mapping[str, Any],
    timestamps: int,
    value: Any,
    times: list[int],
    crowd: int = 0,
) -> Rows:
    found: Rows = {}
    for name, body in catalog.get("streams", {}).items():
        most = body.get("max_per_timestamp", crowd or 3)
        rows = [
            _row(choices, body, value, now)
            for now in times
            for _ in range(most if crowd else choices.integer(0, min(most, choices.pick([2, 1, 3]))))
        ]
        if rows and most > 1 and choices.chance(30):
            double = choices.pick(rows)
            same = [row for row in rows if row[body["timestamp"]] == double[body["timestamp"]]]
            rows += [dict(double)] if len(same) < most else []
        found[name] = rows
    for name, body in catalog.get("relations", {}).items():
        number = choices.integer(0, body.get("rows", 4))
        found[name] = [_row(choices, body, _small, 0) for _ in range(number)]
    return found


def _row(choices: Choices, body: Mapping[str, Any], value: Any, now: int) -> Row:
    row: Row = {}
    for column, kind in body["columns"].items():
        if column == body.get("timestamp"):
            row[column] = now if kind == "bigint" else (_FIRST_MOMENT + timedelta(seconds=now)).isoformat(" ")
        else:
            row[column] = value(choices, kind, body.get("domain", {}).get(column))
    return row


def _small(choices: Choices, kind: str, domain: list[Any] | None) -> Any:
    if choices.chance(6):
        return None
    if domain is not None:
        return _within(choices, kind, domain)
    match kind:
        case "double":
            return choices.pick(_DOUBLES)
        case "string":
            return choices.pick(_STRINGS)
        case "boolean":
            return choices.chance(50)
        case "date":
            return (_FIRST_DAY + timedelta(days=choices.integer(0, 6))).isoformat()
        case "bigint":
            return choices.integer(0, 3) if choices.chance(70) else choices.integer(-2, 5)
    return choices.pick(_DECIMALS)


def _hostile(choices: Choices, kind: str, domain: list[Any] | None) -> Any:
    if choices.chance(40) or (domain is None and kind == "boolean"):
        return _small(choices, kind, domain)
    if domain is not None:
        return _within(choices, kind, domain)
    number = choices.weighted([(50, choices.integer(-60, 60)), (40, choices.integer(-HUGE, HUGE)), (10, HUGE)])
    match kind:
        case "double":
            return number / 4
        case "string":
            return f"s{number}"
        case "date":
            return (_FIRST_DAY + timedelta(days=number % 10_000)).isoformat()
        case "bigint":
            return number
    return str(number % 1000)


def _within(choices: Choices, kind: str, domain: list[Any]) -> Any:
    """A value of a declared domain: one of a list, or in a range of two numbers."""
    if len(domain) == 2 and kind == "bigint":
        return choices.integer(*domain)
    return choices.pick(domain)
