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
