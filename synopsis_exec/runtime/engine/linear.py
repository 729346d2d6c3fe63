"""Operators that keep nothing: what they make of a delta is a query over it (Budiu et al., *DBSP*, Theorem 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.predicates import all_of
from streambound_runtime.engine.tables import StateTable, TickStatement, TickTables, listed
from streambound_runtime.operators.plan import Test


@dataclass(frozen=True, slots=True)
class SqlPick:
    """Some columns of the rows that pass some ``tests``, in the order in which they are ``picked``.

    Both call columns ``c0``, ``c1`` …, and the time ``t``.
    """

    states: ClassVar[tuple[StateTable, ...]] = ()
    name: str
    input: str
    picked: tuple[str, ...]
    types: tuple[str, ...]
    timed: bool
    tests: tuple[Test, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operator that it reads."""
        return (self.input,)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows."""
        names = {name for test in self.tests for name in (test.left, test.right) if name is not None}
        where = f" WHERE {all_of(self.tests, {name: name for name in names})}" if self.tests else ""
        shown = (f"{column} AS c{number}" for number, column in enumerate(self.picked))
        rows = f"SELECT {listed(*shown, _rest(self.timed))} FROM {at.inputs[0]}{where}"
        return (TickStatement(rows, at.delta, view=True),)


@dataclass(frozen=True, slots=True)
class SqlUnion:
    """The rows of several operators, by position."""

    states: ClassVar[tuple[StateTable, ...]] = ()
    name: str
    inputs: tuple[str, ...]
    types: tuple[str, ...]
    timed: bool

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """One delta after the other."""
        shown = listed(*(f"CAST(c{n} AS {kind}) AS c{n}" for n, kind in enumerate(self.types)), _rest(self.timed))
        rows = " UNION ALL ".join(f"SELECT {shown} FROM {name}" for name in at.inputs)
        return (TickStatement(rows, at.delta, view=True),)


@dataclass(frozen=True, slots=True)
class SqlBucket:
    """Rows once for every bucket ``[offset + k * slide, offset + k * slide + size)`` that their time is in.

    ``items`` are places of the input's columns, or "start", "end", "last" of the bucket. With a ``slide`` of 0 the
    bucket is the session that the row alone would make. A row without a time is in none.
    """

    states: ClassVar[tuple[StateTable, ...]] = ()
    name: str
    input: str
    time: int
    size: int
    slide: int
    offset: int
    items: tuple[int | str, ...]
    types: tuple[str, ...]
    timed: bool

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one operator that it reads."""
        return (self.input,)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows, each in as many buckets as it is in."""
        time, (rows,) = f"r.c{self.time}", at.inputs
        ends = {"start": "r.start", "end": f"r.start + {self.size}", "last": f"r.start + {self.size - 1}"}
        shown = (
            f"CAST({ends[item] if isinstance(item, str) else f'r.c{item}'} AS {kind}) AS c{number}"
            for number, (item, kind) in enumerate(zip(self.items, self.types, strict=True))
        )
        selected = listed(*shown, "r.w", "r.t" if self.timed else "")
        start, more = time, ""
        if self.slide:
            since = f"({time} - {self.offset})"  # Euclid's remainder: that of a negative number is not negative
            start = f"{time} - (({since} % {self.slide}) + {self.slide}) % {self.slide}"
            if (most := -(-self.size // self.slide)) > 1:
                start, more = f"{start} - k * {self.slide}", f", range({most}) q(k)"
        started = f"(SELECT r.*, {start} AS start FROM {rows} r{more}) r"
        found = f"SELECT {selected} FROM {started} WHERE {time} < r.start + {self.size}"
        return (TickStatement(found, at.delta, view=True),)


def _rest(timed: bool) -> str:
    return "w, t" if timed else "w"
