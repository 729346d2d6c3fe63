"""The timestamps of a step, and rows of timestamps, one after the other; and rows that turn out to be bad there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.delta import Delta, delta_of
from streambound_runtime.operators.entries import column_of
from streambound_runtime.row_values import Value

Row = tuple[Value, ...]
Weighted = tuple[Row, int]


@dataclass(frozen=True, slots=True)
class Ticks:
    """The timestamps that a step closes, those with rows of any source, in order; ``over`` says that none follow.

    All before ``until`` are closed; None where that is not known beyond the last of them.
    """

    times: Integers
    until: int | None = None
    over: bool = False

    @property
    def frontier(self) -> int | None:
        """Before which timestamp all is closed, as far as is known."""
        last = int(self.times[-1]) + 1 if len(self.times) else None
        return last if self.until is None else self.until


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


def rows_by_time(delta: Delta) -> dict[int, list[Weighted]]:
    """The rows of a delta with their weights, by timestamp."""
    found: dict[int, list[Weighted]] = {}
    for now, weight, row in zip(delta.time.tolist(), delta.weights().tolist(), delta.rows(), strict=True):
        found.setdefault(now, []).append((row, weight))
    return found


def delta_of_rows(times: Sequence[int], rows: Sequence[Mapping[str, Value]], texts: Mapping[str, bool]) -> Delta:
    """Rows in order of their timestamps as columns: those named, of which some are ``texts``."""
    columns, nulls = {}, {}
    for name, text in texts.items():
        columns[name], null = column_of([row[name] for row in rows], text)
        if null is not None:
            nulls[name] = null
    return Delta(np.array(times, dtype=np.int64), None, columns, nulls)


class Changes:
    """Changes of a node's results, consolidated for each timestamp: equal rows are one, those of weight 0 none."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        self.found: list[tuple[int, int, Row]] = []

    def add(self, now: int, rows: Iterable[Weighted]) -> None:
        """The changes of a timestamp."""
        total: dict[Row, int] = {}
        for row, weight in rows:
            total[row] = total.get(row, 0) + weight
        self.found += [(now, weight, row) for row, weight in in_order(total) if weight]

    @property
    def delta(self) -> Delta:
        """All of them."""
        return delta_of(self.found, self.columns)


def in_order(rows: Mapping[Row, int]) -> list[Weighted]:
    """Rows in order of their values, NULL first."""
    if not any(None in row for row in rows):
        return sorted(rows.items())
    return sorted(rows.items(), key=lambda item: [(value is not None, value) for value in item[0]])
