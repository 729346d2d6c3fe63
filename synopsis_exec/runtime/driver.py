"""Micro-batches folded into the synopsis on the driver, with everything that a restart needs."""

from __future__ import annotations

import sys
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
from streambound_runtime.operators.rates import Rates
from streambound_runtime.placement.decoded_chunk import DecodedChunk, decoded_on_driver
from streambound_runtime.placement.in_buckets import InBuckets
from streambound_runtime.placement.on_driver import OnDriver
from streambound_runtime.placement.state_owner import Closed, RunContext, StateOwner
from streambound_runtime.placement.stateless import Stateless, StatelessEmbedded
from streambound_runtime.progress import set_figures
from streambound_runtime.python_functions import use_functions
from streambound_runtime.quarantine import BadRows, check_limit, json_lines
from streambound_runtime.reading.batch import Arrived, Batch
from streambound_runtime.reading.relations import read_relations
from streambound_runtime.results import json_value
from streambound_runtime.settings import Settings
from streambound_runtime.sinks import Sinks, SinksHere
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
EMBEDDED: dict[str, type[OnDriver] | type[StatelessEmbedded]] = {
    "driver": OnDriver,
    "buckets": OnDriver,
    "stateless": StatelessEmbedded,
}
"""The same without Spark."""


class _SavedRun(TypedDict, total=False):
    """The saved part of a run beside its tables, as JSON."""

    frontier: list[SavedInput]
    rates: dict[str, dict[str, int]]
    rows: dict[str, int]
    rejected: dict[str, int]
    kept: int
    with_bad_rows: list[int]
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
        spark: SparkSession | None,
        job: JobSpec,
        settings: Settings,
        report: Callable[[Report], None] = lambda report: None,
        frames: Mapping[str, DataFrame] = {},
    ) -> None:
        self.job, self.settings, self.report = job, settings, report
        self.checkpoint = Checkpoint(store_of(spark, settings.checkpoint), "embedded" if spark is None else "spark")
        self.sinks = SinksHere(job, settings) if spark is None else Sinks(spark, job, settings)
        self.failure: Exception | None = None
        self.bad_relation_rows = BadRows(job.quarantine_limit.most)
        use_functions(spark, job.functions, settings.base)
        relations = read_relations(spark, job, settings, frames, self.bad_relation_rows)
        self.relation_sizes = relations.sizes
        self.checkpoint.claim(job, settings, relations.rows, self.sinks.check_new)
        self.context = RunContext(spark, job, settings, self.checkpoint, self.sinks, relations.rows, relations.views)
        placements = PLACEMENTS if spark is not None else EMBEDDED
        self.owner: StateOwner = placements[job.placement.where](self.context)
        last = self.checkpoint.committed() if spark is not None else self.checkpoint.newest()
        self.restart(*(last or (None, None)))

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
        self.kept, self.with_bad_rows = saved.get("kept", 0), [*saved.get("with_bad_rows", ())]
        if state is None:
            self.rejected.update(self.bad_relation_rows.counts)
            check_limit(self.job.quarantine_limit, self.rejected)
        self.results, self.peak = saved.get("results", 0), saved.get("peak", 0)
        self.late = saved.get("late", 0)
        self.figures = saved.get("figures") or self.figures_of(None, 0)

    def figures_of(self, batch: int | None, entries: int) -> dict[str, int | None]:
        """The figures of a batch in the query's progress (`progress.observed`), with the entries that it leaves."""
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
            "kept": self.kept,
            "with_bad_rows": self.with_bad_rows,
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
            set_figures(self.context.session, self.figures)
            self.checkpoint.store.guard()  # Spark commits the batch next
        except Exception as error:  # Spark does not pass it on as it is
            self.failure = error
            raise

    def fold(self, arrived: Batch, batch: int) -> None:
        """Take in the batch's rows, close what is complete, write results, bad rows and state."""
        self.sinks.check_again(batch, self.checkpoint.store.read("finished"))
        previous = batch - 1 if batch else None
        if self.batch != previous:
            self.restart(previous, self.checkpoint.before(batch))
        rows, late = self.rows.total(), self.late
        bad = self.bad_rows_of(batch)
        self.taken(arrived, bad)
        self.checked(bad)
        found = self.closed(batch, self.frontier.complete())
        bad.add_closed(self.job, found.refused)
        self.checked(bad)
        self.hand_over(batch, found.results + found.told, bad)
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
                "quarantined": bad.counts.total(),
                "pending": self.owner.pending(),
                "waiting": found.waiting,
                "taken": found.taken,
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

    def bad_rows_of(self, batch: int) -> BadRows:
        """A collector for the bad rows of a batch, with the room that is left; batch 0 has those of relations."""
        bad = BadRows(self.job.quarantine_limit.most - self.kept)
        if batch == 0:
            bad.extend(self.bad_relation_rows)
        return bad

    def checked(self, bad: BadRows) -> None:
        """Raise JobError where a batch's bad rows stop the job."""
        bad.stop()
        check_limit(self.job.quarantine_limit, self.rejected + bad.counts)

    def taken(self, arrived: Batch, bad: BadRows) -> None:
        """Take in a batch's rows: the useful ones become pending; those that are bad, late or too many are added."""
        late_before = self.frontier.complete()
        self.owner.forget()
        chunks = self.owner.decoded(arrived, late_before)
        if any(chunk.good is None for chunk in chunks) and self.crowded(chunks):
            self.owner.forget()  # which rows are too many is only seen beside all others of their timestamps
            chunks = [*decoded_on_driver(arrived, self.job, self.settings, self.context.decoders, late_before)]
        for chunk in chunks:
            stream = self.job.streams[chunk.stream]
            bad.add(stream, chunk.rejected, chunk.file, chunk.beyond, partial(self.reason, chunk.stream))
            self.rows[stream.name] += chunk.rows
            self.late += chunk.late
        self.frontier.take(brought for chunk in chunks for brought in _brought(chunk))
        complete = self.frontier.complete()
        for number in range(len(self.job.streams)):
            mine = [chunk for chunk in chunks if chunk.stream == number]
            self.owner.add(number, self.within_rate(arrived, number, mine, late_before, complete, bad))

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
        self,
        arrived: Batch,
        number: int,
        chunks: list[DecodedChunk],
        late_before: int | None,
        complete: int | None,
        bad: BadRows,
    ) -> list[pa.Table]:
        """The good rows of a stream that are not too many at a time; the others are added to the bad ones."""
        import pyarrow as pa

        stream, good = self.job.streams[number], [chunk.good for chunk in chunks if chunk.good is not None]
        if not stream.counted:
            return good
        ts = np.concatenate([np.zeros(0, dtype=np.int64), *(chunk.ts for chunk in chunks)])
        again = lambda crowded: self.read_again(arrived, number, crowded, late_before)  # noqa: E731
        keep, excess = self.rates[number].checked(ts, complete, again, max(bad.most - bad.kept, 1))
        if excess is not None:
            told, beyond = excess
            bad.add(stream, told, beyond=beyond)
        marks = np.concatenate([np.zeros(0, dtype=bool), *(c.marks for c in chunks if c.marks is not None)])
        if marks.any():  # punctuations stay: they are not counted
            rows, keep = keep, np.ones(len(marks), dtype=bool)
            keep[~marks] = rows
        parts = np.split(keep, np.cumsum([table.num_rows for table in good])[:-1]) if good else []
        return [table.filter(pa.array(part)) for table, part in zip(good, parts, strict=True)]

    def read_again(self, arrived: Batch, number: int, timestamps: set[int], late_before: int | None) -> pa.Table:
        """The good rows of a stream at some timestamps, with their texts (`Rates.checked`)."""
        import pyarrow as pa

        stream, start, found_rows = self.job.streams[number], 0, list["pa.Table"]()
        decoder = self.context.decoders[stream.name]
        for raw in arrived.raws(number):
            found = decoder.decode(raw.rows, late_before, raw.all_columns)
            times, good_at = found.good.column(1).to_numpy()[~found.marks], found.good_at[~found.marks]
            wanted = np.flatnonzero(np.isin(times, np.array(sorted(timestamps), dtype=np.int64)))
            texts = decoder.texts(raw.rows, good_at[wanted], raw.all_columns)
            columns = {"ts": times[wanted], "row": [text or "" for text in texts], "place": start + wanted}
            if raw.file:
                columns["file"] = pa.array([raw.file]).dictionary_encode().take(pa.array(np.zeros(len(wanted), int)))
            found_rows.append(pa.table(columns | decoder.place_columns(raw.rows, good_at[wanted])))
            start += len(times)
        return pa.concat_tables(found_rows, promote_options="default")

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

    def hand_over(self, batch: int, results: int, bad: BadRows) -> None:
        """Write a batch's bad rows, if it has some, and give them and the results to the sinks."""
        store = self.checkpoint.store
        self.counted(batch, bad)
        if bad.kept:
            with store.lines(self.part(batch)) as file:
                file.writelines(json_lines(bad.rows(batch)))
        self.owner.deliver(batch, results)
        store.guard()
        self.sinks.bad_rows(store.where(self.part(batch)), batch, bad.kept)

    def counted(self, batch: int, bad: BadRows) -> None:
        """Count a batch's bad rows, and those that are kept; a note says from when on others are only counted."""
        before, most = self.rejected.total() - self.kept, self.job.quarantine_limit.most
        self.rejected.update(bad.counts)
        self.kept += bad.kept
        self.with_bad_rows += [batch] if bad.kept else []
        if not before and self.rejected.total() > self.kept:
            what = f"more rows than quarantine.max = {most:,} cannot be used: others are only counted"
            print(f"note: {what}", file=sys.stderr)

    def finish(self) -> Report:
        """The input has ended: close what is left as a batch of its own, write the output and the quarantine.

        State is not saved: where more input comes after all, the next batch has the same number and replaces this one.
        """
        store, last = self.checkpoint.store, -1 if self.batch is None else self.batch
        waited_for = self.waits_for()
        if self.settings.trigger == "end":
            self.frontier.over = True
            found = self.closed(last + 1, self.frontier.complete(), last=True)
            bad = self.bad_rows_of(last + 1)
            bad.add_closed(self.job, found.refused)
            self.checked(bad)
            if store.read("finished") != str(last + 1).encode():
                self.hand_over(last + 1, found.results + found.told, bad)
            else:
                self.counted(last + 1, bad)
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
            "only_counted": self.rejected.total() - self.kept,
            "results": self.results,
            "peak": self.peak,
            "limit": self.owner.limit,
            "waited_for": waited_for,
            **({"late": self.late} if self.late else {}),
        }

    def bad_rows(self, last: int, file: TextIO) -> None:
        """Write the bad rows of all batches up to the last one, in order."""
        store = self.checkpoint.store
        for batch in (batch for batch in self.with_bad_rows if batch <= last):
            if not store.copy_lines(self.part(batch), file):
                raise missing_batch(store, "quarantine", batch)


def _brought(chunk: DecodedChunk) -> Iterator[Brought]:
    """The timestamps and punctuations of decoded rows, for the frontier."""
    yield from (Brought((chunk.stream, part), largest) for part, largest in chunk.largest.items())
    yield from (Brought((chunk.stream, part), None, ((since, until + 1),)) for part, since, until in chunk.ended)
