"""A disk without room for one process, and room again."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def full_disk(process: int = 0) -> Iterator[None]:
    """No file that a process (by default this one) writes finds room."""
    soft, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))


def java() -> int:
    """The process of Spark's Java, which has the executors, too, on one machine."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    return int(gateway.proc.pid)
