"""Spark SQL over one row: columns, and their values as the runtime encodes them."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType, Family

_LARGEST_PRECISION = 18
"""Decimals of more digits do not fit 64 bits."""


def quoted(name: str) -> str:
    """A column name."""
    return exp.Identifier(this=name, quoted=True).sql("spark")


def cell(column: Column) -> str:
    """A column of the row."""
    return f"row.{quoted(column.name)}"


def is_large(kind: DataType) -> bool:
    """Whether a type's integers exceed 64 bits."""
    return kind.family is Family.DECIMAL and kind.precision > _LARGEST_PRECISION


def encoded(column: Column) -> str:
    """The column's value as the kernel takes it."""
    text = cell(column)
    match column.type.family:
        case Family.BOOLEAN:
            return f"CAST({text} AS INT)"
        case Family.DATE:
            return f"unix_date({text})"
        case Family.TIMESTAMP:
            return f"unix_micros(CAST({text} AS TIMESTAMP))"
        case Family.FLOAT:
            return f"CAST({text} AS DOUBLE)"
        case Family.DECIMAL if is_large(column.type):
            return f"REPLACE(CAST({text} AS STRING), '.', '')"
        case Family.DECIMAL:
            scale = column.type.scale or 0
            return f"CAST({text} * {10**scale} AS BIGINT)" if scale else f"CAST({text} AS BIGINT)"
        case Family.OTHER:
            return f"CASE WHEN {text} IS NOT NULL THEN 1 END"
    return text
