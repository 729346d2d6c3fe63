"""DuckDB in this process: one instance for each use, with the settings that all of ours have, and databases in it."""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import weakref
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from streambound_runtime.errors import usage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "temp_directory": "",  # nothing is ever written
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
_PERCENT = 70
_numbers = itertools.count()


def instance(
    use: str, without: str, prepare: Callable[[DuckDBPyConnection], None] | None = None, **more: str
) -> DuckDBPyConnection:
    """The process's instance of DuckDB for a use, without some of its optimizers: to start one takes 20 ms.

    ``prepare`` is done to it once. Raises JobError where what it is for lacks DuckDB.
    """
    return _instance(os.getpid(), use, without, prepare, tuple(sorted(more.items())))


def own_database(instance: DuckDBPyConnection, owner: object) -> DuckDBPyConnection:
    """A session with an empty database in memory, which goes with its owner."""
    session, name = instance.cursor(), f"database_{next(_numbers)}"
    session.execute(f"ATTACH ':memory:' AS {name}; USE {name}")
    weakref.finalize(owner, _let_go, session, instance, name)  # at the latest when the process ends
    return session


@cache
def _instance(
    process: int,
    use: str,
    without: str,
    prepare: Callable[[DuckDBPyConnection], None] | None,
    more: tuple[tuple[str, str], ...],
) -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        raise usage(f"{use} by DuckDB, which is not installed: pip install duckdb") from error
    made = duckdb.connect(config={**_SETTINGS, "memory_limit": _memory(), **dict(more)})
    made.execute("SET GLOBAL TimeZone = 'UTC'")
    made.execute(f"SET GLOBAL disabled_optimizers = '{without}'")
    if prepare is not None:
        prepare(made)
    atexit.register(_end)
    return made


def _memory() -> str:
    """How much an instance may take: most of the machine's memory, in a task of Spark's its part of that.

    Of what `spark.executor.pyspark.memory` allows a worker, Python itself needs some.
    """
    spark = sys.modules.get("pyspark")
    if spark is None or spark.TaskContext.get() is None:
        return f"{_PERCENT}%"
    if allowed := os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB"):
        return f"{int(allowed) * _PERCENT // 100}MiB"
    return f"{max(1, _PERCENT // (os.cpu_count() or 1))}%"


def _end() -> None:
    """Close the instances when the process ends: DuckDB reports open ones as leaks."""
    _instance.cache_clear()


def _let_go(session: DuckDBPyConnection, instance: DuckDBPyConnection, name: str) -> None:
    session.close()
    instance.execute(f"DETACH {name}")
