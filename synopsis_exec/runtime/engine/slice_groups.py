"""Aggregates of the rows that are valid at a time: of each group, between every two points where its rows change.

Dignös et al., *Snapshot Semantics*, Definition 7.1. COUNT, SUM and AVG are running sums over the ends of rows. For MIN
and MAX a row covers a range of its group's parts of time, which are numbered: that is two blocks, of as many parts as a
power of two. Blocks become two of half the size, from the largest to those of one part, whose best values are grouped
at each size: as much work as there are rows and parts, times the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.aggregates import of_sums
from streambound_runtime.engine.slice_tables import COPIES, SINCE, UNTIL, ArrivedRows, Measure, SliceTables
from streambound_runtime.engine.tables import BIGINT, DOUBLE, EXACT, HUGEINT, engine_type, listed, places, same
from streambound_runtime.operators.circuit_plan import GroupValue
from streambound_runtime.operators.period_plan import SliceAggregate, SliceGroup

_BEST = ("min", "max")
_NO_KEY = "0"
"""The key of the only group, where there are no keys."""


@dataclass(frozen=True, slots=True)
class GroupParts:
    """The parts of a group from which its aggregates are computed, each with rows of its own, of these ``types``.

    COUNT, SUM and AVG are of one part, if there are any; each column whose values count once, and each MIN and MAX is
    one. Without aggregates there is a part for whether a group has rows.
    """

    plan: SliceGroup
    types: tuple[str, ...]

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The columns that rows of a group agree in, with their types."""
        return tuple((f"c{n}", self.types[n]) for n in range(self.plan.keys)) or ((_NO_KEY, BIGINT),)

    @property
    def sums(self) -> tuple[int, ...] | None:
        """The columns of COUNT, SUM and AVG; None where there are no such aggregates."""
        plain = [one for one in self.plan.aggregates if one.function not in _BEST and not one.distinct]
        return tuple(dict.fromkeys(one.column for one in plain if one.column is not None)) if plain else None

    @property
    def distinct(self) -> tuple[int, ...]:
        """The columns of which each value counts once."""
        mine = (one for one in self.plan.aggregates if one.distinct and one.function not in _BEST)
        return tuple(dict.fromkeys(one.column for one in mine if one.column is not None))

    @property
    def best(self) -> tuple[tuple[str, int], ...]:
        """MIN and MAX, with their columns."""
        mine = (one for one in self.plan.aggregates if one.function in _BEST)
        return tuple(dict.fromkeys((one.function, one.column) for one in mine if one.column is not None))

    def measures(self) -> tuple[Measure, ...]:
        """Of the columns of sums how many values they have, and what these add up to."""
        found = [COPIES]
        for n in self.sums or ():
            found.append(Measure(f"n{n}", f"CASE WHEN c{n} IS NOT NULL THEN m ELSE 0 END", f"sum(n{n})"))
            total, exact = self.total(n, f"c{n}", "m"), self.types[n] == DOUBLE
            added = f"exact_total(list(s{n}))" if exact else f"sum(s{n})"
            found.append(Measure(f"s{n}", total, added, EXACT if exact else HUGEINT))
        return tuple(found)

    def total(self, n: int, value: str, copies: str) -> str:
        """The sum of copies of a column's value; empty for strings and the like, exact for doubles."""
        if self.types[n] == DOUBLE:
            return f"exact_sum([{value}], [{copies}])"
        return f"COALESCE({value} * {copies}, 0)" if self.types[n] in (BIGINT, HUGEINT) else "0"

    def kept(self) -> list[ArrivedRows]:
        """The states of each part, in their order: sums, values that count once, best values."""
        most = str(self.plan.most) if self.plan.most else ""
        found = [ArrivedRows(self.key, self.measures(), most=most)] if self.sums is not None else []
        pairs = [ArrivedRows((*self.key, (f"c{n}", self.types[n])), last=True) for n in self.distinct]
        best = [ArrivedRows((*self.key, (f"c{n}", self.types[n])), best=function) for function, n in self.best]
        return [*found, *pairs, *best] or [ArrivedRows(self.key, last=True)]


def grouped(parts: GroupParts, rows: Sequence[str], tables: SliceTables) -> str:
    """The rows of all groups in the slice: keys and aggregates; ``rows`` are those of each part."""
    return _Groups(parts, tuple(rows), tables).rows()


@dataclass(frozen=True, slots=True)
class _Groups:
    parts: GroupParts
    of: tuple[str, ...]
    tables: SliceTables

    @property
    def names(self) -> tuple[str, ...]:
        """The key's columns."""
        return places(len(self.parts.key))

    @property
    def key(self) -> str:
        return ", ".join(self.names)

    def rows(self) -> str:
        """The groups' rows, where they have any; with ``always`` at all of time."""
        plan, numbers = self.parts.plan, self._sums()
        best = list(zip(self.parts.best, self.of[len(self.of) - len(self.parts.best) :], strict=True))
        window = f"OVER (PARTITION BY {self.key} ORDER BY t)"
        running = (n if kind == EXACT else f"sum({n}) {window} AS {n}" for n, kind in numbers.items())
        place = f"row_number() OVER (ORDER BY {self.key}, t) AS i" if best else ""
        shown = listed(self.key, "t AS b", f"lead(t) {window} AS e", *running, place)
        parts = self.tables.table(f"SELECT {shown} FROM {self._points(numbers)}")
        joined = parts + " p"
        for number, ((function, _), rows) in enumerate(best):
            found = self.tables.table(self._extremes(function, rows, parts))
            joined += f" LEFT JOIN {found} b{number} ON b{number}.i = p.i"
        at = {one: f"b{place}.v" for place, one in enumerate(self.parts.best)}
        made = [f"p.{name}" for name in self.names[: plan.keys]]
        made += [f"{self._value(one, at)} AS c{plan.keys + n}" for n, one in enumerate(plan.aggregates)]
        there = "" if plan.always else " AND p.m > 0"
        return f"(SELECT {listed(*made, 'p.b', 'p.e', '1 AS m')} FROM {joined} WHERE p.e IS NOT NULL{there})"

    def _value(self, one: SliceAggregate, best: dict[tuple[str, int], str]) -> str:
        if one.column is None:
            number, total, exact = "p.m", "p.m", False
        elif one.function in _BEST:
            return best[one.function, one.column]
        else:
            prefix = "d" if one.distinct else ""
            number, total = f"p.{prefix}n{one.column}", f"p.{prefix}s{one.column}"
            exact = self.parts.types[one.column] == DOUBLE
        value = GroupValue("", one.function, one.result, places=sql_type(one.type).scale)
        return of_sums(value, number, total, "0", engine_type(one.result), exact)

    # --- running sums -------------------------------------------------------------------------------------------------

    def _sums(self) -> dict[str, str]:
        """The numbers of a group at a time, with their types."""
        found = {one.name: one.type for one in self.parts.measures()}
        for n in self.parts.distinct:
            found |= {f"dn{n}": HUGEINT, f"ds{n}": EXACT if self.parts.types[n] == DOUBLE else HUGEINT}
        return found

    def _points(self, types: dict[str, str]) -> str:
        """By how much the groups' numbers change, and when; exact sums are what they come to there."""
        changes = " UNION ALL ".join(self._changes(types))
        summed = (f"exact_total(list({n})) AS {n}" if types[n] == EXACT else f"sum({n}) AS {n}" for n in types)
        points = f"SELECT {self.key}, t, {', '.join(summed)} FROM ({changes}) GROUP BY {self.key}, t"
        if EXACT not in types.values():
            return f"({points})"
        lists = ((n, kind, f"list({n} ORDER BY t)") for n, kind in types.items())
        shown = (f"unnest({f'exact_running({each})' if kind == EXACT else each}) AS {n}" for n, kind, each in lists)
        ordered = ", ".join(["unnest(list(t ORDER BY t)) AS t", *shown])
        return f"(SELECT {self.key}, {ordered} FROM ({points}) GROUP BY {self.key})"

    def _changes(self, types: dict[str, str]) -> list[str]:
        """The changes with their times, each part with its own numbers; the first part has the number of rows."""
        rows, found = list(self.of), list[str]()

        def noted(source: str, own: dict[str, str]) -> None:
            mine = own if not found else {name: text for name, text in own.items() if name != "m"}
            shown = (
                _both_ways(mine[n], kind, n) if n in mine else f"{_nothing(kind)} AS {n}" for n, kind in types.items()
            )
            found.append(f"SELECT {self.key}, unnest([b, e]) AS t, {', '.join(shown)} FROM {source}")

        if self.parts.sums is not None:
            noted(rows.pop(0), {one.name: one.name for one in self.parts.measures()})
        for n in self.parts.distinct:
            value = f"c{len(self.names)}"
            once = present(rows.pop(0), (*self.names, value))
            number = f"({value} IS NOT NULL)::INT"
            noted(once, {"m": "1", f"dn{n}": number, f"ds{n}": self.parts.total(n, value, "m")})
        for source in rows:
            noted(source, {"m": "m"})
        if self.parts.plan.always and not self.parts.plan.keys:
            nothing = (f"{_nothing(kind)} AS {n}" for n, kind in types.items())
            found.append(f"SELECT {_NO_KEY}, unnest([{SINCE}, {UNTIL}]), {', '.join(nothing)}")
        return found

    # --- MIN and MAX --------------------------------------------------------------------------------------------------

    def _extremes(self, function: str, rows: str, parts: str) -> str:
        """The best value ``v`` of each of the ``parts`` of time, by its number."""
        value, best = f"c{len(self.names)}", f"{function}(v) AS v"
        begin, end = (f"{same(self.names, one, 'r')} AND {one}.b = r.{at}" for one, at in (("p", "b"), ("q", "e")))
        covered = (
            f"SELECT p.i, q.i AS j, r.{value} AS v FROM {rows} r JOIN {parts} p ON {begin} JOIN {parts} q ON {end}"
        )
        covered = f"SELECT *, floor(log2(j - i))::INT AS l FROM ({covered} WHERE r.{value} IS NOT NULL)"
        blocks = f"SELECT l, unnest([i, j - (1::BIGINT << l)]) AS i, v FROM ({covered})"
        own = self.tables.table(f"SELECT l, i, {best} FROM ({blocks}) GROUP BY l, i")
        halves = "SELECT l - 1 AS l, unnest([i, i + (1::BIGINT << (l - 1))]) AS i, v FROM blocks WHERE l > 0"
        smaller = f"SELECT l, i, v FROM {own} WHERE l = (SELECT min(l) - 1 FROM blocks)"
        levels = f"SELECT l, i, {best} FROM ({halves} UNION ALL {smaller}) GROUP BY l, i"
        largest = f"SELECT l, i, v FROM {own} WHERE l = (SELECT max(l) FROM {own})"
        return f"WITH RECURSIVE blocks AS ({largest} UNION ALL {levels}) SELECT i, v FROM blocks WHERE l = 0"


def _nothing(kind: str) -> str:
    return "'0'" if kind == EXACT else "0"


def _both_ways(text: str, kind: str, name: str) -> str:
    """The additions of rows at their begin, and their subtractions at their end."""
    back = f"exact_product([{text}, '-1'])" if kind == EXACT else f"-({text})"
    return f"unnest([{text}, {back}]) AS {name}"


def present(rows: str, names: Sequence[str]) -> str:
    """Where there is a row of some values at all."""
    return swept(
        f"SELECT {listed(*names, 'unnest([b, e]) AS t', 'unnest([m, -m]) AS x', '0 AS y')} FROM {rows}",
        names,
        "1",
        "x > 0",
    )


def swept(changes: str, names: Sequence[str], copies: str, there: str, more: str = "") -> str:
    """Rows with periods between the points of time at which the counts ``x`` and ``y`` of some values change."""
    key = ", ".join(names)
    window = f"({f'PARTITION BY {key} ' if key else ''}ORDER BY t)"
    points = (
        f"SELECT {listed(key, 't', 'sum(x) AS x', 'sum(y) AS y')} FROM ({changes}) GROUP BY {listed(key, 't')}{more}"
    )
    running = f"sum(x) OVER {window} AS x, sum(y) OVER {window} AS y"
    ranges = f"SELECT {listed(key, 't AS b', f'lead(t) OVER {window} AS e', running)} FROM ({points})"
    return f"(SELECT {listed(key, 'b', 'e', f'{copies} AS m')} FROM ({ranges}) WHERE e IS NOT NULL AND {there})"
