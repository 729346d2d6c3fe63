"""Part of every job: batches that are fetched whole, where most rows are useful: counting them in Spark costs more."""

from __future__ import annotations

from typing import Any

import numpy as np

from streambound.synopsis_exec.job.arrow import SLOTS, schema_of
from streambound.synopsis_exec.job.cells import wanted
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.source import Source

MOST_ROWS = 1 << 20
"""A batch after one with more rows is not fetched whole."""
SHARE = 0.5
"""What part of the last batch's rows was useful, at least."""
SHARE_OF_COLUMNS = 0.05
"""The same of columns of files, of which nothing is made in Spark."""


def whole_pays(rows: int, useful: int, share: float = SHARE) -> bool:
    """Whether the batch after one with so many rows, so many of them useful, is fetched whole.

    Punctuations are collected in Spark, so where there are such, no batch is. Nothing is known before the first batch.
    """
    if any(source.mark != "FALSE" for source in STREAMS) or rows > MOST_ROWS:
        return False
    return useful >= share * rows if rows else all(source.useful == "TRUE" for source in STREAMS)


def whole_columns() -> list[str]:
    """What is fetched of every row, in Spark SQL over the columns of `tagged`."""
    return ["source", "ts", "useful", "reason IS NOT NULL AS bad", *["part"] * parted(), *SLOTS]


def parted() -> bool:
    """Whether some stream has several partitions."""
    return any(source.parts[1:] for source in STREAMS)


def good_rows(number: int, source: Source, values: dict[str, Any], size: int) -> Any:
    """Rows of a source, none of them bad, as `whole_columns`, from their encoded values by column."""
    import pyarrow as pa
    from pyarrow import compute as pc

    columns = {
        "source": pa.array(np.full(size, number, dtype=np.int32)),
        "ts": values[source.time or ""],
        "useful": wanted(source, values, size),
        "bad": pa.array(np.zeros(size, dtype=bool)),
    }
    if parted():
        places = np.zeros(size, dtype=np.int32)
        if source.parted:
            among = next(cell.among for cell in source.cells if cell.column == source.parted)
            places = pc.index_in(values[source.parted], pa.array(among)).to_numpy(False)
        columns["part"] = pa.array(places.astype(np.int32))
    column_of, kinds = {slot: column for column, slot in source.slots.items()}, schema_of(False)
    for slot in SLOTS:
        nothing = pa.nulls(size, kinds.field(slot).type)
        columns[slot] = values[column_of[slot]] if slot in column_of else nothing
    return pa.table(columns)


class Fetched:
    """All rows of a batch, as an Arrow table with `whole_columns`, perhaps with the `reason` and `text` of each.

    ``late`` says which rows are, where the timestamps before one were closed; None: where none was.
    """

    def __init__(self, table: Any, closed: int | None) -> None:
        self.table = table
        self.source = table.column("source").to_numpy()
        self.part = table.column("part").to_numpy() if "part" in table.column_names else None
        ts, bad = table.column("ts"), table.column("bad").to_numpy()
        self.fine = ~bad if bad.any() else None
        self.time = (ts.fill_null(0) if ts.null_count else ts).to_numpy()
        late = np.zeros(len(self.time), dtype=bool) if closed is None else self.time < closed
        self.late = late if self.fine is None else late & self.fine

    def good(self) -> Any:
        """The rows that are useful, neither bad nor late."""
        useful = self.table.column("useful")  # NULL where a condition is: then no row of a result
        keep = (useful.fill_null(False) if useful.null_count else useful).to_numpy() & ~self.late
        if self.fine is not None:
            keep &= self.fine
        rows = self.table.select(schema_of(False).names)
        return rows if keep.all() else rows.take(np.flatnonzero(keep))

    def some_wrong(self) -> bool:
        """Whether a row is bad or late."""
        return self.fine is not None or bool(self.late.any())

    def wrong(self) -> list[dict[str, Any]]:
        """The bad and the late rows, where the table has their texts."""
        wrong = self.table.take(np.flatnonzero(self.late if self.fine is None else self.late | ~self.fine))
        there = [name for name in ("source", "part", "ts", "reason", "text") if name in self.table.column_names]
        return [{"part": 0, **row} for row in wrong.select(there).to_pylist()]

    def observed(self) -> dict[str, int | None]:
        """What `Closing.take` wants to know."""
        found: dict[str, int | None] = {}
        for number, source in enumerate(STREAMS):
            mine = self.source == number
            found[f"rows_{number}"] = int(np.count_nonzero(mine))
            mine = mine if self.fine is None else mine & self.fine
            for place in range(len(source.parts)):
                times = self.time[mine if self.part is None else mine & (self.part == place)]
                found[f"largest_{number}_{place}"] = int(times.max()) if len(times) else None
        return found
