"""Values of declared columns for which expressions may say different things: what generated rows have there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from streambound.analyzer.calendar_text import MICROSECONDS, parse_timestamp
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.criteria.contract import fits_column
from streambound.synopsis_exec.nested_values import nested_texts
from streambound.synopsis_exec.plan_ir import Input

_TEXT, _NUMBER = re.compile(r"'((?:[^'\\]++|\\.?)*+)(?:'|\Z)"), re.compile(r"(?<![\w.'`])\d{1,9}(?![\w.'`])")
_FEW = range(10)
_DAY, _NOON = 19_723, parse_timestamp("2024-01-01 12:30:00")
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
            values = dict.fromkeys(value for value in _values(column, mine) if fits_column(column, value))
            found[column.name] = (*values, None)
    return found


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
