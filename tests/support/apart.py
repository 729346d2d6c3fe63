"""Runs a job's batches on the driver and in ranges of time, with something that stands for Spark."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.support.columnar import Row, batches, by_time


@dataclass(frozen=True)
class Seen:
    """What a batch left: its results, its counts, the tables; or why it stopped."""

    results: str
    counts: tuple[int, ...]
    tables: dict[str, set[tuple[Any, ...]]]
    stopped: str = ""


class Ranged:
    """Stands for rows of which each range is a partition."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def persist(self) -> Ranged:
        return self

    def unpersist(self) -> None:
        pass

    def where(self, condition: str) -> Ranged:
        name, op, number = condition.split()
        assert (name, op) == ("range", "<")
        return Ranged(self.parts[: int(number)])

    def mapInArrow(self, run: Any, schema: str) -> Ranged:
        """Each partition in several batches, the last one first: Spark promises nothing of their order."""
        found = []
        for part in self.parts[::-1]:
            found += run(iter(part.to_batches(max_chunksize=3)[::-1]))
        assert all(batch.schema.names == [column.split()[0] for column in schema.split(", ")] for batch in found)
        return Ranged(found)

    def collect(self) -> list[Namespace]:
        return [Namespace(**row) for batch in self.parts for row in batch.to_pylist()]


def written(job: Any, found: Ranged, path: str) -> Any:
    """What `written` does with Spark: a file per range, in order."""
    lines = [row.line for row in found.collect() if row.report is None]
    assert all(line is None or "\n" not in line for line in lines)
    reports = [row.report for row in found.collect() if row.report is not None]
    by_range: dict[int, list[str]] = {}
    waiting: list[str] = []
    for row in found.collect():
        if row.report is None:
            waiting.append(row.line)
        else:
            number, _ = job.pickle.loads(row.report)
            by_range[number], waiting = waiting, []
    Path(path).mkdir(parents=True)
    for number, mine in by_range.items():
        (Path(path) / f"part-{number:05}").write_text("".join(line + "\n" for line in mine), encoding="utf-8")
    return job.in_order_of_time(reports)


def table_of(job: Any, rows: Mapping[int, Mapping[str, list[Row]]], times: Sequence[int]) -> Any:
    """The rows of some timestamps as they come from Spark, the last first."""
    columns: dict[str, list[Any]] = {name: [] for name in job.no_rows().schema.names}
    for now in reversed(times):
        for number, source in enumerate(job.STREAMS):
            for row in rows[now][source.name]:
                there = {slot: row[column] for column, slot in source.slots.items()}
                large = {source.slots[column] for column in source.large}
                there |= {slot: str(there[slot]) for slot in large if there[slot] is not None}
                for name, values in columns.items():
                    values.append({"source": number, "ts": now, **there}.get(name))
    return pa.table(columns, schema=job.no_rows().schema)


def as_counts(job: Any, table: Any) -> Any:
    """Rows that are the same as one with a count, as Spark makes them."""
    return (
        table.append_column(job.COUNT, pa.array([1] * table.num_rows, pa.int64()))
        .group_by(table.column_names)
        .aggregate([(job.COUNT, "sum")])
        .rename_columns([*table.column_names, job.COUNT])
    )


def parts_of(job: Any, table: Any, cuts: Sequence[int]) -> Iterator[Any]:
    """What each range gets."""
    ends = [-(2**63), *cuts, 2**63 - 1]
    times = table.column("ts").to_numpy()
    for number, (start, stop) in enumerate(pairwise(ends)):
        first = start if job.REACH is None or start == ends[0] else start - job.REACH
        mine = table.filter((times >= first) & (times < stop))
        yield mine.append_column("range", pa.array([number] * mine.num_rows, pa.int32()))


def running(job: Any, folder: Path, apart: bool, relations: Mapping[str, list[Row]], limit: int | None) -> Any:
    """A job that has not begun."""
    found = object.__new__(job.SpreadJob if apart else job.Job)
    found.files, found.options = job.LocalFiles(str(folder)), Namespace(multiplicity="count")
    found.relations, found.synopsis = dict(relations), job.Columnar(dict(relations))
    found.limit = found.synopsis.limit if limit is None else limit
    found.results = found.peak = found.closed_timestamps = 0
    found.pending = job.no_rows()
    return found


def one_batch(job: Any, state: Any, number: int, table: Any, cuts: Sequence[int]) -> Seen:
    """Close all rows of a batch."""
    state.peak_of_batch = state.synopsis.entries()
    name = job.part("results", number)
    try:
        if isinstance(state, job.SpreadJob):
            state.write_ranges(number, Ranged(list(parts_of(job, table, cuts))), list(cuts))
        else:
            state.pending = table
            with state.files.written(name) as file:
                state.close(file, None)
    except (job.JobError, OverflowError) as error:
        return Seen("", (), {}, str(error))
    text = Path(state.files.where("text"))
    with text.open("w", encoding="utf-8") as file:
        state.files.copy(name, file)
    counts = (state.results, state.peak, state.peak_of_batch, state.closed_timestamps, state.synopsis.entries())
    tables = {name: {(tuple(key), n) for key, n in entries} for name, entries in state.synopsis.dump().items()}
    return Seen(text.read_text(encoding="utf-8"), counts, tables)


def both_ways(
    job: Any,
    folder: Path,
    relations: Mapping[str, list[Row]],
    streams: Mapping[str, list[Row]],
    cuts: Sequence[int],
    ranges: Sequence[int],
    limit: int | None = None,
    grouped: bool = False,
) -> Iterator[tuple[Seen, Seen]]:
    """What each batch leaves, folded on the driver and in ranges; these begin at some of the batch's timestamps.

    ``grouped`` says that ranges get rows that are the same as one with a count.
    """
    rows = by_time(job, streams)
    driver = running(job, folder / "driver", False, relations, limit)
    spread = running(job, folder / "spread", True, relations, limit)
    job.written = lambda found, path: written(job, found, path)
    for number, times in enumerate(batches(list(rows), cuts)):
        table = table_of(job, rows, times)
        begin = sorted({times[place % len(times)] for place in ranges} - {times[0]})
        whole = one_batch(job, driver, number, table, begin)
        yield whole, one_batch(job, spread, number, as_counts(job, table) if grouped else table, begin)
        if whole.stopped:
            return
