"""Running a compiled job with its progress shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def run_job(
    job: str, input_dir: Path | None, base: Path, output: Path, quarantine: Path, checkpoint: Path | None,
    on_batch: Callable[[dict[str, Any]], None], multiplicity: str = "count", driver_rows: int | None = None,
) -> list[str]:  # fmt: skip
    """Run a compiled job; the lines of its summary. Relative paths of the catalog's sources start at ``base``."""
    from reports.progress import run_summary_lines
    from synopsis_exec.runner import run_query

    files = (input_dir, output, quarantine, checkpoint)
    summary = run_query(job, *files, on_batch, base=base, multiplicity=multiplicity, driver_rows=driver_rows)
    return list(run_summary_lines(summary))


@contextmanager
def spinner(what: str) -> Iterator[Callable[[], None]]:
    """A count that grows on a terminal while something runs, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda: progress.advance(task)
