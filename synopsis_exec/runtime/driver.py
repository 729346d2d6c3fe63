"""Micro-batches folded into the synopsis on the driver, with everything that a restart needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypedDict, cast

import numpy as np

from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.checkpoint.state import State
from streambound_runtime.checkpoint.store import missing_batch, store_of, written_atomically
from streambound_runtime.decoding.reasons import LATE
from streambound_runtime.decoding.sql_types import YEARS, sql_type
from streambound_runtime.frontier.frontier import Brought, Frontier, SavedInput
from streambound_runtime.operators.rates import Rates, Read
from streambound_runtime.placement.decoded_chunk import DecodedChunk, decoded_on_driver
from streambound_runtime.placement.in_buckets import InBuckets
from streambound_runtime.placement.on_driver import OnDriver
from streambound_runtime.placement.state_owner import Closed, RunContext, StateOwner
from streambound_runtime.placement.stateless import Stateless
from streambound_runtime.progress import set_figures
from streambound_runtime.quarantine import Row, in_batch, json_lines, quarantined, stop_at
from streambound_runtime.reading.batch import Arrived, Batch
from streambound_runtime.reading.relation_views import make_relation_views
from streambound_runtime.reading.relations import computed_rows, relation_rows
from streambound_runtime.reading.sources import failing
from streambound_runtime.results import json_value
from streambound_runtime.row_values import Value
from streambound_runtime.settings import Settings
from streambound_runtime.sinks import Sinks
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Report = dict[str, object]
PLACEMENTS: dict[str, type[OnDriver] | type[InBuckets] | type[Stateless]] = {
    "driver": OnDriver,
    "buckets": InBuckets,
    "stateless": Stateless,
}
"""Of a plan."""


class _SavedRun(TypedDict, total=False):
    """What is saved of a run beside its tables, as JSON holds it."""

    frontier: list[SavedInput]
    rates: dict[str, dict[str, int]]
    rows: dict[str, int]
    rejected: dict[str, int]
    results: int
    peak: int
    late: int
    figures: dict[str, int | None]


class Driver:
    """Closes timestamps batch by batch and keeps everything that a restart needs in the checkpoint directory.

    Results and quarantined rows of a batch are in a file of their own; then they are handed to the sinks, and last the
    state is saved. So a batch that Spark replays writes the same files again and repeats nothing.
    """

    def __init__(
        self,
        spark: SparkSession,
        job: JobSpec,
        settings: Settings,
        report: Callable[[Report], None] = lambda report: None,
        frames: Mapping[str, DataFrame] = {},
    ) -> None:
        self.job, self.settings, self.report = job, settings, report
        self.checkpoint = Checkpoint(store_of(spark, settings.checkpoint))
        self.sinks = Sinks(spark, job, settings)
        self.failure: Exception | None = None
        self.relations: dict[str, list[dict[str, Value]]] = {}
        self.relation_sizes: dict[str, int] = {}
        self.bad_relation_rows: list[Row] = []
        for relation in job.relations:
            with failing(relation, job, settings):
                good, bad = relation_rows(spark, relation, settings, frames)
            self.relations[relation.name] = good
            self.relation_sizes[relation.name] = len(good) + len(bad)
            self.bad_relation_rows += bad
        stop_at(job, self.bad_relation_rows)
        make_relation_views(spark, job, self.relations)
        self.relations |= {query.relation.name: computed_rows(spark, query) for query in job.queries}
        self.checkpoint.claim(job, settings, self.relations, self.sinks.check_new)
        self.context = RunContext(spark, job, settings, self.checkpoint, self.sinks, self.relations)
        self.owner: StateOwner = PLACEMENTS[job.plan.placement](self.context)
        self.restart(*(self.checkpoint.committed() or (None, None)))

    def restart(self, batch: int | None, state: State | None) -> None:
        """Take over the state after a batch; a fresh state for None."""
        found: State = state or ({}, {})
        saved, tables = cast("_SavedRun", found[0]), found[1]
        self.batch = batch
        self.owner.restart(batch if state is not None else None, tables)
        self.frontier = Frontier(self.job.streams, saved.get("frontier", ()))
        rates = saved.get("rates", {})
        self.rates = [Rates(stream, rates.get(stream.name)) for stream in self.job.streams]
        self.rows: Counter[str] = Counter(saved.get("rows"))
        self.rejected: Counter[str] = Counter(saved.get("rejected"))
        if state is None:
            self.rejected.update(str(row["detail"]) for row in self.bad_relation_rows)
        self.results, self.peak = saved.get("results", 0), saved.get("peak", 0)
        self.late = saved.get("late", 0)
        self.figures = saved.get("figures") or self.figures_of(None, 0)

    def figures_of(self, batch: int | None, entries: int) -> dict[str, int | None]:
        """What the query's progress says (`progress.observed`) of a batch that leaves so many entries."""
        until = self.frontier.complete()
        return {
            "batch": batch,
            "entries": entries,
            "bound": self.owner.limit,
            "closed_until": None if until is None else until - 1,
            "late": self.late + sum(rows for words, rows in self.rejected.items() if words in LATE),
            "quarantined": self.rejected.total(),
            "pending": self.owner.pending(),
        }

    def save(self, batch: int) -> None:
        """Write the state after a batch."""
        tables = self.owner.dump()
        saved = {
            "frontier": self.frontier.dump(),
            "rates": {rates.stream.name: rates.dump() for rates in self.rates},
            "rows": self.rows,
            "rejected": self.rejected,
            "results": self.results,
            "peak": self.peak,
            "late": self.late,
            "figures": self.figures,
        }
        self.checkpoint.save(batch, saved, tables)
        self.batch = batch

    # --- batches ------------------------------------------------------------------------------------------------------

    def on_batch(self, frame: DataFrame, batch: int) -> None:
        """Fold one micro-batch; called by Spark, maybe again with the same batch after a failure."""
        try:
            self.checkpoint.begin(batch)
            self.fold(Arrived(frame, self.job, self.settings, self.context.files), batch)
            set_figures(self.context.spark, self.figures)
        except Exception as error:  # Spark does not pass it on as it is
            self.failure = error
            raise

    def fold(self, arrived: Batch, batch: int) -> None:
        """Take in the batch's rows, close what is complete, write results, bad rows and state."""
        previous = batch - 1 if batch else None
        if self.batch != previous:
            self.restart(previous, self.checkpoint.before(batch))
        rows, late = self.rows.total(), self.late
        bad = self.taken(arrived)
        self.rejected.update(str(row["detail"]) for row in bad)
        bad = in_batch(bad, batch)
        stop_at(self.job, bad)
        found = self.closed(batch, self.frontier.complete())
        bad += self.refused(found, batch)
        self.hand_over(batch, found.results, [*self.bad_relation_rows, *bad] if batch == 0 else bad)
        self.figures = self.figures_of(batch, found.entries)
        self.save(batch)
        self.report(
            {
                "batch": batch,
                "rows": self.rows.total() - rows,
                "closed": found.timestamps,
                "entries": found.entries,
                "peak": found.peak,
                "bytes": self.owner.bytes(),
                "limit": self.owner.limit,
                "results": found.results,
                "quarantined": len(bad),
                "pending": self.owner.pending(),
                "waits_for": self.waits_for(),
                **({"late": self.late - late} if self.late else {}),
                **({"open_since": self.moment(found.open_since)} if found.open_since is not None else {}),
            }
        )

    def closed(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Close the timestamps before one, and make their results."""
        found = self.owner.close(batch, until, last)
        self.results += found.results
        self.peak = max(self.peak, found.peak)
        return found

    def refused(self, found: Closed, batch: int) -> list[Row]:
        """What was only found to be bad when its timestamp closed, counted as bad rows of a batch."""
        bad = in_batch(found.refused, batch)
        self.rejected.update(str(row["detail"]) for row in bad)
        stop_at(self.job, bad)
        return bad

    def taken(self, arrived: Batch) -> list[Row]:
        """Take in a batch's rows: the useful ones become pending; returns those that are bad, late or too many."""
        late_before, bad = self.frontier.complete(), list[Row]()
        self.owner.forget()
        chunks = self.owner.decoded(arrived, late_before)
        if any(chunk.good is None for chunk in chunks) and self.crowded(chunks):
            self.owner.forget()  # which rows are too many is only seen beside all others of their timestamps
            chunks = [*decoded_on_driver(arrived, self.job, self.settings, self.context.decoders, late_before)]
        for chunk in chunks:
            stream = self.job.streams[chunk.stream]
            bad += quarantined(stream, chunk.rejected, chunk.file, partial(self.reason, chunk.stream))
            self.rows[stream.name] += chunk.rows
            self.late += chunk.late
        self.frontier.take(brought for chunk in chunks for brought in _brought(chunk))
        complete = self.frontier.complete()
        for number in range(len(self.job.streams)):
            mine = [chunk for chunk in chunks if chunk.stream == number]
            good, excess = self.within_rate(arrived, number, mine, late_before, complete)
            self.owner.add(number, good)
            bad += excess
        return bad

    def reason(self, stream: int, part: int, ts: int) -> str:
        """Why a late row of a stream is."""
        return self.frontier.late((stream, part), ts)

    def crowded(self, chunks: list[DecodedChunk]) -> bool:
        """Whether some stream has more rows at a time than it may have."""
        return any(
            rates.crowded(
                np.concatenate([chunk.ts for chunk in chunks if chunk.stream == number] or [np.zeros(0, np.int64)])
            )
            for number, rates in enumerate(self.rates)
            if rates.stream.counted
        )

    def within_rate(
        self, arrived: Batch, number: int, chunks: list[DecodedChunk], late_before: int | None, complete: int | None
    ) -> tuple[list[pa.Table], list[Row]]:
        """The good rows of a stream that are not too many at a time, and the others as bad rows."""
        import pyarrow as pa

        stream, good = self.job.streams[number], [chunk.good for chunk in chunks if chunk.good is not None]
        if not stream.counted:
            return good, []
        ts = np.concatenate([np.zeros(0, dtype=np.int64), *(chunk.ts for chunk in chunks)])
        again = lambda crowded: self.read_again(arrived, number, crowded, late_before)  # noqa: E731
        keep, bad = self.rates[number].checked(ts, complete, again)
        marks = np.concatenate([np.zeros(0, dtype=bool), *(c.marks for c in chunks if c.marks is not None)])
        if marks.any():  # punctuations stay: they are not counted
            rows, keep = keep, np.ones(len(marks), dtype=bool)
            keep[~marks] = rows
        parts = np.split(keep, np.cumsum([table.num_rows for table in good])[:-1]) if good else []
        return [table.filter(pa.array(part)) for table, part in zip(good, parts, strict=True)], bad

    def read_again(self, arrived: Batch, number: int, timestamps: set[int], late_before: int | None) -> Iterator[Read]:
        """The good rows of a stream at some timestamps, with their texts."""
        stream, start = self.job.streams[number], 0
        decoder = self.context.decoders[stream.name]
        for raw in arrived.raws(number):
            found = decoder.decode(raw.rows, late_before, raw.all_columns)
            times, good_at = found.good.column(1).to_numpy()[~found.marks], found.good_at[~found.marks]
            wanted = np.flatnonzero(np.isin(times, np.array(sorted(timestamps), dtype=np.int64)))
            texts = decoder.texts(raw.rows, good_at[wanted], raw.all_columns)
            places = decoder.places(raw.rows, good_at[wanted])
            for place, text, known in zip(wanted.tolist(), texts, places, strict=True):
                yield Read(int(times[place]), text or "", start + place, {"file": raw.file, **known})
            start += len(times)

    # --- closing ------------------------------------------------------------------------------------------------------

    def waits_for(self) -> dict[str, str]:
        """The streams that hold back rows."""
        return self.frontier.waits_for(self.moment) if self.owner.pending() else {}

    def moment(self, timestamp: int) -> str:
        """A timestamp as the output shows it; the first or last one there is for what is beyond."""
        kind = sql_type(self.job.time_type)
        first, last = YEARS.get(kind.family, (timestamp, timestamp))
        return json_value(min(max(timestamp, first), last), kind).strip('"')

    def part(self, batch: int) -> str:
        """The file of a batch's bad rows: in the place of the one two before, if no one wants it."""
        kept = self.settings.quarantine or self.job.quarantine is None
        return f"quarantine/{batch:09d}.jsonl" if kept else f"quarantine/{batch % 2}.jsonl"

    def hand_over(self, batch: int, results: int, bad: list[Row]) -> None:
        """Write a batch's bad rows, and give them and the results to the sinks."""
        store = self.checkpoint.store
        with store.lines(self.part(batch)) as file:
            file.write(json_lines(bad))
        self.owner.deliver(batch, results)
        store.guard()
        self.sinks.bad_rows(store.where(self.part(batch)), batch, len(bad))

    def finish(self) -> Report:
        """The input has ended: close what is left as a batch of its own, write the output and the quarantine.

        State is not saved: where more input comes after all, the next batch has the same number and replaces this one.
        """
        store, last = self.checkpoint.store, -1 if self.batch is None else self.batch
        waited_for = self.waits_for()
        if self.settings.trigger == "end":
            self.frontier.over = True
            found = self.closed(last + 1, self.frontier.complete(), last=True)
            refused = self.refused(found, last + 1)
            if store.read("finished") != str(last + 1).encode():
                self.hand_over(last + 1, found.results, [*self.bad_relation_rows, *refused] if last < 0 else refused)
            last += 1
            store.write("finished", str(last).encode())
        for write, path in ((self.owner.write_output, self.settings.output), (self.bad_rows, self.settings.quarantine)):
            if path:
                with written_atomically(Path(path)) as file:
                    write(last, file)
        return {
            "summary": self.job.name,
            "rows": {**{stream.name: self.rows[stream.name] for stream in self.job.streams}, **self.relation_sizes},
            "quarantined": dict(sorted(self.rejected.items())),
            "results": self.results,
            "peak": self.peak,
            "limit": self.owner.limit,
            "waited_for": waited_for,
            **({"late": self.late} if self.late else {}),
        }

    def bad_rows(self, last: int, file: TextIO) -> None:
        """Write the bad rows of all batches up to the last one, in order."""
        store = self.checkpoint.store
        for batch in range(last + 1):
            if not store.copy_lines(self.part(batch), file):
                raise missing_batch(store, "quarantine", batch)


def _brought(chunk: DecodedChunk) -> Iterator[Brought]:
    """What decoded rows tell the frontier."""
    yield from (Brought((chunk.stream, part), largest) for part, largest in chunk.largest.items())
    yield from (Brought((chunk.stream, part), None, ((since, until + 1),)) for part, since, until in chunk.ended)
