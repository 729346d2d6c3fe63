"""Semi, anti and outer joins of two streams: a row waits while its fate is open (propositions B1 to B4).

What is remembered are the entries of the inner join's tables, and of a preserved side how many rows of each have no
partner yet. Of what is only compared with later rows an entry has the greatest value, or the least. Rows that come in
one tick meet each other as they would have one after the other: a row and an older one as the older one's entry. Of
``final`` results a row without a partner is printed once none can come, as its entry goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambound_runtime.engine.predicates import one_test, term_sql
from streambound_runtime.engine.stream_sides import Env, Meeting, WaitingSide
from streambound_runtime.engine.tables import (
    BIGINT,
    CLOSED,
    HUGEINT,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    exchanged,
    listed,
    same,
)
from streambound_runtime.operators.plan import JoinType, Table, Term, Test

_LONG_AGO = -(2**62)
"""The time of entries that are so old that their times need not be told apart."""


@dataclass(frozen=True, slots=True)
class SqlStreamJoin:
    """A join of two streams' rows.

    ``together`` says when rows of one timestamp meet, ``left_later`` when a left row meets an older right one's entry,
    ``right_later`` the other way round; None where they never do.
    """

    name: str
    inputs: tuple[str, ...]
    kind: JoinType
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
        """Whether a side is preserved by the join."""
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
        if self._searches:
            made.append(TickStatement(self._looked_up(at), at.temporary("looked_up")))
        made.append(TickStatement(self._meetings(at), at.temporary("meetings")))
        for name in ("left", "right"):
            if self._preserves(name):
                made += self._matched(at, name)
        folded = [one for name in ("left", "right") for one in self._kept(at, name)]
        parts = [part for name in ("left", "right") if self._preserves(name) for part in self._alone(at, name)]
        if self._pairs:
            parts.append(f"SELECT {listed(*self._shown, 'w')} FROM {at.temporary('meetings')}")
        found = at.temporary("found") if self.final else at.delta
        made += [TickStatement(self._together(parts), found), *folded]
        if self.final:
            over = [self._over(at, name) for name in ("left", "right") if self._kept_back(name)]
            made.append(TickStatement(self._together([f"SELECT * FROM {found}", *over]), at.delta))
        for state in self.states:
            made += self._aged(at, state)
            made += deleted(state, at)
        return tuple(made)

    @property
    def _shown(self) -> tuple[str, ...]:
        return (*(f"c{place}" for place in range(len(self.types))), *(("t",) if self.final else ()))

    def _together(self, parts: Sequence[str]) -> str:
        if parts:
            return " UNION ALL ".join(parts)
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
            on = f"l.m AND r.m AND l.t = r.t AND {self.together.holds({**rows, **entries, 'now': 'l.t'})}"
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
            meets = later.holds(env)
            came, old = at.temporary(name), at.state(other)
            if name == "left" and self._searches:
                parts.append(self._met(later, env, self._found(at, later, env), "l.id", "NULL"))
            else:
                on = f"{mine}.m AND {its}.m AND {its}.t < {mine}.t AND {meets}"
                joined = f"{came} {mine} JOIN {at.temporary(other)} {its} ON {on}"
                if (ends := later.window) is not None:
                    joined = _near(came, mine, at.temporary(other), its, ends, on)
                parts.append(self._met(later, env, joined, "l.id", "r.id"))
            ids = ("l.id", "NULL") if name == "left" else ("NULL", "r.id")
            key = [f"{its}.{column} AS {other}_{column}" for column in self._side(other).key]
            joined = f"{came} {mine} JOIN {old} {its} ON {mine}.m AND {meets}"
            parts.append(self._met(later, env, joined, *ids, key, f"{mine}.w * {its}.n"))
        if not parts:
            parts.append(self._met(None, {}, f"{left} l, {right} r WHERE false", "l.id", "r.id"))
        return " UNION ALL ".join(parts)

    @property
    def _searches(self) -> bool:
        """Whether a left row only asks whether it has older right rows, the last of which tell."""
        if self._pairs or self.left_later is None:
            return False
        limited = any(high is not None for join in self.left_later.joins for *_, high in join.ages)
        return not (self.right.best and limited)

    def _looked_up(self, at: TickTables) -> str:
        """The right rows of the tick as a left one looks for them: the entries at each time, with the best so far.

        Those that agree but for that, and for the time, have one number ``g``.
        """
        side, came = self.right, at.temporary("right")
        window = f"OVER ({f'PARTITION BY {listed(*side.alike)} ' if side.alike else ''}ORDER BY t)"
        number = f"dense_rank() OVER (ORDER BY {listed(*side.alike)})" if side.alike else "1"
        best = (f"{how}({name}) {window} AS {name}" for name, how in side.best.items())
        return f"SELECT DISTINCT {listed(*side.alike, *best, 't', f'{number} AS g')} FROM {came} WHERE m"

    def _found(self, at: TickTables, later: Meeting, env: Env) -> str:
        """Left rows with the last entries before them: if these do not meet them, no older ones of the tick do."""
        versions, alike = at.temporary("looked_up"), self.right.alike
        last = {variable for variable, name in self.right.entries("").items() if name not in alike}
        named = {variable: f"q.{name}" for variable, name in self.right.entries("").items() if name in alike}
        conditions = list(later.conditions({**env, **named}))
        of_group = [sql for variables, sql in conditions if not variables & last]
        of_last = [sql for variables, sql in conditions if variables & last]
        youngest = max([1, *(low for join in later.joins for _, low, _ in join.ages if low is not None)])
        groups = f"(SELECT DISTINCT {listed(*alike, 'g')} FROM {versions})"
        joined = f"{at.temporary('left')} l JOIN {groups} q ON {' AND '.join(['l.m', *of_group])}"
        joined += f" ASOF JOIN {versions} r ON q.g = r.g AND l.t - {youngest} >= r.t"
        return f"{joined} WHERE {' AND '.join(of_last) or 'true'}"

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
            values.append(f"{weight} AS w")
            values += [f"CAST({env.get('now', 'NULL')} AS BIGINT) AS t"] if self.final else []
        asked = [name for name in ("left", "right") if self._preserves(name)]
        keys = {f"{name}_{column}": f"CAST(NULL AS {kind}) AS {name}_{column}" for name in asked
                for column, kind in self._key_columns(self._side(name))}  # fmt: skip
        keys |= {name: one for one in key if (name := one.rpartition(" AS ")[2]) in keys}
        ids = {"left": f"CAST({left} AS BIGINT) AS left_id", "right": f"CAST({right} AS BIGINT) AS right_id"}
        return f"SELECT {listed(*(ids[name] for name in asked), *keys.values(), *values)} FROM {joined}"

    def _matched(self, at: TickTables, name: str) -> list[TickStatement]:
        """The rows of a side that have come and have a partner, and its entries that have one now."""
        side, meetings = self._side(name), at.temporary("meetings")
        found = [
            TickStatement(
                f"SELECT DISTINCT {name}_id AS id FROM {meetings} WHERE {name}_id IS NOT NULL",
                at.temporary(f"{name}_ids"),
                view=side.table is None,
            )
        ]
        if side.table is not None:
            keys = [f"{name}_{column} AS {column}" for column in side.key]
            old = f"SELECT DISTINCT {listed(*keys) or 'true AS there'} FROM {meetings} WHERE {name}_id IS NULL"
            found.append(TickStatement(old, at.temporary(f"{name}_met")))
        return found

    def _alone(self, at: TickTables, name: str) -> list[str]:
        """Changes of a preserved side's rows without a partner: those that came, and those that found one."""
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
        return [*found, f"SELECT {listed(*shown, 'r.alone' if semi else '-r.alone AS w')} FROM {old} WHERE r.alone > 0"]

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
        preserved = self._preserves(name)
        decided = preserved and not self._pairs
        is_new, alone = "m", "0 AS alone"
        if preserved:
            waits = f"id NOT IN (FROM {at.temporary(f'{name}_ids')})"
            is_new = f"m AND {waits}" if decided else "m"
            alone = f"CASE WHEN {waits} THEN w ELSE 0 END AS alone"
        (kept,) = (one for one in self.states if one.name == name)
        rows = f"SELECT {listed(*side.key, 'w AS n', alone)} FROM {at.temporary(name)} WHERE {is_new}"
        if not self._kept_back(name):
            rows = f"SELECT * FROM ({rows}) WHERE {kept.lasts}"
        found = []
        if preserved:
            gone = "DELETE FROM {0} s USING {1} m" if decided else "UPDATE {0} s SET alone = 0 FROM {1} m"
            met = gone.format(state, at.temporary(f"{name}_met"))
            found.append(TickStatement(f"{met} WHERE {same(side.key, 's', 'm')}"))
        if side.table.ages:  # an entry of rows of other times is another one
            return [*found, TickStatement(f"INSERT INTO {state} {_folded(side, rows)}")]
        new, key = at.temporary(f"{name}_new"), side.group
        old = f"SELECT s.* FROM {state} s SEMI JOIN ({rows}) t ON {same(key, 's', 't')}"
        return [
            *found,
            TickStatement(f"{_folded(side, f'{old} UNION ALL {rows}')} HAVING sum(n) > 0", new),
            *exchanged(state, new, key, f"SELECT * FROM {new}"),
        ]

    def _over(self, at: TickTables, name: str) -> str:
        """The rows without a partner whose entries go."""
        side, gone = self._side(name), _gone(self._side(name).table)
        assert side.table is not None, "entries are of a table"
        shown = self._result(side.remembered, side.entries("r."), f"CAST({_end(side.table, 'r.')} AS BIGINT)")
        return f"SELECT {listed(*shown, 'r.alone AS w')} FROM (SELECT * FROM {at.state(name)} WHERE {gone}) r"

    def _aged(self, at: TickTables, state: StateTable) -> list[TickStatement]:
        """Merge entries that are so old that their times do not matter."""
        side, table = self._side(state.name), at.state(state.name)
        assert side.table is not None, "entries are of a table"
        ages = [alike for _, expires, alike in side.table.ages if expires is None and alike is not None]
        if not ages:
            return []
        old = f"t <= {CLOSED} - {ages[0] - 1}"
        aged = f"SELECT * REPLACE ({_LONG_AGO}::BIGINT AS t) FROM {table} WHERE {old}"
        return [
            TickStatement(_folded(side, aged), at.temporary(f"{state.name}_old")),
            TickStatement(f"DELETE FROM {table} WHERE {old}"),
            TickStatement(f"INSERT INTO {table} SELECT * FROM {at.temporary(f'{state.name}_old')}"),
        ]


def _folded(side: WaitingSide, rows: str) -> str:
    """Rows of a side's entries with those that agree as one."""
    columns = (f"{side.best[name]}({name}) AS {name}" if name in side.best else name for name in side.key)
    return f"SELECT {listed(*columns, 'sum(n) AS n', 'sum(alone) AS alone')} FROM ({rows}) GROUP BY ALL"


def _near(later: str, mine: str, earlier: str, its: str, ends: tuple[int, int], on: str) -> str:
    """Rows with those that came within a distance before, which are in one of two spans of time of this length.

    Of one key there may be many in a tick, each of which would be compared with all others.
    """
    least, most = ends
    length = most - least + 1
    span = "t - {0} - ((t - {0}) % {1} + {1}) % {1}"
    first = f"SELECT *, {span.format(most, length)} AS first FROM {later}"
    rows = f"(SELECT * EXCLUDE (first), unnest([first, first + {length}]) AS span FROM ({first})) {mine}"
    others = f"(SELECT *, {span.format(0, length)} AS span FROM {earlier}) {its}"
    return f"{rows} JOIN {others} ON {mine}.span = {its}.span AND {on}"


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
