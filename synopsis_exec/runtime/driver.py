"""Micro-batches folded into the synopsis on the driver, with everything that a restart needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.checkpoint.store import store_of, written_atomically
from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.decoding.kinds import kind_of
from streambound_runtime.delta import Times
from streambound_runtime.errors import JobError, usage
from streambound_runtime.frontier.frontier import Brought, Frontier, Input
from streambound_runtime.operators.synopsis import SynopsisJoin
from streambound_runtime.operators.synopsis_by_rows import SynopsisByRows
from streambound_runtime.pending import Pending
from streambound_runtime.quarantine import Row, in_batch, json_lines, quarantined, stop_at
from streambound_runtime.rates import Rates, Read
from streambound_runtime.reading.batch import Arrived
from streambound_runtime.reading.files import Files, Raw
from streambound_runtime.reading.relations import relation_rows
from streambound_runtime.reading.sources import failing
from streambound_runtime.results import json_value, write_results
from streambound_runtime.settings import Settings
from streambound_runtime.sinks import Sinks
from streambound_runtime.spec import Job, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Report = dict[str, Any]
OPERATORS: dict[str, type[SynopsisJoin] | type[SynopsisByRows]] = {"columns": SynopsisJoin, "rows": SynopsisByRows}
"""Of each of a plan's kernels."""
AT_ONCE = {"columns": 1 << 20, "rows": 1 << 16}
"""How many rows a kernel closes at a time, so that its memory does not grow with the batch."""


class Driver:
    """Closes timestamps batch by batch and keeps everything that a restart needs in the checkpoint directory.

    Results and quarantined rows of a batch are in a file of their own; then they are handed to the sinks, and last the
    state is saved. So a batch that Spark replays writes the same files again and repeats nothing.
    """

    def __init__(
        self, spark: SparkSession, job: Job, settings: Settings, report: Callable[[Report], None] = lambda report: None
    ) -> None:
        self.job, self.settings, self.report = job, settings, report
        self.checkpoint = Checkpoint(store_of(spark, settings.checkpoint))
        self.sinks = Sinks(spark, job, settings)
        self.files = {stream.name: Files(spark, stream, settings) for stream in job.streams}
        self.decoders = {stream.name: Decoder(stream, lines=bool(settings.input)) for stream in job.streams}
        self.failure: Exception | None = None
        self.relations: dict[str, list[dict[str, Any]]] = {}
        self.relation_sizes: dict[str, int] = {}
        self.bad_relation_rows: list[Row] = []
        for relation in job.relations:
            with failing(relation, job, settings):
                good, bad = relation_rows(spark, relation, settings)
            self.relations[relation.name] = good
            self.relation_sizes[relation.name] = len(good) + len(bad)
            self.bad_relation_rows += bad
        stop_at(job, self.bad_relation_rows)
        if self.checkpoint.claim(job, settings, self.relations):
            self.sinks.check_new()
        self.restart(*(self.checkpoint.committed() or (None, None)))

    def restart(self, batch: int | None, state: tuple[dict[str, Any], dict[str, pa.Table]] | None) -> None:
        """Take over the state after a batch; a fresh state for None."""
        said, tables = state or ({}, {})
        self.batch = batch
        self.operator = OPERATORS[self.job.plan.kernel](self.job.plan, self.relations)
        self.limit = self.settings.limit if self.settings.limit is not None else self.operator.limit
        if state is not None:
            self.operator.load(_of_kind(tables, "table"))
        self.pending = Pending(self.job.streams, _of_kind(tables, "pending"))
        self.frontier = Frontier(self.job.streams, said.get("frontier", ()))
        rates = said.get("rates", {})
        self.rates = [Rates(stream, rates.get(stream.name)) for stream in self.job.streams]
        self.rows: Counter[str] = Counter(said.get("rows"))
        self.rejected: Counter[str] = Counter(said.get("rejected"))
        if state is None:
            self.rejected.update(row["detail"] for row in self.bad_relation_rows)
        self.results, self.peak = said.get("results", 0), said.get("peak", 0)
        self.closed, self.bytes = 0, 0

    def save(self, batch: int) -> None:
        """Write the state after a batch."""
        kept = self.operator.dump()
        said = {
            "frontier": self.frontier.dump(),
            "rates": {rates.stream.name: rates.dump() for rates in self.rates},
            "rows": self.rows,
            "rejected": self.rejected,
            "results": self.results,
            "peak": self.peak,
        }
        tables = {f"table {name}": table for name, table in kept.items()}
        tables |= {f"pending {name}": table for name, table in self.pending.tables.items()}
        self.checkpoint.save(batch, said, tables)
        self.bytes = sum(table.nbytes for table in kept.values())
        self.batch = batch

    # --- batches ------------------------------------------------------------------------------------------------------

    def on_batch(self, frame: DataFrame, batch: int) -> None:
        """Fold one micro-batch; called by Spark, maybe again with the same batch after a failure."""
        try:
            self.fold(Arrived(frame, self.job, self.settings, self.files), batch)
        except Exception as error:  # Spark does not pass it on as it is
            self.failure = error
            raise

    def fold(self, arrived: Arrived, batch: int) -> None:
        """Take in the batch's rows, close what is complete, write results, bad rows and state."""
        previous = batch - 1 if batch else None
        if self.batch != previous:
            self.restart(previous, self.checkpoint.before(batch))
        rows, results, closed = self.rows.total(), self.results, self.closed
        bad = self.taken(arrived)
        self.rejected.update(row["detail"] for row in bad)
        bad = in_batch(bad, batch)
        stop_at(self.job, bad)
        peak = self.operator.entries()
        with self.checkpoint.store.lines(self.part("results", batch)) as file:
            if (complete := self.frontier.complete()) is not None:
                peak = max(peak, self.close(file, complete))
        self.hand_over(batch, self.results - results, [*self.bad_relation_rows, *bad] if batch == 0 else bad)
        self.save(batch)
        self.report(
            {
                "batch": batch,
                "rows": self.rows.total() - rows,
                "closed": self.closed - closed,
                "entries": self.operator.entries(),
                "peak": peak,
                "bytes": self.bytes,
                "limit": self.limit,
                "results": self.results - results,
                "quarantined": len(bad),
                "pending": self.pending.timestamps(),
                "waits_for": self.waits_for(),
            }
        )

    def taken(self, arrived: Arrived) -> list[Row]:
        """Take in a batch's rows: the useful ones become pending; returns those that are bad, late or too many."""
        late_before, bad = self.frontier.complete(), list[Row]()
        brought: dict[Input, Brought] = {}
        goods: list[list[pa.Table]] = []
        for number, stream in enumerate(self.job.streams):
            good: list[pa.Table] = []
            with failing(stream, self.job, self.settings):
                for raw in arrived.raws(number):
                    found = self.decoders[stream.name].decode(raw.rows, late_before)
                    good.append(found.good)
                    bad += self.rejected_rows(number, stream, found, raw)
                    self.rows[stream.name] += found.rows
                    _note(brought, number, found)
            goods.append(good)
        self.frontier.take(brought)
        complete = self.frontier.complete()
        for number, (stream, good) in enumerate(zip(self.job.streams, goods, strict=True)):
            keep, excess = self.within_rate(arrived, number, good, late_before, complete)
            self.pending.add(stream.name, keep)
            bad += excess
        return bad

    def rejected_rows(self, number: int, stream: Stream, found: Decoded, raw: Raw) -> list[Row]:
        """The bad and late rows of what was decoded."""
        return quarantined(stream, found.rejected, raw.file, lambda part, ts: self.frontier.late((number, part), ts))

    def within_rate(
        self, arrived: Arrived, number: int, good: list[pa.Table], late_before: int | None, complete: int | None
    ) -> tuple[list[pa.Table], list[Row]]:
        """The good rows of a stream that are not too many for their timestamps, and the others as bad rows."""
        import pyarrow as pa

        stream = self.job.streams[number]
        if stream.per_timestamp is None:
            return good, []
        times = [table.column(1).to_numpy() for table in good]
        ts = np.concatenate([np.zeros(0, dtype=np.int64), *times])
        again = lambda crowded: self.read_again(arrived, number, crowded, late_before)  # noqa: E731
        keep, bad = self.rates[number].checked(ts, complete, again)
        parts = np.split(keep, np.cumsum([table.num_rows for table in good])[:-1]) if good else []
        return [table.filter(pa.array(part)) for table, part in zip(good, parts, strict=True)], bad

    def read_again(
        self, arrived: Arrived, number: int, timestamps: set[int], late_before: int | None
    ) -> Iterator[Read]:
        """The good rows of a stream at some timestamps, with their texts."""
        stream, start = self.job.streams[number], 0
        decoder = self.decoders[stream.name]
        for raw in arrived.raws(number):
            found = decoder.decode(raw.rows, late_before)
            times = found.good.column(1).to_numpy()
            wanted = np.flatnonzero(np.isin(times, np.array(sorted(timestamps), dtype=np.int64)))
            texts = decoder.texts(raw.rows, found.good_at[wanted])
            places = decoder.places(raw.rows, found.good_at[wanted])
            for place, text, known in zip(wanted.tolist(), texts, places, strict=True):
                yield Read(int(times[place]), text or "", start + place, {"file": raw.file, **known})
            start += len(times)

    # --- closing ------------------------------------------------------------------------------------------------------

    def close(self, file: TextIO, until: int | None) -> int:
        """Close the timestamps before one, or all of them, in order, and write their results; returns the peak.

        Raises JobError when there were more entries than the bound says.
        """
        highest = self.operator.entries()
        for deltas in self.pending.closed(until, AT_ONCE[self.job.plan.kernel]):
            found = self.operator.step(deltas)
            self.results += write_results(file, self.job, found, self.settings.multiplicity)
            self.closed += len(Times(deltas.values()).all)
            highest = max(highest, self.operator.peak)
            self.peak = max(self.peak, highest)
            if self.limit is not None and self.operator.peak > self.limit:
                raise self.too_many()
        return highest

    def too_many(self) -> JobError:
        """The error for more entries than the bound says."""
        times, sizes = self.operator.history
        first = int((sizes > self.limit).argmax())
        where = f"{int(sizes[first])} entries at timestamp {int(times[first])}"
        return JobError("limit", f"the synopsis has {where}, more than its bound M = {self.limit}", 1)

    def waits_for(self) -> dict[str, str]:
        """The streams that hold back rows."""
        return self.frontier.waits_for(self.moment) if self.pending.timestamps() else {}

    def moment(self, timestamp: int) -> str:
        """A timestamp as the output shows it."""
        return json_value(timestamp, kind_of(self.job.time_type)).strip('"')

    def part(self, folder: str, batch: int) -> str:
        """The file of a batch's results or quarantined rows: in the place of the one two before, if no one wants it."""
        results = folder == "results"
        kept = self.settings.output if results else self.settings.quarantine or self.job.quarantine is None
        return f"{folder}/{batch:09d}.jsonl" if kept else f"{folder}/{batch % 2}.jsonl"

    def hand_over(self, batch: int, results: int, bad: list[Row]) -> None:
        """Write a batch's bad rows, and give them and the results to the sinks."""
        store = self.checkpoint.store
        with store.lines(self.part("quarantine", batch)) as file:
            file.write(json_lines(bad))
        self.sinks.results(store.where(self.part("results", batch)), batch, results)
        self.sinks.bad_rows(store.where(self.part("quarantine", batch)), batch, len(bad))

    def finish(self) -> Report:
        """The input has ended: close what is left as a batch of its own, write the output and the quarantine.

        State is not saved: where more input comes after all, the next batch has the same number and replaces this one.
        """
        store, last = self.checkpoint.store, -1 if self.batch is None else self.batch
        before, waited_for = self.results, self.waits_for()
        if self.settings.trigger == "end":
            self.frontier.over = True
            with store.lines(self.part("results", last + 1)) as file:
                self.close(file, None)
            if store.read("finished") != str(last + 1).encode():
                self.hand_over(last + 1, self.results - before, self.bad_relation_rows if last < 0 else [])
            last += 1
            store.write("finished", str(last).encode())
        for folder, path in (("results", self.settings.output), ("quarantine", self.settings.quarantine)):
            if path:
                with written_atomically(Path(path), "w") as file:
                    self.copy_parts(folder, last, file)
        return {
            "summary": self.job.name,
            "rows": {**{stream.name: self.rows[stream.name] for stream in self.job.streams}, **self.relation_sizes},
            "quarantined": dict(sorted(self.rejected.items())),
            "results": self.results,
            "peak": self.peak,
            "limit": self.limit,
            "waited_for": waited_for,
        }

    def copy_parts(self, folder: str, last: int, target: TextIO) -> None:
        """Append the files of all batches up to the last one, in order; raises JobError when some are gone."""
        for batch in range(last + 1):
            if not self.checkpoint.store.copy_lines(self.part(folder, batch), target):
                where = self.checkpoint.store.where(folder)
                raise usage(f"{where} has no batch {batch} any more: a run without this option left it to the sink")


def _note(brought: dict[Input, Brought], number: int, found: Decoded) -> None:
    """Add what a stream's rows have brought to what others have."""
    largest, marks = dict(found.largest), defaultdict[int, list[tuple[int | None, int]]](list)
    for ended in found.ended:
        marks[ended.part].append((ended.since, ended.until + 1))
    for part in largest.keys() | marks.keys():
        before = brought.get((number, part), Brought())
        newest = max((ts for ts in (before.largest, largest.get(part)) if ts is not None), default=None)
        brought[number, part] = Brought(newest, (*before.marks, *marks[part]))


def _of_kind(tables: dict[str, pa.Table], kind: str) -> dict[str, pa.Table]:
    """The tables of a state whose names begin with a word, without it."""
    return {name.removeprefix(f"{kind} "): table for name, table in tables.items() if name.startswith(f"{kind} ")}
