"""Keys that come once (`unique`): a second row of a key is bad as long as the first one is remembered.

Rows are judged when their timestamps are closed, in order of time, those of a timestamp in order of their values.
A bad row is not remembered, so that a key that comes ever again is good again after `within`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from streambound_runtime.decoding.reasons import detail
from streambound_runtime.operators.by_tick import RejectedRow
from streambound_runtime.operators.delta import Delta, one_by_one, places_in_order
from streambound_runtime.operators.entries import State, arrow_of_pairs, pairs_of_arrow
from streambound_runtime.promises import UniqueKey
from streambound_runtime.row_values import Value
from streambound_runtime.spec import Stream

Key = tuple[Value, ...]


def repeated_rows(
    unique: Sequence[UniqueKey],
    keys: Sequence[Sequence[Key]],
    times: Sequence[int],
    order: Iterable[int],
    came: Sequence[dict[Key, int]],
) -> dict[int, str]:
    """The rows, by their places, whose values of one of the keys have come before, with that key in words.

    Of each of the ``unique`` keys ``keys`` are the rows' values, and ``came`` those that good rows had, with their
    times; these rows are added.
    """
    found = dict[int, str]()
    for place in order:
        for key, mine, known in zip(unique, keys, came, strict=True):
            first = known.get(mine[place])
            if first is not None and (key.within is None or times[place] - first < key.within):
                found[place] = str(key)
                break
        else:
            for mine, known in zip(keys, came, strict=True):
                known.pop(mine[place], None)  # so that entries are in order of time
                known[mine[place]] = times[place]
    return found


class UniqueKeys:
    """Judges the rows of a stream: of each of its keys the time of the row that came, in order of time."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.came: list[dict[Key, int]] = [{} for _ in stream.unique]

    def checked(self, rows: Delta) -> tuple[Delta, list[RejectedRow]]:
        """The good rows of closed timestamps, and the others with the reason."""
        rows = one_by_one(rows)
        time = rows.time.tolist()
        values = {name: self._values(rows, name) for key in self.stream.unique for name in key.columns}
        keys = [list(zip(*(values[name] for name in key.columns), strict=True)) for key in self.stream.unique]
        alone = all(len({*zip(time, mine, strict=True)}) == rows.size for mine in keys)
        order = range(rows.size) if alone else self._in_order(rows)
        bad = repeated_rows(self.stream.unique, keys, time, order, self.came)
        if not bad:
            return rows, []
        rejected = rows.take(np.array(sorted(bad), dtype=np.int64))
        told = [
            RejectedRow(
                self.stream.name,
                "not-unique",
                detail("not-unique", per=key),
                time[place],
                dict(zip(rows.columns, row, strict=True)),
            )
            for (place, key), row in zip(sorted(bad.items()), rejected.rows(), strict=True)
        ]
        return rows.take(np.array([place not in bad for place in range(rows.size)], dtype=bool)), told

    def _in_order(self, rows: Delta) -> list[int]:
        return places_in_order(rows, [one.name for one in self.stream.columns if one.name in rows.columns])

    def _values(self, rows: Delta, name: str) -> list[Value]:
        return rows.time.tolist() if name == self.stream.timestamp else rows.values(name)

    def close(self, until: int) -> None:
        """Forget the keys that may come again at a frontier."""
        for key, came in zip(self.stream.unique, self.came, strict=True):
            over = list[Key]()
            for one, time in came.items():
                if key.within is None or time > until - key.within:
                    break
                over.append(one)
            for one in over:
                del came[one]

    def entries(self) -> int:
        """One for each key."""
        return sum(map(len, self.came))

    def dump(self) -> State:
        """The keys with their times, in order."""
        both = zip(self.stream.unique, self.came, strict=True)
        return {f"unique {n}": arrow_of_pairs(came.items(), key.columns) for n, (key, came) in enumerate(both)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.came = [dict(pairs_of_arrow(state[f"unique {n}"])) for n in range(len(self.stream.unique))]
