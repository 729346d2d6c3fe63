"""Part of every job: micro-batches folded into the synopsis, with the state that a restart needs."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from synopsis_exec.job.closing import Closing
from synopsis_exec.job.contracts import Rates, stop_at
from synopsis_exec.job.given import FINGERPRINT, QUERY, RELATIONS, STREAMS, Synopsis
from synopsis_exec.job.output import copy_parts, json_lines, write_result, written_atomically
from synopsis_exec.job.reading import relation_rows, widen
from synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SLICE = 10_000
"""How many rows of a batch are Python objects at a time; the others stay in Arrow's memory."""


class Job:
    """Closes timestamps batch by batch and keeps everything that a restart needs in the checkpoint directory.

    State after batch n is in `state/n.json`; results and quarantined rows of batch n in a file of their own, so that a
    replayed batch writes the same files again and repeats nothing.
    """

    def __init__(
        self, spark: SparkSession, options: argparse.Namespace, report: Callable[[dict[str, Any]], None]
    ) -> None:
        self.options, self.report = options, report
        self.folder = Path(options.checkpoint)
        self.failure: Exception | None = None
        self.check_fingerprint()
        self.relations: dict[str, list[dict[str, Any]]] = {}
        self.relation_sizes: dict[str, int] = {}
        self.bad_relation_rows: list[dict[str, Any]] = []
        for relation in RELATIONS:
            good, bad = relation_rows(spark, relation, options)
            self.relations[relation.name] = good
            self.relation_sizes[relation.name] = len(good) + len(bad)
            self.bad_relation_rows.extend(bad)
        stop_at(self.bad_relation_rows)
        self.restart(None)

    def check_fingerprint(self) -> None:
        """Refuse a checkpoint that another query has written."""
        file = self.folder / "fingerprint"
        if file.is_file() and file.read_text(encoding="utf-8") != FINGERPRINT:
            message = f"the checkpoint {self.folder} belongs to another query or catalog; use a new directory"
            raise JobError("state", message, 2)
        with written_atomically(file) as opened:
            opened.write(FINGERPRINT)

    def restart(self, batch: int | None) -> None:
        """Take over the state after a batch; a fresh state for None."""
        self.synopsis = Synopsis(self.relations)
        self.rates = Rates()
        self.limit = self.options.limit if self.options.limit is not None else self.synopsis.limit
        self.batch = batch
        self.pending: dict[int, dict[str, list[dict[str, Any]]]] = {}
        self.closing = Closing()
        self.rows: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter(row["reason"] for row in self.bad_relation_rows)
        self.results = self.peak = self.peak_of_batch = self.closed_timestamps = 0
        if batch is None:
            return
        file = self.folder / "state" / f"{batch}.json"
        try:
            state = json.loads(file.read_text(encoding="utf-8"))
            self.synopsis.load(state["tables"])
            self.pending = {int(ts): rows for ts, rows in state["pending"].items()}
            self.closing = Closing(state["closing"])
            self.rates = Rates(state["rates"])
            self.rows, self.rejected = Counter(state["rows"]), Counter(state["rejected"])
            self.results, self.peak = state["results"], state["peak"]
        except (OSError, ValueError, KeyError) as error:
            message = f"the checkpoint is damaged: {file} cannot be read ({type(error).__name__})"
            raise JobError("state", message, 3) from error

    def save(self, batch: int) -> None:
        """Write the state after a batch; the one before it stays, for a replay."""
        state = {
            "tables": self.synopsis.dump(),
            "pending": self.pending,
            "closing": self.closing.dump(),
            "rates": self.rates.dump(),
            "rows": self.rows,
            "rejected": self.rejected,
            "results": self.results,
            "peak": self.peak,
        }
        with written_atomically(self.folder / "state" / f"{batch}.json") as file:
            json.dump(state, file)
        (self.folder / "state" / f"{batch - 2}.json").unlink(missing_ok=True)
        self.batch = batch

    def last_saved(self) -> int | None:
        """The last batch whose state is in the checkpoint."""
        return max((int(file.stem) for file in (self.folder / "state").glob("[0-9]*.json")), default=None)

    # --- batches -----------------------------------------------------------------------------------------------

    def on_batch(self, frame: DataFrame, batch: int) -> None:
        """Fold one micro-batch; called by Spark, maybe again with the same batch after a failure."""
        try:
            self.fold(frame, batch)
        except Exception as error:
            self.failure = error
            raise

    def fold(self, frame: DataFrame, batch: int) -> None:
        """Take in the batch's rows, close what is complete, write results, bad rows and state."""
        before = batch - 1 if batch > 0 else None
        if self.batch != before:
            self.restart(before)
        rows, results, closed = self.rows.total(), self.results, self.closed_timestamps
        open_from = self.closing.complete()
        good, bad = self.take_in(frame)
        complete = self.closing.complete()
        good, excess = self.rates.checked(frame, good, None if open_from is None else open_from - 1, complete)
        self.rejected.update(row["reason"] for row in excess)
        bad += excess
        stop_at(bad)
        self.peak_of_batch = self.synopsis.entries()
        with written_atomically(self.folder / "results" / f"{batch:09d}.jsonl") as file:
            for start in range(0, good.num_rows if good is not None else 0, SLICE):
                newest = self.keep(good.slice(start, SLICE))
                if complete is not None:
                    self.close(file, min(newest, complete))
            if complete is not None:
                self.close(file, complete)
        with written_atomically(self.folder / "quarantine" / f"{batch:09d}.jsonl") as file:
            file.write(json_lines(bad))
        self.save(batch)
        self.report(
            {
                "batch": batch,
                "rows": self.rows.total() - rows,
                "closed": self.closed_timestamps - closed,
                "entries": self.synopsis.entries(),
                "peak": self.peak_of_batch,
                "limit": self.limit,
                "results": self.results - results,
                "quarantined": len(bad),
                "pending": len(self.pending),
                "waits_for": self.closing.waits_for() if self.pending else {},
            }
        )

    def take_in(self, frame: DataFrame) -> tuple[Any, list[dict[str, Any]]]:
        """Fetch a batch once: its useful rows as an Arrow table in time order, and its bad and late rows."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        observation = Observation()
        seen = []
        for number in range(len(STREAMS)):
            mine = F.col("source") == number
            seen.append(F.count(F.when(mine, 1)).alias(f"rows_{number}"))
        seen += self.closing.observed()
        fetched = (
            frame.withColumn("bad", F.expr(f"reason IS NOT NULL OR {self.closing.late()}"))
            .observe(observation, *seen)
            .where("bad OR useful")
            .withColumn("good", F.expr("NOT bad"))
            .withColumn("text", F.expr("CASE WHEN bad THEN text END"))
            .drop("useful", "mark")
            .toArrow()
        )
        for number, source in enumerate(STREAMS):
            self.rows[source.name] += observation.get[f"rows_{number}"]
        rejected = fetched.filter(fetched.column("bad")).select(["source", "part", "ts", "reason", "text"]).to_pylist()
        bad = []
        for row in rejected:
            reason = row["reason"] or self.closing.late_reason(row["source"], row["part"], row["ts"])
            self.rejected[reason] += 1
            bad.append({"stream": STREAMS[row["source"]].name, "reason": reason, "row": row["text"]})
        self.closing.take(observation.get)
        names = [name for name in fetched.column_names if name not in ("part", "text", "reason", "bad", "good")]
        good = fetched.filter(fetched.column("good")).select(names)
        return good.sort_by("ts") if good.num_rows else None, bad

    def keep(self, part: Any) -> int:
        """Put some rows with the others of their timestamps; return the largest timestamp among them."""
        times = part.column("ts").to_pylist()
        for number, source in enumerate(STREAMS):
            for now, row in zip(times, part.column(f"row_{number}").to_pylist(), strict=True):
                if row is not None:
                    widen(source, row)
                    self.pending.setdefault(now, {}).setdefault(source.name, []).append(row)
        newest: int = times[-1]
        return newest

    def close(self, file: TextIO, until: int | None) -> None:
        """Close the timestamps before one, or all of them, in order, and write their results."""
        for now in sorted(ts for ts in self.pending if until is None or ts < until):
            for row, n in self.synopsis.close(now, self.pending.pop(now)):
                self.results += write_result(file, row, now, n, self.options.multiplicity)
            entries = self.synopsis.entries()
            self.closed_timestamps += 1
            self.peak_of_batch = max(self.peak_of_batch, entries)
            self.peak = max(self.peak, entries)
            if self.limit is not None and entries > self.limit:
                message = f"the synopsis has {entries} entries at timestamp {now}, more than its bound M = {self.limit}"
                raise JobError("limit", message, 1)

    def finish(self) -> dict[str, Any]:
        """The input has ended: close what is left, write the output and the quarantine, return the summary."""
        last = self.last_saved()
        if self.batch != last:
            self.restart(last)
        waited_for = self.closing.waits_for() if self.pending else {}
        self.closing.end()
        with written_atomically(Path(self.options.output)) as file:
            copy_parts(self.folder / "results", last, file)
            self.close(file, self.closing.complete())
        if self.options.quarantine:
            with written_atomically(Path(self.options.quarantine)) as file:
                file.write(json_lines(self.bad_relation_rows))
                copy_parts(self.folder / "quarantine", last, file)
        return {
            "summary": QUERY,
            "rows": {**{source.name: self.rows[source.name] for source in STREAMS}, **self.relation_sizes},
            "quarantined": dict(sorted(self.rejected.items())),
            "results": self.results,
            "peak": self.peak,
            "limit": self.limit,
            "waited_for": waited_for,
        }
