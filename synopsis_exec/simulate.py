"""Run a job's kernel in this process, without Spark: what `explain` shows step by step, and what tests compare."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType
from typing import Any

Row = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Step:
    """What happened when a timestamp closed: its results, and the tables after it."""

    timestamp: int
    results: tuple[tuple[Row, int], ...]
    tables: dict[str, dict[Key, int]]
    entries: int


def load_kernel(job_text: str) -> ModuleType:
    """The generated job as a module; importing it needs neither pyspark nor Java.

    Its `Synopsis` is the kernel, see `synopsis_exec.kernel`.
    """
    name = f"streambound_job_{sha256(job_text.encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = f"<{name}>"
    sys.modules[name] = module
    try:
        exec(compile(job_text, module.__file__, "exec"), module.__dict__)
    finally:
        del sys.modules[name]
    return module


def replay(
    kernel: ModuleType, relations: Mapping[str, list[Row]], streams: Mapping[str, Iterable[Row]]
) -> Iterator[Step]:
    """Close the timestamps of some finite streams in order; rows hold encoded values.

    The timestamp column of each stream is the one that the job names.
    """
    times = {source.name: source.time for source in kernel.STREAMS}
    batches: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for name, time in times.items():
        for row in streams.get(name, ()):
            batches[row[time]][name].append(row)
    synopsis = kernel.Synopsis(dict(relations))
    for now in sorted(batches):
        results = synopsis.close(now, batches[now])
        yield Step(now, tuple(results), synopsis.tables(), synopsis.entries())
