"""Lines of JSON as rows, one after the other and value by value: what the decoder of whole columns is compared with.

Spark 4.x, `JacksonParser`, with ANSI mode and UTC.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isnan
from typing import Any

from streambound.analyzer.calendar_text import is_zoned, parse_date, parse_timestamp
from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType, Family
from streambound.synopsis_exec.plan_ir import Input
from support import told_reasons as reasons

Row = dict[str, Any]

_BITS = {"tinyint": 32, "byte": 32, "smallint": 16, "short": 16, "int": 32, "integer": 32}
"""A TINYINT is parsed as 32 bits, so that its range is checked rather than cut; other names mean 64."""
_NUMERAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_INTEGER = re.compile(r"-?\d+")
_SPECIAL = {"NaN", "Infinity", "-Infinity", "+Infinity", "+INF", "-INF"}
_LARGEST_EXPONENT, _MOST_PLACES = 100_000, 400


class Number(str):
    """A JSON number (or NaN, Infinity, -Infinity) as it is written."""


def parse_object(line: str) -> dict[str, Any] | None:
    """One JSON object, its numbers as they are written; None for anything else."""
    try:
        found = json.loads(line, parse_int=Number, parse_float=Number, parse_constant=Number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def encode(value: Any, kind: DataType) -> Any:
    """A JSON value as the kernel takes it; raises ValueError when it cannot be read as the column's type."""
    if value is None:
        return None
    encoded = _ENCODERS[kind.family](value, kind)
    if encoded is None:
        raise ValueError(f"{value!r} is not of the type {kind.name}")
    return encoded


def _integer(value: Any, kind: DataType) -> int | None:
    if not isinstance(value, Number) or not _INTEGER.fullmatch(value) or len(value) > 20:
        return None
    most = 2 ** (_BITS.get(kind.name, 64) - 1)
    return int(value) if -most <= int(value) < most else None


def _boolean(value: Any, kind: DataType) -> int | None:
    return int(value) if isinstance(value, bool) else None


def _float(value: Any, kind: DataType) -> float | None:
    if not isinstance(value, str) or not (isinstance(value, Number) or value in _SPECIAL):
        return None
    number = 0.0 if value == "-0" else float(value.replace("INF", "Infinity"))
    return number if kind.name == "double" else _single(number)


def _single(number: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _decimal(value: Any, kind: DataType) -> int | None:
    """Unscaled digits, rounded half up, as Spark rounds what has more places than the type."""
    text = value.replace(",", "") if isinstance(value, str) and not isinstance(value, Number) else value
    if not isinstance(text, str) or not _NUMERAL.fullmatch(text):
        return None
    exponent = re.split("[eE]", text)[1:]
    if exponent and abs(int(exponent[0][:9])) > _LARGEST_EXPONENT:
        return None
    number = Decimal(text)
    if abs(number.adjusted()) > _MOST_PLACES:
        return None if number.adjusted() > 0 and number else 0
    shifted = number.scaleb(kind.scale or 0, Context(prec=2000))
    unscaled = int(shifted.to_integral_value(ROUND_HALF_UP))
    return unscaled if abs(unscaled) < 10**kind.precision else None


def _text(value: Any, kind: DataType) -> str:
    """Any value: text as it is, other values as compact JSON."""
    if isinstance(value, str) and not isinstance(value, Number):
        return value.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is "?"
    return _compact(value)


def _compact(value: Any) -> str:
    match value:
        case Number():
            return _numeral(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{_compact(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _numeral(text: str) -> str:
    """A number as Java prints it: 1.50 is 1.5, and 1e2 is 100.0."""
    if _INTEGER.fullmatch(text):
        return str(int(text))
    if text in _SPECIAL:
        return f'"{text}"'
    number = Decimal(repr(float(text)))
    if not number.is_finite():
        return text
    sign, digits, _ = number.as_tuple()
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = number.adjusted() if number else 0
    if number == 0 or -3 <= power < 7:
        return str(float(text))
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{power}"


def _date(value: Any, kind: DataType) -> int | None:
    return _read(parse_date, value) if _is_text(value) else None


def _timestamp(value: Any, kind: DataType) -> int | None:
    """Microseconds; a whole number is seconds, as Spark has it, but not for TIMESTAMP_NTZ."""
    local = kind.name == "timestamp_ntz"
    if isinstance(value, Number):
        seconds = _integer(value, kind)
        return None if local or seconds is None else _wrapped(seconds * 1_000_000)
    return None if not _is_text(value) or (local and is_zoned(value)) else _read(parse_timestamp, value)


def _read(parse: Callable[[str], int], text: str) -> int | None:
    try:
        return parse(text)
    except ValueError:
        return None


def _wrapped(number: int) -> int:
    """A number cut to 64 bits, as Java multiplies."""
    return (number + 2**63) % 2**64 - 2**63


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Number)


def _present(value: Any, kind: DataType) -> int:
    return 1


_ENCODERS: dict[Family, Callable[[Any, DataType], Any]] = {
    Family.INTEGER: _integer,
    Family.DECIMAL: _decimal,
    Family.BOOLEAN: _boolean,
    Family.DATE: _date,
    Family.TIMESTAMP: _timestamp,
    Family.FLOAT: _float,
    Family.STRING: _text,
    Family.OTHER: _present,
}


# --- rows -------------------------------------------------------------------------------------------------------------


def read_row(item: Input, line: bytes) -> Row | str | None:
    """A line as a row of the columns that are needed, encoded; or the reason why a run quarantines it.

    None for a punctuation, which needs fewer columns than a row.
    """
    try:
        found = parse_object(line.decode("utf-8"))
    except UnicodeDecodeError:
        return reasons.NOT_UTF8
    if found is None:
        return reasons.NOT_JSON
    row: Row = {}
    is_mark = _is_mark(item, found)
    columns = [column for column in item.declared if not is_mark or column.name in _of_marks(item)]
    for column in columns:
        told_of = column.name, column.type.name
        if column.name not in found:
            return reasons.missing(*told_of)
        try:
            row[column.name] = encode(found[column.name], column.type)
        except ValueError:
            return reasons.not_of_type(*told_of)
    told_by = item.arrival.mark.column if is_mark and item.arrival.mark else None
    checked = [column for column in columns if column.name != told_by]
    broken = next((reason for column in checked for reason in _broken(item, column, row[column.name])), None)
    if broken is None and is_mark:
        return None
    return broken or {column.name: row[column.name] for column in item.columns}


def _is_mark(item: Input, found: dict[str, Any]) -> bool:
    """Whether an object is a punctuation."""
    mark = item.arrival.mark
    if mark is None:
        return False
    kind = next(column.type for column in item.declared if column.name == mark.column)
    try:
        value = encode(found.get(mark.column), kind)
    except ValueError:
        return False
    return like(value, mark.like) if mark.like is not None else value is not None and value == mark.value


def _of_marks(item: Input) -> set[str | None]:
    """The columns that a punctuation needs."""
    mark, partitions = item.arrival.mark, item.arrival.partitions
    assert mark is not None
    return {mark.column, mark.since, item.timestamp, partitions.column if partitions else None}


def like(value: str | None, pattern: str) -> bool:
    """LIKE of Spark SQL: `%` is any text, `_` any character, and a backslash takes the next character as it is."""
    parts = re.findall(r"\\(.)|(.)", pattern, re.S)
    texts = (re.escape(plain) if plain else {"%": ".*", "_": "."}.get(sign, re.escape(sign)) for plain, sign in parts)
    return value is not None and re.fullmatch("".join(texts), value, re.S) is not None


def _broken(item: Input, column: Column, value: Any) -> Iterator[str]:
    """Why a value breaks its column's contract."""
    family, told_of = column.type.family, (column.name, column.type.name)
    if value is None:
        if column.name == item.timestamp:
            yield reasons.without_time(*told_of)
        if _of_no_partition(item, column, value):
            yield reasons.no_partition(*told_of)
        return
    if column.name == item.timestamp and family is Family.INTEGER and value < 0:
        yield reasons.too_early(*told_of)
    if column.type.name in ("tinyint", "byte") and not -128 <= value <= 127:
        yield reasons.out_of_range(*told_of)
    if family is Family.DATE and not reasons.FIRST_DAY <= value <= reasons.LAST_DAY:
        yield reasons.outside_years(*told_of)
    if family is Family.TIMESTAMP and not reasons.FIRST_MOMENT <= value <= reasons.LAST_MOMENT:
        yield reasons.outside_years(*told_of)
    if family is Family.FLOAT and isnan(value):
        yield reasons.not_a_number(*told_of)
    if _outside(column, value):
        yield reasons.outside_domain(*told_of)
    if _of_no_partition(item, column, value):
        yield reasons.no_partition(*told_of)


def _of_no_partition(item: Input, column: Column, value: Any) -> bool:
    partitions = item.arrival.partitions
    return partitions is not None and partitions.column == column.name and value not in partitions.values


def _outside(column: Column, value: Any) -> bool:
    domain = column.domain
    if domain is None:
        return False
    if domain.values:
        return value not in domain.values
    return (domain.low is not None and value < domain.low) or (domain.high is not None and value > domain.high)
