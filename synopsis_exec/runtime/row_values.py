"""What one row holds, for all that computes a row at a time; numpy isn't needed for it, nor for checking."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

Value = int | float | Fraction | str | None
"""One encoded value, or a sum of some."""
Row = Mapping[str, Value]
"""The encoded values of a row, by column."""
