"""Runs a job's batches on the driver and in ranges of time or parts of keys, with something that stands for Spark."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.columnar import Row, batches, by_time


@dataclass(frozen=True)
class Seen:
    """What a batch left: its results, its counts, the tables; or why it stopped."""

    results: str
    counts: tuple[int, ...]
    tables: dict[str, set[tuple[Any, ...]]]
    stopped: str = ""


class Divided:
    """Stands for rows of which each range, or the rows of some keys, is a partition."""

    def __init__(self, parts: list[Any], ordered: bool = False) -> None:
        self.parts, self.ordered = parts, ordered

    def persist(self) -> Divided:
        return self

    def unpersist(self) -> None:
        pass

    def where(self, condition: str) -> Divided:
        if condition == "report IS NOT NULL":
            return Divided([batch.filter(batch.column("report").is_valid()) for batch in self.parts])
        name, op, number = condition.split()
        assert (name, op) == ("range", "<")
        return Divided(self.parts[: int(number)])

    def mapInArrow(self, run: Any, schema: str) -> Divided:
        """Each partition in several batches, the last one first where Spark promises nothing of their order."""
        found = []
        for part in self.parts[::-1]:
            found += run(iter(part.to_batches(max_chunksize=3)[:: 1 if self.ordered else -1]))
        names = [column.split()[0] for column in re.split(r", (?=[a-z])", schema)]
        assert all(batch.schema.names == names for batch in found)
        return Divided(found)

    def collect(self) -> list[Namespace]:
        return [Namespace(**row) for batch in self.parts for row in batch.to_pylist()]


def written(job: Any, found: Divided, path: str) -> Any:
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


def merged(job: Any, found: Divided, path: str) -> int:
    """What `written` does with Spark where rows are divided by key: one file, in order of time and text."""
    totals: Counter[tuple[int, str]] = Counter()
    for row in found.collect():
        if row.report is None:
            assert not job.IN_RESULTS or (row.ts, row.line) not in totals
            totals[row.ts, row.line] += row.n
    for (now, _), n in sorted(totals.items()):
        if n > job.MOST:
            raise OverflowError(f"a result at timestamp {now} has more than {job.MOST} duplicates")
    lines = [f"{line}{job.MULTIPLICITY}{n}}}\n" for (_, line), n in sorted(totals.items())]
    Path(path).mkdir(parents=True)
    (Path(path) / "part-00000").write_text("".join(lines), encoding="utf-8")
    return len(lines)


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


def keys_of(job: Any, table: Any, parts: int) -> Iterator[Any]:
    """What each part of the keys gets, in order of time."""
    table = table.sort_by("ts")
    rows = table.to_pylist()
    sources = [job.STREAMS[row["source"]] for row in rows]
    keys = [row[source.slots[job.KEYS[source.name]]] for row, source in zip(rows, sources, strict=True)]
    numbers = pa.array([0 if key is None else job.part_of_key(key, parts) for key in keys], pa.int32())
    table = table.append_column("part", numbers)
    for number in range(parts):
        yield table.filter(pa.array([one == number for one in numbers.to_pylist()], pa.bool_()))


def running(job: Any, folder: Path, apart: bool, relations: Mapping[str, list[Row]], limit: int | None) -> Any:
    """A job that has not begun."""
    found = object.__new__(job.Batches if apart else job.Job)
    found.files, found.options = job.LocalFiles(str(folder)), Namespace(multiplicity="count")
    found.relations, found.synopsis = dict(relations), job.Kernel(dict(relations))
    found.limit = found.synopsis.limit if limit is None else limit
    found.results = found.peak = found.closed_timestamps = 0
    found.pending = job.no_rows()
    return found


def one_batch(job: Any, state: Any, number: int, table: Any, cuts: Sequence[int]) -> Seen:
    """Close all rows of a batch."""
    state.peak_of_batch = state.synopsis.entries()
    name = job.part("results", number)
    try:
        if isinstance(state, getattr(job, "KeyedJob", ())):
            parts = 1 + len(cuts)
            keyed = Divided(list(keys_of(job, table, parts)), ordered=True)
            state.closed_timestamps += state.write_keys(number, keyed, parts)
        elif isinstance(state, job.LargeJob):
            state.write_ranges(number, Divided(list(parts_of(job, table, cuts))), list(cuts))
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
    """What each batch leaves, folded on the driver and on the executors.

    Ranges begin at some of the batch's timestamps; keys are divided into as many parts.

    ``grouped`` says that ranges get rows that are the same as one with a count.
    """
    rows = by_time(job, streams)
    driver = running(job, folder / "driver", False, relations, limit)
    spread = running(job, folder / "spread", True, relations, limit)
    if job.Batches.__name__ == "KeyedJob":
        job.written = lambda found, parts, multiplicity, path: merged(job, found, path)
    else:
        job.written = lambda found, path: written(job, found, path)
    for number, times in enumerate(batches(list(rows), cuts)):
        table = table_of(job, rows, times)
        begin = sorted({times[place % len(times)] for place in ranges} - {times[0]})
        whole = one_batch(job, driver, number, table, begin)
        yield whole, one_batch(job, spread, number, as_counts(job, table) if grouped else table, begin)
        if whole.stopped:
            return
