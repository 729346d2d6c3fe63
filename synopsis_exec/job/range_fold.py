"""Part of a job: what an executor does with the rows of one range of time. Nothing here needs Spark."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from streambound.synopsis_exec.job.arrow import batch_of, slices
from streambound.synopsis_exec.job.batch import Results, Times, rows_of_results
from streambound.synopsis_exec.job.columnar import Columnar
from streambound.synopsis_exec.job.folding import SLICE
from streambound.synopsis_exec.job.frame import Frame
from streambound.synopsis_exec.job.given import DISTINCT, extensions
from streambound.synopsis_exec.job.ranges import Change, after, combined, range_of
from streambound.synopsis_exec.job.result_lines import write_results

LINES = 1 << 16
"""How many results an executor makes into text at a time."""


class Given(NamedTuple):
    """What every range gets: the relations, the bound, and how duplicates are written."""

    relations: dict[str, list[dict[str, Any]]]
    limit: int | None
    multiplicity: str


class Start(NamedTuple):
    """What one range gets: its first timestamp, and the tables there, or what is known of them.

    Rows before that timestamp only show what the tables are.
    """

    first: int | None
    tables: dict[str, Any]


class Folded(NamedTuple):
    """What a range reports: closed timestamps, written results, the most entries, and the tables at its end.

    ``above`` is the first timestamp with more entries than the bound, and how many; ``overflow`` what to say of a
    multiplicity that is too large. ``new`` are the results of a set that are new within the range, with their
    timestamps, and ``levels`` how many entries the tables had from some timestamps on: all that may be the most.
    """

    closed: int = 0
    written: int = 0
    peak: int = 0
    above: tuple[int, int] | None = None
    overflow: str = ""
    tables: dict[str, Any] | None = None
    new: tuple[tuple[int, tuple[Any, ...]], ...] = ()
    levels: tuple[tuple[int, int], ...] = ()


# --- what a range does to the tables ------------------------------------------------------------------------------


def summary(given: Given, rows: Any) -> list[Change]:
    """What a range does to the tables of each branch."""
    kernel = Columnar(given.relations)
    whole: list[Change] = []
    for some in slices(rows, SLICE):
        batch, changes = batch_of(some), []
        for branch, ways, known in zip(kernel.branches, extensions(kernel.synopsis), kernel.known, strict=True):
            changes.append(range_of(branch, ways, known, batch, DISTINCT))
        whole = put_together(kernel, whole, changes) if whole else changes
    return whole


def put_together(kernel: Columnar, first: list[Change], second: list[Change]) -> list[Change]:
    """Two ranges as one."""
    parts = zip(kernel.branches, extensions(kernel.synopsis), first, second, strict=True)
    return [combined(branch, ways, one, two, DISTINCT) for branch, ways, one, two in parts]


def starts(kernel: Columnar, changes: list[list[Change]]) -> list[dict[str, Any]]:
    """The tables at the start of each range, from those of a kernel and what the ranges before do to them."""
    moved, found = copy(kernel), [tables_of(kernel)]
    for change in changes:
        parts = zip(kernel.branches, extensions(kernel.synopsis), moved.tables, change, strict=True)
        moved.tables = [after(branch, ways, mine, one, DISTINCT) for branch, ways, mine, one in parts]
        found.append(tables_of(moved))
    return found


def tables_of(kernel: Columnar) -> dict[str, Any]:
    """The state of a kernel without the results it has returned."""
    return {name: entries for name, entries in kernel.dump().items() if name != "results"}


def packed(changes: list[Change]) -> bytes:
    """What a range does, on its way to the driver: arrays, which `pickle` knows wherever it runs."""
    return pickle.dumps([(plain(c.added), [plain(frames) for frames in c.extending], c.last) for c in changes])


def plain(frames: list[Frame]) -> list[tuple[Any, ...]]:
    """Frames as tuples."""
    return [tuple(frame) for frame in frames]


def unpacked(data: bytes) -> list[Change]:
    """What `packed` packed."""
    return [
        Change([Frame(*one) for one in added], [[Frame(*one) for one in some] for some in extending], last)
        for added, extending, last in pickle.loads(data)
    ]


# --- the results of a range ---------------------------------------------------------------------------------------


def folded(given: Given, start: Start, rows: Any) -> Iterator[list[str] | Folded]:
    """The results of a range as lines of JSON, some at a time, and last what is reported of it.

    Results of a set are reported, because another range may have returned them before.
    """
    kernel = Columnar(given.relations)
    kernel.load(start.tables)
    report = Folded()
    first = -(2**63) if start.first is None else start.first
    for some in slices(rows, SLICE):
        batch = batch_of(some)
        try:
            found = kernel.fold(batch)
        except OverflowError as error:
            yield report._replace(overflow=str(error))
            return
        times = Times(batch).all
        report = report._replace(closed=report.closed + int((times >= first).sum()))
        if DISTINCT:
            report = with_levels(report, kernel, found, first)
            continue
        report = with_peak(report, kernel, given.limit, first)
        for lines in lines_of(since(found, first), given.multiplicity):
            report = report._replace(written=report.written + len(lines))
            yield lines
    yield report._replace(tables=tables_of(kernel))


def since(results: Results, first: int) -> Results:
    """The results from a timestamp on."""
    return part_of(results, int(np.searchsorted(results.time, first)), len(results.time))


def part_of(results: Results, start: int, stop: int) -> Results:
    """Some results."""
    mine = slice(start, stop)
    columns = [values[mine] for values in results.columns]
    nulls = [None if null is None else null[mine] for null in results.nulls]
    return Results(results.time[mine], results.n[mine], columns, nulls)


def lines_of(results: Results, multiplicity: str) -> Iterator[list[str]]:
    """Results as lines of JSON, some at a time."""
    for start in range(0, len(results.time), LINES):
        text = io.StringIO()
        write_results(text, part_of(results, start, start + LINES), multiplicity)
        yield text.getvalue().split("\n")[:-1]


def with_peak(report: Folded, kernel: Columnar, limit: int | None, first: int) -> Folded:
    """A report with the entries of a slice."""
    times, sizes = kernel.history
    mine = times >= first
    times, sizes = times[mine], sizes[mine]
    if not len(sizes):
        return report
    above = report.above
    if above is None and limit is not None and (over := sizes > limit).any():
        place = int(over.argmax())
        above = int(times[place]), int(sizes[place])
    return report._replace(peak=max(report.peak, int(sizes.max())), above=above)


def with_levels(report: Folded, kernel: Columnar, found: Results, first: int) -> Folded:
    """A report with the results of a set in a slice, and the entries of its tables.

    Which results were returned before, and so are no entries, is not known here; so between two of them all numbers of
    entries that are greater than those before.
    """
    times, sizes = kernel.history
    returned = np.searchsorted(found.time, times, side="right")
    sizes = sizes - (kernel.written.size - len(found.time)) - returned
    mine = np.flatnonzero(times >= first)
    keys = returned[mine] * (int(sizes.max(initial=0)) + 1) + sizes[mine]
    greater = np.r_[True, keys[1:] > np.maximum.accumulate(keys)[:-1]] if len(keys) else keys.astype(bool)
    highest = mine[greater]
    levels = zip(times[highest].tolist(), sizes[highest].tolist(), strict=True)
    new = rows_of_results(since(found, first))
    return report._replace(new=(*report.new, *new), levels=(*report.levels, *levels))
