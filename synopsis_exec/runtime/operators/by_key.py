"""Operators of which there is one for each key, until a punctuation ends it (proposition K3).

No operator has rows of two keys, so that their results are those of one operator of all rows (Tucker, Maier, Sheard,
Fegaras, TKDE 15(3), 2003: what the *keep* invariants of join, group-by, duplicate elimination and set operations drop
after a punctuation is all that they have of its key). An operator closes the timestamps at which its key has rows, many
at once; what it would forget by time before it goes when it is next used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.block import BlockOperator
from streambound_runtime.operators.by_tick import Changes, Row, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import KeyedBlock
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.protocol import State

if TYPE_CHECKING:
    import pyarrow as pa

KEYS, TABLES = "keys", "tables"


@dataclass(frozen=True, slots=True)
class _Input:
    """The rows of a stream, and where those of each key are, in order of time."""

    name: str
    rows: Delta
    places: dict[Row, list[int]]


class ByKey:
    """The operator of a `KeyedBlock`: ``make`` gives that of one key."""

    def __init__(self, plan: KeyedBlock, make: Callable[[], BlockOperator]) -> None:
        self.plan, self.make = plan, make
        self.columns = (*plan.node.synopsis.columns, *plan.node.synopsis.sums)
        self.open: dict[Row, BlockOperator] = {}
        self.number = 0

    def entries(self) -> int:
        """Those of all keys."""
        return self.number

    def step_of(self, deltas: Mapping[str, Delta], ends: Delta) -> Delta:
        """Close timestamps of streams; the keys of ``ends`` are over at theirs, after its rows."""
        given = []
        for one in self.plan.streams:
            if one.stream in deltas:
                rows = deltas[one.stream]
                given.append(_Input(one.stream, rows, _places(rows, one.attributes)))
        over: dict[Row, list[int]] = {}
        for now, found in rows_by_time(ends).items():
            for key, _ in found:
                over.setdefault(key, []).append(now)
        results: dict[int, list[Weighted]] = {}
        for key in dict.fromkeys([*(key for one in given for key in one.places), *over]):
            for now, rows_of in self._one(key, given, sorted(over.get(key, []))):
                results.setdefault(now, []).extend(rows_of)
        changes = Changes(self.columns)
        for now in sorted(results):
            changes.add(now, results[now])
        return changes.delta

    def _one(self, key: Row, given: Sequence[_Input], over: list[int]) -> Iterator[tuple[int, list[Weighted]]]:
        """The results of a key, of its rows up to each time that it is over, and after the last; counts its entries."""
        mine = [(one, np.array(one.places.get(key, ()), dtype=np.int64)) for one in given]
        starts = [0] * len(mine)
        ends: list[int | None] = [*over, None]
        for end in ends:
            parts = list[tuple[_Input, Delta]]()
            for number, (one, places) in enumerate(mine):
                stop = len(places)
                if end is not None:  # those after it are of a new one
                    stop = int(np.searchsorted(one.rows.time[places], end, side="right"))
                parts.append((one, _some(one.rows, places[starts[number] : stop])))
                starts[number] = stop
            if any(rows.size for _, rows in parts):
                yield from self._closed(key, parts)
            if end is not None and key in self.open:
                self.number -= self.open.pop(key).entries()

    def _closed(self, key: Row, parts: Sequence[tuple[_Input, Delta]]) -> Iterator[tuple[int, list[Weighted]]]:
        if key not in self.open:
            self.open[key] = self.make()
        operator = self.open[key]
        before = operator.entries()
        found = operator.step_of({one.name: rows for one, rows in parts if rows.size})
        self.number += operator.entries() - before
        yield from rows_by_time(found).items()

    # --- state ------------------------------------------------------------------------------------------------------

    def dump(self) -> State:
        """The keys that have entries, and the tables of each one's operator."""
        import pyarrow as pa

        kept = [(key, operator.dump()) for key, operator in self.open.items() if operator.entries()]
        tables = [(n, name, _bytes(table)) for n, (_, state) in enumerate(kept) for name, table in state.items()]
        kinds = (pa.int64(), pa.string(), pa.binary())
        columns = [pa.array([row[place] for row in tables], kind) for place, kind in enumerate(kinds)]
        width = len(self.plan.streams[0].attributes)
        names = tuple(f"k{n}" for n in range(width))
        return {
            KEYS: arrow_of_pairs([(key, n) for n, (key, _) in enumerate(kept)], names),
            TABLES: pa.table(columns, names=["key", "table", "rows"]),
        }

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        states: dict[int, State] = {}
        for row in state[TABLES].to_pylist():
            states.setdefault(row["key"], {})[row["table"]] = _table(row["rows"])
        self.open = {}
        for key, number in pairs_of_arrow(state[KEYS]):
            assert isinstance(number, int), "keys have no sums"
            self.open[key] = operator = self.make()
            operator.load(states[number])
        self.number = sum(operator.entries() for operator in self.open.values())


def _some(rows: Delta, places: Integers) -> Delta:
    """The rows at some places, with the texts that they have in their dictionary."""
    found = rows.take(places)
    columns, dictionary = dict(found.columns), dict(found.dictionary)
    for name, texts in rows.dictionary.items():
        used, columns[name] = np.unique(found.columns[name], return_inverse=True)
        dictionary[name] = [texts[place] for place in used.tolist()] if texts else []
    return Delta(found.time, found.weight, columns, found.nulls, dictionary)


def _places(rows: Delta, names: Sequence[str]) -> dict[Row, list[int]]:
    found: dict[Row, list[int]] = {}
    for place, key in enumerate(zip(*(rows.values(name) for name in names), strict=True)):
        found.setdefault(key, []).append(place)
    return found


def _bytes(table: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _table(data: bytes) -> pa.Table:
    import pyarrow as pa

    return pa.ipc.open_stream(data).read_all()
