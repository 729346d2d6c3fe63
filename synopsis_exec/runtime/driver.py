"""Micro-batches folded into the synopsis on the driver, with everything that a restart needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from streambound_runtime.checkpoint.checkpoint import Checkpoint
from streambound_runtime.checkpoint.store import gone, store_of, written_atomically
from streambound_runtime.decoding.kinds import kind_of
from streambound_runtime.decoding.reasons import LATE
from streambound_runtime.frontier.frontier import Brought, Frontier, Input
from streambound_runtime.placement.in_buckets import InBuckets
from streambound_runtime.placement.keeper import Closed, Keeper, Run
from streambound_runtime.placement.nowhere import Nowhere
from streambound_runtime.placement.on_driver import OnDriver
from streambound_runtime.placement.pieces import Piece, decoded_here
from streambound_runtime.progress import tell
from streambound_runtime.quarantine import Row, in_batch, json_lines, quarantined, stop_at
from streambound_runtime.rates import Rates, Read
from streambound_runtime.reading.batch import Arrived, Batch
from streambound_runtime.reading.relation_views import show_relations
from streambound_runtime.reading.relations import relation_rows
from streambound_runtime.reading.sources import failing
from streambound_runtime.results import json_value
from streambound_runtime.settings import Settings
from streambound_runtime.sinks import Sinks
from streambound_runtime.spec import Job

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Report = dict[str, Any]
PLACEMENTS: dict[str, type[OnDriver] | type[InBuckets] | type[Nowhere]] = {
    "driver": OnDriver,
    "buckets": InBuckets,
    "stateless": Nowhere,
}
"""Of a plan."""


class Driver:
    """Closes timestamps batch by batch and keeps everything that a restart needs in the checkpoint directory.

    Results and quarantined rows of a batch are in a file of their own; then they are handed to the sinks, and last the
    state is saved. So a batch that Spark replays writes the same files again and repeats nothing.
    """

    def __init__(
        self,
        spark: SparkSession,
        job: Job,
        settings: Settings,
        report: Callable[[Report], None] = lambda report: None,
        frames: Mapping[str, DataFrame] = {},
    ) -> None:
        self.job, self.settings, self.report = job, settings, report
        self.checkpoint = Checkpoint(store_of(spark, settings.checkpoint))
        self.sinks = Sinks(spark, job, settings)
        self.failure: Exception | None = None
        self.relations: dict[str, list[dict[str, Any]]] = {}
        self.relation_sizes: dict[str, int] = {}
        self.bad_relation_rows: list[Row] = []
        for relation in job.relations:
            with failing(relation, job, settings):
                good, bad = relation_rows(spark, relation, settings, frames)
            self.relations[relation.name] = good
            self.relation_sizes[relation.name] = len(good) + len(bad)
            self.bad_relation_rows += bad
        stop_at(job, self.bad_relation_rows)
        show_relations(spark, job, self.relations)
        if self.checkpoint.claim(job, settings, self.relations):
            self.sinks.check_new()
        self.room = Run(spark, job, settings, self.checkpoint, self.sinks, self.relations)
        self.kept: Keeper = PLACEMENTS[job.plan.placement](self.room)
        self.restart(*(self.checkpoint.committed() or (None, None)))

    def restart(self, batch: int | None, state: tuple[dict[str, Any], dict[str, pa.Table]] | None) -> None:
        """Take over the state after a batch; a fresh state for None."""
        said, tables = state or ({}, {})
        self.batch = batch
        self.kept.restart(batch if state is not None else None, tables)
        self.frontier = Frontier(self.job.streams, said.get("frontier", ()))
        rates = said.get("rates", {})
        self.rates = [Rates(stream, rates.get(stream.name)) for stream in self.job.streams]
        self.rows: Counter[str] = Counter(said.get("rows"))
        self.rejected: Counter[str] = Counter(said.get("rejected"))
        if state is None:
            self.rejected.update(row["detail"] for row in self.bad_relation_rows)
        self.results, self.peak = said.get("results", 0), said.get("peak", 0)
        self.late = said.get("late", 0)
        self.figures = said.get("figures") or self.figures_of(None, 0)

    def figures_of(self, batch: int | None, entries: int) -> dict[str, int | None]:
        """What the query's progress says (`progress.observed`) of a batch that leaves so many entries."""
        until = self.frontier.complete()
        return {
            "batch": batch,
            "entries": entries,
            "bound": self.kept.limit,
            "closed_until": None if until is None else until - 1,
            "late": self.late + sum(rows for words, rows in self.rejected.items() if words in LATE),
            "quarantined": self.rejected.total(),
            "pending": self.kept.pending(),
        }

    def save(self, batch: int) -> None:
        """Write the state after a batch."""
        tables = self.kept.dump()
        said = {
            "frontier": self.frontier.dump(),
            "rates": {rates.stream.name: rates.dump() for rates in self.rates},
            "rows": self.rows,
            "rejected": self.rejected,
            "results": self.results,
            "peak": self.peak,
            "late": self.late,
            "figures": self.figures,
        }
        self.checkpoint.save(batch, said, tables)
        self.batch = batch

    # --- batches ------------------------------------------------------------------------------------------------------

    def on_batch(self, frame: DataFrame, batch: int) -> None:
        """Fold one micro-batch; called by Spark, maybe again with the same batch after a failure."""
        try:
            self.fold(Arrived(frame, self.job, self.settings, self.room.files), batch)
            tell(self.room.spark, self.figures)
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
        self.rejected.update(row["detail"] for row in bad)
        bad = in_batch(bad, batch)
        stop_at(self.job, bad)
        found = self.closed(batch, self.frontier.complete())
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
                "bytes": self.kept.bytes(),
                "limit": self.kept.limit,
                "results": found.results,
                "quarantined": len(bad),
                "pending": self.kept.pending(),
                "waits_for": self.waits_for(),
                **({"late": self.late - late} if self.late else {}),
            }
        )

    def closed(self, batch: int, until: int | None, last: bool = False) -> Closed:
        """Close the timestamps before one, and make their results."""
        found = self.kept.close(batch, until, last)
        self.results += found.results
        self.peak = max(self.peak, found.peak)
        return found

    def taken(self, arrived: Batch) -> list[Row]:
        """Take in a batch's rows: the useful ones become pending; returns those that are bad, late or too many."""
        late_before, bad = self.frontier.complete(), list[Row]()
        self.kept.forget()
        pieces = self.kept.decoded(arrived, late_before)
        if any(piece.good is None for piece in pieces) and self.crowded(pieces):
            self.kept.forget()  # which rows are too many is only seen beside all others of their timestamps
            pieces = [*decoded_here(arrived, self.job, self.settings, self.room.decoders, late_before)]
        brought: dict[Input, Brought] = {}
        for piece in pieces:
            stream = self.job.streams[piece.stream]
            bad += quarantined(stream, piece.rejected, piece.file, partial(self.reason, piece.stream))
            self.rows[stream.name] += piece.rows
            self.late += piece.late
            _note(brought, piece)
        self.frontier.take(brought)
        complete = self.frontier.complete()
        for number in range(len(self.job.streams)):
            mine = [piece for piece in pieces if piece.stream == number]
            good, excess = self.within_rate(arrived, number, mine, late_before, complete)
            self.kept.add(number, good)
            bad += excess
        return bad

    def reason(self, stream: int, part: int, ts: int) -> str:
        """Why a late row of a stream is."""
        return self.frontier.late((stream, part), ts)

    def crowded(self, pieces: list[Piece]) -> bool:
        """Whether some stream has more rows at a time than it may have."""
        return any(
            rates.crowded(np.concatenate([piece.ts for piece in pieces if piece.stream == number] or [np.zeros(0)]))
            for number, rates in enumerate(self.rates)
            if rates.stream.counted
        )

    def within_rate(
        self, arrived: Batch, number: int, pieces: list[Piece], late_before: int | None, complete: int | None
    ) -> tuple[list[pa.Table], list[Row]]:
        """The good rows of a stream that are not too many at a time, and the others as bad rows."""
        import pyarrow as pa

        good = [piece.good for piece in pieces if piece.good is not None]
        if not self.job.streams[number].counted:
            return good, []
        ts = np.concatenate([np.zeros(0, dtype=np.int64), *(piece.ts for piece in pieces)])
        again = lambda crowded: self.read_again(arrived, number, crowded, late_before)  # noqa: E731
        keep, bad = self.rates[number].checked(ts, complete, again)
        parts = np.split(keep, np.cumsum([table.num_rows for table in good])[:-1]) if good else []
        return [table.filter(pa.array(part)) for table, part in zip(good, parts, strict=True)], bad

    def read_again(self, arrived: Batch, number: int, timestamps: set[int], late_before: int | None) -> Iterator[Read]:
        """The good rows of a stream at some timestamps, with their texts."""
        stream, start = self.job.streams[number], 0
        decoder = self.room.decoders[stream.name]
        for raw in arrived.raws(number):
            found = decoder.decode(raw.rows, late_before, raw.whole)
            times = found.good.column(1).to_numpy()
            wanted = np.flatnonzero(np.isin(times, np.array(sorted(timestamps), dtype=np.int64)))
            texts = decoder.texts(raw.rows, found.good_at[wanted], raw.whole)
            places = decoder.places(raw.rows, found.good_at[wanted])
            for place, text, known in zip(wanted.tolist(), texts, places, strict=True):
                yield Read(int(times[place]), text or "", start + place, {"file": raw.file, **known})
            start += len(times)

    # --- closing ------------------------------------------------------------------------------------------------------

    def waits_for(self) -> dict[str, str]:
        """The streams that hold back rows."""
        return self.frontier.waits_for(self.moment) if self.kept.pending() else {}

    def moment(self, timestamp: int) -> str:
        """A timestamp as the output shows it."""
        return json_value(timestamp, kind_of(self.job.time_type)).strip('"')

    def part(self, batch: int) -> str:
        """The file of a batch's bad rows: in the place of the one two before, if no one wants it."""
        kept = self.settings.quarantine or self.job.quarantine is None
        return f"quarantine/{batch:09d}.jsonl" if kept else f"quarantine/{batch % 2}.jsonl"

    def hand_over(self, batch: int, results: int, bad: list[Row]) -> None:
        """Write a batch's bad rows, and give them and the results to the sinks."""
        store = self.checkpoint.store
        with store.lines(self.part(batch)) as file:
            file.write(json_lines(bad))
        self.kept.deliver(batch, results)
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
            if store.read("finished") != str(last + 1).encode():
                self.hand_over(last + 1, found.results, self.bad_relation_rows if last < 0 else [])
            last += 1
            store.write("finished", str(last).encode())
        for write, path in ((self.kept.write_output, self.settings.output), (self.bad_rows, self.settings.quarantine)):
            if path:
                with written_atomically(Path(path), "w") as file:
                    write(last, file)
        return {
            "summary": self.job.name,
            "rows": {**{stream.name: self.rows[stream.name] for stream in self.job.streams}, **self.relation_sizes},
            "quarantined": dict(sorted(self.rejected.items())),
            "results": self.results,
            "peak": self.peak,
            "limit": self.kept.limit,
            "waited_for": waited_for,
            **({"late": self.late} if self.late else {}),
        }

    def bad_rows(self, last: int, file: TextIO) -> None:
        """Write the bad rows of all batches up to the last one, in order."""
        store = self.checkpoint.store
        for batch in range(last + 1):
            if not store.copy_lines(self.part(batch), file):
                raise gone(store, "quarantine", batch)


def _note(brought: dict[Input, Brought], piece: Piece) -> None:
    """Add what a stream's rows have brought to what others have."""
    marks = defaultdict[int, list[tuple[int | None, int]]](list)
    for ended in piece.ended:
        marks[ended.part].append((ended.since, ended.until + 1))
    for part in piece.largest.keys() | marks.keys():
        before = brought.get((piece.stream, part), Brought())
        newest = max((ts for ts in (before.largest, piece.largest.get(part)) if ts is not None), default=None)
        brought[piece.stream, part] = Brought(newest, (*before.marks, *marks[part]))
