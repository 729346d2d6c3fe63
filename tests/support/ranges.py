"""Folds a stream of rows range by range: every range's own part first, then the tables between them, then results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from support.columnar import Closed, Row, batches, by_time, columns_of, listed


def in_ranges(
    job: Any,
    relations: Mapping[str, list[Row]],
    streams: Mapping[str, list[Row]],
    cuts: Sequence[int],
    order: Sequence[int],
) -> tuple[list[Closed], list[Any], list[Any]]:
    """What each range gives from the tables at its start; the tables at the end, and those of all ranges as one.

    ``order`` says which neighbours are put together first: places among those that are left.
    """
    kernel = job.Columnar(dict(relations))
    extensions = job.extensions(kernel.synopsis)
    rows = by_time(job, streams)
    parts = []
    for batch in batches(list(rows), cuts):
        mine = {source.name: [r for now in batch for r in rows[now][source.name]] for source in job.STREAMS}
        parts.append({source.name: columns_of(job, source, mine[source.name]) for source in job.STREAMS})
    closed, tables, ends = [], [list(frames) for frames in kernel.tables], []
    start = [list(frames) for frames in kernel.tables]
    for number, branch in enumerate(kernel.branches):
        ranges = [job.range_of(branch, extensions[number], kernel.known[number], p, job.DISTINCT) for p in parts]
        starts = []
        for one in ranges:
            starts.append(tables[number])
            tables[number] = job.after(branch, extensions[number], tables[number], one, job.DISTINCT)
        ends.append(starts)
        while len(ranges) > 1:
            place = order[len(ranges) % len(order)] % (len(ranges) - 1)
            both = job.combined(branch, extensions[number], *ranges[place : place + 2], job.DISTINCT)
            ranges[place : place + 2] = [both]
        start[number] = job.after(branch, extensions[number], start[number], ranges[0], job.DISTINCT)
    written: Any = []
    for place, part in enumerate(parts):
        one = job.Columnar(dict(relations))
        one.tables = [starts[place] for starts in ends]
        if job.DISTINCT:
            one.load(one.dump() | {"results": written})
        results = list(listed(one.fold(part)))
        state = one.dump()
        written = state.get("results", [])
        held = {name: {tuple(key): n for key, n in entries} for name, entries in state.items()}
        closed.append(Closed(results, held, max(one.history[1].tolist(), default=0)))
    return closed, as_tables(job, kernel, tables), as_tables(job, kernel, start)


def as_tables(job: Any, kernel: Any, tables: Any) -> Any:
    kernel.tables = tables
    return {name: {tuple(key): n for key, n in entries} for name, entries in kernel.dump().items() if name != "results"}
