r"""Lines of JSON as columns: each is parsed by Python's own parser, as strictly as Spark parses JSON.

Other than for Spark, of a name that is there twice the last value counts; `-INF`, control characters between values,
`\u` without four digits, and more than `_DEEPEST` levels of nesting, for which any stack of Python's has room, are no
JSON; numbers of more than a thousand digits, and longer names than of 50,000 characters, are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from streambound_runtime.arrays import Mask
from streambound_runtime.decoding.change_records import is_tombstone, row_of_change
from streambound_runtime.decoding.json_values import JsonNumber, encode, parsed_bits
from streambound_runtime.decoding.plain_lines import LONGEST, plain_columns
from streambound_runtime.decoding.sql_types import SqlType
from streambound_runtime.promises import ChangeRecords
from streambound_runtime.row_values import JsonObject, JsonValue

if TYPE_CHECKING:
    import pyarrow as pa

FINE, BLANK, NO_VALUE, NOT_UTF8, NOT_JSON, NO_CHANGE = range(6)
"""What a line is: an object, no row at all, or a row that cannot be read."""
_AT_ONCE = 4096
"""Lines of which all objects are in memory."""
_FEW, _PLAIN_AT_ONCE = 64, 1 << 16
"""Lines that are parsed one by one at once, and those that are read as columns at a time."""
_DEEPEST = 500
"""Levels of nesting; lines that are shorter than `LONGEST` have no more."""
_TEXT = re.compile(r'"(?:[^"\\]++|\\.?)*+"?', re.S)
"""A text; one that does not end goes on to the end: so each character is looked at once."""
_MANY_DIGITS = re.compile(r"(?<!\d)\d{4301}")
"""Whole numbers that Python reads only where a process has raised its limit, which must not decide about rows."""
_LEVELS = {"[": 1, "{": 1, "]": -1, "}": -1}
_ABSENT = object()
Line: TypeAlias = str | bytes | None


def read_objects(
    lines: pa.Array, kinds: dict[str, SqlType], records: bool, changes: ChangeRecords | None = None
) -> tuple[NDArray[np.int8], dict[str, JsonColumn]]:
    """The kind of each line, and its values of some columns; with ``changes`` those of the rows in the records.

    ``lines`` are texts or bytes; those of blanks alone are no rows, but for ``records`` of a queue.
    """
    import pyarrow as pa

    parser = _Parser(kinds, records)
    state = np.zeros(len(lines), dtype=np.int8)
    columns = {name: JsonColumn(kind) for name, kind in kinds.items()}
    for start in range(0, len(lines), _PLAIN_AT_ONCE):
        block = lines.slice(start, _PLAIN_AT_ONCE)
        plain = plain_columns(block, kinds) if changes is None and len(block) >= _FEW else None
        if plain is None:
            state[start : start + len(block)] = _parsed(block, parser, changes, columns)
            continue
        values, sure = plain
        others = {name: JsonColumn(kind) for name, kind in kinds.items()}
        places = start + np.flatnonzero(~sure)
        state[places] = _parsed(lines.take(pa.array(places)), parser, None, others)
        for name, column in columns.items():
            column.add_columns(values[name], ~sure, others[name])
    return state, columns


def _parsed(
    lines: pa.Array, parser: _Parser, changes: ChangeRecords | None, columns: Mapping[str, JsonColumn]
) -> NDArray[np.int8]:
    """The kind of each line, one by one; its values are added to the columns."""
    texts = _texts(lines)
    state = np.zeros(len(texts), dtype=np.int8)
    for start in range(0, len(texts), _AT_ONCE):
        part = texts[start : start + _AT_ONCE]
        objects = parser.quickly(part)
        if objects is None or changes is not None:
            parsed_lines: list[JsonObject | int] = [*(objects or map(parser.one, part))]
            parsed_lines = parsed_lines if changes is None else [_row_of(one, changes) for one in parsed_lines]
            state[start : start + len(part)] = [FINE if isinstance(found, dict) else found for found in parsed_lines]
            objects = [found if isinstance(found, dict) else {} for found in parsed_lines]
        for name, column in columns.items():
            column.add([found.get(name, _ABSENT) for found in objects])  # type: ignore[arg-type]
    return state


def _row_of(found: JsonObject | int, changes: ChangeRecords) -> JsonObject | int:
    """The row of a change, or what a record is instead; after a delete, Debezium sends a record without a value."""
    if isinstance(found, int):
        return BLANK if found == NO_VALUE and changes.debezium else found
    if changes.debezium and is_tombstone(found):
        return BLANK
    row = row_of_change(found, changes)
    return NO_CHANGE if row is None else row


def _texts(lines: pa.Array) -> list[Line]:
    """Lines as Python's texts; as bytes where one is no UTF-8."""
    import pyarrow as pa

    try:
        texts: list[Line] = lines.cast(pa.large_string()).to_numpy(zero_copy_only=False).tolist()
    except (UnicodeDecodeError, pa.ArrowException):
        texts = lines.cast(pa.large_binary()).to_numpy(zero_copy_only=False).tolist()
    return texts


class _Parser:
    """Parses lines; numbers are kept as they are written where a text or a decimal may be made of them."""

    def __init__(self, kinds: dict[str, SqlType], records: bool) -> None:
        self.blank = {True: NOT_JSON, False: BLANK}[records]
        self.none = {True: NO_VALUE, False: BLANK}[records]
        exact = any(kind.family in ("string", "decimal", "nested") for kind in kinds.values())
        self.decoder = json.JSONDecoder(parse_float=JsonNumber if exact else float)

    def quickly(self, texts: list[Line]) -> list[JsonObject] | None:
        """The objects of lines; None where one of them is anything else, or needs care."""
        parse = self.decoder.raw_decode
        try:
            found = [parse(text) for text in texts]  # type: ignore[arg-type]  # bytes and None raise TypeError
            ends = [end for _, end in found]
            if max(ends) >= LONGEST or ends != [len(text) for text in texts if text is not None]:
                return None
        except (ValueError, RecursionError, TypeError):
            return None
        objects = [value for value, _ in found]
        return objects if set(map(type, objects)) <= {dict} else None

    def one(self, text: str | bytes | None) -> JsonObject | int:
        """The object of a line, or what it is instead."""
        if text is None:
            return self.none
        try:
            line = text.decode("utf-8") if isinstance(text, bytes) else text
            if len(line) >= LONGEST and _needs_care(line):
                return NOT_JSON
            found = self.decoder.decode(line)
        except UnicodeDecodeError:
            return NOT_UTF8
        except (ValueError, RecursionError):
            return NOT_JSON if line.strip(" ") else self.blank
        return found if isinstance(found, dict) else NOT_JSON


def _needs_care(line: str) -> bool:
    """Whether objects and arrays are nested too deep, or a number has too many digits."""
    outside = _TEXT.sub("", line)
    if _MANY_DIGITS.search(outside):
        return True
    if outside.count("{") + outside.count("[") <= _DEEPEST:
        return False
    return max(accumulate(_LEVELS.get(sign, 0) for sign in outside)) > _DEEPEST


class JsonColumn:
    """A column's values in lines: encoded, and which are absent, or not of its type."""

    def __init__(self, kind: SqlType) -> None:
        self.kind = kind
        self.parts: list[pa.Array] = []
        self.absent: list[Mask] = []
        self.wrong: list[Mask] = []

    def add(self, values: list[JsonValue]) -> None:
        """Take in some lines' values."""
        types = set(map(type, values))
        nothing = np.zeros(len(values), dtype=bool)
        self.absent.append(nothing)
        if object in types:
            self.absent[-1] = np.array([value is _ABSENT for value in values], dtype=bool)
            values = [None if value is _ABSENT else value for value in values]
        found, wrong = encoded_values(values, types - {object, type(None)}, self.kind)
        self.parts.append(found)
        self.wrong.append(nothing if wrong is None else wrong)

    def add_columns(self, values: pa.Array, unsure: Mask, others: JsonColumn) -> None:
        """Take in lines' values as `plain_columns` reads them; ``others`` are those of ``unsure`` lines."""
        import pyarrow as pa
        from pyarrow import compute as pc

        if self.kind.family in ("date", "timestamp"):
            texts = pc.if_else(pa.array(unsure), None, values)
            try:
                found, wrong = _encoded_times(texts, self.kind)
            except pa.ArrowInvalid:
                found, wrong = _one_by_one(texts.to_pylist(), self.kind)
        else:
            found, wrong = values.cast(self.kind.encoded), None
        masks = [np.zeros(len(unsure), dtype=bool) if wrong is None else wrong, np.zeros(len(unsure), dtype=bool)]
        if unsure.any():
            found = pc.replace_with_mask(found, pa.array(unsure), others.encoded())
            masks[1][unsure], masks[0][unsure] = others.masks()
        self.parts.append(found)
        self.wrong.append(masks[0])
        self.absent.append(masks[1])

    def encoded(self) -> pa.Array:
        """All values; NULL also where there is none."""
        import pyarrow as pa

        return pa.concat_arrays([pa.array([], self.kind.encoded), *self.parts])

    def masks(self) -> tuple[Mask, Mask]:
        """Which are absent, and which are not of the type."""
        empty = np.zeros(0, dtype=bool)
        return np.concatenate([empty, *self.absent]), np.concatenate([empty, *self.wrong])


# --- values ----------------------------------------------------------------------------------------------------------


_DATES = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_MOMENTS = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"


def encoded_values(values: Sequence[JsonValue], types: set[type], kind: SqlType) -> tuple[pa.Array, Mask | None]:
    """JSON values encoded, and which are not of the type, None for none of them; ``types`` are Python's types of these.

    Values of the types that a column usually has are encoded all at once, others one by one.
    """
    import pyarrow as pa

    try:
        match kind.family:
            case "integer" if types <= {int}:
                return pa.array(values, getattr(pa, f"int{parsed_bits(kind)}")()).cast(pa.int64()), None
            case "float" if types <= {int, float, JsonNumber} and kind.bits == 64:
                numbers = (value if isinstance(value, int | float | str) else None for value in values)
                return pa.array([None if value is None else float(value) for value in numbers], pa.float64()), None
            case "boolean" if types <= {bool}:
                return pa.array(values, pa.bool_()).cast(pa.int64()), None
            case "string" if types <= {str}:
                return pa.array(values, pa.string()), None
            case "date" | "timestamp" if types <= {str}:
                return _encoded_times(values, kind)
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
        pass
    return _one_by_one(values, kind)


def _one_by_one(values: Sequence[JsonValue], kind: SqlType) -> tuple[pa.Array, Mask]:
    found = [None if value is None else encode(value, kind) for value in values]
    wrong = [value is not None and there is None for value, there in zip(values, found, strict=True)]
    return encoded_array(found, kind), np.array(wrong, dtype=bool)


def encoded_array(values: Sequence[int | float | str | None], kind: SqlType) -> pa.Array:
    """Encoded values as Arrow has them."""
    import pyarrow as pa

    found = [None if value is None else Decimal(value) for value in values] if kind.large else values
    return pa.array(found, kind.encoded)


def _encoded_times(values: Sequence[JsonValue] | pa.Array, kind: SqlType) -> tuple[pa.Array, Mask | None]:
    """Dates and moments: those that are written as usual, at once; raises ArrowInvalid where one of these is none."""
    import pyarrow as pa
    from pyarrow import compute as pc

    given = texts = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
    if kind.family == "date":
        usual, exact, bits = _DATES, pa.date32(), pa.int32()
    else:
        usual, exact, bits = _MOMENTS, pa.timestamp("us"), pa.int64()
        if not kind.local:
            texts = pc.if_else(pc.ends_with(texts, "Z"), pc.utf8_slice_codeunits(texts, 0, -1), texts)
    sure = pc.match_substring_regex(texts, usual).fill_null(True)
    found = pc.if_else(sure, texts, None).cast(exact).cast(bits).cast(pa.int64())
    places = np.flatnonzero(~sure.to_numpy(zero_copy_only=False))
    if not len(places):
        return found, None
    wrong = np.zeros(len(values), dtype=bool)
    others, wrong[places] = _one_by_one(given.take(pa.array(places)).to_pylist(), kind)
    return pc.replace_with_mask(found, pc.invert(sure), others), wrong
