"""The catalog's contracts on rows: domains, ranges of types, rates of streams, rows of a relation."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Branch, Source
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.criteria.results import Row

_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32}
_DAYS = (-719_162, 2_932_896)
_MOMENTS = (-62_135_596_800_000_000, 253_402_300_799_999_999)


def fits_contract(branch: Branch, rows: Sequence[Row], probes: Sequence[Sequence[Row]] = ((),)) -> bool:
    """Whether rows, with those of each probe, satisfy what the catalog promises of the tables that a branch uses."""
    sources = {source.table: source for source in branch.sources}
    probed = [_by_table(probe) for probe in probes]
    mine = _by_table(rows)
    every = [(table, row) for rows_of in (mine, *probed) for table, found in rows_of.items() for row in found]
    if not all(_fits_row(sources[table], row) for table, row in every if table in sources):
        return False
    if not all(_fits_unique(source, mine.get(table, []), probed) for table, source in sources.items()):
        return False
    return _fits_keys(sources.values(), mine, probed) and all(
        _fits_counts(source, mine.get(table, []), [probe[table] for probe in probed if table in probe])
        for table, source in sources.items()
    )


def promised_distance(table: DeclaredTable | Source) -> int:
    """The length of time in which the catalog promises something of several rows: farther apart they keep it."""
    rate = 0 if table.max_rate is None else table.max_rate.per
    return max([rate, *(key.within or 0 for key in table.unique)])


def _by_table(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.table, []).append(row)
    return found


def _fits_row(source: Source, row: Row) -> bool:
    """Whether a row's values are in their columns' domains, and it is no punctuation."""
    if any(row.values[one.column] == one.value for one in source.punctuations):
        return False
    return all(fits_column(column, row.values[column.name]) for column in source.columns)


def _fits_counts(source: Source, rows: Sequence[Row], probes: Sequence[Sequence[Row]]) -> bool:
    """Whether there are never more rows than promised, in all, at a timestamp and in a length of time."""
    if source.rows is not None and len(rows) + max(map(len, probes), default=0) > source.rows:
        return False
    per, rate = source.max_per_timestamp, source.max_rate
    if source.timestamp is None or (per is None and rate is None):
        return True
    times = sorted(int(row.values[source.timestamp] or 0) for row in rows)
    reach = 0 if rate is None else rate.per
    for probe in ((), *probes):
        more = [int(row.values[source.timestamp] or 0) for row in probe]
        near = times[bisect_left(times, min(more) - reach) : bisect_right(times, max(more) + reach)] if more else times
        both = sorted((*near, *more))
        if per is not None and any(one == other for one, other in zip(both, both[per:], strict=False)):
            return False
        if rate is not None and any(b - a < rate.per for a, b in zip(both, both[rate.rows :], strict=False)):
            return False
    return True


def _fits_unique(source: Source, rows: Sequence[Row], probes: Sequence[Mapping[str, list[Row]]]) -> bool:
    """Whether rows keep the promise of keys that come once: of a stream's that are so for ever at most one row."""
    for key, probe in product(source.unique, probes):
        every = [*rows, *probe.get(source.table, ())]
        values = [tuple(row.values[name] for name in key.columns) for row in every]
        if key.within is None or source.timestamp is None:
            if len(every) > (len({*values}) if source.timestamp is None else 1):
                return False
            continue
        times: dict[tuple[Value | None, ...], list[int]] = {}
        for value, row in zip(values, every, strict=True):
            times.setdefault(value, []).append(int(row.values[source.timestamp] or 0))
        if any(b - a < key.within for found in times.values() for a, b in pairwise(sorted(found))):
            return False
    return True


def _fits_keys(
    sources: Iterable[Source], rows: Mapping[str, list[Row]], probes: Sequence[Mapping[str, list[Row]]]
) -> bool:
    """Whether all rows have one value of a key of which it is promised how many are open, in all streams that have it.

    Rows of a witness come without punctuations, and the more elements it has, the more of them.
    """
    keys = [(source.table, key) for source in sources for key in source.ending]
    for probe in probes if keys else ():
        values: dict[str, set[tuple[Value | None, ...]]] = {}
        for table, key in keys:
            mine = [
                tuple(row.values[name] for name in key.attributes)
                for one in (rows, probe)
                for row in one.get(table, ())
            ]
            if key.max_open is not None:
                values.setdefault(key.name, set()).update(mine)
            if key.once and len(mine) > len(set(mine)):
                return False
        if any(len(found) > 1 for found in values.values()):
            return False
    return True


def fits_column(column: Column, value: Value | None) -> bool:
    """Whether a value is in its column's type and domain."""
    if value is None:
        return True
    if isinstance(value, str) is not (column.type.family is Family.STRING) and column.type.family is not Family.OTHER:
        return False
    low, high = value_range(column.type)
    if isinstance(value, int) and low is not None and high is not None and not low <= value <= high:
        return False
    if isinstance(value, str) and column.type.length is not None and len(value) > column.type.length:
        return False
    domain = column.domain
    if domain is None:
        return True
    if domain.values:
        return value in domain.values
    inside = domain.low is None or domain.high is None or isinstance(value, str)
    return inside or domain.low <= value <= domain.high  # type: ignore[operator]


@cache
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
