"""The rows of a set, each at its first time: what is kept are those that have come, as long as they can come again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.tables import (
    CLOSED,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    listed,
    places,
    same,
)


@dataclass(frozen=True, slots=True)
class SqlFirst:
    """Rows of these ``types`` of which none is taken back, each once, with the time at which it came first.

    A row cannot come again once a timestamp is closed that is by ``lag`` more than its column ``c{time}``, if there is
    one.
    """

    timed: ClassVar[bool] = True
    """A row has its own first time."""
    name: str
    inputs: tuple[str]
    types: tuple[str, ...]
    time: int | None = None
    lag: int = 0

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows that have come."""
        gone = "" if self.time is None else f"c{self.time} + {self.lag} <= {CLOSED}"
        return (StateTable("results", tuple(zip(places(len(self.types)), self.types, strict=True)), gone),)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows that have not come before."""
        (state,), (rows,) = self.states, at.inputs
        names, table = places(len(self.types)), at.state(state.name)
        new = f"{rows} f ANTI JOIN {table} s ON {same(names, 'f', 's')}"
        first = f"SELECT {listed(*names, '1::HUGEINT AS w', 'min(t) AS t')} FROM {new} GROUP BY ALL"
        return (
            TickStatement(first, at.delta),
            TickStatement(f"INSERT INTO {table} SELECT {listed(*names)} FROM {at.delta}"),
            *deleted(state, at),
        )
