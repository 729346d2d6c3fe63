"""Values of generated rows: those for which expressions may say different things, and those that subqueries may find.

In rows that only subqueries read, columns of one name and type have the same values; the others are small ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, cast

from sqlglot import exp
from sqlglot.errors import ParseError

from streambound.analyzer.calendar_text import MICROSECONDS, parse_timestamp
from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType, Family
from streambound.criteria.contract import fits_column
from streambound.synopsis_exec.asked_relations import asked_relations
from streambound.synopsis_exec.plan_ir import Input

_TEXT, _NUMBER = re.compile(r"'((?:[^'\\]++|\\.?)*+)(?:'|\Z)"), re.compile(r"(?<![\w.'`])\d{1,9}(?![\w.'`])")
_FEW = range(10)
_DAY, START, _NOON = 19_723, parse_timestamp("2024-01-01 00:00:00"), parse_timestamp("2024-01-01 12:30:00")
"""2024 begins."""


def expression_values(item: Input) -> dict[str, tuple[Any, ...]]:
    """Encoded values by declared column, of those that expressions read; the timestamp is not among them."""
    return _by_column(item.declared, tuple(column.expression for column in item.derived), item.timestamp)


@cache
def _by_column(
    declared: tuple[Column, ...], expressions: tuple[str, ...], timestamp: str | None
) -> dict[str, tuple[Any, ...]]:
    found = {}
    for column in declared:
        name = "`" + column.name.replace("`", "``") + "`"
        mine = [text for text in expressions if name in text]
        if mine and column.name != timestamp:
            values = dict.fromkeys(values_near(column, mine))
            found[column.name] = (*values, None)
    return found


def values_near(column: Column, expressions: Sequence[str]) -> Sequence[Any]:
    """Encoded values that a column may have, for which expressions may say different things."""
    return [value for value in _values(column, expressions) if fits_column(column, value)]


def _values(column: Column, expressions: Sequence[str]) -> Sequence[Any]:
    if column.domain is not None and column.domain.values:
        return column.domain.values
    texts = [text for expression in expressions for text in _TEXT.findall(expression)]
    numbers = [int(number) for expression in expressions for number in _NUMBER.findall(expression)]
    close = [number + step for number in numbers for step in (0, 1, -1)]
    match column.type.family:
        case Family.STRING:
            return [
                *(re.sub(r"[%_^$.]", "", text) for text in texts),
                *map(str, close),
                "a",
                "7",
                "2024-01-31",
                "Ab c",
            ]
        case Family.FLOAT:
            return [float(number) for number in (*close, *_FEW)]
        case Family.BOOLEAN:
            return [1, 0]
        case Family.DATE:
            return [_DAY + number for number in (*_FEW, *close)]
        case Family.TIMESTAMP:
            return [_NOON + 600 * MICROSECONDS * number for number in (*_FEW, *close)]
        case Family.DECIMAL:
            return [number * 10 ** (column.type.scale or 0) for number in (*close, *_FEW)]
        case Family.INTEGER:
            return [*close, *_FEW]
    return nested_texts(column.type, (*texts, *close))


_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_PLAIN = {"boolean": (True, False), "date": ("2024-01-31",), "timestamp": ("2024-01-31T12:30:00",), "binary": ("YWI=",)}
_MOST_NESTED = 12


@cache
def nested_texts(kind: DataType, close: tuple[str | int, ...] = ()) -> tuple[str, ...]:
    """Some values of a type; numbers and texts in them are the given ones, and a few others.

    >>> from streambound.analyzer.types import parse_type
    >>> nested_texts(parse_type("array<int>"), (7,))[:3]
    ('[]', '[7]', '[7, 0]')
    """
    try:
        found = _nested(exp.DataType.build(kind.name, dialect="spark"), close)
    except ParseError:
        found = [1]
    return tuple(dict.fromkeys(map(json.dumps, found)))


def _nested(kind: exp.DataType, close: Sequence[str | int]) -> Sequence[Any]:
    inner = kind.expressions
    if kind.is_type("array") and len(inner) == 1:
        parts = _nested(inner[0], close)
        pairs = [list(pair) for pair in zip(parts, [*parts[1:], parts[0]], strict=True)]
        return [[], *(value for pair in zip([[part] for part in parts], pairs, strict=True) for value in pair), [None]]
    if kind.is_type("map") and len(inner) == 2:
        keys, values = (_nested(part, close) for part in inner)
        pairs_of = [{_key(key): values[place % len(values)]} for place, key in enumerate(keys)]
        return [{}, *pairs_of, {name: value for one in pairs_of for name, value in one.items()}]
    if kind.is_type("struct"):
        kinds = {field.name: field.kind for field in inner if isinstance(field, exp.ColumnDef)}
        fields = {name: _nested(one, close) for name, one in kinds.items() if one is not None}
        size = min(_MOST_NESTED, max(map(len, fields.values()), default=1))
        return [{name: values[place % len(values)] for name, values in fields.items()} for place in range(size)]
    return _simple(kind.sql("spark").lower(), close)


def _simple(name: str, close: Sequence[str | int]) -> Sequence[Any]:
    if name.startswith(("string", "varchar", "char")):
        return [*(text for text in close if isinstance(text, str)), "a", "b"][:_MOST_NESTED]
    if name in _NUMBERS or name.startswith(("decimal", "float", "double")):
        return [*dict.fromkeys((*(number for number in close if isinstance(number, int)), 0, 1, 2))][:_MOST_NESTED]
    return _PLAIN.get(name.partition("_")[0], (1,))


def _key(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def as_text(value: Any, kind: DataType) -> str:
    """The text of a generated row's value: it may only say that something is there, by a number or a word."""
    known = nested_texts(kind)
    return value if isinstance(value, str) and value[:1] in ("[", "{", '"', *"0123456789tf") else known[0]


Row = dict[str, Any]
_TEXTS = ("", "a", "b")
_SMALL = 4
_MOST_STANDING = 24


def rows_behind(item: Input, row: Mapping[str, Any], relations: Sequence[Input], number: int) -> list[tuple[str, Row]]:
    """Rows of the relations that a computed one asks, so that it may have a row; ``number`` chooses other values."""
    asked = asked_relations(item.query)
    given = {column.name.lower(): (column.type, row.get(column.name)) for column in item.declared}
    found = []
    for relation in (one for one in relations if one.name.lower() in asked):
        values = {}
        for place, column in enumerate(relation.declared):
            kind, value = given.get(column.name.lower(), (None, None))
            same = kind == column.type and fits_column(column, value)
            values[column.name] = value if same else numbered_value(column, (number + place) % _SMALL)
        found.append((relation.name, values))
    return found


def standing_rows(
    relation: Input, given: Mapping[str, Sequence[Row]], most: int, expressions: Sequence[str]
) -> list[Row]:
    """Rows for a relation that has none, with values of other tables, and constants of ``expressions`` that ask it."""
    axes, asking = [], [text for text in expressions if relation.name.lower() in asked_relations(text)]
    for column in relation.declared:
        seen = [row[column.name] for rows in given.values() for row in rows[:_MOST_STANDING] if column.name in row]
        fine = dict.fromkeys(value for value in seen if value is not None and fits_column(column, value))
        near = values_near(column, asking)[:_SMALL] if asking else ()
        axes.append([*list(fine)[:_SMALL], *near, *(numbered_value(column, number) for number in range(2))])
    size = max(map(len, axes), default=1)
    rows = [[axis[(number + number // size * place) % len(axis)] for place, axis in enumerate(axes)]
            for number in range(min(_MOST_STANDING, most))]  # fmt: skip
    names = [column.name for column in relation.declared]
    return [dict(zip(names, row, strict=True)) for row in dict.fromkeys(map(tuple, rows))]


def numbered_value(column: Column, number: int) -> Any:
    """One of the values of a column, each of which has a number; where there are fewer they come again.

    >>> from streambound.analyzer.types import parse_type
    >>> [numbered_value(Column("a", parse_type("string")), number) for number in (0, 1, 7)]
    ['', 'a', 'v7']
    """
    domain = column.domain
    if domain is not None and domain.values:
        return domain.values[number % len(domain.values)]
    if domain is not None and domain.low is not None:
        low, high = cast("int | Fraction", domain.low), cast("int | Fraction", domain.high)
        found = low + number % (int(high - low) + 1)
        return float(found) if column.type.family is Family.FLOAT else int(found)
    match column.type.family:
        case Family.STRING:
            return _TEXTS[number] if number < len(_TEXTS) else f"v{number}"[: column.type.length]
        case Family.FLOAT:
            return number / 2
        case Family.BOOLEAN:
            return number % 2
        case Family.TIMESTAMP:
            return START + number * MICROSECONDS
        case Family.OTHER:
            texts = nested_texts(column.type)
            return texts[number % len(texts)]
    return number
