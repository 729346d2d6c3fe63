"""Keys with their number, found by the values of any of their columns."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from streambound_runtime.operators.sums import Weight
from streambound_runtime.row_values import Value

Key = tuple[Value, ...]


_NOTHING: dict[Key, Weight] = {}


class Counted:
    """A bag of keys; an index by some columns is made when it is first asked for, and kept up to date."""

    def __init__(self, entries: Mapping[Key, Weight] | None = None) -> None:
        self.entries: dict[Key, Weight] = dict(entries or {})
        self._indexes: dict[tuple[int, ...], dict[Key, dict[Key, Weight]]] = {}
        self._ends: _Ends | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def by(self, columns: tuple[int, ...]) -> dict[Key, dict[Key, Weight]]:
        """The entries by the values of some columns."""
        if columns not in self._indexes:
            index: dict[Key, dict[Key, Weight]] = {}
            for key, n in self.entries.items():
                index.setdefault(tuple([key[column] for column in columns]), {})[key] = n
            self._indexes[columns] = index
        return self._indexes[columns]

    def of(self, columns: tuple[int, ...], values: Key) -> dict[Key, Weight]:
        """The keys with these values in some columns."""
        return self.by(columns).get(values, _NOTHING)

    def put(self, key: Key, n: Weight) -> None:
        """Say how often a key is there."""
        if self._ends is not None and key not in self.entries:
            self._ends.add(key)
        self.entries[key] = n
        for columns, index in self._indexes.items():
            index.setdefault(tuple([key[column] for column in columns]), {})[key] = n

    def remove(self, keys: Iterable[Key]) -> None:
        """Take out some keys."""
        for key in keys:
            del self.entries[key]
            if self._ends is not None:
                self._ends.drop(key)
            for columns, index in self._indexes.items():
                group = tuple([key[column] for column in columns])
                del index[group][key]
                if not index[group]:
                    del index[group]

    def ended(self, end: Callable[[Key], int | None], now: int) -> list[Key]:
        """The keys whose ``end`` is not after a timestamp, found in time that grows with their number.

        The caller removes them, too. ``end`` must be the same function each time.
        """
        if self._ends is None:
            self._ends = _Ends(end, self.entries)
        return self._ends.until(now)


class _Ends:
    """Keys by the timestamp at which they end; those that never do are not in it."""

    def __init__(self, end: Callable[[Key], int | None], keys: Iterable[Key]) -> None:
        self.end = end
        self.times: list[int] = []
        self.keys: dict[int, dict[Key, None]] = {}
        for key in keys:
            self.add(key)

    def add(self, key: Key) -> None:
        if (time := self.end(key)) is None:
            return
        if time not in self.keys:
            heapq.heappush(self.times, time)
        self.keys.setdefault(time, {})[key] = None

    def drop(self, key: Key) -> None:
        """Forget a key that is gone before it ends."""
        if (time := self.end(key)) is not None and time in self.keys:
            self.keys[time].pop(key, None)

    def until(self, now: int) -> list[Key]:
        """The keys that have ended, which are no longer in it."""
        found: list[Key] = []
        while self.times and self.times[0] <= now:
            found += self.keys.pop(heapq.heappop(self.times))
        return found


class Together:
    """A bag with what is new, as one bag: only what is looked up is put together."""

    def __init__(self, bag: Counted, new: Mapping[Key, Weight], distinct: bool) -> None:
        self.bag, self.new, self.distinct = bag, Counted(new), distinct

    @cached_property
    def entries(self) -> dict[Key, Weight]:
        """All keys; of a set each counts once."""
        return self._both(self.bag.entries, self.new.entries)

    def of(self, columns: tuple[int, ...], values: Key) -> dict[Key, Weight]:
        """The keys with these values in some columns."""
        return self._both(self.bag.of(columns, values), self.new.of(columns, values))

    def _both(self, old: dict[Key, Weight], new: dict[Key, Weight]) -> dict[Key, Weight]:
        if not new or not old:
            return new or old
        found = dict(old)
        for key, n in new.items():
            found[key] = 1 if self.distinct else found.get(key, 0) + n
        return found
