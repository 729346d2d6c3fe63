"""Part of every job: columns for a kernel that takes rows, timestamp by timestamp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from synopsis_exec.job.batch import Results, Rows, Times, results_of_rows
from synopsis_exec.job.given import COLUMNS, STREAMS, Synopsis

AT_ONCE = 1 << 16
"""How many rows are dictionaries at a time, which take ten times as much as their columns."""


class RowWise:
    """Closes the timestamps of a batch one after the other, with `Synopsis`.

    ``history`` are the timestamps of the last batch, and how many entries there were after each.
    """

    def __init__(self, relations: dict[str, list[dict[str, Any]]]) -> None:
        self.synopsis = Synopsis(relations)
        self.limit = self.synopsis.limit
        self.load, self.dump, self.entries = self.synopsis.load, self.synopsis.dump, self.synopsis.entries
        self.history: tuple[Any, Any] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def fold(self, batch: dict[str, Rows]) -> Results:
        """Close the timestamps of all rows of a batch, by stream; returns what becomes true at them."""
        found: list[tuple[Any, ...]] = []
        sizes: list[int] = []
        for now, rows in by_time(batch):
            found += [(now, n, *row.values()) for row, n in self.synopsis.close(now, rows)]
            sizes.append(self.synopsis.entries())
        self.history = Times(batch).all, np.array(sizes, dtype=np.int64)
        return results_of_rows(found, len(COLUMNS))


def by_time(batch: dict[str, Rows]) -> Iterator[tuple[int, dict[str, list[dict[str, Any]]]]]:
    """The timestamps of a batch in order, each with its rows by stream, as dictionaries."""
    times = np.sort(np.concatenate([rows.time for rows in batch.values()]))
    start = 0
    while start < len(times):
        first, last = times[start], times[min(start + AT_ONCE, len(times)) - 1]
        found: dict[int, dict[str, list[dict[str, Any]]]] = {}
        for source in STREAMS:
            rows = batch[source.name]
            low, high = np.searchsorted(rows.time, first), np.searchsorted(rows.time, last, side="right")
            mine = part_of_rows(rows, slice(int(low), int(high)))
            for now, row in zip(mine.time.tolist(), row_dicts(mine), strict=True):
                found.setdefault(now, {}).setdefault(source.name, []).append(row)
        yield from sorted(found.items())
        start = int(np.searchsorted(times, last, side="right"))


def part_of_rows(rows: Rows, some: slice) -> Rows:
    """Some of a stream's rows."""
    columns = {name: values[some] for name, values in rows.columns.items()}
    nulls = {name: null[some] for name, null in rows.nulls.items()}
    return rows._replace(time=rows.time[some], columns=columns, nulls=nulls)


def row_dicts(rows: Rows) -> list[dict[str, Any]]:
    """Rows as dictionaries."""
    columns = {}
    for name, found in rows.columns.items():
        values = found.tolist()
        if name in rows.words:
            values = [rows.words[name][code] if rows.words[name] else None for code in values]
        if name in rows.nulls:
            values = [None if null else value for value, null in zip(values, rows.nulls[name], strict=True)]
        columns[name] = values
    if not columns:
        return [{} for _ in range(len(rows.time))]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
