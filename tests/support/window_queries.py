"""Random queries of windows of time, and of what is made of their groups: other windows, sets, joins, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from support.any_queries import _JOINS, _SETS, AnyQuery, _named

COLUMNS = ("a", "b", "v", "k", "ts")
"""Of the streams S and T: whole numbers, a text, and the time."""
STARTS = (1, 2, 3, 4)
"""How far apart the starts of overlapping windows are: tables of DuckDB, `starts_2` of starts 2 apart."""


@dataclass
class WindowQuery(AnyQuery):
    """Writes forms with windows; texts are in Spark's and in DuckDB's words, as in `operator_queries`."""

    def _windowed(self, depth: int, width: int, top: bool) -> str:
        self.used["tumbling window"] += 1
        alias, size = self._alias(), self.choices.integer(2, 4)
        table = self.choices.pick(("S", "T"))
        columns = [f"{alias}.{column}" for column in COLUMNS[:3]]
        if self.choices.chance(50):
            key, start = f"{alias}.ts DIV {size}", f"{alias}.ts DIV {size} * {size}"
        else:
            call = f"window({alias}.ts, '{size} microseconds')"
            key = f"⟦{call}‖{alias}.ts DIV {size}⟧"
            if self.choices.chance(60):
                return self._shown_window(
                    f"{table} AS {alias}", columns, call, f"{alias}.ts DIV {size} * {size}", size, width
                )
            start = f"⟦window.start‖{alias}.ts DIV {size} * {size}⟧"
        return self._over_windows(f"{table} AS {alias}", columns, key, start, width)

    def _shown_window(self, source: str, columns: Sequence[str], call: str, start: str, size: int, width: int) -> str:
        """Groups of windows that a subquery shows as they are; their ends are read above it."""
        self.used["a window shown"] += 1
        outer, value = self._alias(), self._aggregate(columns, False)
        name = self.choices.pick(("w", "window"))
        shown = f"⟦{call}{' AS w' if name == 'w' else ''}‖{start} AS {name}⟧"
        where, key = self._where(columns, 0), f"⟦{call}‖{start}⟧"
        rows = f"SELECT {shown}, {value} AS n FROM {source}{where} GROUP BY {key}{self._having()}"
        end, after = self.choices.pick((("start", ""), ("end", f" + {size}")))
        items = [f"⟦{outer}.{name}.{end}‖{outer}.{name}{after}⟧", f"{outer}.n"]
        group = ""
        if self.choices.chance(30):
            items, group = [f"MAX({outer}.n)", items[0]], f" GROUP BY {outer}.{name}"
        return f"SELECT {_named(items[:width])} FROM ({rows}) AS {outer}{group}"

    def _hopping(self, depth: int, width: int, top: bool) -> str:
        self.used["hopping window"] += 1
        alias, starts, slide = self._alias(), self._alias(), self.choices.pick(STARTS)
        size = slide + self.choices.integer(0, 4)
        columns = [f"{alias}.{column}" for column in COLUMNS[:3]]
        table = self.choices.pick(("S", "T"))
        join = f" JOIN starts_{slide} AS {starts} ON {starts}.s <= {alias}.ts AND {alias}.ts < {starts}.s + {size}"
        call = f"window({alias}.ts, '{size} microseconds', '{slide} microseconds')"
        key, start = f"⟦{call}‖{starts}.s⟧", f"⟦window.start‖{starts}.s⟧"
        if self.choices.chance(25):
            return self._cumulating(table, alias, starts, slide, width)
        return self._over_windows(f"{table} AS {alias}⟦‖{join}⟧", columns, key, start, width)

    def _cumulating(self, table: str, alias: str, starts: str, step: int, width: int) -> str:
        """Groups of windows that grow by a step; the last step of each is a row of DuckDB's table."""
        self.used["cumulating window"] += 1
        size, end = step * self.choices.integer(1, 3), f"({starts}.s + {step})"
        begun = f"({end} - 1) DIV {size} * {size}"
        call = f"CUMULATE(TABLE {table}, DESCRIPTOR(ts), '{step} microseconds', '{size} microseconds') AS {alias}"
        join = f"{table} AS {alias} JOIN starts_{step} AS {starts} ON {begun} <= {alias}.ts AND {alias}.ts < {end}"
        columns = [f"{alias}.{column}" for column in COLUMNS[:3]]
        keys = f"⟦{alias}.window_start, {alias}.window_end‖{begun}, {end}⟧"
        start = self.choices.pick((f"⟦{alias}.window_start‖{begun}⟧", f"⟦{alias}.window_end‖{end}⟧"))
        return self._over_windows(f"⟦{call}‖{join}⟧", columns, keys, start, width)

    def _over_windows(self, source: str, columns: Sequence[str], key: str, start: str, width: int) -> str:
        keys = [key, *([self.choices.pick(columns[:2])] if self.choices.chance(50) else [])]
        items = [self._aggregate(columns, True), self.choices.pick((start, keys[-1] if len(keys) > 1 else start))]
        having, where = self._having(), self._where(columns, 0)
        return f"SELECT {_named(items[:width])} FROM {source}{where} GROUP BY {', '.join(keys)}{having}"

    def _session(self, depth: int, width: int, top: bool) -> str:
        self.used["session window"] += 1
        alias, table, gap = self._alias(), self.choices.pick(("S", "T")), self.choices.integer(1, 2)
        key = self.choices.pick(("a", "b", "k", ""))
        condition = self.choices.pick((f"{alias}.a <= 2", f"{alias}.b IS NOT NULL", "1 = 1"))
        part = f"PARTITION BY {alias}.{key}" if key else ""
        order = f"OVER ({part} ORDER BY {alias}.ts)"
        begun = (
            f"SELECT {alias}.*, CASE WHEN {alias}.ts > LAG({alias}.ts) {order} + {gap} THEN 1 ELSE 0 END AS begun "
            f"FROM {table} AS {alias} WHERE {condition}"
        )
        numbered = f"SELECT {alias}.*, SUM({alias}.begun) {order} AS session FROM ({begun}) AS {alias}"
        where = "" if condition == "1 = 1" else f" WHERE {condition}"
        source = f"⟦{table} AS {alias}{where}‖({numbered}) AS {alias}⟧"
        columns = [f"{alias}.{column}" for column in COLUMNS[:3]]
        group = [f"⟦session_window({alias}.ts, '{gap} microseconds')‖{alias}.session⟧"]
        group += [f"{alias}.{key}"] if key else []
        ends = f"⟦session_window.end‖MAX({alias}.ts) + {gap}⟧", f"⟦session_window.start‖MIN({alias}.ts)⟧"
        items = [self._aggregate(columns, True), self.choices.pick(ends)]
        return f"SELECT {_named(items[:width])} FROM {source} GROUP BY {', '.join(group)}"

    # --- above windows ----------------------------------------------------------------------------------------------

    def _windows_of_windows(self, depth: int, width: int, top: bool) -> str:
        """What is made of the groups of windows: of one stream's, or of both streams'."""
        form = self.choices.pick(("longer", "longer", "ends", "set", "set", "join", "join", "rank", "total", "first"))
        self.used[f"{form} of windows"] += 1
        size = self.choices.integer(1, 3)
        one, two = (self._groups(table, size) for table in ("S", "T"))
        alias, other, longer = self._alias(), self._alias(), self.choices.integer(2, 3)
        value = self.choices.pick(("MAX({0}.n)", "MIN({0}.n)", "SUM({0}.n)", "COUNT(*)", "COUNT(DISTINCT {0}.n)"))
        items = [value.format(alias), f"{alias}.w DIV {longer}"]
        if form == "longer":
            grouped = " AS g" in one and self.choices.chance(50)
            if not grouped and self.choices.chance(30):
                one = f"SELECT w, n FROM ({one}) {self.choices.pick(_SETS)} SELECT w, n FROM ({two})"
            keys = f"{alias}.w DIV {longer}" + f", {alias}.g" * grouped
            return f"SELECT {_named(items[:width])} FROM ({one}) AS {alias} GROUP BY {keys}"
        if form == "ends":
            return self._of_ends(alias, size, value.format(alias), width)
        columns = ["n", "w"][:width]
        if form == "set":
            shown = ", ".join(f"{name} AS c{n}" for n, name in enumerate(columns, 1))
            operation = self.choices.pick(_SETS)
            return f"SELECT {shown} FROM ({one}) {operation} SELECT {shown} FROM ({two})"
        if form == "rank":
            order = self.choices.pick(("n", "n DESC", "n, w DESC", "w"))
            by = self.choices.pick((f"w DIV {longer}", "w"))
            function = self.choices.pick(("RANK()", "DENSE_RANK()", "COUNT(*)", "MAX(n)"))
            over = f"{function} OVER (PARTITION BY {by} ORDER BY {order})"
            first = f" WHERE {alias}.r <= 1" * self.choices.chance(50)
            shown = _named([f"{alias}.r", f"{alias}.w"][:width])
            return f"SELECT {shown} FROM (SELECT w, n, {over} AS r FROM ({one})) AS {alias}{first}"
        if form == "first":
            grouped = " AS g" in one
            order = self.choices.pick(("w DESC", "n DESC", "n, w DESC", "w DESC, n"))
            by = "PARTITION BY g " if grouped and self.choices.chance(80) else ""
            ties = "⟦‖, w" + ", g" * grouped + ", n⟧"
            function = "ROW_NUMBER()" if "w" not in order else self.choices.pick(("ROW_NUMBER()", "RANK()"))
            over = f"{function} OVER ({by}ORDER BY {order}{ties * (function == 'ROW_NUMBER()')})"
            shown = _named([f"{alias}.n", f"{alias}.w"][:width])
            first = f"{alias}.r <= {self.choices.integer(1, 2)}"
            return f"SELECT {shown} FROM (SELECT *, {over} AS r FROM ({one})) AS {alias} WHERE {first}"
        if form == "total":
            value = self.choices.pick(("SUM(n)", "COUNT(*)", "MAX(n)", "MIN(n)", "RANK()", "DENSE_RANK()"))
            by = "PARTITION BY g " if " AS g" in one else ""
            order = self.choices.pick(("w", "w", "w, n"))
            shown = _named([f"{value} OVER ({by}ORDER BY {order})", "w"][:width])
            return f"SELECT {shown} FROM ({one}) AS {alias}"
        kind, shift = self.choices.pick(_JOINS), self.choices.pick(("", "", " + 1", " - 1"))
        key, beside = f"{alias}.w", f"{other}.w"
        if self.choices.chance(40):  # rows beside groups, by a bucket that the condition computes
            one, key = "SELECT ts, v AS n FROM S", f"{alias}.ts DIV {size}"
        if self.choices.chance(25):
            key, beside = f"{key} DIV {longer}", f"{beside} DIV {longer}"
        sign = self.choices.weighted([(6, "="), (1, "<"), (1, ">=")])
        on = f"{key} {sign} {beside}{shift}" + self.choices.pick(("", f" AND {alias}.n > {other}.n"))
        both = [f"{alias}.n", key] + [f"{other}.n"] * ("SEMI" not in kind and "ANTI" not in kind)
        shown = _named([self.choices.pick(both) for _ in range(width)])
        return f"SELECT {shown} FROM ({one}) AS {alias} {kind} ({two}) AS {other} ON {on}"

    def _groups(self, table: str, size: int) -> str:
        """The groups of a stream's windows: a window w, perhaps a key g, and a value n."""
        alias = self._alias()
        columns = [f"{alias}.{column}" for column in COLUMNS[:3]]
        key = self.choices.pick(columns[:2]) if self.choices.chance(40) else ""
        more = f", {key} AS g" if key else ""
        value = self.choices.pick(("COUNT(*)", "SUM({})", "MAX({})", "MIN({})")).format(self.choices.pick(columns))
        where = f" WHERE {self._condition(columns)}" if self.choices.chance(40) else ""
        groups = f" GROUP BY {alias}.ts DIV {size}" + f", {key}" * bool(key)
        return f"SELECT {alias}.ts DIV {size} AS w{more}, {value} AS n FROM {table} AS {alias}{where}{groups}"

    def _of_ends(self, alias: str, size: int, value: str, width: int) -> str:
        """Windows of an end of windows, tumbling, or in numbers."""
        table, longer = self.choices.pick(("S", "T")), self.choices.integer(2, 4)
        end, after = self.choices.pick((("start", ""), ("end", f" + {size}")))
        window = f"window(ts, '{size} microseconds')"
        rows = (
            f"(SELECT ⟦{window}.{end}‖(ts DIV {size}) * {size}{after}⟧ AS t, COUNT(*) AS n FROM {table} "
            f"GROUP BY ⟦{window}‖ts DIV {size}⟧)"
        )
        key, start = f"{alias}.t DIV {longer}", f"{alias}.t DIV {longer}"
        if self.choices.chance(50):
            call = f"window({alias}.t, '{longer} microseconds')"
            key, start = f"⟦{call}‖{key}⟧", f"⟦{call}.start‖({alias}.t DIV {longer}) * {longer}⟧"
        return f"SELECT {_named([value, start][:width])} FROM {rows} AS {alias} GROUP BY {key}"
