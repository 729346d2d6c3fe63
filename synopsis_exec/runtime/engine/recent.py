"""The rows of a stream that are not much older than its newest row, or old enough: they go, or come, as that comes.

What changes are the rows that came and are shown, and those kept before that are now, less those that no longer are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.tables import HUGEINT, StateTable, TickStatement, TickTables, listed, places


@dataclass(frozen=True, slots=True)
class SqlRecent:
    """Rows of the first input whose column ``c{time}`` has one of the last ``timestamps`` up to the newest row's.

    Of these the ones that are older than that by ``wait``; for None of any timestamps. The second input is the newest
    row's time, of which rows are never newer; no rows come without a newer one.
    """

    timed: ClassVar[bool] = False
    """A row goes when another one comes."""
    name: str
    inputs: tuple[str, str]
    types: tuple[str, ...]
    time: int
    timestamps: int | None
    wait: int = 0

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows, with their number."""
        return (StateTable("rows", (*zip(places(len(self.types)), self.types, strict=True), ("w", HUGEINT))),)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows that come and go; without a newer row there are none."""
        (state,), (rows, newest) = self.states, at.inputs
        names, kept, time = ", ".join(places(len(self.types))), at.state(state.name), f"c{self.time}"
        now, before = (f"(SELECT max(c0) FROM {newest} WHERE w {sign} 0)" for sign in "><")
        old = f"{time} <= {now} - {self.wait}"
        lasts = "true" if self.timestamps is None else f"{time} > {now} - {self.timestamps}"
        shown = f"{time} <= {before} - {self.wait}"  # when the last row came
        came = f"SELECT {listed(names, 'w')} FROM {rows} WHERE {old} AND {lasts}"
        now_old = f"SELECT {listed(names, 'w')} FROM {kept} WHERE {old} AND NOT ({shown}) AND {lasts}"
        gone = f"SELECT {listed(names, '-w AS w')} FROM {kept} WHERE {shown} AND NOT ({lasts})"
        waits = f"NOT ({old})" if self.timestamps is None else lasts
        return (
            TickStatement(" UNION ALL ".join([came, *([now_old] if self.wait else []), gone]), at.delta),
            TickStatement(f"DELETE FROM {kept} WHERE NOT ({waits})"),
            TickStatement(f"INSERT INTO {kept} SELECT {listed(names, 'w')} FROM {rows} WHERE {waits}"),
        )
