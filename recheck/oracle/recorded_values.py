"""Recorded rows as values of SQL, read by Python's own JSON reader: with nothing of what decodes rows in a job."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from streambound.analyzer.calendar_text import parse_date, parse_timestamp
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import ChangeFormat
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.expressions.evident import encoded
from streambound.analyzer.expressions.function import NotKnown, Scalar
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import nearest, to_json
from streambound.incremental.aggregates import array_text
from streambound.recheck.oracle.relation_states import RowChange

Object = dict[str, Any]
_SPECIAL = ("nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_MICROSECONDS = 1_000_000


def objects(place: Path) -> Iterator[Object]:
    """The JSON objects of a file, one a line, or of all files of a directory."""
    for file in sorted(place.glob("*.jsonl")) if place.is_dir() else [place]:
        for line in file.read_bytes().split(b"\n"):
            if line.strip():
                yield json.loads(line.decode("utf-8", "replace"), parse_float=Decimal)


def values(row: Object, columns: Sequence[Column]) -> tuple[Scalar, ...]:
    """The values of some columns of a row."""
    return tuple(value(row.get(column.name), column.type) for column in columns)


def value(given: Any, kind: DataType) -> Scalar:
    """A value of JSON as one of a type: NULL where it is none, for then the query does not read it.

    Raises NotKnown where only Spark knows the value.
    """
    if given is None:
        return None
    try:
        return _READERS[kind.family](given, kind)
    except (ValueError, TypeError, ArithmeticError):
        return None


def _text(given: Any, kind: DataType) -> Scalar:
    if not isinstance(given, str):
        raise NotKnown(f"the text of {given!r}, which is no string")
    return given.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is "?"


def _timestamp(given: Any, kind: DataType) -> Scalar:
    """Microseconds; a number is seconds, as Spark has it."""
    return Fraction(parse_timestamp(given) if isinstance(given, str) else given * _MICROSECONDS)


def _decimal(given: Any, kind: DataType) -> Scalar:
    """Rounded half up, as Spark rounds what has more places than the type."""
    number = Decimal(given.replace(",", "") if isinstance(given, str) else given)
    digits = number.scaleb(kind.scale or 0, Context(prec=2000)).to_integral_value(ROUND_HALF_UP)
    return Fraction(int(digits), 10 ** (kind.scale or 0))


def _float(given: Any, kind: DataType) -> Scalar:
    if isinstance(given, float) or str(given).lower() in _SPECIAL:  # JSON's numbers are decimals here
        raise NotKnown(f"what is computed of {given}")
    number = Fraction(given)
    try:
        return nearest(number, kind)
    except ValueError as error:
        raise NotKnown(f"what is computed of {given}") from error


def _nested(given: Any, kind: DataType) -> Scalar:
    if (element := kind.element) is not None:
        return array_text(value(one, element) for one in given)
    return json.dumps(given, default=str)


_READERS: dict[Family, Callable[[Any, DataType], Scalar]] = {
    Family.INTEGER: lambda given, kind: Fraction(given),
    Family.DECIMAL: _decimal,
    Family.BOOLEAN: lambda given, kind: Fraction(int(given)),
    Family.DATE: lambda given, kind: Fraction(parse_date(given)),
    Family.TIMESTAMP: _timestamp,
    Family.FLOAT: _float,
    Family.STRING: _text,
    Family.OTHER: _nested,
}


def shown(found: Scalar, kind: DataType) -> str:
    """A value as text, as Spark prints it but for the digits of doubles; NULL is ``NULL``."""
    if found is None or isinstance(found, str):
        return "NULL" if found is None else found
    if kind.family is Family.DECIMAL:
        digits = Decimal(int(found * 10 ** (kind.scale or 0)))
        return format(digits.scaleb(-(kind.scale or 0), Context(prec=100)), "f")
    plain = to_json(encoded(found, kind), kind)
    if kind.family is Family.TIMESTAMP and "." in str(plain):
        return str(plain).rstrip("0")
    return str(plain).lower() if kind.family is Family.BOOLEAN else str(plain)


_UNITS = {"ts_ms": Fraction(1_000), "ts_us": Fraction(1), "ts_ns": Fraction(1, 1_000)}


def changes_in_lines(table: DeclaredTable, folder: Path) -> Iterator[RowChange]:
    """All changes of a relation; of an update the row before goes, and the row after comes."""
    assert table.changes is not None, "a relation that changes"
    read = _envelope if table.changes.format is ChangeFormat.DEBEZIUM else _upsert
    for record in objects(folder / table.name):
        yield from read(record, table)


def _envelope(record: Object, table: DeclaredTable) -> Iterator[RowChange]:
    time, op = _time_of_envelope(record, table), record.get("op")
    if op in ("d", "u") and record.get("before"):
        yield _change(record["before"], table, time, deletes=True, images=True)
    if op != "d":
        yield _change(record.get("after") or {}, table, time, deletes=False, images=True)


def _upsert(record: Object, table: DeclaredTable) -> Iterator[RowChange]:
    assert table.changes is not None, "a relation that changes"
    row, name = record.get("value"), table.changes.timestamp.name
    parts = (record, row or {}, record.get("key") or {})
    time = next((part[name] for part in parts if part.get(name) is not None), None)
    number = value(time, table.changes.timestamp.type)
    yield _change(record["key"] if row is None else row, table, number, deletes=row is None, images=False)


def _change(image: Object, table: DeclaredTable, time: Any, deletes: bool, images: bool) -> RowChange:
    """A change; a column of its time, if there is one, need not be in the row itself."""
    assert table.changes is not None and isinstance(time, Fraction), "a change has a time"
    own, found = table.changes.timestamp.name, values(image, table.columns)
    row = tuple(time if column.name == own else cell for column, cell in zip(table.columns, found, strict=True))
    return RowChange(int(time), deletes, row, images)


def _time_of_envelope(record: Object, table: DeclaredTable) -> Any:
    assert table.changes is not None, "a relation that changes"
    time = table.changes.timestamp
    if table.source is not None and time.name in dict(table.source.metadata):
        return value(record.get(time.name), time.type)
    *path, name = time.name.split(".")
    number = value((record[path[0]] if path else record).get(name), BIGINT)
    if number is None or time.type.family is not Family.TIMESTAMP:
        return number
    return Fraction(int(number) * _UNITS[name] // 1)
