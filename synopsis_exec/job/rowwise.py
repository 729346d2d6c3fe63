"""Part of every job: columns for a kernel that takes rows, timestamp by timestamp."""

from __future__ import annotations

from typing import Any

import numpy as np

from streambound.synopsis_exec.job.batch import Results, Rows, Times, results_of_rows
from streambound.synopsis_exec.job.given import COLUMNS, STREAMS, Synopsis


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
        by_time: dict[int, dict[str, list[dict[str, Any]]]] = {}
        for source in STREAMS:
            rows = batch[source.name]
            for now, row in zip(rows.time.tolist(), row_dicts(rows), strict=True):
                by_time.setdefault(now, {}).setdefault(source.name, []).append(row)
        found, sizes = [], []
        for now in sorted(by_time):
            found += [(now, n, *row.values()) for row, n in self.synopsis.close(now, by_time.pop(now))]
            sizes.append(self.synopsis.entries())
        self.history = Times(batch).all, np.array(sizes, dtype=np.int64)
        return results_of_rows(found, len(COLUMNS))


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
