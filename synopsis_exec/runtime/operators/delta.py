"""Deltas: what an operator is given and gives back, as columns: a time, a signed weight and the values of each row.

A delta is a Z-set per timestamp (Budiu et al., *DBSP*, §4): a row with weight 2 came twice, one with weight −1 is taken
back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Numbers, Values
from streambound_runtime.row_values import Value

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Delta:
    """Rows in order of time, as columns.

    ``time``: int64 timestamps. ``weight``: how often each row came, negative where it is taken back; None where each
    came once. ``columns``: encoded values by name: int64 (or Python's integers, beyond 64 bits), float64 or texts;
    ``nulls``: masks of the columns that have NULLs. A column of texts may hold places of its ``dictionary`` instead, in
    which a text may be more than once.
    """

    time: Integers
    weight: Numbers | None
    columns: Mapping[str, Values]
    nulls: Mapping[str, Mask] = field(default_factory=dict)
    dictionary: Mapping[str, pa.StringArray] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.time)

    def weights(self) -> Numbers:
        """How often each row came, an array of `size` integers; negative where it is taken back."""
        return np.ones(self.size, dtype=np.int64) if self.weight is None else self.weight

    def values(self, name: str) -> list[Value]:
        """A column as Python's values, with None for NULL."""
        found: list[Value] = self.columns[name].tolist()
        if name in self.dictionary:
            found = self.texts(name).to_pylist()
        if name in self.nulls:
            found = [None if null else value for value, null in zip(found, self.nulls[name], strict=True)]
        return found

    def texts(self, name: str) -> pa.StringArray:
        """A column of texts that has a dictionary, as Arrow has it, NULL where a mask says so."""
        import pyarrow as pa
        import pyarrow.compute as pc

        places, dictionary, null = self.columns[name], self.dictionary[name], self.nulls.get(name)
        if not len(dictionary):
            return pa.nulls(len(places), pa.string())
        if len(places) and places[-1] - places[0] == len(places) - 1 and (np.diff(places) == 1).all():
            found = dictionary.slice(int(places[0]), len(places))
        else:
            found = dictionary.take(places)
        return found if null is None or found.null_count or not null.any() else pc.if_else(null, None, found)

    def take(self, which: Integers | Mask | slice) -> Delta:
        """Some of the rows: those at places, those of a mask, or a part."""
        columns = {name: values[which] for name, values in self.columns.items()}
        nulls = {name: null[which] for name, null in self.nulls.items()}
        weight = None if self.weight is None else self.weight[which]
        return Delta(self.time[which], weight, columns, nulls, self.dictionary)

    def rows(self) -> list[tuple[Value, ...]]:
        """The values row by row."""
        if not self.columns:
            return [()] * self.size
        return list(zip(*map(self.values, self.columns), strict=True))


def delta_of(rows: Iterable[tuple[int, int, tuple[Value, ...]]], names: tuple[str, ...]) -> Delta:
    """Rows of a timestamp, a weight and the values of these columns as a delta."""
    found = list(rows)
    columns, nulls = {}, {}
    for place, name in enumerate(names):
        values = [row[place] for _, _, row in found]
        null = np.array([value is None for value in values], dtype=bool)
        columns[name] = np.array(values, dtype=object)
        if null.any():
            nulls[name] = null
    return Delta(
        np.array([time for time, _, _ in found], dtype=np.int64),
        np.array([weight for _, weight, _ in found], dtype=object),
        columns,
        nulls,
    )


def one_by_one(rows: Delta) -> Delta:
    """The same rows, each as often as it came."""
    if rows.weight is None:
        return rows
    again = rows.take(np.repeat(np.arange(rows.size), rows.weight.astype(np.int64)))
    return Delta(again.time, None, again.columns, again.nulls, again.dictionary)


def places_in_order(rows: Delta, names: Sequence[str]) -> list[int]:
    """The places of rows in order of time, then of their values in some columns, NULL first."""
    values, times = [rows.values(name) for name in names], rows.time.tolist()
    order = [[(column[place] is not None, column[place]) for column in values] for place in range(rows.size)]
    return sorted(range(rows.size), key=lambda place: (times[place], order[place]))


def times_of(deltas: Iterable[Delta]) -> Integers:
    """The timestamps of some deltas, each once, in order."""
    return distinct_times(delta.time for delta in deltas)


def distinct_times(times: Iterable[Integers]) -> Integers:
    """Some timestamps, each once, in order; there may be none."""
    every = np.concatenate([np.zeros(0, dtype=np.int64), *times])
    time = np.sort(every, kind="stable")  # which takes little time for rows in order, as each delta has them
    return time[np.flatnonzero(np.r_[np.ones(min(1, len(time)), dtype=bool), time[1:] != time[:-1]])]
