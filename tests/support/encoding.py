"""Rows as a person writes them in JSON, and as the executor's kernel wants them. Shares no code with the analyzer.

A row holds JSON values: dates and timestamps as ISO strings, decimals as strings. Encoded, everything discrete is an
integer: days, microseconds, 0 or 1, unscaled digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INTEGERS = ("tinyint", "smallint", "int", "bigint")


def column_types(catalog: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The declared types by table and column."""
    tables = {**catalog.get("streams", {}), **catalog.get("relations", {})}
    return {name: dict(body["columns"]) for name, body in tables.items()}


def encode(value: Any, kind: str) -> Any:
    """One JSON value of a Spark type, encoded."""
    if value is None:
        return None
    if kind == "date":
        return date.fromisoformat(value).toordinal() - _EPOCH.date().toordinal()
    if kind.startswith("timestamp"):
        return _microseconds(datetime.fromisoformat(value))
    if kind == "boolean":
        return int(value)
    if kind.startswith("decimal"):
        scale = int(kind.rstrip(") ").split(",")[1])
        return int(Fraction(value) * 10**scale)
    if kind in ("double", "float"):
        return float(value)
    return int(value) if kind in _INTEGERS else value


def encode_rows(catalog: Mapping[str, Any], rows: Rows) -> dict[str, list[Row]]:
    """Rows by table, every declared column encoded."""
    types = column_types(catalog)
    return {
        table: [{column: encode(row.get(column), kind) for column, kind in types[table].items()} for row in some]
        for table, some in rows.items()
    }


def encode_result(value: Any) -> Any:
    """A value as DuckDB returns it, encoded alike."""
    if type(value) in (int, str, float):  # most are
        return value
    match value:
        case bool():
            return int(value)
        case datetime():
            return _microseconds(value)
        case timedelta():
            return value // timedelta(microseconds=1)
        case date():
            return value.toordinal() - _EPOCH.date().toordinal()
        case Decimal():
            return int(Fraction(value) * 10 ** -value.as_tuple().exponent)  # type: ignore[operator]
        case Fraction():
            return float(value)
    return value


def _microseconds(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    delta = aware - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def frozen(row: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """A row as a dictionary key."""
    return tuple(sorted(row.items()))


def multiset(output: Sequence[Row]) -> Counter[tuple[tuple[str, Any], ...]]:
    """Rows of the `run` contract as a multiset: ``_mult`` is the number of times a row counts."""
    counts: Counter[tuple[tuple[str, Any], ...]] = Counter()
    for row in output:
        counts[frozen({name: value for name, value in row.items() if name != "_mult"})] += row["_mult"]
    return counts
