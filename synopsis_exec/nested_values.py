"""Values of arrays, maps, structs and the like, as texts of JSON: what generated rows have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError

from streambound.analyzer.types import DataType

_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_PLAIN = {"boolean": (True, False), "date": ("2024-01-31",), "timestamp": ("2024-01-31T12:30:00",), "binary": ("YWI=",)}
_MOST = 12


@cache
def nested_texts(kind: DataType, close: tuple[str | int, ...] = ()) -> tuple[str, ...]:
    """Some values of a type; numbers and texts in them are the given ones, and a few others.

    >>> from streambound.analyzer.types import parse_type
    >>> nested_texts(parse_type("array<int>"), (7,))[:3]
    ('[]', '[7]', '[7, 0]')
    """
    try:
        found = _values(exp.DataType.build(kind.name, dialect="spark"), close)
    except ParseError:
        found = [1]
    return tuple(dict.fromkeys(map(json.dumps, found)))


def _values(kind: exp.DataType, close: Sequence[str | int]) -> Sequence[Any]:
    inner = kind.expressions
    if kind.is_type("array") and len(inner) == 1:
        parts = _values(inner[0], close)
        pairs = [list(pair) for pair in zip(parts, [*parts[1:], parts[0]], strict=True)]
        return [[], *(value for pair in zip([[part] for part in parts], pairs, strict=True) for value in pair), [None]]
    if kind.is_type("map") and len(inner) == 2:
        keys, values = (_values(part, close) for part in inner)
        pairs_of = [{_key(key): values[place % len(values)]} for place, key in enumerate(keys)]
        return [{}, *pairs_of, {name: value for one in pairs_of for name, value in one.items()}]
    if kind.is_type("struct"):
        kinds = {field.name: field.kind for field in inner if isinstance(field, exp.ColumnDef)}
        fields = {name: _values(one, close) for name, one in kinds.items() if one is not None}
        size = min(_MOST, max(map(len, fields.values()), default=1))
        return [{name: values[place % len(values)] for name, values in fields.items()} for place in range(size)]
    return _simple(kind.sql("spark").lower(), close)


def _simple(name: str, close: Sequence[str | int]) -> Sequence[Any]:
    if name.startswith(("string", "varchar", "char")):
        return [*(text for text in close if isinstance(text, str)), "a", "b"][:_MOST]
    if name in _NUMBERS or name.startswith(("decimal", "float", "double")):
        return [*dict.fromkeys((*(number for number in close if isinstance(number, int)), 0, 1, 2))][:_MOST]
    return _PLAIN.get(name.partition("_")[0], (1,))


def _key(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def as_text(value: Any, kind: DataType) -> str:
    """The text of a generated row's value: it may only say that something is there, by a number or a word."""
    known = nested_texts(kind)
    return value if isinstance(value, str) and value[:1] in ("[", "{", '"', *"0123456789tf") else known[0]
