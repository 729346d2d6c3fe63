"""Part of every job: rows that break a contract which is only seen beside other rows, and the stop at a bad row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from streambound.synopsis_exec.job.arrivals import Arrived, row_text
from streambound.synopsis_exec.job.arrow import COUNT, SLOTS, on_spark, together
from streambound.synopsis_exec.job.given import RELATIONS, STREAMS
from streambound.synopsis_exec.job.places import name_of, place_columns, quarantined, where_read
from streambound.synopsis_exec.job.reasons import reason_text
from streambound.synopsis_exec.job.source import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHOWN = 200
"""Characters of a row in a message."""


def stop_at(bad: list[dict[str, Any]]) -> None:
    """Raise JobError for the first bad row of a stream or relation that is to stop the job."""
    stops = {source.name for source in (*STREAMS, *RELATIONS) if source.stops}
    found = [row for row in bad if name_of(row) in stops]
    if found:
        row, text = found[0], str(found[0]["row"])
        shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
        others = f", and {len(found) - 1} more in this batch" if found[1:] else ""
        what = f"{name_of(row)} breaks its contract{where_read(row)}: {row['detail']}: {shown}{others}"
        raise JobError("contract", what, 1)


class Spread(NamedTuple):
    """Good rows that are on the executors, and rows that the driver has in place of some of them."""

    rows: DataFrame
    kept: Any


class Rates:
    """How many useful rows the timestamps have that are still open, for streams with `max_per_timestamp`."""

    def __init__(self, counts: dict[str, dict[str, int]] | None = None) -> None:
        self.limits = {i: source.per_timestamp for i, source in enumerate(STREAMS) if source.per_timestamp is not None}
        self.open = {
            number: {int(ts): n for ts, n in (counts or {}).get(STREAMS[number].name, {}).items()}
            for number in self.limits
        }

    def dump(self) -> dict[str, dict[str, int]]:
        """The counts as JSON can hold them."""
        return {STREAMS[i].name: {str(ts): n for ts, n in counts.items()} for i, counts in self.open.items()}

    def checked(
        self, arrived: Arrived, good: Any, closed: int | None, complete: int | None
    ) -> tuple[Any, list[dict[str, Any]]]:
        """A batch's good rows without those that are too many, and these as bad rows.

        Timestamps up to `closed` were closed before the batch, those before `complete` are by its end. Only when some
        have too many rows, the batch is read again for their texts: the least stay, so that a replay chooses the same.
        """
        bad: list[dict[str, Any]] = []
        if good is None or not self.limits:
            return good, bad
        counts = self.counts(good, complete)
        for number in self.limits:
            timestamps = self.crowded(*counts[number], number)
            if timestamps:
                kept, excess = self.thinned(arrived.told, number, timestamps, closed)
                good = replaced(good, number, timestamps, kept)
                bad.extend(excess)
        for number, before in self.open.items():
            for ts, n in zip(*(column.tolist() for column in counts[number]), strict=True):
                if complete is None or ts >= complete:
                    before[ts] = min(before.get(ts, 0) + n, self.limits[number])
            self.open[number] = {ts: n for ts, n in before.items() if complete is None or ts >= complete}
        return good, bad

    def counts(self, good: Any, complete: int | None) -> dict[int, tuple[Any, Any]]:
        """Per stream the timestamps and how many rows each has: those that are open, or may have too many."""
        if not isinstance(good, Spread):
            return {number: counted(good, number) for number in self.limits}
        from pyspark.sql import functions as F

        wanted = []
        for number, limit in self.limits.items():
            again = f"ts <= {max(self.open[number], default=-1)}"
            still = "TRUE" if complete is None else f"ts >= {complete}"
            wanted.append(f"source = {number} AND (count > {limit} OR {again} OR {still})")
        count = f"sum({COUNT})" if COUNT in good.rows.columns else "count(*)"
        groups = (
            good.rows.groupBy("source", "ts").agg(F.expr(count).alias("count")).where(" OR ".join(wanted)).toArrow()
        )
        return {number: of_stream(groups, "count", number) for number in self.limits}

    def crowded(self, timestamps: Any, counts: Any, number: int) -> set[int]:
        """The timestamps of a stream that have too many rows with those of this batch."""
        before, limit = self.open[number], self.limits[number]
        crowded = set(timestamps[counts > limit].tolist())
        again = timestamps <= max(before, default=-1)
        both = zip(timestamps[again].tolist(), counts[again].tolist(), strict=True)
        return crowded | {ts for ts, n in both if n + before.get(ts, 0) > limit}

    def thinned(
        self, frame: DataFrame, number: int, timestamps: set[int], closed: int | None
    ) -> tuple[Any, list[dict[str, Any]]]:
        """The rows of some timestamps of a stream, only as many as may be, and the others as bad rows."""
        limit, before, name = self.limits[number], self.open[number], STREAMS[number].name
        again = (
            frame.where(f"source = {number} AND reason IS NULL AND useful")
            .where(f"ts BETWEEN {min(timestamps)} AND {max(timestamps)}")
            .where("TRUE" if closed is None else f"ts > {closed}")
            .selectExpr("source", "ts", f"{row_text(frame)} AS text", *place_columns(frame, "TRUE"), *SLOTS)
            .toArrow()
            .sort_by([("ts", "ascending"), ("text", "ascending")])
        )
        seen: dict[int, int] = {}
        stays, bad = [], []
        reason = reason_text("max-per-timestamp", most=limit)
        for row in again.drop(["source", *SLOTS]).to_pylist():
            ts = row.pop("ts")
            if ts in timestamps:
                seen[ts] = seen.get(ts, before.get(ts, 0)) + 1
                if seen[ts] > limit:
                    bad.append(quarantined("stream", name, reason, **row))
            stays.append(ts in timestamps and seen[ts] <= limit)
        return again.filter(stays), bad


def replaced(good: Any, number: int, timestamps: set[int], kept: Any) -> Any:
    """Good rows with others in place of all that a stream has at some timestamps."""
    if isinstance(good, Spread):
        import pyarrow as pa

        columns = {"source": [number] * len(timestamps), "ts": sorted(timestamps)}
        schema = pa.schema([("source", pa.int32()), ("ts", pa.int64())])
        gone = on_spark(good.rows.sparkSession, pa.table(columns, schema=schema))
        rows = good.rows.join(gone.hint("broadcast"), ["source", "ts"], "left_anti")
        return Spread(rows, together([good.kept, kept]))
    sources, times = good.column("source").to_pylist(), good.column("ts").to_pylist()
    others = good.filter([s != number or ts not in timestamps for s, ts in zip(sources, times, strict=True)])
    return together([others, kept]).sort_by("ts")


def counted(good: Any, number: int) -> tuple[Any, Any]:
    """The timestamps of a stream in an Arrow table of rows, and how many rows each has, as numpy arrays."""
    if COUNT in good.column_names:
        groups = good.select(["source", "ts", COUNT]).group_by(["source", "ts"]).aggregate([(COUNT, "sum")])
        return of_stream(groups, f"{COUNT}_sum", number)
    groups = good.select(["source", "ts"]).group_by(["source", "ts"]).aggregate([([], "count_all")])
    return of_stream(groups, "count_all", number)


def of_stream(groups: Any, name: str, number: int) -> tuple[Any, Any]:
    """The timestamps of a stream, and how many rows each has, of a table with these counts of all streams."""
    source, ts, n = (groups.column(column).to_numpy() for column in ("source", "ts", name))
    return ts[source == number], n[source == number]
