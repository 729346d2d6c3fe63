"""The catalog's contracts on rows: domains, ranges of types, rates of streams, rows of a relation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

from streambound.analyzer.columns import Column
from streambound.analyzer.query import Branch, Source
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.criteria.results import Row

_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32}
_DAYS = (-719_162, 2_932_896)
_MOMENTS = (-62_135_596_800_000_000, 253_402_300_799_999_999)


def fits_contract(branch: Branch, rows: Sequence[Row]) -> bool:
    """Whether rows satisfy what the catalog promises of the tables that a branch uses."""
    sources = {source.table: source for source in branch.sources}
    if not _fits_keys(sources.values(), rows):
        return False
    return all(_fits_table(source, [row for row in rows if row.table == table]) for table, source in sources.items())


def _fits_table(source: Source, rows: Sequence[Row]) -> bool:
    if source.rows is not None and len(rows) > source.rows:
        return False
    if source.timestamp and source.max_per_timestamp is not None:
        most = max(Counter(row.values[source.timestamp] for row in rows).values(), default=0)
        if most > source.max_per_timestamp:
            return False
    if source.timestamp and source.max_rate is not None:
        times = sorted(int(row.values[source.timestamp] or 0) for row in rows)
        ends = zip(times, times[source.max_rate.rows :], strict=False)
        if any(last - first < source.max_rate.per for first, last in ends):
            return False
    if not _fits_punctuations(source, rows):
        return False
    return all(fits_column(column, row.values[column.name]) for row in rows for column in source.columns)


def _fits_punctuations(source: Source, rows: Sequence[Row]) -> bool:
    """Whether no row is a punctuation."""
    return not any(row.values[one.column] == one.value for one in source.punctuations for row in rows)


def _fits_keys(sources: Iterable[Source], rows: Sequence[Row]) -> bool:
    """Whether all rows have one value of a key of which it is promised how many are open, in all streams that have it.

    Rows of a witness come without punctuations, and the more elements it has, the more of them.
    """
    values: dict[str, set[tuple[Value | None, ...]]] = {}
    for source in sources:
        mine = [row for row in rows if row.table == source.table]
        for key in source.ending:
            if key.max_open is not None:
                found = values.setdefault(key.name, set())
                found |= {tuple(row.values[name] for name in key.attributes) for row in mine}
            if key.once and len(mine) > len({tuple(row.values[name] for name in key.attributes) for row in mine}):
                return False
    return all(len(found) <= 1 for found in values.values())


def fits_column(column: Column, value: Value | None) -> bool:
    """Whether a value is in its column's type and domain."""
    if value is None:
        return True
    if isinstance(value, str) is not (column.type.family is Family.STRING) and column.type.family is not Family.OTHER:
        return False
    low, high = value_range(column.type)
    if isinstance(value, int) and low is not None and high is not None and not low <= value <= high:
        return False
    domain = column.domain
    if domain is None:
        return True
    if domain.values:
        return value in domain.values
    inside = domain.low is None or domain.high is None or isinstance(value, str)
    return inside or domain.low <= value <= domain.high  # type: ignore[operator]


def value_range(kind: DataType) -> tuple[int | None, int | None]:
    """The least and greatest encoded value of a type with such; None for the others."""
    match kind.family:
        case Family.INTEGER:
            bits = _BITS.get(kind.name, 64)
            return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        case Family.BOOLEAN:
            return 0, 1
        case Family.DATE:
            return _DAYS
        case Family.TIMESTAMP:
            return _MOMENTS
        case Family.DECIMAL if (precision := re.search(r"\(\s*(\d+)", kind.name)) is not None:
            most = 10 ** int(precision.group(1)) - 1
            return -most, most
    return None, None


def plain_value(column: Column, number: int | None) -> Value | None:
    """A value for a column that no condition mentions: another one per ``number``, where that is given."""
    domain = column.domain
    if domain is not None and domain.values:
        return domain.values[0]
    if domain is not None and domain.low is not None:
        return domain.low
    match column.type.family:
        case Family.STRING:
            return "" if number is None else f"v{number}"
        case Family.FLOAT:
            return Fraction(number or 0)
        case Family.OTHER:
            return None if number is None else f"v{number}"
    return number or 0
