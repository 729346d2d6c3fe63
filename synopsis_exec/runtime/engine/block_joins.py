"""The SQL of a branch of a block: rows as its scans take them, joins of its participants, and the log of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streambound_runtime.engine.block_tables import BlockTables
from streambound_runtime.engine.predicates import one_test, term_sql
from streambound_runtime.engine.tables import BIGINT, EXACT, HUGEINT, TickStatement, TickTables, listed, same
from streambound_runtime.operators.plan import (
    JoinStep,
    Relations,
    Subplan,
    TableScan,
    Term,
    Test,
    Transition,
    age,
)

Columns = Sequence[tuple[str, str]]
"""Columns with their types."""
LONG_AGO = -(2**62)
"""The time in a log of entries that were there before the tick, and of those too old to be told apart."""


@dataclass(frozen=True, slots=True)
class JoinSetting:
    """Where participants are joined: the ``scans``, and ``rows``, where theirs are if they have no times.

    In a transition, which needs the times of the streams ``kept``, entries are looked up by what they have else. By
    ``spans`` of time a row meets the entries of its window only.
    """

    scans: Sequence[TableScan]
    rows: Sequence[str] | None = None
    kept: Sequence[int] | None = None
    spans: bool = False


@dataclass(frozen=True, slots=True)
class Joined:
    """Participants that are joined: FROM with its conditions, the variables in SQL, and who has the key.

    The columns of each participant are ``called``, as ``j0.{0}``.
    """

    sql: str
    env: Mapping[str, str]
    called: tuple[str, ...]
    keyed: str


class BranchSql:
    """A branch, number ``number`` of its block. Logs of tables are made on demand."""

    def __init__(self, block: BlockTables, number: int, branch: Subplan, at: TickTables) -> None:
        self.block, self.number, self.branch, self.at = block, number, branch, at
        self.kinds = dict(block.kinds[number])
        self.weights = block.weights
        self.keys = tuple(f"k{place}" for place in range(len(block.key_types)))
        self.made, self.by_key = set[int](), set[int]()

    # --- rows and relations -----------------------------------------------------------------------------------------

    def arrived(self) -> list[TickStatement]:
        """The rows that each scan can use, equal ones of a timestamp as one; none while some relation is empty.

        Cases of a block whose rows are apart may not need all relations.
        """
        needed = () if self.branch.apart else range(len(self.branch.relations))
        there = [f"EXISTS (FROM {self._related(place)})" for place in needed]
        names = {one.name: place for place, one in enumerate(self.block.streams)}
        steps = []
        for place, scan in enumerate(self.branch.scans):
            table = self.block.streams[names[scan.table]]
            keys = [f"c{column} AS k{n}" for n, column in enumerate(table.keys)]
            rows = self.at.inputs[names[scan.table]]
            steps.append(TickStatement(self._scanned(scan, rows, [*keys, "t"], there), self._rows(place)))
        return steps

    def related(self) -> list[TickStatement]:
        """The rows of each group of relations, joined with each other."""
        return [step for place, group in enumerate(self.branch.relations) for step in self._group(place, group)]

    def _group(self, place: int, group: Relations) -> list[TickStatement]:
        numbers = {one.name: number for number, one in enumerate(self.block.relations)}
        rows = [self.at.temporary(f"scan_{self.number}_{place}_{number}") for number in range(len(group.scans))]
        steps = [
            TickStatement(self._scanned(scan, self.at.temporary(f"relation_{numbers[scan.table]}"), [], []), table)
            for scan, table in zip(group.scans, rows, strict=True)
        ]
        joined = self._joined(group.joins, JoinSetting(group.scans, rows))
        values = [f"{joined.env[variable]} AS v{n}" for n, variable in enumerate(group.columns)] or ["true AS there"]
        inner = f"SELECT {listed(*values, *self.weights.product(joined.called))} FROM {joined.sql}"
        names = [value.rpartition(" AS ")[2] for value in values]
        return [
            *steps,
            TickStatement(self.weights.grouped(names, inner), self._related(place)),
        ]

    def _scanned(self, scan: TableScan, rows: str, more: Sequence[str], conditions: Sequence[str]) -> str:
        tables = (*self.block.streams, *self.block.relations)
        table = next(one for one in tables if one.name == scan.table)
        env = {variable: f"c{table.columns.index(column)}" for variable, column in scan.columns} | {"now": "t"}
        types = {variable: table.types[table.columns.index(column)] for variable, column in scan.columns}
        kept = [f"{env[variable]} AS v{n}" for n, variable in enumerate(scan.kept)]
        kept += [] if kept or more else ["true AS there"]
        factors = [[(env[variable], types[variable]) for variable in several] for several in scan.factors]
        tests = [*(self._test(test, env) for test in (*scan.times, *scan.tests)), *conditions]
        either = (" AND ".join(self._test(test, env) for test in several) for several in scan.either)
        tests += [f"({' OR '.join(f'({one})' for one in either)})"] if scan.either else []
        shown = listed(*kept, *more, *self.weights.of_rows(factors))
        return f"SELECT {shown} FROM {rows} WHERE {' AND '.join(tests) or 'true'} GROUP BY ALL HAVING count(*) > 0"

    def _rows(self, scan: int) -> str:
        return self.at.temporary(f"rows_{self.number}_{scan}")

    def _related(self, place: int) -> str:
        return self.at.temporary(f"related_{self.number}_{place}")

    def _log(self, table: int) -> str:
        return self.at.temporary(f"log_{self.number}_{table}")

    # --- joins ------------------------------------------------------------------------------------------------------

    def _joined(self, joins: Sequence[JoinStep], setting: JoinSetting) -> Joined:
        """Participants joined one after the other, each with its conditions."""
        env: dict[str, str] = {}
        called, parts, keyed, where = list[str](), list[str](), "", list[str]()
        for place, join in enumerate(joins):
            alias = f"j{place}"
            source, own = self._participant(join, alias, setting)
            on = self._moment(join, alias, env, setting)
            if setting.spans and (span := _span(join, env["now"], f"{alias}.a{{}}")) is not None:
                parts[0] = f"(SELECT *, unnest({span[0]}) AS {alias} FROM {parts[0]}) j0"
                on.append(f"j0.{alias} = {span[1]}")
            if self.keys and join.relations is None and setting.rows is None:
                on += [same(self.keys, keyed, alias)] if keyed else []
                keyed = keyed or alias
            on += [f"{own[name]} = {self._term(term, env)}" for name, term in join.equal]
            env |= own
            for test in join.tests:
                sides = (env[name] for name in (test.left, test.right) if name is not None)
                (where if any(side.startswith(f"{alias}v.") for side in sides) else on).append(self._test(test, env))
            if place:
                parts.append(f" JOIN {source} {alias} ON {' AND '.join(on) or 'true'}")
            else:
                parts.append(f"{source} {alias}")
                where += on
            called.append(f"{alias}.{{0}}")
            if self._by_key(join, setting):
                more, called[-1], condition = self._looked_up(join, alias, env["now"])
                parts.append(more)
                where += condition
        return Joined(f"{''.join(parts)} WHERE {' AND '.join(where) or 'true'}", env, tuple(called), keyed)

    def _participant(self, join: JoinStep, alias: str, setting: JoinSetting) -> tuple[str, dict[str, str]]:
        """Where the rows or entries of a participant are, and its variables in SQL."""
        if join.scan is not None:
            source = self._rows(join.scan) if setting.rows is None else setting.rows[join.scan]
            return source, {variable: f"{alias}.v{n}" for n, variable in enumerate(setting.scans[join.scan].kept)}
        if join.relations is not None:
            columns = self.branch.relations[join.relations].columns
            return self._related(join.relations), {variable: f"{alias}.v{n}" for n, variable in enumerate(columns)}
        assert join.table is not None, "a participant is rows, relations or a table"
        entry = self._entry(join.table)
        if not self._by_key(join, setting):
            return self._entries(join.table), {variable: f"{alias}.{name}" for variable, name in entry.items()}
        last = self.block.best(self.number, join.table)
        own = {variable: f"{alias}{'v' * (name in last)}.{name}" for variable, name in entry.items()}
        return self._known(join.table), own

    def _entry(self, table: int) -> dict[str, str]:
        """The column of an entry that each variable of a table is."""
        found = {variable: f"e{n}" for n, variable in enumerate(self.branch.tables[table].columns)}
        return found | {age(stream): f"a{stream}" for stream, *_ in self.branch.tables[table].ages}

    def _moment(self, join: JoinStep, alias: str, env: dict[str, str], setting: JoinSetting) -> list[str]:
        """Which rows, or rows of a log, there are at the time of those that come, which the first of them says."""
        if join.relations is not None or setting.rows is not None or self._by_key(join, setting):
            return []
        if join.scan is not None:
            on = [f"{alias}.t = {env['now']}"] if "now" in env else []
            env.setdefault("now", f"{alias}.t")
            return on
        on = [f"{alias}.t {'<=' if join.now else '<'} {env['now']}"]
        for stream, low, high in join.ages:
            on += [f"{env['now']} >= {alias}.a{stream} + {low}"] if low is not None else []
            on += [f"{env['now']} <= {alias}.a{stream} + {high}"] if high is not None else []
        return on

    # --- entries by key ---------------------------------------------------------------------------------------------

    def _by_key(self, join: JoinStep, setting: JoinSetting) -> bool:
        """Whether the times of entries do not matter, so that a running sum for each key is enough."""
        if join.table is None or setting.kept is None or EXACT in self.weights.types:
            return False
        table = self.branch.tables[join.table]
        limited = any(high is not None for *_, high in join.ages)
        alone = len(table.best) < (1 if limited else 2) and (not join.ages or table.single)
        return alone and not any(s in setting.kept for s, *_ in table.ages)

    def _looked_up(self, join: JoinStep, alias: str, now: str) -> tuple[str, str, list[str]]:
        """The last sums of a key before a time, less those before a window; how they are called; the condition."""
        assert join.table is not None, "entries are of a table"
        versions = self._versions(join.table)
        least = max((low for _, low, _ in join.ages if low is not None), default=0 if join.now else 1)
        most = min((high for *_, high in join.ages if high is not None), default=None)
        found = f" ASOF JOIN {versions} {alias}v ON {alias}.g = {alias}v.g AND {now} - {least} >= {alias}v.t"
        if most is None:
            return found, f"{alias}v.{{0}}", []
        found += f" ASOF LEFT JOIN {versions} {alias}w ON {alias}.g = {alias}w.g AND {now} - {most + 1} >= {alias}w.t"
        sums = f"({alias}v.{{0}} - coalesce({alias}w.{{0}}, 0))"
        return found, sums, [f"{sums.format((*self.weights.names, 'm')[0])} > 0"]

    def _numbered(self, table: int) -> list[TickStatement]:
        """The keys of a log that are looked up, each with a number; at each time its sums so far and its best value."""
        best, ages = self.block.best(self.number, table), self.branch.tables[table].ages
        every = [name for name, _ in self.block.entry_columns(self.number, table)]
        names = [name for name in every if name not in best and name[0] != "a"]
        keys = f"SELECT DISTINCT {listed(*names) or 'true AS there'} FROM {self._entries(table)}{self._asked(table)}"
        time = f"l.a{ages[0][0]}" if self.branch.tables[table].single and ages else "l.t"
        sums = dict(zip(self.weights.names, self.weights.totals, strict=True)) or {"m": "count(*)"}
        window = f"OVER (PARTITION BY q.g ORDER BY {time})"  # rows of one time have the same sums
        shown = [f"{sum} {window} AS {name}" for name, sum in sums.items()]
        for name, greatest in best.items():
            value = f"{'max' if greatest else 'min'}(l.{name}) {window}"
            shown.append(f"CASE WHEN NOT bool_or(l.{name} IS NULL) {window} THEN {value} END AS {name}")
        alike = f"{self._entries(table)} l JOIN {self._known(table)} q ON {same(names, 'l', 'q')}"
        return [
            TickStatement(f"SELECT *, row_number() OVER () AS g FROM ({keys})", self._known(table)),
            TickStatement(f"SELECT {listed('q.g', f'{time} AS t', *shown)} FROM {alike}", self._versions(table)),
        ]

    def _asked(self, table: int) -> str:
        """A semi join of entries with the values that the tick's rows look up, as far as a row alone says them.

        Most entries of a large state meet no row of a tick.
        """
        asked = list[tuple[str, dict[str, str]]]()
        for one in self.branch.transitions:
            setting = JoinSetting(self.branch.scans, kept=one.kept)
            for join in (each for each in one.joins if each.table == table and self._by_key(each, setting)):
                if one.joins[0].scan is None:
                    return ""
                rows, env = self._participant(one.joins[0], "j0", setting)
                plain = ((name, term) for name, term in join.equal if term.variable in env and _is_plain(term))
                asked.append((rows, {self._entry(table)[name]: self._term(term, env) for name, term in plain}))
        names = [name for name in asked[0][1] if all(name in said for _, said in asked)]
        if not names:
            return ""
        values = [f"SELECT {listed(*(f'{said[n]} AS {n}' for n in names))} FROM {rows} j0" for rows, said in asked]
        return f" e SEMI JOIN ({' UNION '.join(values)}) j0 ON {' AND '.join(f'e.{n} = j0.{n}' for n in names)}"

    def _known(self, table: int) -> str:
        return self.at.temporary(f"keys_{self.number}_{table}")

    def _versions(self, table: int) -> str:
        return self.at.temporary(f"versions_{self.number}_{table}")

    # --- what is added ----------------------------------------------------------------------------------------------

    def results(self, steps: list[TickStatement], spans: bool = False) -> list[str]:
        """The results as queries, once the logs that they read are among the steps."""
        columns = self.block.result_columns
        return [self._extended(one, columns, steps, spans) for one in self.branch.transitions if one.target is None]

    @property
    def window(self) -> int | None:
        """The shortest window of rows of streams that are kept apart; None where there is none.

        Of one key there may be many rows, and in a tick that is longer than the window most of them do not meet.
        """
        results = (one for one in self.branch.transitions if one.target is None and self.branch.apart)
        return min((high for one in results for join in one.joins for *_, high in join.ages if high), default=None)

    def log(self, table: int, steps: list[TickStatement]) -> None:
        """Make a table's log, if it is not yet among the steps."""
        if table in self.made:
            return
        self.made.add(table)
        columns = self.block.entry_columns(self.number, table)
        names = [name for name, _ in columns]
        came = [one for one in self.branch.transitions if one.target == table]
        parts = [self._extended(one, columns, steps) for one in came]
        if len(parts) == 1 and [len(one.joins) for one in came] == [1]:  # rows of one stream, which are grouped already
            steps.append(TickStatement(parts[0], self._log(table), view=self.branch.apart))
            return
        steps.append(TickStatement(self.weights.grouped([*names, "t"], " UNION ALL ".join(parts)), self._log(table)))

    def _start(self, table: int) -> str:
        """The entries at the start of the tick, as rows of a log."""
        names = (name for name, _ in self.block.entry_columns(self.number, table))
        shown = listed(*names, *self.weights.names, f"{LONG_AGO}::BIGINT AS t")
        return f"SELECT {shown} FROM {self.at.state(f'{self.number}_{table}')}"

    def _entries(self, table: int) -> str:
        """The entries at the start and what is added to them."""
        return f"({self._start(table)} UNION ALL BY NAME FROM {self._log(table)})"

    def _extended(self, one: Transition, columns: Columns, steps: list[TickStatement], spans: bool = False) -> str:
        """The matches of a transition: the columns, what they weigh, and their time."""
        setting = JoinSetting(self.branch.scans, kept=one.kept, spans=spans)
        for join in one.joins:
            if join.table is not None:
                self.log(join.table, steps)
                if self._by_key(join, setting) and join.table not in self.by_key:
                    self.by_key.add(join.table)
                    steps += self._numbered(join.table)
        joined = self._joined(one.joins, setting)
        values = [self._term(term, joined.env) for term in one.values]
        if one.target is not None:
            ages = (stream for stream, *_ in self.branch.tables[one.target].ages)
            values += [joined.env[age(stream) if stream in one.kept else "now"] for stream in ages]
        return self._selected(joined, values, columns)

    def _selected(self, joined: Joined, values: Sequence[str], columns: Columns) -> str:
        """Matches as rows of these columns, with what they weigh and their time."""
        keys = [f"{joined.keyed}.{name}" for name in self.keys]
        every = [*values, *keys] or ["true"] * len(columns)
        shown = [f"CAST({value} AS {kind}) AS {name}" for value, (name, kind) in zip(every, columns, strict=True)]
        shown += [*self.weights.product(joined.called), f"{joined.env['now']} AS t"]
        return f"SELECT {listed(*shown)} FROM {joined.sql}"

    # --- values -----------------------------------------------------------------------------------------------------

    def _term(self, term: Term, env: Mapping[str, str]) -> str:
        moved = term.offset or term.minus or term.lows or term.highs
        return term_sql(term, self._wide(env) if moved and term.variable is not None else env)

    def _test(self, test: Test, env: Mapping[str, str]) -> str:
        return one_test(test, self._wide(env) if test.right is not None and test.offset else env)

    def _wide(self, env: Mapping[str, str]) -> dict[str, str]:
        """Variables as what is added to them needs: beyond 64 bits."""
        return {
            name: f"{sql}::HUGEINT" if self.kinds.get(name, BIGINT) in (BIGINT, HUGEINT) else sql
            for name, sql in env.items()
        }


def _is_plain(term: Term) -> bool:
    """Whether a value depends on no other variable than its own."""
    return term.minus is None and not term.lows and not term.highs


def _span(join: JoinStep, now: str, time: str) -> tuple[str, str] | None:
    """The two spans of time in which the entries are that a row meets, and that of an entry; None without a window."""
    found = [(stream, low or 0, high) for stream, low, high in join.ages if high is not None]
    if not found:
        return None
    stream, low, high = found[0]  # a span is as long as the window
    length, its = high - low + 1, time.format(stream)
    first = f"{now} - {high} - ((({now} - {high}) % {length}) + {length}) % {length}"
    return f"[{first}, {first} + {length}]", f"{its} - (({its} % {length}) + {length}) % {length}"
