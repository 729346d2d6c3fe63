"""Semi, anti and outer joins of two streams: a row waits while its fate is open (propositions B1 to B4).

What is remembered are the entries of the inner join's tables, and of a preserved side how many rows of each have no
partner yet. Rows that come in one tick meet each other as they would have one after the other: a row and an older one
as the older one's entry. Of ``final`` results a row without a partner is printed once none can come, as its entry goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streambound_runtime.engine.predicates import literal, one_test
from streambound_runtime.engine.tables import (
    BIGINT,
    CLOSED,
    HUGEINT,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    listed,
    same,
    summed,
)
from streambound_runtime.operators.plan import JoinStep, Table, TableScan, Term, Test, age
from streambound_runtime.row_values import Value

_LONG_AGO = -(2**62)
"""The time of entries that are so old that their times need not be told apart."""
Env = Mapping[str, str]
"""What the plan's variables are in SQL."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """When a row that comes meets another one: ``joins`` with their conditions, and the ``values`` of the result."""

    joins: tuple[JoinStep, ...]
    values: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class WaitingSide:
    """A side of the join: its input, called ``rows``, with its ``columns``, and what is remembered of a row.

    ``alone`` are all of its rows, ``scan`` those that can have a partner; ``padded`` is the result of a row without
    one, None for a NULL of the other side's. ``entry`` has the values of the ``table``'s columns, whose types follow,
    and those of the ``key_columns``, which an entry has beside them; ``remembered`` is the result of an entry without a
    partner.
    """

    rows: str
    columns: tuple[str, ...]
    alone: TableScan
    scan: TableScan
    padded: tuple[Term | None, ...]
    table: Table | None = None
    entry: tuple[Term, ...] = ()
    entry_types: tuple[str, ...] = ()
    key_columns: tuple[str, ...] = ()
    remembered: tuple[Term | None, ...] = ()

    def variables(self, alias: str) -> Env:
        """The scans' variables in a row that comes."""
        named = (*self.alone.columns, *self.scan.columns)
        found = {variable: f"{alias}c{self.columns.index(column)}" for variable, column in named}
        return {**found, "now": f"{alias}t"}

    @property
    def pattern(self) -> tuple[str, ...]:
        """The variables of an entry: the table's columns, then the kept time."""
        assert self.table is not None, "entries are of a table"
        return (*self.table.columns, *(age(stream) for stream, *_ in self.table.ages))

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of an entry."""
        if self.table is None:
            return ()
        keys = (f"k{place}" for place in range(len(self.key_columns)))
        return (*(f"e{place}" for place in range(len(self.entry))), *keys, *(("t",) if self.table.ages else ()))

    def entries(self, alias: str) -> Env:
        """The variables of an entry in SQL."""
        named = [alias + name for name in self.key if not name.startswith("k")]
        return {} if self.table is None else dict(zip(self.pattern, named, strict=True))


@dataclass(frozen=True, slots=True)
class SqlStreamJoin:
    """A join of the ``kind`` left, right, full, semi or anti of two streams' rows.

    ``together`` says when rows of one timestamp meet, ``left_later`` when a left row meets an older right one's entry,
    ``right_later`` the other way round; None where they never do.
    """

    name: str
    inputs: tuple[str, ...]
    kind: str
    types: tuple[str, ...]
    left: WaitingSide
    right: WaitingSide
    together: Meeting | None
    left_later: Meeting | None
    right_later: Meeting | None
    final: bool = False

    @property
    def timed(self) -> bool:
        """Whether results are final: then they have the time at which they are."""
        return self.final

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The entries of both sides: how many rows they are of, and how many of these have no partner."""
        sides = (("left", self.left), ("right", self.right))
        return tuple(
            StateTable(
                name,
                (*self._key_columns(side), ("n", HUGEINT), ("alone", HUGEINT)),
                _gone(side.table),
                tuple(name for name in side.key if name.startswith("k")),
            )
            for name, side in sides
            if side.table is not None
        )

    @staticmethod
    def _key_columns(side: WaitingSide) -> tuple[tuple[str, str], ...]:
        kinds = (*side.entry_types, *((BIGINT,) if side.table is not None and side.table.ages else ()))
        return tuple(zip(side.key, kinds, strict=True))

    def _preserves(self, name: str) -> bool:
        """Whether a side's rows are asked for partners."""
        return self.kind in (("left", "full", "semi", "anti") if name == "left" else ("right", "full"))

    @property
    def _pairs(self) -> bool:
        return self.kind in ("left", "right", "full")

    def _side(self, name: str) -> WaitingSide:
        return self.left if name == "left" else self.right

    # --- the tick ---------------------------------------------------------------------------------------------------

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """Who meets whom, what that makes of rows that have come and of those that waited, and what is kept."""
        made = [TickStatement(self._arrived(at, name), at.temporary(name)) for name in ("left", "right")]
        made.append(TickStatement(self._meetings(at), at.temporary("meetings")))
        for name in ("left", "right"):
            if self._preserves(name) or self._side(name).table is not None:
                made += self._matched(at, name)
        folded = [one for name in ("left", "right") for one in self._kept(at, name)]
        parts = [part for name in ("left", "right") if self._preserves(name) for part in self._alone(at, name)]
        if self._pairs:
            parts.append(f"SELECT {listed(*self._shown, 'w')} FROM {at.temporary('meetings')}")
        if not self.final:
            made.append(TickStatement(self._summed(parts), at.delta))
            made += folded
        else:
            made += folded
            parts += [self._over(at, name) for name in ("left", "right") if self._kept_back(name)]
            made.append(TickStatement(self._summed(parts), at.delta))
        for state in self.states:
            made += self._aged(at, state)
            made += deleted(state, at)
        return tuple(made)

    @property
    def _shown(self) -> tuple[str, ...]:
        return (*(f"c{place}" for place in range(len(self.types))), *(("t",) if self.final else ()))

    def _summed(self, parts: Sequence[str]) -> str:
        if parts:
            return summed(self._shown, " UNION ALL ".join(parts))
        columns = [f"CAST(NULL AS {kind}) AS c{place}" for place, kind in enumerate(self.types)]
        return f"SELECT {listed(*columns, '0 AS w', '0::BIGINT AS t' if self.final else '')} WHERE false"

    def _kept_back(self, name: str) -> bool:
        """Whether a side's rows without a partner are printed when their entries go."""
        return self.final and self._preserves(name) and self.kind != "semi" and self._side(name).table is not None

    def _arrived(self, at: TickTables, name: str) -> str:
        """A side's rows: their columns, time and number, whether they can have a partner, and their entries."""
        side, given = self._side(name), at.inputs[0 if name == "left" else 1]
        env = side.variables("")
        columns = [f"c{place}" for place in range(len(side.columns))]
        passes = _every((*side.alone.times, *side.alone.tests), env)
        matchable = f"coalesce({_every((*side.scan.times, *side.scan.tests), env)}, false) AS m"
        rows = f"SELECT {listed(*columns, 't', matchable, 'w')} FROM {given} WHERE {passes}"
        entry = [f"{term_sql(term, env)} AS e{place}" for place, term in enumerate(side.entry)]
        entry += [f"c{side.columns.index(column)} AS k{place}" for place, column in enumerate(side.key_columns)]
        once = f"SELECT {listed(*columns, 't', 'm', 'sum(w) AS w')} FROM ({rows}) GROUP BY ALL"
        return f"SELECT row_number() OVER () AS id, *{''.join(', ' + one for one in entry)} FROM ({once})"

    def _meetings(self, at: TickTables) -> str:
        """All meetings of the tick: the numbers of the rows that came, an entry's key, and the result with its time."""
        left, right = at.temporary("left"), at.temporary("right")
        parts = []
        rows, entries = self.left.variables("l."), self.right.variables("r.")
        if self.together is not None:
            on = f"l.m AND r.m AND l.t = r.t AND {_meets(self.together, {**rows, **entries, 'now': 'l.t'})}"
            parts.append(
                self._met(
                    self.together, {**rows, **entries, "now": "l.t"}, f"{left} l JOIN {right} r ON {on}", "l.id", "r.id"
                )
            )
        for name, later in (("left", self.left_later), ("right", self.right_later)):
            other = "right" if name == "left" else "left"
            if later is None:
                continue
            mine, its = name[0], other[0]
            env = {**self._side(name).variables(f"{mine}."), **self._side(other).entries(f"{its}.")}
            env["now"] = f"{mine}.t"
            meets = _meets(later, env)
            came, old = at.temporary(name), at.state(other)
            on = f"{mine}.m AND {its}.m AND {its}.t < {mine}.t AND {meets}"
            ids = ("l.id", "r.id")
            parts.append(self._met(later, env, f"{came} {mine} JOIN {at.temporary(other)} {its} ON {on}", *ids))
            ids = ("l.id", "NULL") if name == "left" else ("NULL", "r.id")
            key = [f"{its}.{column} AS {other}_{column}" for column in self._side(other).key]
            joined = f"{came} {mine} JOIN {old} {its} ON {mine}.m AND {meets}"
            parts.append(self._met(later, env, joined, *ids, key, f"{mine}.w * {its}.n"))
        if not parts:
            parts.append(self._met(None, {}, f"{left} l, {right} r WHERE false", "l.id", "r.id"))
        return " UNION ALL BY NAME ".join(parts)

    def _met(
        self,
        meeting: Meeting | None,
        env: Env,
        joined: str,
        left: str,
        right: str,
        key: Sequence[str] = (),
        weight: str = "l.w * r.w",
    ) -> str:
        values = []
        if self._pairs:
            terms = meeting.values if meeting is not None else ()
            made = [term_sql(term, env) for term in terms] or ["NULL"] * len(self.types)
            values = [
                f"CAST({value} AS {kind}) AS c{place}"
                for place, (value, kind) in enumerate(zip(made, self.types, strict=True))
            ]
        time = f"CAST({env.get('now', 'NULL')} AS BIGINT) AS t"
        keys = {f"{name}_{column}": f"CAST(NULL AS {kind}) AS {name}_{column}" for name in ("left", "right")
                for column, kind in self._key_columns(self._side(name))}  # fmt: skip
        for one in key:
            keys[one.rpartition(" AS ")[2]] = one
        ids = [f"CAST({left} AS BIGINT) AS left_id", f"CAST({right} AS BIGINT) AS right_id"]
        return f"SELECT {listed(*ids, *keys.values(), *values, f'{weight} AS w', time)} FROM {joined}"

    def _matched(self, at: TickTables, name: str) -> list[TickStatement]:
        """The rows of a side that have come and have a partner, and its entries that have one now."""
        side, meetings = self._side(name), at.temporary("meetings")
        found = [
            TickStatement(
                f"SELECT DISTINCT {name}_id AS id FROM {meetings} WHERE {name}_id IS NOT NULL",
                at.temporary(f"{name}_ids"),
            )
        ]
        if side.table is not None:
            keys = [f"{name}_{column} AS {column}" for column in side.key]
            old = f"SELECT DISTINCT {listed(*keys) or 'true AS there'} FROM {meetings} WHERE {name}_id IS NULL"
            found.append(TickStatement(old, at.temporary(f"{name}_met")))
        return found

    def _alone(self, at: TickTables, name: str) -> list[str]:
        """What becomes of a preserved side's rows alone: those that came, and those that waited and have a partner."""
        side, came = self._side(name), at.temporary(name)
        semi = self.kind == "semi"
        shown = self._result(side.padded, side.variables("r."), "r.t")
        met = f"r.id IN (FROM {at.temporary(f'{name}_ids')})"
        decided = "" if semi else "NOT "
        which = f"r.m AND {decided}{met}"
        if self._kept_back(name):
            which = "false"
        found = [f"SELECT {listed(*shown, 'r.w')} FROM {came} r WHERE {which if semi else f'NOT r.m OR ({which})'}"]
        if side.table is None or self._kept_back(name):
            return found
        old = f"{at.state(name)} r SEMI JOIN {at.temporary(f'{name}_met')} m ON {same(side.key, 'r', 'm')}"
        shown = self._result(side.remembered, side.entries("r."), "getvariable('last')")
        return [*found, f"SELECT {listed(*shown, 'r.alone' if semi else '-r.alone AS w')} FROM {old}"]

    def _result(self, terms: Sequence[Term | None], env: Env, time: str) -> list[str]:
        """A result of one side alone, with its time if results have one."""
        values = ("NULL" if term is None else term_sql(term, env) for term in terms)
        shown = [
            f"CAST({value} AS {kind}) AS c{place}"
            for place, (value, kind) in enumerate(zip(values, self.types, strict=True))
        ]
        return [*shown, *([f"{time} AS t"] if self.final else [])]

    def _kept(self, at: TickTables, name: str) -> list[TickStatement]:
        """A side's entries with what came; a semi or anti join needs none that has a partner."""
        side, state = self._side(name), at.state(name)
        if side.table is None:
            return []
        decided = self._preserves(name) and not self._pairs
        key, came = listed(*side.key), at.temporary(name)
        waits = f"id NOT IN (FROM {at.temporary(f'{name}_ids')})"
        which = f"m AND {waits}" if decided else "m"
        alone = f"CASE WHEN {waits} THEN w ELSE 0 END"
        rows = f"SELECT {listed(key, 'w AS n', f'{alone} AS alone')} FROM {came} WHERE {which}"
        keys = f"SELECT {key or 'true AS there'} FROM ({rows})"
        touched = f"{keys} UNION SELECT {key or 'there'} FROM {at.temporary(f'{name}_met')}"
        is_met = f"EXISTS (FROM {at.temporary(f'{name}_met')} m WHERE {same(side.key, 's', 'm')})"
        old = [f"s.{column}" for column in side.key]
        is_touched = f"SEMI JOIN {at.temporary(f'{name}_touched')} t ON {same(side.key, 's', 't')}"
        waiting = f"CASE WHEN {is_met} THEN 0 ELSE s.alone END AS alone"
        kept = f"SELECT {listed(*old, 's.n', waiting)} FROM {state} s {is_touched}"
        kept += f" WHERE NOT {is_met}" if decided else ""
        both = f"SELECT {listed(key, 'sum(n) AS n', 'sum(alone) AS alone')} FROM ({kept} UNION ALL {rows}) GROUP BY ALL"
        return [
            TickStatement(touched, at.temporary(f"{name}_touched")),
            TickStatement(f"{both} HAVING sum(n) <> 0", at.temporary(f"{name}_new")),
            TickStatement(
                f"DELETE FROM {state} s USING {at.temporary(f'{name}_touched')} t WHERE {same(side.key, 's', 't')}"
            ),
            TickStatement(f"INSERT INTO {state} SELECT * FROM {at.temporary(f'{name}_new')}"),
        ]

    def _over(self, at: TickTables, name: str) -> str:
        """The rows without a partner whose entries go."""
        side, gone = self._side(name), _gone(self._side(name).table)
        assert side.table is not None, "entries are of a table"
        shown = self._result(side.remembered, side.entries("r."), f"CAST({_end(side.table, 'r.')} AS BIGINT)")
        return f"SELECT {listed(*shown, 'r.alone AS w')} FROM (SELECT * FROM {at.state(name)} WHERE {gone}) r"

    def _aged(self, at: TickTables, state: StateTable) -> list[TickStatement]:
        """Entries so old that their times are not told apart are one."""
        side, table = self._side(state.name), at.state(state.name)
        assert side.table is not None, "entries are of a table"
        ages = [alike for _, expires, alike in side.table.ages if expires is None and alike is not None]
        if not ages:
            return []
        old = f"t <= {CLOSED} - {ages[0] - 1}"
        key = [f"{_LONG_AGO}::BIGINT AS t" if name == "t" else name for name in side.key]
        merged = f"SELECT {listed(*key, 'sum(n) AS n', 'sum(alone) AS alone')} FROM {table} WHERE {old} GROUP BY ALL"
        return [
            TickStatement(merged, at.temporary(f"{state.name}_old")),
            TickStatement(f"DELETE FROM {table} WHERE {old}"),
            TickStatement(f"INSERT INTO {table} SELECT * FROM {at.temporary(f'{state.name}_old')}"),
        ]


def _end(table: Table, alias: str) -> str:
    """The timestamp after which no row can meet an entry."""
    ends = [f"{alias}t + {expires}" for _, expires, _ in table.ages if expires is not None]
    ends += [] if table.deadline is None else [str(table.deadline)]
    return ends[0] if len(ends) == 1 else f"least({', '.join(ends)})"


def _gone(table: Table | None) -> str:
    """Whether an entry of a table is of no use any more."""
    if table is None or (table.deadline is None and all(expires is None for _, expires, _ in table.ages)):
        return ""
    return f"{_end(table, '')} <= {CLOSED}"


def _every(tests: Sequence[Test], env: Env) -> str:
    return " AND ".join(one_test(test, env) for test in tests) or "true"


def _meets(meeting: Meeting, env: Env) -> str:
    """The conditions of a meeting."""
    found = []
    for join in meeting.joins:
        found += [f"{env[variable]} = {term_sql(term, env)}" for variable, term in join.equal]
        found += [one_test(test, env) for test in join.tests]
        for stream, low, high in join.ages:
            time = env[age(stream)]
            found += [] if low is None else [f"{env['now']} >= {time} + {low}"]
            found += [] if high is None else [f"{env['now']} <= {time} + {high}"]
    return " AND ".join(found) or "true"


def term_sql(term: Term, env: Env) -> str:
    """The value of a term; NULL stays NULL."""
    assert term.offset is None or isinstance(term.offset, int | float | str), "formulas are resolved"
    if term.variable is None:
        return literal(term.offset)
    found = env[term.variable] + (f" - {env[term.minus]}" if term.minus is not None else "")
    found = f"({found} + {literal(term.offset)})" if term.offset else found
    if term.minus is not None:
        return found
    limited = found
    if term.places:
        return _greatest_place(term.places, found)
    for how, limit in (("greatest", term.low), ("least", term.high)):
        if limit is not None:
            assert isinstance(limit, int | float), "formulas are resolved"
            limited = f"{how}({limited}, {literal(limit)})"
    for outer, inner, limits in (("greatest", "least", term.lows), ("least", "greatest", term.highs)):
        if limits:
            several = [f"{outer}({', '.join(term_sql(part, env) for part in limit)})" for limit in limits]
            limited = f"{outer}({limited}, {inner}({', '.join(several)}))"
    return limited if limited == found else f"CASE WHEN {found} IS NOT NULL THEN {limited} END"


def _greatest_place(places: Sequence[Value], found: str) -> str:
    """The greatest of some values that is not above another one."""
    ordered = sorted((place for place in places if place is not None), reverse=True)
    cases = " ".join(f"WHEN {found} >= {literal(place)} THEN {literal(place)}" for place in ordered)
    return f"CASE {cases} END"
