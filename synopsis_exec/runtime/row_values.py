"""What one row holds, encoded or as JSON, for all that computes a row at a time; it needs no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

Value = int | float | Fraction | str | None
"""One encoded value, or a sum of some."""
Row = Mapping[str, Value]
"""The encoded values of a row, by column."""
JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"
