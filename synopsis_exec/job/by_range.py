"""Part of a job: large batches folded on the executors, in ranges of time that are apart from each other.

What stays on the executors are the rows; the tables, which are small, travel to them. A range gets the tables at its
start from what the ranges before it do to them; or, where no table reaches back for long, from the rows just before it.
"""

from __future__ import annotations

import pickle
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from streambound.synopsis_exec.job.apart import ApartJob, Arrow
from streambound.synopsis_exec.job.arrow import together
from streambound.synopsis_exec.job.batch import results_of_rows
from streambound.synopsis_exec.job.cuts import chosen, range_text
from streambound.synopsis_exec.job.folding import SLICE, part
from streambound.synopsis_exec.job.given import COLUMNS, DISTINCT, REACH
from streambound.synopsis_exec.job.range_fold import (
    Folded,
    Given,
    Start,
    folded,
    packed,
    starts,
    summary,
    tables_of,
    unpacked,
)
from streambound.synopsis_exec.job.reading import in_one_line
from streambound.synopsis_exec.job.result_lines import write_results
from streambound.synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SpreadJob(ApartJob):
    """A job whose executors fold large batches in ranges of time."""

    FOLDER = "ranges"

    def division_of(self, closing: int, times: list[int], processors: int) -> list[int]:
        """Where to cut: at the first timestamps of ranges of about as many rows."""
        return chosen(times, max(processors, -(-closing // SLICE), 2), REACH)

    def write_parts(self, batch: int, closing: DataFrame, division: list[int]) -> None:
        """As `ApartJob`; the parts are ranges."""
        self.write_ranges(batch, in_ranges(closing, division), division)

    def write_ranges(self, batch: int, ranged: DataFrame, cuts: list[int]) -> None:
        """Fold the ranges and write their results."""
        given = Given(self.relations, self.limit, self.options.multiplicity)
        if REACH is None:
            ranged = ranged.persist()
        try:
            begins = self.begins(given, ranged, cuts)
            if DISTINCT:
                rows = ranged.mapInArrow(folding(given, begins), FOUND).collect()
                self.write_new(batch, in_order_of_time([row.report for row in rows]))
            else:
                self.files.remove(part("results", batch))
                found = ranged.mapInArrow(folding(given, begins), FOUND)
                for report in (reports := written(found, self.files.where(part("results", batch)))):
                    self.check_range(report)
                    self.results += report.written
                    self.note_range(report.closed, report.peak)
                self.synopsis.load(reports[-1].tables or {})
        finally:
            if REACH is None:
                ranged.unpersist()

    def begins(self, given: Given, ranged: DataFrame, cuts: list[int]) -> list[Start]:
        """The tables at the start of each range; where they are of the last rows only, those are folded again."""
        kernel: Any = self.synopsis
        if REACH is not None:
            return [Start(cut, tables_of(kernel)) for cut in (None, *cuts)]
        packs = ranged.where(f"range < {len(cuts)}").mapInArrow(summarising(given), CHANGES).collect()
        changes = [unpacked(pack.change) for pack in sorted(packs, key=lambda pack: pack.range)]
        return [Start(cut, tables) for cut, tables in zip((None, *cuts), starts(kernel, changes), strict=True)]

    def check_range(self, report: Folded) -> None:
        """Stop the job where a range has found what one fold of the batch would have stopped it for."""
        if report.above is not None:
            raise self.too_many(*report.above)
        if report.overflow:
            raise OverflowError(report.overflow)

    def note_range(self, closed: int, peak: int) -> None:
        """Count the timestamps of a range, and note its entries."""
        self.closed_timestamps += closed
        self.peak_of_batch = max(self.peak_of_batch, peak)
        self.peak = max(self.peak, self.peak_of_batch)

    def write_new(self, batch: int, reports: list[Folded]) -> None:
        """Write those results of a set that no range before has returned; they are few, so the driver does."""
        returned = {tuple(values): None for values, _ in self.synopsis.dump()["results"]}
        with self.files.written(part("results", batch)) as file:
            for report in reports:
                self.check_range(report)
                before, new = len(returned), list[tuple[Any, ...]]()
                for now, values in report.new:
                    if values not in returned:
                        returned[values] = None
                        new.append((now, 1, *values))
                self.results += write_results(file, results_of_rows(new, len(COLUMNS)), self.options.multiplicity)
                times = [now for now, *_ in new]
                self.note_range(report.closed, self.highest(report.levels, before, times))
        results = [[list(values), 1] for values in returned]
        self.synopsis.load({**(reports[-1].tables or {}), "results": results})

    def highest(self, levels: tuple[tuple[int, int], ...], before: int, new: list[int]) -> int:
        """The most entries in a range: of the tables, and the results returned before and in it."""
        highest = 0
        for now, size in levels:
            entries = size + before + bisect_right(new, now)
            if self.limit is not None and entries > self.limit:
                raise self.too_many(now, entries)
            highest = max(highest, entries)
        return highest


# --- what runs on the executors -----------------------------------------------------------------------------------

CHANGES = "range INT, change BINARY"
FOUND = "line STRING, report BINARY"


def in_ranges(rows: DataFrame, cuts: list[int]) -> DataFrame:
    """Rows with the number of their range, each range a partition; a range has the rows that it reaches back to."""
    from pyspark.sql import functions as F

    number = F.expr(range_text(cuts, "ts"))
    if REACH:
        number = F.explode(F.sequence(number, F.expr(range_text([cut - REACH for cut in cuts], "ts"))))
    return rows.withColumn("range", number).repartitionById(len(cuts) + 1, "range")


def ranges(batches: Arrow) -> Iterator[tuple[int, Any]]:
    """The range that is in a partition, and its rows; nothing where there are none."""
    import pyarrow as pa

    found = list(batches)
    if sum(batch.num_rows for batch in found):
        rows = pa.Table.from_batches(found)
        yield rows.column("range")[0].as_py(), together([rows])


def summarising(given: Given) -> Callable[[Arrow], Arrow]:
    """Makes of a range's rows what they do to the tables."""

    def run(batches: Arrow) -> Arrow:
        import pyarrow as pa

        for number, rows in ranges(batches):
            columns = [pa.array([number], pa.int32()), pa.array([packed(summary(given, rows))], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["range", "change"])

    return run


def folding(given: Given, begins: list[Start]) -> Callable[[Arrow], Arrow]:
    """Makes of a range's rows its results, as lines of JSON, and its report."""

    def run(batches: Arrow) -> Arrow:
        import pyarrow as pa

        for number, rows in ranges(batches):
            for found in folded(given, begins[number], rows):
                report = pickle.dumps((number, tuple(found))) if isinstance(found, Folded) else None
                lines = [None] if isinstance(found, Folded) else found
                columns = [pa.array(lines, pa.string()), pa.array([report] * len(lines), pa.binary())]
                yield pa.RecordBatch.from_arrays(columns, names=["line", "report"])

    return run


def written(found: DataFrame, path: str) -> list[Folded]:
    """Write the results of all ranges, a file each, in order; returns the ranges' reports."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    observation = Observation()
    lines = found.observe(observation, F.collect_list("report").alias("reports")).where("report IS NULL")
    try:
        lines.select("line").write.mode("overwrite").text(path)
    except Exception as error:
        raise JobError("output", f"cannot write {path}: {in_one_line(error)}", 3) from error
    return in_order_of_time(observation.get["reports"])


def in_order_of_time(reports: list[Any]) -> list[Folded]:
    """The reports of the ranges."""
    found = dict(pickle.loads(bytes(report)) for report in reports)
    return [Folded(*found[number]) for number in sorted(found)]
