"""Part of a job: large batches folded on the executors, in parts of the keys that an equality over all streams has.

The rows of a key are in one part, and so are its entries, which travel to them; so a part needs nothing of the others.
What is of all parts at a timestamp, the number of entries and the results, is put together afterwards.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from streambound.synopsis_exec.job.apart import ApartJob, Arrow
from streambound.synopsis_exec.job.batch import results_of_rows
from streambound.synopsis_exec.job.closed import BYTES_OF_TIMES, Closed, how_many
from streambound.synopsis_exec.job.folding import SLICE, part
from streambound.synopsis_exec.job.given import COLUMNS, DISTINCT, IN_RESULTS, KEYS, MOST, SINK, STREAMS
from streambound.synopsis_exec.job.key_fold import (
    Folded,
    Found,
    Relations,
    Tables,
    divided,
    entries_of,
    folded,
    part_text,
)
from streambound.synopsis_exec.job.reading import in_one_line
from streambound.synopsis_exec.job.result_lines import COPIES, MULTIPLICITY, PIECE, write_results
from streambound.synopsis_exec.job.source import JobError, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FOUND = "ts BIGINT, line STRING, n DECIMAL(38, 0), report BINARY"


class KeyedJob(ApartJob):
    """A job whose executors fold large batches in parts of the keys."""

    FOLDER = "keys"

    def division_of(self, closing: int, times: list[int], processors: int) -> list[int]:
        """The number of parts."""
        return [max(processors, -(-closing // SLICE), 2)]

    def write_parts(self, batch: int, closing: DataFrame, division: list[int]) -> None:
        """As `ApartJob`; the parts are of keys."""
        number = self.write_keys(batch, by_key(closing, division[0]), division[0])
        self.closed_timestamps += closing.select("ts").distinct().count() if number is None else number

    def write_keys(self, batch: int, keyed: DataFrame, parts: int) -> int | None:
        """Fold the parts and write their results; returns how many timestamps they have, if that is known."""
        state = self.synopsis.dump()
        before = divided(state, parts)
        found = keyed.mapInArrow(folding(self.relations, before), FOUND)
        if not DISTINCT:
            found = found.persist()
            self.held = (*self.held, found)
        reports = [folded_of(row.report) for row in found.where("report IS NOT NULL").collect()]
        if overflow := [report.overflow for report in reports if report.overflow]:
            raise OverflowError(min(overflow, key=lambda said: int(re.findall(r"-?\d+", said)[0])))  # the first in time
        returned = {tuple(values): None for values, _ in state.get("results", ())}
        entries = sum(map(entries_of, before)) + len(returned)
        new = first_of_each([row for report in reports for row in report.new], returned)
        first = min(report.closed.first for report in reports)
        changes = [(report.times, report.changes) for report in reports]
        self.note_entries(first, entries, [*changes, ([now for now, *_ in new], [1] * len(new))])
        if DISTINCT:
            with self.files.written(part("results", batch)) as file:
                rows = results_of_rows([(now, 1, *values) for now, values in new], len(COLUMNS))
                self.results += write_results(file, rows, self.options.multiplicity)
        else:
            self.files.remove(part("results", batch))
            self.results += written(found, parts, self.options.multiplicity, self.files.where(part("results", batch)))
        after = {report.number: report.tables for report in reports}
        tables = [after.get(number, tables) for number, tables in enumerate(before)]
        state = {name: [entry for mine in tables for entry in mine[name]] for name in before[0]}
        self.synopsis.load({**state, **({"results": [[list(values), 1] for values in returned]} if DISTINCT else {})})
        return how_many([report.closed for report in reports])

    def note_entries(self, first: int, before: int, changes: list[tuple[Any, Any]]) -> None:
        """Note how many entries all parts together had when, from their number before and its changes."""
        parts = [(np.array([first]), np.array([0])), *changes]
        times, by = (np.concatenate(some).astype(np.int64) for some in zip(*parts, strict=True))
        now, place = np.unique(times, return_inverse=True)
        sizes = np.zeros(len(now), dtype=np.int64)
        np.add.at(sizes, place, by)
        self.synopsis.history = now, before + np.cumsum(sizes)
        self.check_entries()


def first_of_each(
    found: list[tuple[int, tuple[Any, ...]]], returned: dict[tuple[Any, ...], None]
) -> list[tuple[int, tuple[Any, ...]]]:
    """The results that no batch, and no key at an earlier timestamp, has returned, in order of time and value."""
    new = []
    for now, values in sorted(found, key=lambda row: (row[0], [(value is not None, value) for value in row[1]])):
        if values not in returned:
            returned[values] = None
            new.append((now, values))
    return new


def by_key(rows: DataFrame, parts: int) -> DataFrame:
    """Rows with the number of their part, each part a partition, in order of time: few keys may have all the rows."""
    from pyspark.sql import functions as F

    keys = (f"WHEN {number} THEN {key_text(source)}" for number, source in enumerate(STREAMS))
    number = F.expr(part_text(f"CASE source {' '.join(keys)} END", parts))
    return rows.withColumn("part", number).repartitionById(parts, "part").sortWithinPartitions("ts")


def key_text(source: Source) -> str:
    """The key of a stream's row, as `str` writes it; an integer that travels as a text may begin with zeros."""
    slot, large = source.slots[KEYS[source.name]], KEYS[source.name] in source.large
    return f"CAST({f'CAST({slot} AS DECIMAL(38, 0))' if large else slot} AS STRING)"


def folded_of(report: bytes) -> Folded:
    """A report as it was before it travelled."""
    number, tables, times, changes, closed, *rest = pickle.loads(report)
    return Folded(number, tables, times, changes, Closed(*closed), *rest)


def folding(relations: Relations, before: list[Tables]) -> Callable[[Arrow], Arrow]:
    """Makes of the rows of some keys their results, as lines of JSON without multiplicities, and the part's report."""

    def run(batches: Arrow) -> Arrow:
        import pyarrow as pa

        some = (batch for batch in batches if batch.num_rows)
        for first in some:  # the first batch; `folded` takes the others
            number = first.column("part")[0].as_py()
            for found in folded(number, relations, before[number], chain([first], some), BYTES_OF_TIMES // len(before)):
                if isinstance(found, Folded):
                    plain = pickle.dumps((*found[:4], tuple(found.closed), *found[5:]))
                    report, found = pa.array([plain]), Found(pa.nulls(1), pa.nulls(1), None)
                else:
                    report = pa.nulls(len(found.lines), pa.binary())
                time, lines = pa.array(found.time).cast(pa.int64()), found.lines.cast(pa.string())
                names = ["ts", "line", "n", "report"]
                yield pa.RecordBatch.from_arrays([time, lines, decimals(found), report], names=names)

    return run


def decimals(found: Found) -> Any:
    """Multiplicities as decimals of 38 digits, which their sums over all keys are, too."""
    import pyarrow as pa

    kind = pa.decimal128(38, 0)
    if found.n is None:
        return pa.nulls(len(found.lines), kind)
    if found.n.dtype == object:
        return pa.array([Decimal(n) for n in found.n.tolist()], kind)
    return pa.array(found.n).cast(kind)


def written(found: DataFrame, parts: int, multiplicity: str, path: str) -> int:
    """Write the results of all keys in order of time, those that are the same as one; returns how many lines."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    lines, observation = found.where("report IS NULL").drop("report"), Observation()
    if SINK is not None and SINK.format == "kafka":
        parts = 1  # records are numbered in the order of files, and where Spark cuts these may differ
    if not IN_RESULTS:  # then different keys may have the same result
        lines = lines.groupBy("ts", "line").agg(F.expr("try_sum(n)").alias("n"))
    in_order = lines.repartitionByRange(parts, "ts", "line").sortWithinPartitions("ts", "line")
    above = f"min(CASE WHEN n IS NULL OR n > CAST('{MOST}' AS DECIMAL(38, 0)) THEN ts END) AS above"
    number = f"{'count' if multiplicity == 'count' else 'sum'}(n) AS lines"
    observed = in_order.observe(observation, F.expr(above), F.expr(number))
    text = f"concat(line, '{MULTIPLICITY}', {'n' if multiplicity == 'count' else '1'}, '}}') AS line"
    texts = observed.selectExpr(text, "n")
    if multiplicity != "count":
        texts = texts.mapInArrow(repeated, "line STRING")
    try:
        texts.select("line").write.mode("overwrite").text(path)
    except Exception as error:
        raise JobError("output", f"cannot write {path}: {in_one_line(error)}", 3) from error
    if (now := observation.get["above"]) is not None:
        raise OverflowError(f"a result at timestamp {now} has more than {MOST} duplicates")
    return int(observation.get["lines"] or 0)


def repeated(batches: Arrow) -> Arrow:
    """Lines as often as there are duplicates of them, some at a time; those that are too many stop the job later."""
    import pyarrow as pa

    for batch in batches:
        lines: list[str] = []
        for line, n in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            for done in range(0, 0 if n is None or n > MOST else int(n), COPIES):
                lines += [line] * min(COPIES, int(n) - done)
                if len(lines) >= PIECE:
                    yield pa.RecordBatch.from_arrays([pa.array(lines)], names=["line"])
                    lines = []
        yield pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], names=["line"])
