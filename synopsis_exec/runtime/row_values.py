"""What one row holds, encoded or as JSON, for all that computes a row at a time; it needs no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, Self, TypeAlias

Value = int | float | Fraction | str | None
"""One encoded value, or a sum of some."""
Row = Mapping[str, Value]
"""The encoded values of a row, by column."""
ArrowValue: TypeAlias = (
    "Value | Decimal | bytes | date | time | timedelta"
    " | list[ArrowValue] | tuple[ArrowValue, ...] | dict[str, ArrowValue]"
)
"""A value of a column that isn't encoded, as Arrow has it in Python; or an encoded one."""


class Comparable(Protocol):
    """What is compared with others of its own type."""

    def __lt__(self, other: Self, /) -> bool: ...


JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"
