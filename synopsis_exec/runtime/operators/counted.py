"""Keys with their number, found by the values of any of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streambound_runtime.row_values import Value

Key = tuple[Value, ...]


_NOTHING: dict[Key, int] = {}


class Counted:
    """A bag of keys; an index by some columns is made on demand, and kept up to date."""

    def __init__(self, entries: Mapping[Key, int] | None = None) -> None:
        self.entries: dict[Key, int] = dict(entries or {})
        self._indexes: dict[tuple[int, ...], dict[Key, dict[Key, int]]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def by(self, columns: tuple[int, ...]) -> dict[Key, dict[Key, int]]:
        """The entries by the values of some columns."""
        if columns not in self._indexes:
            index: dict[Key, dict[Key, int]] = {}
            for key, n in self.entries.items():
                index.setdefault(tuple([key[column] for column in columns]), {})[key] = n
            self._indexes[columns] = index
        return self._indexes[columns]

    def of(self, columns: tuple[int, ...], values: Key) -> dict[Key, int]:
        """The keys with these values in some columns."""
        return self.by(columns).get(values, _NOTHING)

    def put(self, key: Key, n: int) -> None:
        """Say how often a key is there."""
        self.entries[key] = n
        for columns, index in self._indexes.items():
            index.setdefault(tuple([key[column] for column in columns]), {})[key] = n

    def remove(self, keys: Iterable[Key]) -> None:
        """Take out some keys."""
        for key in keys:
            del self.entries[key]
            for columns, index in self._indexes.items():
                group = tuple([key[column] for column in columns])
                del index[group][key]
                if not index[group]:
                    del index[group]
