"""Judging files in this process or in several: a task is a file's text and what to do with it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict

from streambound.analyzer.errors import WorkerError
from streambound.analyzer.json_models import JsonReader, exactly, plain
from streambound.analyzer.spans import SourceText
from streambound.gate.judging import judged
from streambound.reports.outcome import Outcome

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from streambound.analyzer.workspace import Sources

WORTHWHILE = 30_000
"""Characters of SQL below which more processes cost more time than they save (about a hundred statements)."""
REPAIR = 10_000
"""What looking for the repairs of a statement costs, in characters of SQL to judge."""
_PER_PROCESS = 8
"""Portions of work per process, so that none waits long for the last one."""


class Task(Struct, frozen=True):
    """Judge every statement of a text, or look for repairs of some of them, by their numbers from 0.

    ``criteria``, ``details``, ``emit_mode`` and ``engine`` as in `gate.check_files.GateSettings`.
    """

    source: SourceText
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


_QUOTAS = (Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
"""Where Linux says how much of the processors a container may use: as ``quota period``, or the quota alone."""


def processors() -> int:
    """The processors that this process may use: fewer than the machine has where a container, or taskset, says so."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([allowed, *(quota for file in _QUOTAS if (quota := _quota(file)) is not None)]))


def _quota(file: Path) -> int | None:
    """A container's share of the processors, rounded up; None where there is no limit."""
    try:
        quota, *period = file.read_text(encoding="ascii").split()
        length = int(period[0] if period else file.with_name("cpu.cfs_period_us").read_text(encoding="ascii"))
        return -(-int(quota) // length) if int(quota) > 0 and length > 0 else None
    except (OSError, ValueError):  # "max": all of them
        return None


JsonObject = dict[str, Any]
_READER = JsonReader(
    own={
        SourceText: lambda value: exactly(value, SourceText),
        date: lambda value: date.fromisoformat(exactly(value, str)),
    }
)


def to_json(outcome: Outcome) -> JsonObject:
    """An outcome as JSON values, without its source."""
    return {name: plain(value) for name, value in asdict(outcome).items() if name != "source"}


def from_json(value: JsonObject, source: SourceText) -> Outcome:
    """The outcome that `to_json` made of one with this source; raises ValueError for anything else."""
    return _READER.read({**value, "source": source}, Outcome)
