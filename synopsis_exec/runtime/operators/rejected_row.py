"""Rows of which is only known that they are bad when their timestamp closes, because of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streambound_runtime.row_values import Value


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row, as often as it came: of which stream or changing relation, at which timestamp, with its encoded values.

    ``reason`` is a code of `decoding.reasons.REASONS`, ``detail`` its words.
    """

    stream: str
    reason: str
    detail: str
    time: int
    values: Mapping[str, Value]
    copies: int = 1
