"""The values of derived columns and of computed ones, encoded by their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.evident import encoded, plain_value
from streambound.analyzer.expressions.expression import Expression, fields, value_of
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.query import Computed
from streambound.analyzer.types import DataType
from streambound.analyzer.values import Value


@lru_cache(maxsize=1024)
def expression_of(column: Column, declared: tuple[Column, ...]) -> Expression:
    """The expression of a derived column, over the declared ones of its row."""
    return read(parsed(column.expression), {one.name: one.type for one in declared if not one.expression})


def derived_value(column: Column, declared: tuple[Column, ...], row: Mapping[str, Value | None]) -> Value | None:
    """The value of a derived column in a row of encoded values; raises Fails and NotKnown."""
    found = expression_of(column, declared)
    kinds = {one.name: one.type for one in declared}
    plain = {name: plain_value(row[name], kinds[name]) for name in fields(found)}
    value = value_of(found, plain)
    if value.kind.family is not column.type.family:
        raise NotKnown(f"the value of {column.name}")
    return None if value.value is None else encoded(value.value, value.kind)


def computed_value(computed: Computed, parts: Sequence[tuple[DataType, Value | None]]) -> Value | None:
    """The value of a computed output, of its parts' types and encoded values; raises Fails and NotKnown."""
    names = [f"_{place}" for place in range(1, len(parts) + 1)]
    try:
        found = read(parsed(computed.text), {name: kind for name, (kind, _) in zip(names, parts, strict=True)})
    except Refused as error:
        raise NotKnown(str(error)) from error
    row = {name: plain_value(value, kind) for name, (kind, value) in zip(names, parts, strict=True)}
    value = value_of(found, row)
    return None if value.value is None else encoded(value.value, value.kind)
