"""Aggregates of groups: an entry a group, with its sums and best values, and one for each value that is kept apart.

Linear aggregates need no more than sums and the number of rows (Budiu et al., *DBSP*, §7.2): a changed group gives its
old row back, and its new one. Sessions of the same other keys that touch are merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streambound_runtime.engine.aggregates import of_kept_values, of_sums
from streambound_runtime.engine.tables import (
    CLOSED,
    EXACT,
    HUGEINT,
    LAST,
    VARCHAR,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    exchanged,
    key_is_over,
    listed,
    places,
    same,
)
from streambound_runtime.engine.time_buckets import expired, shown_at
from streambound_runtime.operators.circuit_plan import GroupValue, TimeBucket

_NO_VALUES = "'[]'"


@dataclass(frozen=True, slots=True)
class GroupArgument:
    """An input with a group's key and a value of this type: of an aggregate that is no sum.

    ``greatest`` says that the greatest (True) or least (False) value is enough, None that each is kept with its number.
    With a ``bucket``, whose value follows in the input, the best one is enough of those of closed buckets. A value of
    the type ``beside``, which follows first, is shown of the row with the best one, or an array is in its order.
    """

    type: str
    greatest: bool | None = None
    bucket: TimeBucket | None = None
    bucket_type: str = ""
    beside: str = ""

    @property
    def kept_type(self) -> str:
        """The type of what is kept: of a value with another one beside it both, which NULL is the least of."""
        return f"STRUCT(y {self.type}, n BOOLEAN, x {self.beside})" if self.beside else self.type

    def of_row(self, place: int) -> str:
        """The kept form of a row's value, which is at a place."""
        value, other = f"c{place}", f"c{place + 1}"
        if not self.beside:
            return value
        return f"CASE WHEN {value} IS NOT NULL THEN {{'y': {value}, 'n': {other} IS NOT NULL, 'x': {other}}} END"

    def shown_of(self, kept: str) -> str:
        """The result value of a kept one."""
        return f"({kept}).x" if self.beside else kept

    @property
    def apart(self) -> bool:
        """Whether values have entries of their own."""
        return self.greatest is None or self.bucket is not None


@dataclass(frozen=True, slots=True)
class SqlGroup:
    """Aggregates of the rows of the first input that agree in their first columns, the keys; sums are added up.

    The other inputs are the ``arguments``, and, where groups go with the key at the ``ending`` places, the keys that
    are over.
    ``weighted`` says that an input row's numbers are sums already, of as many
    rows as its weight says. Groups go with the ``bucket`` that one of their keys is; with ``final`` that is when they
    are printed. Groups that differ only in the ends of a ``session``, at these places of the key, are one if they
    touch. Of those that differ only in the ``rising`` key, which never falls, the greatest one stays.
    """

    name: str
    inputs: tuple[str, ...]
    keys: tuple[str, ...]
    sums: tuple[str, ...]
    weighted: bool
    values: tuple[GroupValue, ...]
    value_types: tuple[str, ...]
    arguments: tuple[GroupArgument, ...] = ()
    bucket: TimeBucket | None = None
    session: tuple[int, int] | None = None
    final: bool = False
    ending: tuple[int, ...] = ()
    rising: int | None = None

    @property
    def types(self) -> tuple[str, ...]:
        """The keys' types, then the values'."""
        return (*self.keys, *self.value_types)

    @property
    def timed(self) -> bool:
        """Whether results are final: then they have the last timestamp of their bucket."""
        return self.final

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The groups, and the values of each argument that are kept apart."""
        key = () if self.bucket is None else (self.bucket.key,)
        gone = "".join(expired(self.bucket, f"c{n}", CLOSED, self.keys[n] == VARCHAR) for n in key)
        keys = tuple(zip(places(len(self.keys)), self.keys, strict=True))
        best = tuple((f"b{n}", one.kept_type) for n, one in enumerate(self.arguments) if one.greatest is not None)
        sums = tuple((f"s{n}", kind) for n, kind in enumerate(self.sums))
        ending = tuple(f"c{place}" for place in self.ending)
        groups = StateTable("groups", (*keys, ("n", HUGEINT), *sums, *best), gone, ending)
        apart = [(n, one) for n, one in enumerate(self.arguments) if one.apart]
        values = (
            StateTable(f"values{n}", (*keys, ("v", one.kept_type), *_bucket_column(one), ("w", HUGEINT)), gone, ending)
            for n, one in apart
        )
        return (groups, *values)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The groups that rows and values touch, before and after; then what goes."""
        groups, *_ = self.states
        made = [*self._came(at), *self._before(at), *self._changed(at)]
        if not self.final:
            made.append(TickStatement(self._changes(at), at.delta))
        new = f"SELECT * FROM {at.temporary('new')}"
        made += exchanged(at.state(groups.name), at.temporary("came"), self._apart, new)
        made += [one for number in self._kept_apart for one in self._kept_values(at, number)]
        made += self._closed_values(at)
        if self.final:
            made.append(TickStatement(self._final(at), at.delta))
        made += [] if self.rising is None else self._passed(at, f"c{self.rising}")
        return (*made, *(one for state in self.states for one in deleted(state, at)))

    def _passed(self, at: TickTables, rising: str) -> list[TickStatement]:
        """The statements that delete groups with a lesser value of the rising key than another group of the others."""
        others, last = [name for name in self._names if name != rising], at.temporary("last")
        query = f"SELECT {listed(*others, f'max({rising}) AS m')} FROM {at.state('groups')} GROUP BY ALL"
        over = f"{same(others, 's', 'l')} AND l.m IS NOT NULL AND (s.{rising} < l.m OR s.{rising} IS NULL)"
        gone = (f"DELETE FROM {at.state(state.name)} s USING {last} l WHERE {over}" for state in self.states)
        return [TickStatement(query, last), *map(TickStatement, gone)]

    @property
    def _names(self) -> tuple[str, ...]:
        return places(len(self.keys))

    @property
    def _apart(self) -> tuple[str, ...]:
        """The keys of which all groups are looked at: all but the ends of sessions."""
        return tuple(name for place, name in enumerate(self._names) if place not in (self.session or ()))

    @property
    def _kept_apart(self) -> list[int]:
        return [number for number, one in enumerate(self.arguments) if one.apart]

    def _values_state(self, number: int) -> StateTable:
        """The state of an argument's values."""
        return next(state for state in self.states if state.name == f"values{number}")

    # --- what came --------------------------------------------------------------------------------------------------

    def _came(self, at: TickTables) -> list[TickStatement]:
        """The additions to each group: numbers of rows, sums, best values, and values that are kept one by one."""
        groups, *_ = self.states
        names, key = groups.names[len(self.keys) :], ", ".join(self._names)
        own = {"n": "coalesce(sum(w), 0)"} | {f"s{number}": self._sum(number) for number in range(len(self.sums))}
        parts = [self._part(names, own, f"{at.inputs[0]}{self._by_key}")]
        nothing = {"n": "0"} | {f"s{n}": "'0'" if kind == EXACT else "0" for n, kind in enumerate(self.sums)}
        made = []
        for number, one in enumerate(self.arguments):
            v = one.of_row(len(self.keys))
            bucket = f"c{len(self.keys) + 1 + bool(one.beside)} AS b" if one.bucket is not None else ""
            values = f"SELECT {listed(key, f'{v} AS v', bucket, 'sum(w) AS w')} FROM {at.inputs[1 + number]}"
            values += f" WHERE {v} IS NOT NULL GROUP BY ALL HAVING sum(w) <> 0"
            if one.apart:
                made.append(TickStatement(values, at.temporary(f"values{number}")))
                parts.append(self._part(names, nothing, at.temporary(f"values{number}")))
            else:
                best = {f"b{number}": f"{'max' if one.greatest else 'min'}(v)"}
                parts.append(self._part(names, nothing | best, f"({values}) WHERE w > 0{self._by_key}"))
        came = parts[0] if len(parts) == 1 else self._added_up(" UNION ALL ".join(parts))
        return [*made, TickStatement(came, at.temporary("came"))]

    def _part(self, names: Sequence[str], values: Mapping[str, str], rows: str) -> str:
        """Entries of groups with these values, where others are NULL."""
        shown = (f"{values.get(name, 'NULL')} AS {name}" for name in names)
        return f"SELECT {listed(*self._names, *shown)} FROM {rows}"

    def _added_up(self, entries: str) -> str:
        """Entries of groups, of which several may be of one, as one each."""
        return f"SELECT {listed(*self._names, *self._totals)} FROM ({entries}){self._by_key}"

    @property
    def _by_key(self) -> str:
        return f" GROUP BY {', '.join(self._names)}" if self._names else ""

    @property
    def _totals(self) -> list[str]:
        """The numbers, sums and best values of entries together."""
        groups, *_ = self.states
        added = {f"b{n}": ("max({})" if one.greatest else "min({})") for n, one in enumerate(self.arguments)}
        added |= {f"s{n}": "exact_total(list({}))" for n, kind in enumerate(self.sums) if kind == EXACT}
        return [f"{added.get(name, 'sum({})').format(name)} AS {name}" for name in groups.names[len(self.keys) :]]

    def _sum(self, number: int) -> str:
        """A sum of the rows that came."""
        column = f"c{len(self.keys) + number}"
        if self.sums[number] != EXACT:
            return f"coalesce(sum(CAST({column} AS {HUGEINT}){'' if self.weighted else ' * w'}), 0)"
        if self.weighted:
            return f"exact_total(list({column}))"
        squared = next((value.sums[1] for value in self.values if number in value.squares), None)
        if squared is not None:  # of the values themselves: what is in the column has been rounded
            return f"exact_squares(list(c{len(self.keys) + squared}), list(w))"
        return f"exact_sum(list({column}), list(w))"

    def _before(self, at: TickTables) -> list[TickStatement]:
        """The groups that change, as they were, and their values."""
        changes = f"SEMI JOIN {at.temporary('came')} t ON {same(self._apart, 's', 't')}"
        old = TickStatement(f"SELECT s.* FROM {at.state('groups')} s {changes}", at.temporary("old"), view=self.final)
        return [old] + [
            TickStatement(f"SELECT s.* FROM {at.state(f'values{n}')} s {changes}", at.temporary(f"old_values{n}"))
            for n in self._kept_apart
        ]

    def _changed(self, at: TickTables) -> list[TickStatement]:
        """The groups that change, as they are now, and their values."""
        every = f"SELECT * FROM {at.temporary('old')} UNION ALL SELECT * FROM {at.temporary('came')}"
        return [
            TickStatement(self._merged(every), at.temporary("new")),
            *(
                TickStatement(self._new_values(at, number), at.temporary(f"new_values{number}"))
                for number in self._kept_apart
            ),
        ]

    def _merged(self, every: str) -> str:
        """Groups and what came to them, added up; sessions that touch as one."""
        if self.session is None:
            return self._added_up(every) + (" HAVING sum(n) <> 0" if self._names else "")
        start, end = (f"c{place}" for place in self.session)
        over = (f"PARTITION BY {', '.join(self._apart)} " if self._apart else "") + f"ORDER BY {start}, {end}"
        before = f"max({end}) OVER ({over} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        begins = f"SELECT *, CASE WHEN {start} <= {before} THEN 0 ELSE 1 END AS begins FROM ({every})"
        numbered = f"SELECT *, sum(begins) OVER ({over} ROWS UNBOUNDED PRECEDING) AS session FROM ({begins})"
        ends = {start: f"min({start}) AS {start}", end: f"max({end}) AS {end}"}
        shown = listed(*(ends.get(name, name) for name in self._names), *self._totals)
        return f"SELECT {shown} FROM ({numbered}) GROUP BY {listed(*self._apart, 'session')}"

    def _new_values(self, at: TickTables, number: int) -> str:
        """An argument's values of the groups that change, as they are now."""
        state = self._values_state(number)
        old, came = at.temporary(f"old_values{number}"), at.temporary(f"values{number}")
        every = f"SELECT * FROM {old} UNION ALL SELECT * FROM {came}"
        names = state.names[:-1]
        if self.session is None:
            return f"SELECT {listed(*names, 'sum(w) AS w')} FROM ({every}) GROUP BY ALL HAVING sum(w) <> 0"
        start, end = (f"c{place}" for place in self.session)
        shown = listed(*(f"g.{name}" if name in (start, end) else f"v.{name}" for name in names), "sum(v.w) AS w")
        within = f"{same(self._apart, 'v', 'g')} AND v.{start} >= g.{start} AND v.{end} <= g.{end}"
        joined = f"({every}) v JOIN {at.temporary('new')} g ON {within}"
        return f"SELECT {shown} FROM {joined} GROUP BY ALL HAVING sum(v.w) <> 0"

    def _kept_values(self, at: TickTables, number: int) -> list[TickStatement]:
        """The statements that keep an argument's values: of a group those that change, and all where sessions merge."""
        state = self._values_state(number)
        new, came = at.temporary(f"new_values{number}"), at.temporary(f"values{number}")
        if self.session is not None:
            return exchanged(at.state(state.name), at.temporary("came"), self._apart, f"SELECT * FROM {new}")
        value = state.names[:-1]
        changed = f"SELECT n.* FROM {new} n SEMI JOIN {came} t ON {same(value, 'n', 't')}"
        return exchanged(at.state(state.name), came, value, changed)

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _changes(self, at: TickTables) -> str:
        """The new rows, less the old ones."""
        parts = []
        for when, weight in (("new", 1), ("old", -1)):
            values = [at.temporary(f"{when}_values{number}") for number in range(len(self.arguments))]
            parts.append(self._shown(at.temporary(when), values, f"{weight} AS w"))
        names = ", ".join(places(len(self.types)))
        return (
            f"SELECT {listed(names, 'sum(w) AS w')} FROM ({' UNION ALL '.join(parts)}) GROUP BY ALL HAVING sum(w) <> 0"
        )

    def _final(self, at: TickTables) -> str:
        """The rows of the groups that go."""
        groups, *_ = self.states
        values = [at.state(f"values{n}") for n in range(len(self.arguments))]
        parts = []
        if self.bucket is not None:
            key = self.bucket.key
            time = shown_at(self.bucket, f"g.c{key}", self.keys[key] == VARCHAR)
            over = f"(SELECT * FROM {at.state('groups')} WHERE {groups.expired})"
            parts.append(self._shown(over, values, "1 AS w", f"CAST({time} AS BIGINT) AS t"))
        if groups.ending:
            which = key_is_over(groups.ending, "s", at)
            which += f" AND ({groups.expired}) IS NOT TRUE" if groups.expired else ""
            over = f"(SELECT * FROM {at.state('groups')} s WHERE {which})"
            parts.append(self._shown(over, values, "1 AS w", f"{LAST} AS t"))
        return " UNION ALL ".join(parts)

    def _shown(self, groups: str, kept: Sequence[str], *more: str) -> str:
        """The rows of groups, with the tables of the values that are kept apart, and what else is shown of each."""
        joins, shown = [], []
        for place, (value, kind) in enumerate(zip(self.values, self.value_types, strict=True)):
            name = f"c{len(self.keys) + place}"
            if value.values is None:
                number = f"g.s{value.sums[0]}" if value.sums[0] >= 0 else "g.n"
                exact = any(self.sums[place] == EXACT for place in value.sums[1:])
                total, squares = _total(value.sums[1:], exact), _total(value.squares, exact)
                shown.append(f"{of_sums(value, number, total, squares, kind, exact)} AS {name}")
                continue
            argument = self.arguments[value.values]
            if not argument.apart:
                shown.append(f"{argument.shown_of(f'g.b{value.values}')} AS {name}")
                continue
            table = f"v{place}"
            query = of_kept_values(value, kind, argument.type, kept[value.values], self._names, argument.beside != "")
            joins.append(f"LEFT JOIN ({query}) {table} ON {same(self._names, 'g', table)}")
            shown.append(f"{self._of_argument(value, table)} AS {name}")
        keys = listed(*(f"g.{name}" for name in self._names))
        return f"SELECT {listed(keys, *shown, *more)} FROM {groups} g {' '.join(joins)}"

    def _of_argument(self, value: GroupValue, table: str) -> str:
        assert value.values is not None
        argument, found = self.arguments[value.values], f"{table}.value"
        if argument.bucket is not None:
            return argument.shown_of(f"{'greatest' if argument.greatest else 'least'}(g.b{value.values}, {found})")
        if value.function in ("count", "array_agg"):  # which are not NULL where there are no values
            return f"coalesce({found}, {0 if value.function == 'count' else _NO_VALUES})"
        return argument.shown_of(found)

    # --- what goes --------------------------------------------------------------------------------------------------

    def _closed_values(self, at: TickTables) -> list[TickStatement]:
        """Of values of closed buckets, the best one goes to the group (proposition D2)."""
        made = []
        for number, one in enumerate(self.arguments):
            if one.bucket is None:
                continue
            values, over = at.state(f"values{number}"), at.temporary(f"over{number}")
            gone = expired(one.bucket, "b", CLOSED, one.bucket_type == VARCHAR)
            key = ", ".join(self._names)
            best, better = ("max", "greatest") if one.greatest else ("min", "least")
            by_key = f" GROUP BY {key}" if key else " HAVING count(*) > 0"
            made += [
                TickStatement(f"SELECT {listed(key, f'{best}(v) AS v')} FROM {values} WHERE {gone}{by_key}", over),
                TickStatement(
                    f"UPDATE {at.state('groups')} AS s SET b{number} = {better}(s.b{number}, o.v) FROM {over} o "
                    f"WHERE {same(self._names, 's', 'o')}"
                ),
                TickStatement(f"DELETE FROM {values} WHERE {gone}"),
            ]
        return made


def _bucket_column(argument: GroupArgument) -> tuple[tuple[str, str], ...]:
    return () if argument.bucket is None else (("b", argument.bucket_type),)


def _total(sums: Sequence[int], exact: bool) -> str:
    several = [f"g.s{place}" for place in sums]
    if exact and len(several) > 1:
        return f"exact_total([{', '.join(several)}])"
    return " + ".join(several) or "0"
