"""Jobs that run in this process, without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from streambound_runtime.embedded import run_embedded
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked
from support.jobs import write

STREAM = {"timestamp": "ts", "columns": {"a": "bigint", "b": "string", "ts": "bigint"}, "domain": {"a": [0, 9]}}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
JOIN = "SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND T.a = S.a AND T.b IN ('x', 'y')"
FILTER = "SELECT a, b FROM S WHERE a > 3"


def run_here(
    job: JobSpec, folder: Path, *more: str, report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    """Run a job over the input in ``in``, as `support.jobs.run` does on Spark; returns its summary."""
    folders = {name: str(folder / name) for name in ("checkpoint", "output", "quarantine")}
    options = [part for name, value in folders.items() for part in (f"--{name}", value)]
    if "--files-per-batch" not in more:
        options += ["--files-per-batch", "1"]
    settings = settings_of(job, ["--input", str(folder / "in"), *options, *more])
    return run_embedded(job, checked(job, settings), report)


def write_input(job: JobSpec, folder: Path, rows: dict[str, list[dict[str, Any]]]) -> None:
    """The rows of each stream and relation of a job as its input in ``in``."""
    for table in job.tables:
        write(folder / "in" / f"{table.name}.jsonl", *rows.get(table.name, []))


def counted(rows: Iterable[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """Results with their multiplicities; fractions to nine places."""
    found = Counter[tuple[Any, ...]]()
    for row in rows:
        values = {name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()}
        found[tuple(sorted(values.items() - {("_mult", row["_mult"])}, key=lambda item: item[0]))] += row["_mult"]
    return Counter({row: count for row, count in found.items() if count})


def streams(folder: Path, late: bool = True) -> None:
    """Three files for each of S and T, in order of time; bad rows, and perhaps a late one, are in the last ones."""
    for name, first in (("S", 0), ("T", 1)):
        for number in range(3):
            rows = [{"a": (i * 7 + first) % 10, "b": "xyz"[i % 3], "ts": 10 * number + i // 3} for i in range(30)]
            bad = ["{", '{"a": 99, "b": "x", "ts": 25}'] if number == 2 else []
            bad += ['{"a": 1, "b": "x", "ts": 0}'] if number == 2 and late else []
            write(folder / "in" / name / f"{number}.jsonl", *rows, *bad, modified=1_600_000_000 + number)
