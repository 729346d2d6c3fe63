"""What the generated part of a job gives to the parts that are the same for every query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streambound.synopsis_exec.job.batch import Results, Rows
from streambound.synopsis_exec.job.shape import Branch, Extension
from streambound.synopsis_exec.job.source import Source, Target


class Synopsis:
    """Stands for the kernel's class."""

    limit: int | None
    close: Callable[[int, dict[str, list[dict[str, Any]]]], list[tuple[dict[str, Any], int]]]
    entries: Callable[[], int]
    dump: Callable[[], dict[str, Any]]
    load: Callable[[dict[str, Any]], None]

    def __init__(self, relations: dict[str, list[dict[str, Any]]]) -> None: ...


def branches(synopsis: Synopsis) -> tuple[Branch, ...]:
    """Stands for the branches as data."""
    return ()


def extensions(synopsis: Synopsis) -> tuple[tuple[Extension, ...], ...]:
    """Stands for what ranges of time do to the tables, as data."""
    return ()


COLUMNS: tuple[str, ...] = ()


class Kernel:
    """Stands for the kernel that the job uses: `Columnar` or `RowWise`."""

    limit: int | None
    history: tuple[Any, Any]
    fold: Callable[[dict[str, Rows]], Results]
    entries: Callable[[], int]
    dump: Callable[[], dict[str, Any]]
    load: Callable[[dict[str, Any]], None]

    def __init__(self, relations: dict[str, list[dict[str, Any]]]) -> None: ...


DISTINCT = False
IN_COLUMNS = True
REACH: int | None = None
KEYS: dict[str, str] = {}
"""Stream -> its column that an equality over all streams compares, where large batches are folded by key."""
KEY_PLACES: dict[str, int] = {}
"""Table -> the place of that column's value among what its entries hold."""
IN_RESULTS = False
"""Whether results have that value, so that different keys have different results."""
Batches: Any = None
"""What folds micro-batches: `SpreadJob` or `KeyedJob` where the executors may fold large ones, else `LargeJob`."""
TEXTS: frozenset[str] = frozenset()
MOST = 2**63 - 1
QUERY = ""
SAVED: dict[str, str] = {}
VERSION = ""
RESULT = ""
SINK: Target | None = None
BAD: Target | None = None
CALL = ""
TYPES: dict[str, str] = {}
TIME_TYPE = "integer"
STREAMS: tuple[Source, ...] = ()
RELATIONS: tuple[Source, ...] = ()
