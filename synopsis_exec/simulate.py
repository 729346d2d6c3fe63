"""Run a job's plan in this process, without Spark: what `explain` shows step by step, and what tests compare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streambound_runtime.spec import Job

Row = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class ClosedTimestamp:
    """What happened when a timestamp closed: its results, and the tables after it."""

    timestamp: int
    results: tuple[tuple[Row, int], ...]
    tables: dict[str, dict[Key, int]]
    entries: int


def replay(
    job: Job, relations: Mapping[str, list[Row]], streams: Mapping[str, Iterable[Row]]
) -> Iterator[ClosedTimestamp]:
    """Close the timestamps of some finite streams in order; rows hold encoded values.

    The timestamp column of each stream is the one that the job names.
    """
    from streambound_runtime.operators.interpreter import RowSynopsis

    batches: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for stream in job.streams:
        for row in streams.get(stream.name, ()):
            batches[row[stream.timestamp]][stream.name].append(row)
    synopsis = RowSynopsis(job.plan, relations)
    names = job.plan.columns
    for now in sorted(batches):
        results = tuple((dict(zip(names, key, strict=True)), n) for key, n in synopsis.close(now, batches[now]))
        yield ClosedTimestamp(now, results, synopsis.tables(), synopsis.entries())
