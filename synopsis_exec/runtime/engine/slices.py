"""SEQ VT and SEQ TP by slices of time: a tick evaluates a query on the time from one frontier to the next.

The slice's result is coalesced, and glued at the frontier: a result row that reaches it is open, and goes on with the
one of equal values and multiplicity that begins there. What has ended before the frontier never changes (P1): results
do not depend on where time is cut, as the values of a row are functions of what is valid, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streambound_runtime.engine.session import as_decimal
from streambound_runtime.engine.slice_groups import swept
from streambound_runtime.engine.slice_rows import SliceRows
from streambound_runtime.engine.slice_tables import ENDED, SINCE, UNTIL, Compute, SliceTables
from streambound_runtime.engine.tables import BIGINT, HUGEINT, columns, listed, places, same
from streambound_runtime.operators.circuit_plan import PeriodNode
from streambound_runtime.operators.formula import Relations
from streambound_runtime.operators.period_plan import (
    SliceFilter,
    SliceGroup,
    SliceLineage,
    SlicePlan,
    SliceProject,
    chance_columns,
    is_static,
)
from streambound_runtime.operators.values import integer
from streambound_runtime.periods.times import GREATEST, LEAST

if TYPE_CHECKING:
    import pyarrow as pa

    from streambound_runtime.engine.session import Session
    from streambound_runtime.engine.tables import TickTables
    from streambound_runtime.operators.by_tick import Ticks

_TIME = "time"
_TOP = "getvariable('top')"


class PeriodSlices:
    """The operator of a `PeriodNode`; rows of its inputs begin at their timestamps.

    ``since`` is the frontier; ``last`` the largest end of a row, as far as nobody says when time ends.
    """

    def __init__(
        self, node: PeriodNode, types: Sequence[str], inputs: Sequence[Sequence[str]], at: TickTables, session: Session,
        relations: Relations, compute: Compute,
    ) -> None:  # fmt: skip
        self.query, self.session, self.types = node.query, session, tuple(types)
        self.low = LEAST if self.query.low is None else self.query.low
        self.high = GREATEST if self.query.high is None else self.query.high
        self.streams = {
            name: (delta, tuple(kinds)) for name, delta, kinds in zip(node.inputs, at.inputs, inputs, strict=True)
        }
        self.since = self.low
        self.tables, self.open = SliceTables(node.name, at, session, compute), list[str]()
        self._set(self.low, self.low, self.high)
        rows = SliceRows(self.tables, self.streams, relations, self.low, self.high)
        self._make(rows, at.delta)
        self.last = max([self.low, *rows.ends])

    # --- statements ---------------------------------------------------------------------------------------------------

    def _make(self, rows: SliceRows, delta: str) -> None:
        """The statements of a tick, of which the last one gives the results."""
        query, kinds = self.query, rows.types(self.query.plan)
        own, copies = [] if query.as_of else ["b", "e"], "m"
        if isinstance(query, SliceLineage):
            from streambound_runtime.engine.slice_windows import SliceWindows

            windows = SliceWindows(query, rows)
            found, own = windows.results(), [*own, "l", *"pq"[: len(chance_columns(query))]]
            copies = "1"
            self.open = windows.open
        elif query.parts:
            found = rows.parts(query.plan)
        else:
            found = coalesced(self.tables, query.plan, rows.top(query.plan), len(kinds))
            if query.final and self.streams:  # of relations alone there is one slice
                found = self._glued(found, kinds)
        values = [*places(len(kinds)), *own]
        shown = (
            f"CAST({text} AS {kind}) AS c{n}" for n, (text, kind) in enumerate(zip(values, self.types, strict=True))
        )
        self.tables.steps.append(
            self.tables.step(f"SELECT {listed(*shown, f'{copies} AS w', 'e AS t')} FROM {found}", delta)
        )

    def _glued(self, piece: str, kinds: Sequence[str]) -> str:
        """The result rows that have ended before the frontier, or all once time is over; others are open."""
        key, glued = columns(len(kinds)), self.tables.called()
        state = [*zip(places(len(kinds)), kinds, strict=True), ("b", BIGINT), ("m", HUGEINT)]
        going = f"SELECT {key}, b, m FROM {glued} WHERE e = {UNTIL} AND NOT {ENDED}"
        opened = self.tables.state(state, going)
        self.open.append(f"SELECT b FROM {opened}")
        piece = self.tables.table(f"SELECT * FROM {piece}")
        before = f"SELECT {key}, b, {SINCE} AS e, m FROM {opened}"
        parts = f"{before} UNION ALL SELECT {key}, b, e, m FROM {piece} WHERE b = {SINCE}"
        both = f"SELECT {key}, min(b) AS b, max(e) AS e, m FROM ({parts}) GROUP BY {key}, m"
        both += f" UNION ALL SELECT {key}, b, e, m FROM {piece} WHERE b > {SINCE}"
        self.tables.steps.append(self.tables.step(both, glued))
        told = f"e < {UNTIL} AND NOT {ENDED} OR b < {_TOP} AND {ENDED}"
        return f"(SELECT {key}, b, least(e, {_TOP}) AS e, m FROM {glued} WHERE {told})"

    # --- ticks --------------------------------------------------------------------------------------------------------

    def tick(self, ticks: Ticks) -> None:
        """Close a slice up to the frontier; results are at their ends."""
        declared = self.query.high is not None
        if not declared:
            ends = (self._last_end(delta, f"c{len(kinds) - 1}") for delta, kinds in self.streams.values())
            self.last = max(self.last, *ends) if self.streams else self.last
        until = self.since if ticks.frontier is None else ticks.frontier
        if ticks.over:
            until = self.high if declared else self.last
        until = max(self.since, min(self.high, until))
        ended = ticks.over or (declared and until >= self.high)
        self._set(self.since, until, self.high if declared else min(until, self.last), ended)
        for step in (*self.tables.steps, *self.tables.after):
            step()
        self.since = until

    def _last_end(self, table: str, end: str) -> int:
        """When the last one of some rows ends."""
        if not self.session.size(table):
            return LEAST
        ((last,),) = self.session.execute(f"SELECT max({end}) FROM {table}").fetchall()
        return LEAST if last is None else integer(last)

    def _set(self, since: int, until: int, top: int, ended: bool = False) -> None:
        """Say what slice the statements are about; once time is over, which it is at the ``top``, nothing is open."""
        for name, number in (("since", since), ("until", until), ("top", top), ("ended", int(ended))):
            self.session.set(name, number)

    # --- state --------------------------------------------------------------------------------------------------------

    def open_since(self) -> int | None:
        """When the oldest row has begun that may still go on; None where there is none."""
        if not self.open:
            return None
        rows = " UNION ALL ".join(self.open)
        ((since,),) = self.session.execute(f"SELECT min(b) FROM ({rows})").fetchall()
        return None if since is None else integer(since)

    def entries(self) -> int:
        """How many rows all states have."""
        return sum(map(self.session.size, self.tables.states))

    def dump(self) -> dict[str, pa.Table]:
        """The states' rows, and the frontier."""
        import pyarrow as pa

        found = {_TIME: pa.table({"since": [self.since], "last": [self.last]})}
        for name, kinds in self.tables.states.items():
            shown = (as_decimal(column, kind) for column, kind in kinds)
            found[name] = self.session.read(f"SELECT {', '.join(shown)} FROM {name}")
        return found

    def load(self, state: dict[str, pa.Table]) -> None:
        """Take over what `dump` returned."""
        (time,) = state[_TIME].to_pylist()
        self.since, self.last = integer(time["since"]), integer(time["last"])
        for name in self.tables.states:
            self.session.fill(name, state[name])


def apart_by(plan: SlicePlan) -> frozenset[int] | None:
    """Columns of which no two rows that are valid together have the same values; None where none are known.

    >>> apart_by(SliceProject(SliceGroup(SliceRelation("r"), 1, ()), ("c1", "c0")))
    frozenset({1})
    """
    match plan:
        case SliceGroup(keys=keys):
            return frozenset(range(keys))
        case SliceFilter(input):
            return apart_by(input)
        case SliceProject(input, items):
            below = apart_by(input)
            at = {text: place for place, text in enumerate(items)}
            known = None if below is None else [at.get(f"c{place}") for place in below]
            found = frozenset(place for place in known or () if place is not None)
            return found if known is not None and len(found) == len(known) else None
    return None


def coalesced(tables: SliceTables, plan: SlicePlan, rows: str, width: int) -> str:
    """Maximal periods of constant multiplicity: the unique encoding (Dignös et al., Definition 5.3).

    A row of a value is its own result where it is alone in the slice, or where no other one can be valid with it
    and none ends or begins where it begins or ends. The others are told by the ends of their value's rows, but for
    those ends where nothing changes.
    """
    names, apart = places(width), apart_by(plan)
    key, found = ", ".join(names), rows if is_static(plan) else tables.table(f"SELECT * FROM {rows}")
    if apart is None:
        number = "min(b) AS b, max(e) AS e, min(m) AS m, count(*) AS n"
        alone = tables.table(f"SELECT {key}, {number} FROM {found} GROUP BY {key}")
        several = f"{found} q SEMI JOIN (SELECT * FROM {alone} WHERE n > 1) o ON {same(names, 'q', 'o')}"
        alone = f"{alone} WHERE n = 1"
    else:
        partition = listed(*(f"c{place}" for place in sorted(apart)))
        near = f"OVER ({f'PARTITION BY {partition} ' if partition else ''}ORDER BY b)"
        others = [name for place, name in enumerate(names) if place not in apart]
        sides = ("lag", "e", "b"), ("lead", "b", "e")
        tests = [
            [f"{of}({end}) {near} = {own}", *(f"{of}({c}) {near} IS NOT DISTINCT FROM {c}" for c in others)]
            for of, end, own in sides
        ]
        touches = " OR ".join(f"({' AND '.join(test)}) IS TRUE" for test in tests)
        marked = tables.table(f"SELECT *, {touches} AS touches FROM {found}")
        several, alone = f"{marked} WHERE touches", f"{marked} WHERE NOT touches"
    changes = f"SELECT {key}, unnest([b, e]) AS t, unnest([m, -m]) AS x, 0 AS y FROM {several}"
    merged = swept(changes, names, "x", "x > 0", " HAVING sum(x) <> 0")
    return f"(SELECT {key}, b, e, m FROM {alone} UNION ALL SELECT {key}, b, e, m FROM {merged})"
