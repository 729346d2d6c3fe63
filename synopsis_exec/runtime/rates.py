"""`max_per_timestamp`: a contract that is only seen beside other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from streambound_runtime.decoding.reasons import detail
from streambound_runtime.quarantine import Row, row_of
from streambound_runtime.spec import Stream


class Read(NamedTuple):
    """A good row, read again: its timestamp, its text, where it is, and its place among its batch's good rows."""

    ts: int
    row: str
    place: int
    known: Mapping[str, Any]


class Rates:
    """How many useful rows the timestamps of a stream have that are still open."""

    def __init__(self, stream: Stream, counts: Mapping[str, int] | None = None) -> None:
        self.stream = stream
        self.open = {int(ts): n for ts, n in (counts or {}).items()}

    def dump(self) -> dict[str, int]:
        """The counts, as JSON can hold them."""
        return {str(ts): n for ts, n in self.open.items()}

    def crowded(self, ts: Any) -> bool:
        """Whether some timestamp has too many rows with those of a batch."""
        most = self.stream.per_timestamp
        times, counts = np.unique(ts, return_counts=True)
        return most is not None and any(
            self.open.get(time, 0) + n > most for time, n in zip(times.tolist(), counts.tolist(), strict=True)
        )

    def checked(
        self, ts: Any, complete: int | None, again: Callable[[set[int]], Iterable[Read]]
    ) -> tuple[Any, list[Row]]:
        """Which of a batch's good rows, which have these timestamps, are not too many, and the others as bad rows.

        Timestamps before ``complete`` are closed by the end of the batch. Only where some have too many rows, those
        are read ``again`` for their texts: the least stay, so that a replay chooses the same.
        """
        most = self.stream.per_timestamp
        keep, bad = np.ones(len(ts), dtype=bool), list[Row]()
        if most is None:
            return keep, bad
        times, counts = np.unique(ts, return_counts=True)
        before = np.array([self.open.get(time, 0) for time in times.tolist()], dtype=np.int64)
        crowded = set(times[counts + before > most].tolist())
        seen: dict[int, int] = {}
        for read in sorted(again(crowded), key=lambda read: (read.ts, read.row)) if crowded else ():
            seen[read.ts] = seen.get(read.ts, self.open.get(read.ts, 0)) + 1
            if seen[read.ts] > most:
                reason = "max-per-timestamp"
                told = {"reason": reason, "detail": detail(reason, most=most), "row": read.row}
                bad.append(row_of(self.stream, {**read.known, **told}))
                keep[read.place] = False
        for time, n in zip(times.tolist(), (counts + before).tolist(), strict=True):
            self.open[time] = min(n, most)
        self.open = {time: n for time, n in self.open.items() if complete is None or time >= complete}
        return keep, bad
