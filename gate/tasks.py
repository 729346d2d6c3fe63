"""Judging files in this process or in several: a task is a file's text and what to do with it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streambound.analyzer.errors import WorkerError
from streambound.analyzer.spans import SourceText
from streambound.gate.judging import judged
from streambound.gate.outcome_json import to_json

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from streambound.analyzer.workspace import Sources

WORTHWHILE = 30_000
"""Characters of SQL below which more processes cost more time than they save (about a hundred statements)."""
REPAIR = 10_000
"""What looking for the repairs of a statement costs, in characters of SQL to judge."""
_PER_PROCESS = 8
"""Portions of work per process, so that none waits long for the last one."""


@dataclass(frozen=True, slots=True)
class Task:
    """Judge every statement of a text, or look for repairs of some of them, by their numbers from 0.

    ``criteria``, ``details``, ``emit_mode`` and ``engine`` as in `gate.check_files.GateSettings`.
    """

    source: SourceText = field(repr=False)
    criteria: str
    details: frozenset[str]
    repaired: tuple[int, ...] = ()
    emit_mode: str | None = None
    engine: str | None = None


def results(tasks: Sequence[Task], workspace: Sources, jobs: int) -> Iterator[list[Any]]:
    """For every task, in their order, its statements' outcomes as JSON values.

    They are the same for any number of processes. Raises WorkerError when one of these is ended from outside.
    """
    work = sum(REPAIR * len(task.repaired) or len(task.source.text) for task in tasks)
    if jobs <= 1 or len(tasks) < 2 or work < WORTHWHILE:
        yield from (result(task, workspace) for task in tasks)
        return
    with _worker_errors():
        try:
            pool = _pool(min(jobs, len(tasks)), workspace)
            found = pool.map(_result, tasks, chunksize=max(1, len(tasks) // (jobs * _PER_PROCESS)))
        except (OSError, ImportError, NotImplementedError):  # no more processes, or no semaphores, as in some sandboxes
            yield from (result(task, workspace) for task in tasks)
            return
        with pool:
            yield from found


def _pool(jobs: int, workspace: Sources) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    import streambound.criteria.check  # noqa: F401  # once, before the processes fork

    method = "fork" if sys.platform == "linux" else "spawn"
    return ProcessPoolExecutor(jobs, multiprocessing.get_context(method), _keep, (workspace,))


@contextmanager
def _worker_errors() -> Iterator[None]:
    """Turn the end of a worker, whenever it is noticed, into WorkerError."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield
    except BrokenProcessPool as error:
        remedy = "most often the system ends one for want of memory: use fewer, as in -j 1"
        raise WorkerError("a process that judged queries was ended from outside", remedy=remedy) from error


_kept: list[Sources] = []
"""The workspace of a worker process: too large to travel with every task."""


def _keep(workspace: Sources) -> None:
    sys.set_int_max_str_digits(0)
    _kept[:] = [workspace]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended: a worker would wait for ever."""
    from multiprocessing import connection, parent_process

    if parent := parent_process():
        connection.wait([parent.sentinel])
        os._exit(1)


def _result(task: Task) -> list[Any]:
    return result(task, _kept[0])


def result(task: Task, workspace: Sources) -> list[Any]:
    """The outcomes of one task."""
    from pathlib import Path

    catalog = workspace.catalog(Path(task.source.file))
    found = judged(
        task.source, catalog, task.criteria, task.details, task.repaired or None, bool(task.repaired), task.emit_mode,
        task.engine,
    )  # fmt: skip
    return [to_json(item) for item in found]
