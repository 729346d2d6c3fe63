"""Runs both kernels of a generated job on the same rows: timestamp by timestamp, and in batches of columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Row = dict[str, Any]
Result = tuple[int, tuple[Any, ...], int]


@dataclass(frozen=True)
class Closed:
    """What closing some timestamps gave: results in order, the tables after them, and the most entries meanwhile."""

    results: list[Result]
    tables: dict[str, dict[tuple[Any, ...], int]]
    peak: int


def batches(times: Sequence[int], cuts: Sequence[int]) -> Iterator[list[int]]:
    """The timestamps cut before some of their places."""
    ends = [0, *sorted({cut for cut in cuts if 0 < cut < len(times)}), len(times)]
    for start, stop in pairwise(ends):
        yield list(times[start:stop])


def by_time(job: Any, streams: Mapping[str, list[Row]]) -> dict[int, dict[str, list[Row]]]:
    """The rows by timestamp and stream."""
    found: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for source in job.STREAMS:
        for row in streams.get(source.name, ()):
            found[row[source.time]][source.name].append(row)
    return dict(sorted(found.items()))


def row_by_row(
    job: Any, relations: Mapping[str, list[Row]], streams: Mapping[str, list[Row]], cuts: Sequence[int]
) -> list[Closed]:
    """What the kernel of rows gives per batch."""
    synopsis, rows, found = job.Synopsis(dict(relations)), by_time(job, streams), []
    for batch in batches(list(rows), cuts):
        results: list[Result] = []
        peak = 0
        for now in batch:
            results += [(now, tuple(row.values()), n) for row, n in synopsis.close(now, rows[now])]
            peak = max(peak, synopsis.entries())
        found.append(Closed(results, {name: dict(table) for name, table in synopsis.tables().items()}, peak))
    return found


def in_columns(
    job: Any, relations: Mapping[str, list[Row]], streams: Mapping[str, list[Row]], cuts: Sequence[int]
) -> list[Closed]:
    """What the kernel of columns gives per batch; its state goes through `dump` and `load` in between."""
    rows, found = by_time(job, streams), []
    state = None
    for batch in batches(list(rows), cuts):
        kernel = job.Columnar(dict(relations))
        if state is not None:
            kernel.load(state)
        mine = {source.name: [r for now in batch for r in rows[now][source.name]] for source in job.STREAMS}
        results = kernel.fold({source.name: columns_of(job, source, mine[source.name]) for source in job.STREAMS})
        state = kernel.dump()
        tables = {name: {tuple(key): n for key, n in entries} for name, entries in state.items()}
        assert sum(map(len, tables.values())) == kernel.entries() == sum(map(len, state.values()))
        found.append(Closed(list(listed(results)), tables, max(kernel.history[1].tolist(), default=0)))
    return found


def listed(results: Any) -> Iterator[Result]:
    """Results as rows."""
    columns = []
    for values, null in zip(results.columns, results.nulls, strict=True):
        missing = null if null is not None else np.zeros(len(results.time), dtype=bool)
        columns.append([None if gone else v for v, gone in zip(values.tolist(), missing, strict=True)])
    for place, (now, n) in enumerate(zip(results.time.tolist(), results.n.tolist(), strict=True)):
        yield now, tuple(column[place] for column in columns), n


def columns_of(job: Any, source: Any, rows: list[Row]) -> Any:
    """Rows of one stream as columns, texts as numbers of their words in no particular order."""
    columns, nulls, words = {}, {}, {}
    for name in source.values:
        values = [row[name] for row in rows]
        if any(isinstance(value, str) for value in values):
            words[name] = sorted({value for value in values if value is not None}, reverse=True)
            places = {word: place for place, word in enumerate(words[name])}
            columns[name] = np.array([places.get(value, 0) for value in values], dtype=np.int64)
            if None in values:
                nulls[name] = np.array([value is None for value in values])
            continue
        columns[name], null = job.column_of(values, False)
        if null is not None:
            nulls[name] = null
    time = np.array([row[source.time] for row in rows], dtype=np.int64)
    return job.Rows(time, columns, nulls, words)


__all__ = ["Closed", "columns_of", "in_columns", "listed", "row_by_row"]
