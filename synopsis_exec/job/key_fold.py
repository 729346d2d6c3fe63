"""Part of a job: what an executor does with the rows of some keys. Nothing here needs Spark.

An equality spans all streams of the query, so rows with different values of it, the keys, never meet, neither in the
rows of a batch nor in the tables: the keys divide the synopsis. The rows and entries of a key are in one part.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from streambound.synopsis_exec.job.arrow import batch_of, together
from streambound.synopsis_exec.job.batch import Times, rows_of_results
from streambound.synopsis_exec.job.closed import Closed, closed
from streambound.synopsis_exec.job.folding import AT_ONCE, SLICE
from streambound.synopsis_exec.job.given import DISTINCT, IN_COLUMNS, KEY_PLACES, Kernel
from streambound.synopsis_exec.job.result_lines import pieces, result_texts

Relations = dict[str, list[dict[str, Any]]]
Tables = dict[str, list[Any]]
"""The tables of a synopsis as `dump` returns them, without the results of a set that were returned."""


class Found(NamedTuple):
    """Results of a part, some at a time: timestamps, lines of JSON without their end, and multiplicities."""

    time: Any
    lines: Any
    n: Any


class Folded(NamedTuple):
    """What a part reports: its number, its tables at the end, and when by how much the number of entries changed.

    ``closed`` are the timestamps of its rows; ``new`` are the results of a set that are new within the part, with their
    timestamps; ``overflow`` is what to say of a multiplicity that is too large.
    """

    number: int
    tables: Tables
    times: Any
    changes: Any
    closed: Closed
    new: tuple[tuple[int, tuple[Any, ...]], ...] = ()
    overflow: str = ""


def part_of_key(key: Any, parts: int) -> int:
    """The part that a key is in; Spark finds the same by `part_text`.

    >>> part_of_key(7, 4), part_of_key("x", 4)
    (2, 3)
    """
    return zlib.crc32(str(key).encode()) % parts


def part_text(key: str, parts: int) -> str:
    """`part_of_key` in Spark SQL, of a key as text; a row without one meets no other."""
    return f"coalesce(CAST(crc32(CAST({key} AS BINARY)) % {parts} AS INT), 0)"


def divided(state: dict[str, Any], parts: int) -> list[Tables]:
    """The entries of each part."""
    found: list[Tables] = [{name: [] for name in KEY_PLACES} for _ in range(parts)]
    for name, place in KEY_PLACES.items():
        for key, n in state[name]:
            found[part_of_key(key[place], parts)][name].append([key, n])
    return found


def entries_of(tables: Tables) -> int:
    """How many entries tables have."""
    return sum(map(len, tables.values()))


def slices_of(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Rows that come in order of time, about so many at a time, none of a timestamp's rows apart from the others."""
    import pyarrow as pa

    held, enough = list[Any](), size
    for batch in batches:
        held.append(together([pa.Table.from_batches([batch])]))
        if sum(table.num_rows for table in held) < enough:
            continue
        rows = together(held)
        times = rows.column("ts").to_numpy()
        last = int(np.searchsorted(times, times[-1]))
        if last:
            yield rows.slice(0, last)
        held = [rows.slice(last)]
        enough = max(size, 2 * held[0].num_rows)
    if any(table.num_rows for table in held):
        yield together(held)


def folded(
    number: int, relations: Relations, tables: Tables, batches: Iterator[Any], most: int
) -> Iterator[Found | Folded]:
    """The results of a part, some at a time, and last what is reported of it, its timestamps in so many bytes.

    Results of a set are reported, because other keys may have returned them, too.
    """
    kernel = Kernel(relations)
    kernel.load({**tables, **({"results": []} if DISTINCT else {})})
    size = entries_of(tables)
    nothing, overflow = np.zeros(0, dtype=np.int64), ""
    every, times, changes, new = [nothing], [nothing], [nothing], list[tuple[int, tuple[Any, ...]]]()
    for some in slices_of(batches, SLICE if IN_COLUMNS else AT_ONCE):
        batch = batch_of(some)
        every.append(Times(batch).all)
        try:
            found = kernel.fold(batch)
        except OverflowError as error:
            overflow = str(error)
            break
        now, sizes = kernel.history
        if DISTINCT:
            sizes = sizes - len(new) - np.searchsorted(found.time, now, side="right")
            new += rows_of_results(found)
        else:
            for piece in pieces(found):
                yield Found(piece.time, result_texts(piece), piece.n)
        by = np.diff(sizes, prepend=size)
        times.append(now[by != 0])
        changes.append(by[by != 0])
        size = int(sizes[-1])
    left = {name: entries for name, entries in kernel.dump().items() if name in KEY_PLACES}
    moved = np.concatenate(times), np.concatenate(changes)
    yield Folded(number, left, *moved, closed(np.concatenate(every), most), tuple(new), overflow)
