"""Random queries over random catalogs: every operator beyond select-project-join, in Spark's words and in DuckDB's.

A text has both where they differ, as ``⟦Spark‖DuckDB⟧``; `in_words_of` chooses. The two sides share no code with what
they test: DuckDB's windows of time are joins with a table of their starts, its sessions a running count, its versions
of a relation a table with the time that each row holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from support.any_queries import _JOINS, _SETS, _named
from support.choices import Choices
from support.window_queries import COLUMNS, WindowQuery

STATIC, CHANGING = "Q", "R"
"""Relations with a and b."""
LAST = 6
"""Timestamps are 1 to this."""
_OTHER_WORDS = re.compile("⟦([^‖⟧]*)‖([^⟧]*)⟧")


def in_words_of(text: str, duckdb: bool) -> str:
    """A text as Spark or as DuckDB has it.

    >>> in_words_of("SELECT ⟦1‖2⟧", duckdb=True)
    'SELECT 2'
    """
    return _OTHER_WORDS.sub(lambda found: found.group(1 + duckdb), text)


@dataclass
class OperatorQuery(WindowQuery):
    """Writes one query over `random_catalog`'s tables."""

    asks: int = 0
    """How often, in percent, a WHERE has a subquery."""
    inner: bool = False
    """Whether most joins are inner ones."""

    def query(self, depth: int, width: int | None = None, top: bool = False) -> tuple[str, int]:
        """A query, its columns named c1, c2 …, and how many there are."""
        forms = [
            (3, "select"),
            (6, "group"),
            (3 * (depth > 0), "set"),
            (3, "global"),
            (2, "distinct"),
            (2 * (depth > 0), "over"),
            (2 * top, "ranked"),
            (2 * top, "beside"),
            (2 * top, "kept_relation"),
            (3 * top, "windowed"),
            (2 * top, "hopping"),
            (2 * top, "session"),
            (4 * top, "windows_of_windows"),
            (2 * top, "versions"),
            (2 * top, "recursion"),
            (3 * top, "joined_again"),
            (4 * top, "named_twice"),
            (2 * top, "several_subqueries"),
            (3 * top, "values_of_others"),
            (3 * top, "laterals"),
            (2 * top, "several_groupings"),
            (2 * top, "first_of_all"),
            (3 * top, "arrays"),
            (3 * top, "now"),
            (2 * top, "values"),
            (2 * top, "exploded"),
            (3 * top, "members"),
            (1 * top, "struct_keys"),
        ]
        form = self.choices.weighted([item for item in forms if item[0]])
        self.asks = 100 if form == "select" and top else 3 if form in ("set", "over", "recursion") else 15
        self.inner = form in ("group", "global")
        width = width or self.choices.integer(1, 2)
        return getattr(self, f"_{form}")(depth, width, top), width

    def _subquery(self, columns: Sequence[str]) -> str:
        """Of one table, or of a stream joined with a relation that does not change."""
        if not self.choices.chance(25):
            return super()._subquery(columns)
        column, stream, relation = self.choices.pick(columns), self._alias(), self._alias()
        table = self.choices.pick(("S", "T"))
        rows = (
            f"FROM {table} AS {stream} JOIN {STATIC} AS {relation} ON {relation}.a = {stream}.{self.choices.pick('ab')}"
        )
        if self.choices.chance(30):
            rows = f"FROM {STATIC} AS {relation} JOIN {table} AS {stream} ON {relation}.b <= {stream}.a"
        more = self.choices.pick(
            (f"{relation}.b > 0", f"{stream}.b > 0", f"{relation}.b = {stream}.v", f"{stream}.a < 2")
        )
        word = self.choices.pick(("", "NOT "))
        self.used[f"{word.lower()}exists of a join"] += 1
        if self.choices.chance(30):
            return f"{column} {word}IN (SELECT {stream}.b {rows} WHERE {more})"
        return f"{word}EXISTS (SELECT 1 {rows} WHERE {stream}.a = {column} AND {more})"

    def _aggregate(self, columns: Sequence[str], top: bool) -> str:
        """An aggregate; now and then of an array or a struct, which DuckDB has otherwise."""
        if not self.choices.chance(8):
            return super()._aggregate(columns, top and self.choices.chance(10))
        one, other = self.choices.pick(columns), self.choices.pick(columns)
        if self.choices.chance(40):
            self.used["size of an array"] += 1
            return f"⟦SIZE(COLLECT_SET({one}))‖COUNT(DISTINCT {one})⟧"
        self.used["greatest struct"] += 1
        least = f"MAX(ARRAY(COALESCE({one}, -100), COALESCE({other}, -100)))"
        return f"⟦MAX(STRUCT({one} AS y, {other} AS x)).x‖NULLIF({least}[1], -100)⟧"

    def _named_twice(self, depth: int, width: int, top: bool) -> str:
        """A set operation of which a side has two columns of one name, or what is made of its rows."""
        left, right = (self.query(0, 2)[0] for _ in range(2))
        operator = self.choices.pick(_SETS)
        self.used[operator.lower()] += 1
        both = f"SELECT * FROM ({left}) AS {self._alias()} {operator} {self._repeated(right, 2)}"
        if width == 2 and self.choices.chance(70):
            return both
        alias = self._alias()
        key = f"{alias}.{self.choices.pick(('c1', 'c2'))}"
        return f"SELECT {_named(['COUNT(*)', key][:width])} FROM ({both}) AS {alias} GROUP BY {key}"

    def _several_groupings(self, depth: int, width: int, top: bool) -> str:
        """Groups of several groupings; with HAVING, as DuckDB has a total of no rows."""
        word = self.choices.pick(("ROLLUP", "CUBE"))
        self.used[word.lower()] += 1
        source, columns = self._from(depth)
        keys = [self.choices.pick(columns), f"{self.choices.pick(columns)} % 2"]
        items = [self._aggregate(columns, False) if self.choices.chance(70) else keys[0] for _ in range(width)]
        where = self._where(columns, depth)
        grouped = f"GROUP BY {word} ({', '.join(keys)}) HAVING COUNT(*) > 0"
        return f"SELECT {_named(items)} FROM {source}{where} {grouped}"

    def _first_of_all(self, depth: int, width: int, top: bool) -> str:
        """The first rows of a query, or of each value of its first column."""
        rows, _ = self.query(0, 2)
        alias, falls = self._alias(), self.choices.pick(("", " DESC"))
        order = f"{alias}.c2{falls}, {alias}.c1"
        items = ", ".join(f"{alias}.c{n} AS c{n}" for n in range(1, width + 1))
        if self.choices.chance(40):
            self.used["distinct on"] += 1
            return f"SELECT DISTINCT ON ({alias}.c1) {items} FROM ({rows}) AS {alias} ORDER BY {alias}.c1, {order}"
        self.used["order by limit"] += 1
        limit = f"LIMIT {self.choices.integer(1, 3)}{self.choices.pick(('', ' OFFSET 1'))}"
        return f"SELECT {items} FROM ({rows}) AS {alias} ORDER BY {order} {limit}"

    # --- arrays, now(), rows of constants and of arrays ---------------------------------------------------------------

    def _arrays(self, depth: int, width: int, top: bool) -> str:
        """Arrays of a window's rows; in DuckDB's words as the texts that a job has for them."""
        self.used["array"] += 1
        table, alias = self.choices.pick(("S", "T")), self._alias()
        value, by = (f"{alias}.{self.choices.pick(names)}" for names in ("ab", ("a", "b", "ts")))
        of, falls = self.choices.pick((value, f"{value} + 1")), self.choices.chance(30)
        text, where = f"ARRAY_AGG({of} ORDER BY {by}{' DESC' * falls})", f"{of} IS NOT NULL"
        array = f"array_agg({of} ORDER BY {by} {'DESC NULLS LAST' if falls else 'NULLS FIRST'}, {of})"
        is_set = self.choices.chance(30)
        if is_set:
            text, array = f"COLLECT_SET({of})", f"array_agg({of})"
        if self.choices.chance(20):
            text, where = f"{text} FILTER (WHERE {alias}.b > 0)", f"{where} AND {alias}.b > 0"
        array = f"COALESCE({array} FILTER (WHERE {where}), [])"
        array = f"list_sort(list_distinct({array}))" if is_set else array
        call = f"⟦{text}‖CAST(to_json({array}) AS VARCHAR)⟧"
        key = f"{alias}.ts DIV {self.choices.integer(1, 3)}" + f", {alias}.a" * self.choices.chance(40)
        items = [call, self.choices.pick((key.partition(",")[0], f"COUNT(DISTINCT {value})"))]
        source = f"{table} AS {alias}{self._where([f'{alias}.a', f'{alias}.b'], 0)}"
        return f"SELECT {_named(items[:width])} FROM {source} GROUP BY {key}"

    def _now(self, depth: int, width: int, top: bool) -> str:
        """Rows that are newer, or older, than now() by so much, and groups of them."""
        self.used["now"] += 1
        table, alias = self.choices.pick(("S", "T")), self._alias()
        now, far, near = f"⟦now()‖(SELECT MAX(ts) FROM {table})⟧", *(self.choices.integer(0, 3) for _ in "ab")
        limit = self.choices.pick(
            (
                f"{alias}.ts > {now} - {far + 1}",
                f"{alias}.ts < {now} - {far}",
                f"{alias}.ts <= {now} - {far + 1}",
                f"{alias}.ts BETWEEN {now} - {far + near} AND {now} - {near}",
            )
        )
        columns = [f"{alias}.{column}" for column in COLUMNS[:3]]
        where = f"WHERE {limit}" + f" AND {self._condition(columns)}" * self.choices.chance(30)
        if self.choices.chance(50):
            return (
                f"SELECT {_named([self.choices.pick(columns) for _ in range(width)])} FROM {table} AS {alias} {where}"
            )
        key = self.choices.pick(columns[:2])
        items = [self._aggregate(columns, False), key]
        return f"SELECT {_named(items[:width])} FROM {table} AS {alias} {where} GROUP BY {key}"

    def _values(self, depth: int, width: int, top: bool) -> str:
        """Rows of a stream beside those of constants."""
        self.used["values"] += 1
        stream, rows = self._alias(), self._alias()
        pairs = (f"({self.choices.integer(0, 3)}, {self.choices.pick(('NULL', '1', '2'))})" for _ in range(3))
        source = f"(VALUES {', '.join(pairs)}) AS {rows}(x, y)"
        join, on = self.choices.pick(("JOIN", "LEFT JOIN")), f"{rows}.x = {stream}.{self.choices.pick('ab')}"
        source = f"{self.choices.pick('ST')} AS {stream} {join} {source} ON {on}"
        columns = [f"{rows}.y", f"{rows}.x", f"{stream}.a", f"{stream}.v"]
        if self.choices.chance(50):
            return f"SELECT {_named([self.choices.pick(columns) for _ in range(width)])} FROM {source}"
        key = self.choices.pick(columns[:2])
        return f"SELECT {_named([self._aggregate(columns, False), key][:width])} FROM {source} GROUP BY {key}"

    def _exploded(self, depth: int, width: int, top: bool) -> str:
        """A row for each element of an array, and groups of these."""
        self.used["explode"] += 1
        inner, outer, n = self._alias(), self._alias(), self.choices.integer(1, 3)
        elements = self.choices.pick((f"{inner}.a, {inner}.b", f"{inner}.b + 1, {n}, {inner}.a", f"{inner}.a"))
        made = f"⟦EXPLODE(ARRAY({elements}))‖UNNEST([{elements}])⟧ AS x"
        rows = f"(SELECT {inner}.a, {inner}.v, {made} FROM {self.choices.pick('ST')} AS {inner}) AS {outer}"
        columns = [f"{outer}.x", f"{outer}.a", f"{outer}.v"]
        if self.choices.chance(50):
            return f"SELECT {_named(columns[:width])} FROM {rows} WHERE {self._condition(columns)}"
        key = self.choices.pick(columns[:2])
        return f"SELECT {_named([self._aggregate(columns, False), key][:width])} FROM {rows} GROUP BY {key}"

    def _members(self, depth: int, width: int, top: bool) -> str:
        """IN of a relation's rows, or of another stream's near a row's time, as a value, of one or two columns."""
        self.used["in as a value"] += 1
        outer, inner = self._alias(), self._alias()
        before, after, own = self.choices.integer(0, 2), self.choices.integer(0, 2), self.choices.pick("ab")
        table = self.choices.pick((*"SSTT", CHANGING))
        near = f"{inner}.ts BETWEEN {outer}.ts - {before} AND {outer}.ts + {after}"
        where = f" WHERE {near}" + self.choices.pick(("", f" AND {inner}.v > 1", f" AND {inner}.b = {outer}.b"))
        where = self.choices.pick(("", f" WHERE {inner}.a > 0")) if table == CHANGING else where
        value, asked, word = f"{outer}.{own}", f"{inner}.b", self.choices.pick(("", "NOT "))
        if self.choices.chance(50):
            self.used["in of two columns as a value"] += 1
            value, asked = f"({value}, {outer}.{self.choices.pick('ab')})", f"{inner}.b, {inner}.a"
        pairs = [*zip(value.strip("()").split(", "), asked.split(", "), strict=True)]
        rows = f"(SELECT 1 FROM {table} AS {inner}{where or ' WHERE TRUE'}"
        same, unless = (
            f"EXISTS {rows} AND {' AND '.join(f'({x} = {y}{more.format(x, y)})' for x, y in pairs)})"
            for more in ("", " OR {} IS NULL OR {} IS NULL")
        )
        asked = f"{value} {word}IN (SELECT {asked} FROM {table} AS {inner}{where})"
        asked = f"⟦{asked}‖{word}(CASE WHEN {same} THEN TRUE WHEN NOT {unless} THEN FALSE END)⟧"
        items = [f"CASE WHEN {asked} THEN 1 WHEN {outer}.v > 0 THEN 2 END", f"{outer}.{self.choices.pick('abv')}"]
        if self.choices.chance(40):
            items[0] = f"CASE WHEN NOT ({asked}) THEN 1 ELSE 0 END"
        return f"SELECT {_named(items[:width])} FROM {self.choices.pick('ST')} AS {outer}"

    def _struct_keys(self, depth: int, width: int, top: bool) -> str:
        """Groups by two columns as one struct."""
        alias, table = self._alias(), self.choices.pick("ST")
        columns = [f"{alias}.{column}" for column in COLUMNS[:3]]
        one, other = columns[:2] if self.choices.chance(50) else (columns[0], f"{columns[1]} % 2")
        made = self.choices.pick((f"STRUCT({one}, {other})", f"NAMED_STRUCT('x', {one}, 'y', {other})"))
        self.used["struct as a key"] += 1
        items = [self._aggregate(columns, False), self.choices.pick((one, other))]
        where = self._where(columns[:2], 0)
        key = f"⟦{made}‖{one}, {other}⟧"
        return f"SELECT {_named(items[:width])} FROM {table} AS {alias}{where} GROUP BY {key}"

    # --- joins above joins -------------------------------------------------------------------------------------------

    def _joined_again(self, depth: int, width: int, top: bool) -> str:
        """A join within a window above one or two others, of any kinds: each with a row of what is there already."""
        self.used["joins above joins"] += 1
        source = self._alias()
        there, text = [source], f"{self.choices.pick(('S', 'T'))} AS {source}"
        kinds = [(4, "LEFT JOIN"), *((1, kind) for kind in _JOINS[1:])]
        for _ in range(self.choices.weighted([(3, 2), (1, 3)])):
            join, alias, of = self.choices.weighted(kinds), self._alias(), self.choices.pick(there)
            self.used[join.lower()] += 1
            before, after = self.choices.integer(0, 3), self.choices.integer(0, 2)
            first, second = (f"{name}.{self.choices.pick('ab')}" for name in (alias, of))
            near = [
                (6, f"{alias}.ts BETWEEN {of}.ts - {before} AND {of}.ts + {after}"),
                (1, f"abs({alias}.ts - {of}.ts) <= {before}"),
                (1, f"{alias}.ts - {of}.ts BETWEEN -{before} AND {after}"),
                (1, f"{alias}.ts DIV {after + 1} = {of}.ts DIV {after + 1}"),
                (1, f"({alias}.ts = {of}.ts OR {alias}.v = {of}.v AND {alias}.ts - {of}.ts BETWEEN 0 AND {before})"),
            ]
            same, window = self.choices.weighted([(3, "="), (1, "<=>")]), self.choices.weighted(near)
            text += f" {join} {self.choices.pick(('S', 'T'))} AS {alias} ON {first} {same} {second} AND {window}"
            if "SEMI" not in join and "ANTI" not in join:
                there.append(alias)
        columns = [f"{alias}.{column}" for alias in reversed(there) for column in COLUMNS[:3]]
        return f"SELECT {_named([self.choices.pick(columns) for _ in range(width)])} FROM {text}"

    # --- subqueries below AND and OR ---------------------------------------------------------------------------------

    def _several_subqueries(self, depth: int, width: int, top: bool) -> str:
        """Rows of a stream for which a formula of two to four subqueries holds, most of them within a window."""
        self.used["several subqueries"] += 1
        outer, table = self._alias(), self.choices.pick(("S", "T"))
        left = self.choices.integer(2, 4)
        condition = self._formula(outer, left)
        columns = [f"{outer}.{column}" for column in COLUMNS[:3]]
        items = [self.choices.pick(columns) for _ in range(width)]
        return f"SELECT {_named(items)} FROM {table} AS {outer} WHERE {condition}"

    def _formula(self, outer: str, subqueries: int) -> str:
        if subqueries == 1:
            found = self._of_another_row(outer)
        else:
            first = self.choices.integer(1, subqueries - 1)
            word = self.choices.pick((" OR ", " OR ", " AND "))
            found = f"({word.join(self._formula(outer, part) for part in (first, subqueries - first))})"
        if not self.choices.chance(15):
            return found
        own = self.choices.pick((f"{outer}.a > 1", f"{outer}.b IS NULL", f"{outer}.v <> 2", f"{outer}.a IN (0, 2)"))
        return f"({own} {self.choices.pick(('OR', 'AND'))} {found})"

    def _of_another_row(self, outer: str) -> str:
        """[NOT] EXISTS or [NOT] IN of a stream's rows near a row's time."""
        inner, own = self._alias(), self.choices.pick("abv")
        before, after = self.choices.integer(0, 2), self.choices.integer(0, 2)
        when = self.choices.pick(
            (
                f"{inner}.ts BETWEEN {outer}.ts - {before} AND {outer}.ts + {after}",
                f"{inner}.ts BETWEEN {outer}.ts - {before} AND {outer}.ts",
                f"{inner}.ts <= {outer}.ts AND {inner}.a = {before}",
            )
        )
        more = self.choices.pick(
            (
                f"{inner}.a = {outer}.{own}",
                f"{inner}.b < {outer}.{own}",
                f"{inner}.b = {outer}.b AND {inner}.v >= {outer}.{own}",
                f"{inner}.v <> {after}",
            )
        )
        rows, word = (
            f"FROM {self.choices.pick('ST')} AS {inner} WHERE {more} AND {when}",
            self.choices.pick(("", "NOT ")),
        )
        if self.choices.chance(35):
            return f"{outer}.{own} {word}IN (SELECT {inner}.b {rows})"
        return f"{word}EXISTS (SELECT 1 {rows})"

    # --- subqueries that are values ----------------------------------------------------------------------------------

    def _values_of_others(self, depth: int, width: int, top: bool) -> str:
        """Rows of a stream with aggregates of others near their time, in the list or the condition."""
        outer, table = self._alias(), self.choices.pick(("S", "T"))
        source = f"{table} AS {outer}"
        if self.choices.chance(15):
            relation = self._alias()
            source += f" JOIN {STATIC} AS {relation} ON {relation}.a = {outer}.a"
        columns = [f"{outer}.{column}" for column in COLUMNS[:3]]
        parts = []
        if self.choices.chance(50):
            scale, value = self.choices.pick(("", "2 * ", "1 + ")), self._value_of_others(outer)
            parts.append(f"{self.choices.pick(columns)} {self.choices.pick(('>', '<=', '='))} {scale}{value}")
        if self.choices.chance(30):
            parts.append(self.choices.pick((f"{outer}.a > 0", f"{outer}.b IS NOT NULL", f"{outer}.v <> 2")))
        where = f" WHERE {' AND '.join(parts)}" if parts else ""
        value = f"COALESCE({self._value_of_others(outer)}, -1)" if width == 1 else self._value_of_others(outer)
        if self.choices.chance(20):
            key = f"{outer}.ts DIV 3"
            return f"SELECT {_named([f'SUM({value})', key][:width])} FROM {source}{where} GROUP BY {key}"
        items = [self.choices.pick([value, columns[0]] if parts else [value]), self.choices.pick([*columns, value])]
        return f"SELECT {_named(items[:width])} FROM {source}{where}"

    def _laterals(self, depth: int, width: int, top: bool) -> str:
        """Rows of a stream beside aggregates of others near their time, or the latest of these, of any of one time."""
        outer, inner, beside = self._alias(), self._alias(), self._alias()
        if self.choices.chance(50):
            self.used["lateral aggregates"] += 1
            value, others = self._others(outer)
            rows = f"SELECT {value} AS x, COUNT(*) AS n {others}"
            shown = [f"{beside}.x", f"{beside}.n"]
        else:
            self.used["lateral limit 1"] += 1
            far, key = self.choices.integer(1, 3), self.choices.pick("ab")
            when = self.choices.pick(
                (
                    f"{inner}.ts BETWEEN {outer}.ts - {far} AND {outer}.ts",
                    f"{inner}.ts < {outer}.ts AND {inner}.ts >= {outer}.ts - {far}",
                    f"{inner}.ts <= {outer}.ts AND {inner}.ts > {outer}.ts - {far}",
                )
            )
            more = self.choices.pick(("", "", f" AND {inner}.v > 1"))
            same = f"{inner}.{key} = {outer}.{self.choices.pick('ab')}{more}"
            rows = f"SELECT {inner}.ts AS x, {inner}.{key} AS n FROM {self.choices.pick('ST')} AS {inner} "
            rows += f"WHERE {same} AND {when} ORDER BY {inner}.ts DESC LIMIT 1"
            shown = [f"{beside}.x", f"{beside}.n"]
        join = self.choices.pick(("JOIN", "LEFT JOIN"))
        source = f"{self.choices.pick('ST')} AS {outer} {join} LATERAL ({rows}) AS {beside} ON TRUE"
        columns = [self.choices.pick(shown), self.choices.pick([*shown, f"{outer}.a", f"{outer}.v"])]
        if self.choices.chance(20):
            key = f"{outer}.ts DIV 3"
            return f"SELECT {_named([self._aggregate(columns, False), key][:width])} FROM {source} GROUP BY {key}"
        where = f" WHERE {self._condition(columns)}" if self.choices.chance(20) else ""
        return f"SELECT {_named(columns[:width])} FROM {source}{where}"

    def _value_of_others(self, outer: str) -> str:
        """An aggregate of the rows of a stream near a row's time."""
        self.used["value of a correlated subquery"] += 1
        value, rows = self._others(outer)
        return f"(SELECT {value} {rows})"

    def _others(self, outer: str) -> tuple[str, str]:
        """An aggregate, and the rows of a stream near a row's time that it is of."""
        inner, own = self._alias(), self.choices.pick("abv")
        before, after = self.choices.integer(0, 2), self.choices.integer(0, 2)
        rows = f"FROM {self.choices.pick(('S', 'T'))} AS {inner}"
        if self.choices.chance(15):
            relation = self._alias()
            rows += f" JOIN {STATIC} AS {relation} ON {relation}.b = {inner}.a"
        near = f"{inner}.ts BETWEEN {outer}.ts - {before} AND {outer}.ts + {after}"
        windows = [
            (4, near),
            (2, f"{inner}.ts BETWEEN {outer}.ts - {before} AND {outer}.ts"),
            (1, f"{inner}.ts >= {outer}.ts AND {inner}.ts < {outer}.ts + {after + 1}"),
            (1, f"{inner}.ts = {outer}.ts"),
            (1, f"{inner}.ts < {outer}.ts"),
            (2, f"{inner}.ts >= {outer}.ts - {before + 1} AND {inner}.ts < {outer}.ts"),
        ]
        conditions = [(4, f"{inner}.{own} = {outer}.{self.choices.pick('abv')}"), (1, f"{inner}.b < {outer}.{own}")]
        conditions += [(1, f"{inner}.v > 1 AND {outer}.{own} = {inner}.b"), (1, f"{inner}.a IS NOT NULL")]
        value = self.choices.pick(
            (
                "COUNT(*)",
                f"COUNT({inner}.{own})",
                f"COUNT(DISTINCT {inner}.{own})",
                f"SUM({inner}.v)",
                f"SUM({inner}.v * {outer}.{own})",
                f"AVG({inner}.b)",
                f"MIN({inner}.{own})",
                f"MAX({inner}.v) - MIN({inner}.v)",
                f"MAX({inner}.v) + {outer}.a",
                f"COALESCE(MAX({inner}.{own}), 0) + COUNT(*)",
            )
        )
        when, what = self.choices.weighted(windows), self.choices.weighted(conditions)
        return value, f"{rows} WHERE {what} AND {when}"

    def _kept_relation(self, depth: int, width: int, top: bool) -> str:
        """A relation that does not change whose rows are kept: by an outer join, or as EXISTS and IN ask for them."""
        relation, stream = self._alias(), self._alias()
        source = self.choices.pick(("S", "T"))
        if self.choices.chance(20):
            source = f"(SELECT a, COUNT(*) AS b, MAX(v) AS v FROM {source} WHERE a BETWEEN 0 AND 3 GROUP BY a)"
        own = [f"{relation}.a", f"{relation}.b"]
        on = f"{relation}.{self.choices.pick('ab')} = {stream}.{self.choices.pick('ab')}"
        more = self.choices.pick(("", f" AND {stream}.v > {own[1]}", f" AND {stream}.v > 1", f" AND {own[1]} > 0"))
        if not more and self.choices.chance(30):
            on = f"({on} OR {own[1]} = {stream}.v)"
        kind = self.choices.pick(("LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "EXISTS", "NOT EXISTS", "IN", "NOT IN"))
        self.used[f"{kind.lower()} of a relation's rows"] += 1
        kept = self.choices.chance(30)
        if kind.endswith("JOIN"):
            sides = [f"{STATIC} AS {relation}", f"{source} AS {stream}"]
            if kind == "RIGHT JOIN" or (kind == "FULL JOIN" and self.choices.chance(50)):
                sides.reverse()
            text = f"FROM {sides[0]} {kind} {sides[1]} ON {on}{more}"
            text += f" WHERE {own[1]} <= 2 OR {own[1]} IS NULL" * kept
            columns = [*own, *(f"{stream}.{column}" for column in COLUMNS[:3])]
        else:
            asked = f"SELECT 1 FROM {source} AS {stream} WHERE {on}{more}"
            if kind.endswith("IN"):
                only = f" WHERE {on}" if self.choices.chance(30) else ""
                kind, asked = f"{own[0]} {kind}", f"SELECT {stream}.b FROM {source} AS {stream}{only}"
            text = f"FROM {STATIC} AS {relation} WHERE {kind} ({asked})" + f" AND {own[1]} <= 2" * kept
            columns = own
        if self.choices.chance(30):
            key = self.choices.pick(own)
            items = [self._aggregate(columns, False), key]
            return f"SELECT {_named(items[:width])} {text} GROUP BY {key}"
        return f"SELECT {_named([self.choices.pick(columns) for _ in range(width)])} {text}"

    # --- order, versions ---------------------------------------------------------------------------------------------

    def _ranked(self, depth: int, width: int, top: bool) -> str:
        """The first rows of each key, or its latest one; ties go by the row's other columns as they are declared."""
        self.used["top-n"] += 1
        table, inner, outer = self.choices.pick(("S", "T")), self._alias(), self._alias()
        key = self.choices.pick(("a", "b", "k"))
        order = self.choices.pick(("v", "v DESC", "ts", "ts DESC", "b, v"))
        told = set(re.findall(r"\w+", order))
        ties = ", ".join(f"{inner}.{column}" for column in COLUMNS if column not in told)
        ordered = ", ".join(f"{inner}.{word}" for word in order.split(", "))
        over = f"OVER (PARTITION BY {inner}.{key} ORDER BY {ordered}⟦‖, {ties}⟧)"
        function = self.choices.pick(("ROW_NUMBER()", "ROW_NUMBER()", "RANK()", "DENSE_RANK()"))
        if function != "ROW_NUMBER()":
            over = over.replace(f"⟦‖, {ties}⟧", "")
        self.used[function.split("(")[0].lower() + " over"] += 1
        where = self._where_below_over([f"{inner}.{column}" for column in COLUMNS[:3]])
        shown, before = "v" if function == "ROW_NUMBER()" else self.choices.pick(("v", "v", "a", "b")), ""
        if function == "ROW_NUMBER()" and self.choices.chance(30):
            shown, before = "g", f", LAG({inner}.v) {over} AS g"
            self.used["lag over"] += 1
        rows = f"SELECT {inner}.*, {function} {over} AS f{before} FROM {table} AS {inner}{where}"
        items = [f"{outer}.{column}" for column in (key, shown)]
        return (
            f"SELECT {_named(items[:width])} FROM ({rows}) AS {outer} WHERE {outer}.f <= {self.choices.integer(1, 2)}"
        )

    def _beside(self, depth: int, width: int, top: bool) -> str:
        """Values of the rows before and after each one, in order of time."""
        table, inner, outer = self.choices.pick(("S", "T")), self._alias(), self._alias()
        key = self.choices.pick(("a", "b", "k", ""))
        if self.choices.chance(20):
            return self._of_partitions(width)
        window = (f"PARTITION BY {inner}.{key} " if key else "") + f"ORDER BY {inner}.ts"
        ties = ", ".join(f"{inner}.{column}" for column in COLUMNS[:4])
        calls = []
        for _ in range(self.choices.weighted([(2, 1), (1, 2), (1, 3)])):
            column, far = f"{inner}.{self.choices.pick('abv')}", self.choices.integer(1, 2)
            function = self.choices.pick(("LAG", "LEAD", "LEAD", "rows", "range"))
            self.used[f"{function.lower()} over"] += 1
            if function in ("LAG", "LEAD"):
                more = self.choices.pick(("", f", {far}", f", {far}, 7", f", {far}, {inner}.b"))
                calls.append(f"{function}({column}{more}) OVER ({window}⟦‖, {ties}⟧)")
                continue
            low = self.choices.pick(
                ("CURRENT ROW", f"{far} PRECEDING", *(["1 FOLLOWING"] if function == "rows" else []))
            )
            high = "2 FOLLOWING" if low == "1 FOLLOWING" else self.choices.pick(("CURRENT ROW", "1 FOLLOWING"))
            if self.choices.chance(25):
                earlier = function == "rows" and self.choices.chance(30)
                low, high = "UNBOUNDED PRECEDING", "1 PRECEDING" if earlier else "CURRENT ROW"
                self.used["running total"] += 1
            ordered = f"{window}⟦‖, {ties}⟧" if function == "rows" else window
            flags = f"SUM(CASE WHEN {column} > {self.choices.integer(0, 2)} THEN 1 ELSE 0 END)"
            aggregate = self.choices.pick((f"SUM({column})", "COUNT(*)", f"MAX({column})", f"VAR_POP({column})", flags))
            if low == "UNBOUNDED PRECEDING" and high == "CURRENT ROW" and self.choices.chance(25):
                self.used["running count of distinct values"] += 1
                aggregate = f"COUNT(DISTINCT {column})"
            elif function == "rows" and self.choices.chance(30):
                aggregate = self.choices.pick((f"FIRST_VALUE({column})", f"LAST_VALUE({column})"))
            calls.append(f"{aggregate} OVER ({ordered} {function.upper()} BETWEEN {low} AND {high})")
        near = ""
        if self.choices.chance(30):
            function = self.choices.pick(("LAG", "LEAD"))
            calls.append(f"{function}({inner}.ts, {self.choices.integer(1, 2)}) OVER ({window}⟦‖, {ties}⟧)")
            both = [f"{outer}.ts", f"{outer}.f{len(calls)}"]
            later, earlier = both if function == "LAG" else reversed(both)
            near = f"{later} - {earlier} <= {self.choices.integer(0, 4)}"
            self.used["rows that are near in time"] += 1
        made = ", ".join(f"{call} AS f{number}" for number, call in enumerate(calls, 1))
        where = self._where_below_over([f"{inner}.{column}" for column in COLUMNS[:3]])
        rows = f"SELECT {inner}.*, {made} FROM {table} AS {inner}{where}"
        columns = [f"{outer}.{column}" for column in (*(f"f{number + 1}" for number in range(len(calls))), "v")]
        if self.choices.chance(30):
            by = f"{outer}.{key or 'b'}"
            items = [self._aggregate(columns, False), by]
            where = f" WHERE {near}" if near else ""
            if self.choices.chance(40):
                self.used["groups of a running value"] += 1
                by += f", {self.choices.pick(columns[:-1])}"
                if calls[0].startswith(("COUNT", "SUM(CASE")) and self.choices.chance(50):
                    self.used["groups of so many"] += 1
                    by = f"{by.partition(',')[0]}, {columns[0]} DIV {self.choices.integer(2, 3)}"
            return f"SELECT {_named(items[:width])} FROM ({rows}) AS {outer}{where} GROUP BY {by}"
        tests = [*filter(None, [near]), *[f"{columns[0]} IS NOT NULL"] * self.choices.chance(25)]
        kept = f" WHERE {' AND '.join(tests)}" if tests else ""
        return f"SELECT {_named(columns[:width])} FROM ({rows}) AS {outer}{kept}"

    def _of_partitions(self, width: int) -> str:
        """Functions of all rows of a partition, or in an order that new rows come between."""
        self.used["over all rows"] += 1
        table, inner, outer = self.choices.pick(("S", "T")), self._alias(), self._alias()
        by = self.choices.pick((f"{inner}.ts DIV {self.choices.integer(1, 3)}", f"{inner}.b", ""))
        by += f", {inner}.a" * (by != "" and self.choices.chance(30))
        order = self.choices.pick(("v", "v DESC", "b", "ts DESC", ""))
        column = f"{inner}.{self.choices.pick('abv')}"
        value = self.choices.pick(
            (
                *(f"SUM({column})", "COUNT(*)", f"MAX({column})", "RANK()", f"LAG({column})", "NTILE(2)"),
                *("CUME_DIST()", "PERCENT_RANK()", f"COUNT(DISTINCT {column})", f"SUM({column}) FILTER (WHERE b > 0)"),
            )
        )
        ties = ", ".join(f"{inner}.{one}" for one in COLUMNS if one != order.split()[0]) if order else ""
        if not order and value.startswith(("R", "L", "N", "P", "CUME")):
            value = f"MIN({column})"
        over = [f"PARTITION BY {by}"] * (by != "") + [f"ORDER BY {inner}.{order}"] * (order != "")
        over[-1:] = [one + f"⟦‖, {ties}⟧" * value.startswith(("LAG", "NTILE")) for one in over[-1:]]
        where = self._where([f"{inner}.{one}" for one in COLUMNS[:3]], 0)
        rows = f"SELECT {inner}.*, {value} OVER ({' '.join(over)}) AS f FROM {table} AS {inner}{where}"
        return f"SELECT {_named([f'{outer}.f', f'{outer}.v'][:width])} FROM ({rows}) AS {outer}"

    def _versions(self, depth: int, width: int, top: bool) -> str:
        self.used["as of"] += 1
        left, right = self._alias(), self._alias()
        table = self.choices.pick(("S", "T"))
        join = self.choices.pick(("JOIN", "LEFT JOIN"))
        on = f"{left}.{self.choices.pick(('a', 'b'))} = {right}.a"
        if self.choices.chance(30):
            on += f" AND {right}.b <= {left}.{self.choices.pick(('b', 'v'))}"
        source = f"{table} AS {left}"
        if self.choices.chance(25):
            other = self._alias()
            near = self.choices.pick((f"{other}.ts = {left}.ts", f"{other}.ts BETWEEN {left}.ts - 2 AND {left}.ts"))
            source += f" JOIN {'T' if table == 'S' else 'S'} AS {other} ON {other}.a = {left}.b AND {near}"
        source += self._version_beside(left, right, join, on)
        if self.choices.chance(30):
            second = self._alias()
            self.used["as of, twice"] += 1
            source += self._version_beside(left, second, join, f"{second}.b = {self.choices.pick((left, right))}.a")
        columns = [f"{left}.a", f"{left}.v", f"{right}.b"]
        if self.choices.chance(50):
            return f"SELECT {_named([self.choices.pick(columns) for _ in range(width)])} FROM {source}"
        key = self.choices.pick((f"{left}.a", f"{right}.b", f"{left}.ts DIV 2"))
        items = [self._aggregate(columns, True), key]
        return f"SELECT {_named(items[:width])} FROM {source} GROUP BY {key}"

    def _version_beside(self, left: str, right: str, join: str, on: str) -> str:
        """A join with the relation that changes, as of the time of the rows on the left."""
        holds = f"{right}._from <= {left}.ts AND ({right}._to IS NULL OR {left}.ts < {right}._to)"
        return (
            f" {join} ⟦{CHANGING} FOR SYSTEM_TIME AS OF {left}.ts AS {right} ON {on}"
            f"‖{CHANGING}_versions AS {right} ON {on} AND {holds}⟧"
        )

    # --- parts -------------------------------------------------------------------------------------------------------

    def _from(self, depth: int) -> tuple[str, list[str]]:
        inner, asks = self.inner and self.choices.chance(80), self.asks
        source, columns = super()._from(depth)
        self.asks = asks
        if inner and (join := re.search(r"(LEFT|RIGHT|FULL) JOIN", source)) is not None and not depth:
            self.used[join.group().lower()] -= 1
            self.used["join"] += 1
            source = source.replace(join.group(), "JOIN")
        return source, columns

    def _where(self, columns: Sequence[str], depth: int) -> str:
        found = [self._condition(columns) for _ in range(self.choices.integer(0, 1))]
        if self.choices.chance(self.asks):
            found.append(self._subquery(columns))
        return f" WHERE {' AND '.join(found)}" if found else ""

    def _recursion(self, depth: int, width: int, top: bool) -> str:
        text = super()._recursion(depth, width, top)
        return re.sub(r"\bR\b", self.choices.pick(("T", "S", "R")), text)

    def _entry(self, depth: int) -> tuple[str, list[str]]:
        alias = self._alias()
        if depth > 0 and self.choices.chance(35):
            self.used["nested block"] += 1
            return self._nested(alias, depth)
        table = self.choices.weighted([(5, "S"), (3, "T"), (2, CHANGING), (1, STATIC)])
        self.used["changing relation"] += table == CHANGING
        self.used["relation without state"] += table == STATIC
        stored = COLUMNS[:2] if table in (CHANGING, STATIC) else (*COLUMNS[:3], "ts")
        return f"{table} AS {alias}", [f"{alias}.{column}" for column in stored]

    def _expression(self, columns: Sequence[str]) -> str:
        if not self.choices.chance(25):
            return super()._expression(columns)
        self.used["expression"] += 1
        first, second = self.choices.pick(columns), self.choices.pick(columns)
        number = self.choices.integer(1, 3)
        return self.choices.pick(
            (
                f"ABS({first} - {second})",
                f"GREATEST({first}, {second}, {number})",
                f"NULLIF({first}, {number})",
                f"{first} * {second} - {number}",
                f"{first} % {number}",
                f"CASE {first} WHEN {number} THEN {second} WHEN 0 THEN -1 END",
                f"IF({first} <= {second}, {first}, {number})",
            )
        )


def operator_query(choices: Choices) -> tuple[str, Counter[str]]:
    """A query in both words, and the operators in it."""
    writer = OperatorQuery(choices)
    depth = choices.weighted([(5, 0), (4, 1), (1, 2)])
    text, _ = writer.query(depth, top=True)
    return text, writer.used


# --- catalogs and rows -----------------------------------------------------------------------------------------------


def random_catalog(choices: Choices) -> dict[str, Any]:
    """S and T, a relation that changes, perhaps by key, and one that does not; with domains and rates or without.

    In some v is a double.
    """
    columns = {column: "string" if column == "k" else "bigint" for column in COLUMNS}
    columns["v"] = choices.weighted([(2, "bigint"), (1, "double")])
    streams: dict[str, dict[str, Any]] = {}
    for name in ("S", "T"):
        streams[name] = {"timestamp": "ts", "columns": dict(columns)}
        if choices.chance(50):
            limited = [column for column in COLUMNS[:3] if choices.chance(60)]
            streams[name]["domain"] = {column: [0, 3] for column in limited if columns[column] == "bigint"}
        if choices.chance(40):
            streams[name]["max_per_timestamp"] = 4
    changes: dict[str, Any] = {"timestamp": "ts", "op": "op"}
    if choices.chance(40):
        changes["key"] = ["a"]
    pair = {"a": "bigint", "b": "bigint"}
    changing: dict[str, Any] = {"columns": dict(pair), "changes": changes}
    if choices.chance(60):
        changing["rows"] = LAST
    for body in streams.values():
        if choices.chance(30):
            body["unique"] = choices.pick([["a"], ["b"], ["a", "k"], [["a"], ["b"]]])
            limited = body.get("domain", {}).keys() >= {"a", "b"} and body["unique"] != ["a", "k"]
            if not limited or choices.chance(50):
                body["within"] = choices.integer(1, LAST)
    static: dict[str, Any] = {"columns": dict(pair), "rows": 4}
    if choices.chance(30):
        static["unique"] = choices.pick([["a"], ["b"], ["a", "b"]])
    return {"streams": streams, "relations": {CHANGING: changing, STATIC: static}}


def random_rows(choices: Choices, catalog: dict[str, Any], most: int = 12) -> dict[str, list[dict[str, Any]]]:
    """Rows that fit: of streams in order of time, changes that delete only what is there."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, body in catalog["streams"].items():
        rows = [
            {
                **{c: _value(choices, body["columns"][c]) for c in COLUMNS[:3]},
                "k": _text(choices),
                "ts": choices.integer(1, LAST),
            }
            for _ in range(choices.integer(most // 3, most))
        ]
        rows.sort(key=lambda row: row["ts"])
        each = body.get("max_per_timestamp", most)
        found[name] = [row for at, row in enumerate(rows) if at < each or rows[at - each]["ts"] != row["ts"]]
    static = [{"a": _value(choices), "b": _value(choices)} for _ in range(choices.integer(0, 4))]
    found[STATIC] = coming_once(catalog["relations"][STATIC], static)
    key = catalog["relations"][CHANGING]["changes"].get("key")
    found[CHANGING] = _keyed_changes(choices) if key else _changes(choices)
    return found


def coming_once(body: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a table that keep its promise of keys that come once: of two the first, by time, then by values."""
    unique, within = body.get("unique", []), body.get("within", inf)
    keys = [unique] if unique and isinstance(unique[0], str) else unique
    kept: list[dict[str, Any]] = []

    def values(row: dict[str, Any]) -> list[tuple[bool, Any]]:
        return [(row[column] is not None, row[column]) for column in body["columns"]]

    for row in sorted(rows, key=lambda row: (row.get("ts", 0), values(row))):
        near = [one for one in kept if row.get("ts", 0) - one.get("ts", 0) < within]
        if not any(all(one[column] == row[column] for column in key) for key in keys for one in near):
            kept.append(row)
    return kept


def _changes(choices: Choices) -> list[dict[str, Any]]:
    present: list[dict[str, Any]] = []
    changes = []
    for time in range(1, LAST + 1):
        if present and choices.chance(35):
            changes.append({**present.pop(choices.integer(0, len(present) - 1)), "op": "delete", "ts": time})
        if choices.chance(60):
            present.append({"a": _value(choices), "b": _value(choices)})
            changes.append({**present[-1], "op": "insert", "ts": time})
    return changes


def _keyed_changes(choices: Choices) -> list[dict[str, Any]]:
    """At most one change of a key at a time: a delete, which needs the key only, or an insert, which may replace."""
    present: set[int] = set()
    changes: list[dict[str, Any]] = []
    for time in range(1, LAST + 1):
        for key in range(4):
            if key in present and choices.chance(20):
                present.discard(key)
                changes.append({"a": key, "b": None, "op": "delete", "ts": time})
            elif choices.chance(20):
                present.add(key)
                changes.append({"a": key, "b": _value(choices), "op": "insert", "ts": time})
    return changes


def _value(choices: Choices, kind: str = "bigint") -> float | None:
    """A number; a double is one of few quarters, with which all sums are exact, also DuckDB's."""
    if choices.chance(12):
        return None
    return choices.integer(0, 3) if kind == "bigint" else choices.pick((0.0, 0.25, 1.5, 3.0))


def _text(choices: Choices) -> str | None:
    return choices.pick((None, "x", "y", "z"))
