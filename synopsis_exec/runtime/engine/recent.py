"""The rows of a stream that are not much older than its newest row: they go as that comes.

What changes are the rows that came and are recent, less those kept before that are no longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.tables import HUGEINT, StateTable, TickStatement, TickTables, listed, places


@dataclass(frozen=True, slots=True)
class SqlRecent:
    """Rows of the first input whose column ``c{time}`` has one of the last ``timestamps`` up to the newest row's.

    The second input is the newest row's time, of which rows are never newer; no rows come without a newer one.
    """

    timed: ClassVar[bool] = False
    """A row goes when another one comes."""
    name: str
    inputs: tuple[str, str]
    types: tuple[str, ...]
    time: int
    timestamps: int

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows, with their number."""
        return (StateTable("rows", (*zip(places(len(self.types)), self.types, strict=True), ("w", HUGEINT))),)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows that come and go; without a newer row there are none."""
        (state,), (rows, newest) = self.states, at.inputs
        names, kept = ", ".join(places(len(self.types))), at.state(state.name)
        first = f"(SELECT max(c0) - {self.timestamps - 1} FROM {newest} WHERE w > 0)"
        came = f"SELECT {listed(names, 'w')} FROM {rows} WHERE c{self.time} >= {first}"
        gone = f"SELECT {listed(names, '-w AS w')} FROM {kept} WHERE c{self.time} < {first}"
        return (
            TickStatement(f"{came} UNION ALL {gone}", at.delta),
            TickStatement(f"DELETE FROM {kept} WHERE c{self.time} < {first}"),
            TickStatement(f"INSERT INTO {kept} {came}"),
        )
