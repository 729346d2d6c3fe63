"""Values as they travel to tasks and back: as integers, doubles and texts; others, such as arrays, as they are."""

from __future__ import annotations

from streambound_runtime.decoding.sql_types import SqlType
from streambound_runtime.periods.times import decoded, encoded

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
