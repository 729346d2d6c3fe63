"""Part of every job: what goes into a kernel and what comes out of it, as columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Rows of one stream in order of time: timestamps, values, and masks where there are NULLs.

    Texts are numbers of ``words``. ``n`` is how often each row came; None where each came once.
    """

    time: Any
    columns: dict[str, Any]
    nulls: dict[str, Any]
    words: dict[str, list[str]]
    n: Any = None


class Results(NamedTuple):
    """Results in order of time and value: timestamps, multiplicities, the select list, masks where there are NULLs."""

    time: Any
    n: Any
    columns: list[Any]
    nulls: list[Any]


def results_of_rows(found: list[tuple[Any, ...]], width: int) -> Results:
    """Results from rows of a timestamp, a multiplicity and so many values."""
    time, n, *columns = ([row[place] for row in found] for place in range(2 + width))
    nulls = [np.array([value is None for value in values], dtype=bool) for values in columns]
    arrays = [np.array(values, dtype=object) for values in (n, *columns)]
    return Results(np.array(time, dtype=np.int64), arrays[0], arrays[1:], nulls)


def rows_of_results(results: Results) -> list[tuple[int, tuple[Any, ...]]]:
    """Results as rows of a timestamp and the values, with None for NULL."""
    columns = [values.astype(object) for values in results.columns]
    for values, null in zip(columns, results.nulls, strict=True):
        if null is not None:
            values[null] = None
    rows = zip(*(values.tolist() for values in columns), strict=True)
    return list(zip(results.time.tolist(), rows, strict=True))


class Times:
    """The timestamps that a batch closes, those of its rows."""

    def __init__(self, batch: dict[str, Rows]) -> None:
        self.by_stream = [rows.time for rows in batch.values() if len(rows.time)]
        self.found: Any = None

    @property
    def ends(self) -> tuple[int, int] | None:
        """The first and the last; None where there is none."""
        if not self.by_stream:
            return None
        return min(int(time[0]) for time in self.by_stream), max(int(time[-1]) for time in self.by_stream)

    @property
    def all(self) -> Any:
        """All of them, in order."""
        if self.found is None:  # no `cached_property`: it has a lock, which cannot travel to executors
            time = np.sort(np.concatenate(self.by_stream), kind="stable")
            self.found = time[np.flatnonzero(np.r_[True, time[1:] != time[:-1]])]
        return self.found
