"""Part of every job: micro-batches folded into the synopsis, with the state that a restart needs."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from streambound.synopsis_exec.job.ahead import Ahead, begun_before, stays_near
from streambound.synopsis_exec.job.arrivals import Arrived, as_columns, as_lines, row_text
from streambound.synopsis_exec.job.arrow import COUNT, SLOTS, batch_of, no_rows, slices, table_of, together
from streambound.synopsis_exec.job.batch import Results, Times
from streambound.synopsis_exec.job.closing import Closing
from streambound.synopsis_exec.job.contracts import Rates, stop_at
from streambound.synopsis_exec.job.files import Files, LocalFiles, SharedFiles, copy_parts, is_uri
from streambound.synopsis_exec.job.given import BAD, IN_COLUMNS, QUERY, RELATIONS, STREAMS, Kernel
from streambound.synopsis_exec.job.grouping import once, worth_it
from streambound.synopsis_exec.job.lines import Reader
from streambound.synopsis_exec.job.near import paths_near
from streambound.synopsis_exec.job.output import json_lines, written_atomically
from streambound.synopsis_exec.job.places import in_batch, place_columns, quarantined, with_lines
from streambound.synopsis_exec.job.reading import relation_rows
from streambound.synopsis_exec.job.result_lines import write_results
from streambound.synopsis_exec.job.saved import Checkpoint
from streambound.synopsis_exec.job.sinks import Sinks
from streambound.synopsis_exec.job.source import JobError
from streambound.synopsis_exec.job.typed import rows_of_columns
from streambound.synopsis_exec.job.whole import SHARE, SHARE_OF_COLUMNS, Fetched, whole_columns, whole_pays

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

SLICE = 1 << 20
"""How many rows a kernel folds at a time, so that its memory does not grow with the batch."""
AT_ONCE = 1 << 16
"""As `SLICE`, for the kernel of rows: its dictionaries take ten times as much as columns."""


class Job:
    """Closes timestamps batch by batch and keeps everything that a restart needs in the checkpoint directory.

    Results and quarantined rows of a batch are in a file of their own; then they are handed to the sinks, and last the
    state is saved. So a batch that Spark replays writes the same files again and repeats nothing.
    """

    grouping = False
    """Whether the rows of the next batch are counted before they are fetched, since many of the last were the same."""
    whole = whole_pays(0, 0)
    """Whether all rows of the next batch are fetched, since most of the last were useful, and none bad or late."""

    def __init__(
        self, spark: SparkSession, options: argparse.Namespace, report: Callable[[dict[str, Any]], None]
    ) -> None:
        self.options, self.report = options, report
        self.files: Files = (
            SharedFiles(spark, options.checkpoint) if is_uri(options.checkpoint) else LocalFiles(options.checkpoint)
        )
        self.checkpoint, self.sinks = Checkpoint(self.files), Sinks(spark, options)
        self.failure: Exception | None = None
        self.text, self.observed, self.columns = "", list[Any](), list[Any]()
        """How a bad row's text is made, what is observed of a batch, and what is fetched of a whole one: as for all."""
        self.reader = Reader() if as_lines(options) else None
        self.whole = self.whole or as_columns(options)  # to fetch such columns costs less than to count their rows
        self.relations: dict[str, list[dict[str, Any]]] = {}
        self.relation_sizes: dict[str, int] = {}
        self.bad_relation_rows: list[dict[str, Any]] = []
        for relation in RELATIONS:
            good, bad = relation_rows(spark, relation, options)
            self.relations[relation.name] = good
            self.relation_sizes[relation.name] = len(good) + len(bad)
            self.bad_relation_rows.extend(bad)
        stop_at(self.bad_relation_rows)
        if self.checkpoint.claim(options, self.relations):
            self.sinks.check_new()
        self.ahead, self.begun = Ahead(spark), self.checkpoint.begun()
        self.restart(self.checkpoint.committed() if self.begun is None else previous(self.begun[0]))

    def restart(self, batch: int | None) -> None:
        """Take over the state after a batch; a fresh state for None."""
        self.synopsis = Kernel(self.relations)
        self.rates = Rates()
        self.limit = self.options.limit if self.options.limit is not None else self.synopsis.limit
        self.batch = batch
        self.pending = no_rows()
        self.closing = Closing()
        self.rows: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter(row["detail"] for row in self.bad_relation_rows)
        self.results = self.peak = self.peak_of_batch = self.closed_timestamps = self.bytes = 0
        if batch is None:
            return
        state = self.checkpoint.load(batch)
        self.synopsis.load(state["tables"])
        self.pending = table_of(state["pending"])
        self.closing = Closing(state["closing"])
        self.rates = Rates(state["rates"])
        self.rows, self.rejected = Counter(state["rows"]), Counter(state["rejected"])
        self.results, self.peak = state["results"], state["peak"]

    def save(self, batch: int) -> None:
        """Write the state after a batch; the one before it stays, for a replay."""
        state = {
            "tables": self.synopsis.dump(),
            "pending": self.pending.to_pydict(),
            "closing": self.closing.dump(),
            "rates": self.rates.dump(),
            "rows": self.rows,
            "rejected": self.rejected,
            "results": self.results,
            "peak": self.peak,
        }
        self.checkpoint.save(batch, state)
        self.bytes = len(json.dumps(state["tables"])) - len("{}")
        self.batch = batch

    # --- batches -----------------------------------------------------------------------------------------------

    def on_batch(self, frame: DataFrame, batch: int) -> None:
        """Fold one micro-batch, or begin to; called by Spark, maybe again with the same batch after a failure."""
        arrived = Arrived(frame, self.options)
        try:
            arrived.near = paths_near(arrived)
            self.ahead.wait()
            if stays_near(arrived) and self.fits(arrived):
                self.checkpoint.note(batch, [[*files] for files in arrived.near or ()])
                self.ahead.begin(lambda: self.fold_noted(arrived, batch))
            else:
                self.ahead.call(lambda: self.fold(arrived, batch))
        except Exception as error:  # Spark does not pass it on as it is
            self.failure = error
            raise

    def make_up(self, spark: SparkSession) -> None:
        """Fold the batch that Spark has committed and an earlier run has only begun, if there is one."""
        if self.begun is not None:
            batch, files = self.begun
            self.fold(begun_before(spark, self.options, files), batch)
        self.checkpoint.forget()  # also what Spark has not committed, which it gives again

    def fold_noted(self, arrived: Arrived, batch: int) -> None:
        """Fold a batch that Spark may commit before that is done."""
        self.fold(arrived, batch)
        self.checkpoint.forget()

    def fits(self, arrived: Arrived) -> bool:
        """Whether the driver can have all of a batch."""
        return True

    def fold(self, arrived: Arrived, batch: int) -> None:
        """Take in the batch's rows, close what is complete, write results, bad rows and state."""
        if self.batch != previous(batch):
            self.restart(previous(batch))
        rows, results, closed = self.rows.total(), self.results, self.closed_timestamps
        open_from = self.closing.complete()
        good, bad = self.take_in(arrived)
        complete = self.closing.complete()
        good, excess = self.within_rates(arrived, good, None if open_from is None else open_from - 1, complete)
        self.rejected.update(row["detail"] for row in excess)
        bad = in_batch(with_lines(bad + excess, self.options, arrived.near), batch)
        stop_at(bad)
        self.peak_of_batch = self.synopsis.entries()
        self.close_batch(batch, good, complete)
        self.hand_over(batch, self.results - results, [*self.bad_relation_rows, *bad] if batch == 0 else bad)
        self.save(batch)
        self.report(
            {
                "batch": batch,
                "rows": self.rows.total() - rows,
                "closed": self.closed_timestamps - closed,
                "entries": self.synopsis.entries(),
                "peak": self.peak_of_batch,
                "bytes": self.bytes,
                "limit": self.limit,
                "results": self.results - results,
                "quarantined": len(bad),
                "pending": len(self.pending.column("ts").unique()),
                "waits_for": self.closing.waits_for() if self.pending.num_rows else {},
            }
        )

    def take_in(self, arrived: Arrived) -> tuple[Any, list[dict[str, Any]]]:
        """Fetch a batch once: its useful rows as an Arrow table, and its bad and late rows."""
        before = self.rows.total()
        if self.reader is not None and self.reader.pays(arrived):
            good, bad = self.taken_as_lines(arrived, self.reader)
        elif self.whole and not self.grouping:
            good, bad = self.taken_whole(arrived)
        else:
            from pyspark.sql import Observation

            observation = Observation()
            fetched = self.kept(arrived.told, observation).toArrow()
            bad = self.noted(fetched.filter(fetched.column("bad")).to_pylist(), observation.get)
            good = together([fetched.filter(~fetched.column("bad").to_numpy()) if bad else fetched])
        self.grouping = worth_it(good, good.num_rows)
        share = SHARE_OF_COLUMNS if as_columns(self.options) else SHARE
        self.whole = not bad and whole_pays(self.rows.total() - before, good.num_rows, share)
        if self.reader is not None:
            self.reader.rows = self.rows.total() - before
        return good, bad

    def taken_as_lines(self, arrived: Arrived, reader: Reader) -> tuple[Any, list[dict[str, Any]]]:
        """As `taken_whole`, from lines of JSON, of which Spark reads those that the driver is not sure of."""
        table = reader.read(arrived)
        return self.taken_whole(arrived) if table is None else self.told_apart(arrived, table)

    def taken_whole(self, arrived: Arrived) -> tuple[Any, list[dict[str, Any]]]:
        """As `take_in`, with all rows fetched, and counted and told apart here."""
        if as_columns(self.options) and (table := rows_of_columns(arrived)) is not None:
            return self.told_apart(arrived, table)
        if not self.columns:
            from pyspark.sql import functions as F

            self.columns = list(map(F.expr, whole_columns()))
        return self.told_apart(arrived, arrived.told.select(*self.columns).toArrow())

    def told_apart(self, arrived: Arrived, table: Any) -> tuple[Any, list[dict[str, Any]]]:
        """The useful rows of a whole batch, and its bad and late rows; it may be read once more for their texts."""
        found, rejected = Fetched(table, self.closing.complete()), []
        if found.some_wrong():
            known = "text" in table.column_names and arrived.near is not None  # else Spark says where they are
            rejected = found.wrong() if known else self.read_again(arrived)
        return together([found.good()]), self.noted(rejected, found.observed())

    def read_again(self, arrived: Arrived) -> list[dict[str, Any]]:
        """The bad and late rows of a batch."""
        told = ["source", "part", "ts", "reason", f"{row_text(arrived.told)} AS text"]
        wrong = arrived.told.where(self.wrong()).selectExpr(*told, *place_columns(arrived.told, "TRUE")).toArrow()
        rows: list[dict[str, Any]] = wrong.to_pylist()
        return rows

    def wrong(self) -> str:
        """Whether a row of the next batch is bad or late, in Spark SQL over the columns of `tagged`."""
        return f"(reason IS NOT NULL OR {self.closing.late()})"

    def kept(self, frame: DataFrame, observation: Observation, *more: Column) -> DataFrame:
        """The useful, bad and late rows of a batch; all of its rows are counted on the way, ``more`` is observed, too.

        What happens to every row is counting and the tests of `where`; texts are made for bad rows alone.
        """
        if not self.observed:
            self.text, self.observed = row_text(frame), self.closing.observed()
        wrong = self.wrong()
        told = [f"{wrong} AS bad", f"CASE WHEN {wrong} THEN {self.text} END AS text", *place_columns(frame, wrong)]
        kept = (
            frame.observe(observation, *self.observed, *more)
            .where(f"{wrong} OR useful")
            .selectExpr("source", "part", "ts", "reason", *told, *SLOTS)
        )
        return once(kept) if self.grouping else kept

    def noted(self, rejected: list[dict[str, Any]], observed: dict[str, Any]) -> list[dict[str, Any]]:
        """The bad and late rows of a batch with their reasons; what was observed of it is taken in."""
        for number, source in enumerate(STREAMS):
            self.rows[source.name] += observed[f"rows_{number}"]
        bad = []
        for row in rejected:
            reason = row["reason"] or self.closing.late_reason(row["source"], row["part"], row["ts"])
            times, name = row.get(COUNT, 1), STREAMS[row["source"]].name
            found = quarantined("stream", name, reason, row["text"], row.get("file"), row.get("place"))
            self.rejected[found["detail"]] += times
            bad += [found] * times
        self.closing.take(observed)
        return bad

    def within_rates(
        self, arrived: Arrived, good: Any, closed: int | None, complete: int | None
    ) -> tuple[Any, list[dict[str, Any]]]:
        """The good rows that are not too many for their timestamps, and the others as bad rows."""
        return self.rates.checked(arrived, good, closed, complete)

    def close_batch(self, batch: int, good: Any, complete: int | None) -> None:
        """Close what is complete with a batch's good rows, and write the results; the other rows stay open."""
        with self.files.written(part("results", batch)) as file:
            self.pending = together([self.pending, good])
            if complete is not None:
                self.close(file, complete)

    def close(self, file: TextIO, until: int | None) -> None:
        """Close the timestamps before one, or all of them, in order, and write their results."""
        closing = self.pending
        if until is not None:
            early = closing.column("ts").to_numpy() < until
            closing, self.pending = closing.filter(early), closing.filter(~early)
        else:
            self.pending = no_rows()
        for rows in slices(closing, SLICE if IN_COLUMNS else AT_ONCE):
            batch = batch_of(rows)
            self.write(file, self.synopsis.fold(batch))
            self.closed_timestamps += len(Times(batch).all)
            self.check_entries()

    def write(self, file: TextIO, results: Results) -> None:
        """Write the results of some timestamps."""
        self.results += write_results(file, results, self.options.multiplicity)

    def check_entries(self) -> None:
        """Stop the job when there were more entries than the bound says."""
        times, sizes = self.synopsis.history
        self.peak_of_batch = max(self.peak_of_batch, int(sizes.max()))
        self.peak = max(self.peak, self.peak_of_batch)
        above = sizes > self.limit if self.limit is not None else sizes < 0
        if above.any():
            raise self.too_many(int(times[above.argmax()]), int(sizes[above.argmax()]))

    def too_many(self, now: int, entries: int) -> JobError:
        """The error for more entries than the bound says."""
        message = f"the synopsis has {entries} entries at timestamp {now}, more than its bound M = {self.limit}"
        return JobError("limit", message, 1)

    def hand_over(self, batch: int, results: int, bad: list[dict[str, Any]]) -> None:
        """Write a batch's bad rows, give them and the results to the sinks, and forget those of the batch before."""
        with self.files.written(part("quarantine", batch)) as file:
            file.write(json_lines(bad))
        self.sinks.results(self.files.where(part("results", batch)), batch, results)
        self.sinks.bad_rows(self.files.where(part("quarantine", batch)), batch, len(bad))
        if not self.options.output:
            self.files.remove(part("results", batch - 1))
        if BAD is not None and not self.options.quarantine:
            self.files.remove(part("quarantine", batch - 1))

    def finish(self) -> dict[str, Any]:
        """The input has ended: close what is left as a batch of its own, write the output and the quarantine.

        State is not saved: where more input comes after all, the next batch has the same number and replaces this one.
        """
        last = -1 if self.batch is None else self.batch
        before, waited_for = self.results, self.closing.waits_for() if self.pending.num_rows else {}
        if self.options.trigger == "end":
            self.closing.end()
            with self.files.written(part("results", last + 1)) as file:
                self.close(file, self.closing.complete())
            if self.files.read("finished") != str(last + 1):
                self.hand_over(last + 1, self.results - before, self.bad_relation_rows if last < 0 else [])
            last += 1
            with self.files.written("finished") as file:
                file.write(str(last))
        if self.options.output:
            with written_atomically(Path(self.options.output)) as file:
                copy_parts(self.files, "results", last, file)
        if self.options.quarantine:
            with written_atomically(Path(self.options.quarantine)) as file:
                copy_parts(self.files, "quarantine", last, file)
        return {
            "summary": QUERY,
            "rows": {**{source.name: self.rows[source.name] for source in STREAMS}, **self.relation_sizes},
            "quarantined": dict(sorted(self.rejected.items())),
            "results": self.results,
            "peak": self.peak,
            "limit": self.limit,
            "waited_for": waited_for,
        }


def previous(batch: int) -> int | None:
    """The batch before one; None for the first."""
    return batch - 1 if batch else None


def part(folder: str, batch: int) -> str:
    """The file of a batch's results or quarantined rows."""
    return f"{folder}/{batch:09d}.jsonl"
