"""Select-project-join blocks whose synopsis is no count of keys: with sums, extrema, keys that end (§4).

Each table of partial matches is a state. In a tick a table is a *log*: its entries at the start, and what the rows of
the tick add to it, each with its time. Rows that come meet what the log has before their time, so that those of one
tick meet each other as they would have one after the other. Entries hold sums beside their number; joining two entries
multiplies these one by one (Budiu et al., *DBSP*, §7.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.block_joins import LONG_AGO, BranchSql
from streambound_runtime.engine.block_tables import BlockTables
from streambound_runtime.engine.tables import (
    BIGINT,
    CLOSED,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    exchanged,
    listed,
    places,
    same,
)
from streambound_runtime.operators.plan import Table


@dataclass(frozen=True, slots=True)
class SqlBlock(BlockTables):
    """A block of the engine."""

    timed: ClassVar[bool] = True
    """A result has the time of its newest row."""

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The tables of all branches."""
        return tuple(
            self._state(number, place)
            for number, branch in enumerate(self.synopsis.branches)
            for place in range(len(branch.tables))
        )

    def _state(self, number: int, place: int) -> StateTable:
        branch = self.synopsis.branches[number]
        table = branch.tables[place]
        columns = (*self.entry_columns(number, place), *self.weights.columns)
        return StateTable(state_name(number, place), columns, _expired(table), self.key_names)

    # --- the tick ---------------------------------------------------------------------------------------------------

    def related(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The joined relations of each branch, made once, of its relations' rows in temporary tables."""
        return tuple(step for one in self._branches(at) for step in one.related())

    def _branches(self, at: TickTables) -> list[BranchSql]:
        return [BranchSql(self, number, branch, at) for number, branch in enumerate(self.synopsis.branches)]

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The rows as scans, what they add to each table, the results, and what is kept."""
        steps: list[TickStatement] = []
        results: list[str] = []
        branches = self._branches(at)
        for one in branches:
            steps += one.arrived()
            results += one.results(steps)
        windows = [one.window for one in branches if one.window is not None]
        found = self._results(results)
        by_spans = [part for one in branches for part in one.results(steps, True)] if windows else []
        longer = (min(windows), self._results(by_spans)) if windows else None
        steps.append(TickStatement(found, at.delta, longer=longer))
        for one in branches:
            for place in range(len(one.branch.tables)):
                one.log(place, steps)
                steps += self._kept(at, one.number, place)
        return tuple(steps)

    def _results(self, parts: list[str]) -> str:
        """The results of all branches as one, those of a timestamp that are equal as one row."""
        columns = self.result_columns
        width, names = len(self.synopsis.columns), [name for name, _ in columns]
        if not parts:
            nothing = [f"CAST(NULL AS {kind}) AS {name}" for name, kind in (*columns, ("t", BIGINT))]
            parts = [f"SELECT {listed(*nothing, *self.weights.nothing)} WHERE false"]
        rows = " UNION ALL ".join(parts)
        shown = listed(*places(width))
        if not self.synopsis.distinct:
            most, sums = self.synopsis.most, (f"s{n} AS c{width + n}" for n in range(len(self.weights.types)))
            over = f"error('a result at timestamp ' || t || ' has more than {most} duplicates')"
            fits = f"CASE WHEN n <= {most} THEN n ELSE CAST({over} AS HUGEINT) END AS w"
            keys = [*places(width), "t"]
            once = self.weights.grouped(keys, rows)
            return f"SELECT {listed(shown, *sums, fits, 't')} FROM ({once})"
        found = f"SELECT DISTINCT {listed(*names, 't')} FROM ({rows})"
        return f"SELECT {listed(shown, 'CAST(count(*) AS HUGEINT) AS w', 't')} FROM ({found}) GROUP BY ALL"

    def _kept(self, at: TickTables, number: int, place: int) -> list[TickStatement]:
        """A table's entries with the additions; useless ones go, and those too old to be distinguished are merged."""
        state = self._state(number, place)
        names = [name for name, _ in self.entry_columns(number, place)]
        log, branch = at.temporary(f"log_{state.name}"), self.synopsis.branches[number]
        if branch.apart:  # rows of other timestamps are other entries
            rows = f"SELECT {listed(*names, *self.weights.names)} FROM {log} WHERE {state.lasts}"
            return [TickStatement(f"INSERT INTO {at.state(state.name)} {rows}"), *deleted(state, at)]
        steps = [*self._folded(at, number, place, log), *deleted(state, at)]
        ages = branch.tables[place].ages
        limits = {f"a{s}": f"{CLOSED} - {most - 1}" for s, gone, most in ages if gone is None and most is not None}
        if not limits:
            return steps
        is_old = " OR ".join(f"({name} <= {limit} AND {name} > {LONG_AGO})" for name, limit in limits.items())
        aged = [f"CASE WHEN {name} <= {limits[name]} THEN {LONG_AGO} ELSE {name} END AS {name}"
                if name in limits else name for name in names]  # fmt: skip
        old, stored = at.temporary(f"old_{state.name}"), at.state(state.name)
        inner = f"SELECT {listed(*aged, *self.weights.names)} FROM {stored} WHERE {is_old}"
        return [
            *steps,
            TickStatement(self.weights.grouped(names, inner), old),
            TickStatement(f"DELETE FROM {stored} WHERE {is_old}"),
            *self._folded(at, number, place, old),
        ]

    def _folded(self, at: TickTables, number: int, place: int, added: str) -> list[TickStatement]:
        """Add entries to a table's: those that agree are one, and of a set with extrema the best ones stay."""
        name = state_name(number, place)
        names = [column for column, _ in self.entry_columns(number, place)]
        best = self.best(number, place)
        group = [column for column in names if column not in best]
        state, folded = at.state(name), at.temporary(f"folded_{name}")
        columns = listed(*names, *self.weights.names)
        old = f"SELECT {columns} FROM {state} s SEMI JOIN {added} a ON {same(group, 's', 'a')}"
        rows = f"{old} UNION ALL SELECT {columns} FROM {added}"
        kept = _best_of(rows, group, best) if best else self.weights.grouped(names, rows)
        return [TickStatement(kept, folded), *exchanged(state, added, group, f"SELECT {columns} FROM {folded}")]


def state_name(number: int, place: int) -> str:
    """The name of the state of a branch's table."""
    return f"{number}_{place}"


def _best_of(rows: str, group: list[str], best: dict[str, bool]) -> str:
    """The entries, of those that differ only in extrema, that no other dominates; NULL limits nothing and is best."""
    if len(best) == 1:
        ((name, greatest),) = best.items()
        value = f"CASE WHEN count(*) = count({name}) THEN {'max' if greatest else 'min'}({name}) END AS {name}"
        return f"SELECT {listed(*group, value)} FROM ({rows}) GROUP BY ALL HAVING count(*) > 0"

    def as_good(one: str, other: str) -> str:
        tests = (f"coalesce({one}.{name} IS NULL OR {one}.{name} {'>=' if greatest else '<='} {other}.{name}, false)"
                 for name, greatest in best.items())  # fmt: skip
        return " AND ".join(tests)

    better = f"{same(group, 'x', 'y')} AND {as_good('y', 'x')} AND NOT ({as_good('x', 'y')})"
    once = f"SELECT DISTINCT {listed(*group, *best)} FROM ({rows})"
    return f"WITH alike AS MATERIALIZED ({once}) FROM alike x WHERE NOT EXISTS (FROM alike y WHERE {better})"


def _expired(table: Table) -> str:
    """When an entry is of no use."""
    found = [f"a{stream} + {gone} <= {CLOSED}" for stream, gone, _ in table.ages if gone is not None]
    found += [] if table.deadline is None else [f"{table.deadline} <= {CLOSED}"]
    return " OR ".join(found)
