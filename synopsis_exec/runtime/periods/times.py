"""Points of time as integers: days of dates, microseconds of timestamps, so that all types have one arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from streambound_runtime.decoding.sql_types import SqlType

_DAY_US = 86_400_000_000
_NTZ = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
LEAST, GREATEST = -(2**63), 2**63 - 1
"""The ends of time where no domain has any."""


def encoded(kind: str, column: str) -> str:
    """The integer of a point of time, in Spark SQL.

    >>> encoded("date", "b")
    'CAST(unix_date(b) AS BIGINT)'
    """
    if kind == "date":
        return f"CAST(unix_date({column}) AS BIGINT)"
    if kind == "timestamp_ntz":  # in parts: casts to timestamps depend on the session's time zone
        seconds = f"hour({column}) * 3600 + minute({column}) * 60"
        micros = f"CAST(extract(SECOND FROM {column}) * 1000000 AS BIGINT)"
        return f"(unix_date(CAST({column} AS DATE)) * {_DAY_US} + ({seconds}) * 1000000 + {micros})"
    if kind.startswith("timestamp"):
        return f"unix_micros({column})"
    return f"CAST({column} AS BIGINT)"


def decoded(kind: str, column: str) -> str:
    """The point of time of an integer, in Spark SQL."""
    if kind == "date":
        return f"date_from_unix_date(CAST({column} AS INT))"
    if kind == "timestamp_ntz":
        seconds = f"CAST(CAST({column} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
        return f"{_NTZ} + make_dt_interval(0, 0, 0, {seconds})"
    if kind.startswith("timestamp"):
        return f"timestamp_micros({column})"
    return f"CAST({column} AS {kind.upper()})"


def bin_of(borders: Sequence[int], column: str) -> str:
    """The number of borders up to a point of time: the bin that it is in."""
    if not borders:
        return "0"
    return "(" + " + ".join(f"CAST({column} >= {literal(border)} AS INT)" for border in borders) + ")"


def literal(number: int) -> str:
    """An integer of 64 bits in Spark SQL, whose parser has no literal for the least one."""
    return f"(-{GREATEST}L - 1L)" if number == LEAST else f"{number}L"


OTHER = "other"


def carried_as(kind: SqlType) -> str:
    """The type that values of a type travel in."""
    if kind.large:
        return "DECIMAL(38, 0)"
    return {"float": "DOUBLE", "string": "STRING"}.get(kind.family, "BIGINT")


def carried(column: str, kind: SqlType) -> str:
    """A column's values as they travel."""
    match kind.family:
        case "date" | "timestamp":
            return encoded(kind.name, column)
        case "decimal":
            return f"CAST(concat(CAST({column} AS STRING), 'E{kind.scale}') AS {carried_as(kind)})"
        case "boolean" | "integer" | "float":
            return f"CAST({column} AS {carried_as(kind)})"
    return "CAST(NULL AS BIGINT)" if kind.name == "void" else column


def typed(column: str, kind: SqlType) -> str:
    """A column of values that have travelled, in its type."""
    match kind.family:
        case "timestamp" | "date":
            return decoded(kind.name, column)
        case "boolean":
            return f"{column} = 1"
        case "decimal":
            return f"CAST(concat(CAST({column} AS STRING), 'E-{kind.scale}') AS {kind.name.upper()})"
        case "string" | "other":
            return "NULL" if kind.name == "void" else column
    return f"CAST({column} AS {kind.name.upper()})"
