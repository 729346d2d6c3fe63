"""The operators of SEQ VT in SQL: what rows they give in a slice of time, of those that are valid in it.

Dignös et al., *Snapshot Semantics for Temporal Multiset Relations*. Nothing is remembered inside of a query: every
operator is a function of what is valid at a time, so that of the slice's rows it gives the slice's results. What is
remembered are rows that arrived, until they end, and of these what the operator right above needs (`ArrivedRows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streambound_runtime.engine.slice_groups import GroupParts, grouped, present, swept
from streambound_runtime.engine.slice_tables import (
    CLIPPED,
    OF_ROWS,
    SINCE,
    UNTIL,
    WITHIN,
    ArrivedRows,
    Measure,
    SliceTables,
    plain,
)
from streambound_runtime.engine.tables import BIGINT, DOUBLE, HUGEINT, VARCHAR, columns, engine_type, listed, places
from streambound_runtime.operators.circuit_plan import MapNode
from streambound_runtime.operators.formula import Relations
from streambound_runtime.operators.period_plan import (
    LineageColumn,
    LineageRows,
    RandomRows,
    SliceCoalesce,
    SliceDifference,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SliceMatched,
    SliceParts,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceScan,
    SliceUnion,
    is_arriving,
    is_static,
    only_latest,
    width,
)
from streambound_runtime.operators.values import integer

_WIDER = (BIGINT, HUGEINT, DOUBLE, VARCHAR)
"""Types, of which a column of two sides has the later one: the other's values are integers, too, or NULL."""
_MANY_PAIRS = 10_000_000
"""Pairs of equal keys, valid together or not, up to which they are looked at one by one."""
_LONGEST = 2**62
_PASSING = (("passes", "int"),)
_COPIES = {"m": "l.m * r.m"}
_NUMBERED = _COPIES | {"left_id": "l.id", "right_id": "r.id"}


@dataclass(frozen=True, slots=True)
class SliceRows:
    """Makes the statements of a query's operators; ``streams`` are the tables of its blocks, with their types.

    All that is valid is so from ``low`` to before ``high``. ``ends`` are when the last rows of relations end.
    ``whole``: the slice is all of time, and keys may have many rows.
    """

    tables: SliceTables
    streams: Mapping[str, tuple[str, tuple[str, ...]]]
    relations: Relations
    low: int
    high: int
    ends: list[int] = field(default_factory=list)
    whole: bool = False

    def top(self, plan: SlicePlan) -> str:
        """The rows of a whole query."""
        return self._kept_rows(plan) if self._waits(plan) else self.rows(plan)

    def parts(self, plan: SlicePlan) -> str:
        """Rows with their whole periods as they come, the sum of which is the result: equal ones as one."""
        names = listed(columns(len(self.types(plan))), "b", "e")
        return f"(SELECT {names}, sum(m) AS m FROM {self._arrived(plan)} GROUP BY {names})"

    # --- types --------------------------------------------------------------------------------------------------------

    def types(self, plan: SlicePlan) -> tuple[str, ...]:
        """The types of an operator's columns."""
        match plan:
            case SliceScan(block):
                return self.streams[block][1][:-1]
            case SliceRelation(types=types):
                return tuple(map(engine_type, types))
            case SliceProject(input=input) if plan.picks is not None:
                return tuple(self.types(input)[place] for place in plan.picks)
            case SliceProject(types=types):
                return tuple(map(engine_type, types))
            case SliceFilter(input) | SliceMatched(input=input) | SliceDistinct(input) | SliceCoalesce(input):
                return self.types(input)
            case SliceJoin(kind="semi" | "anti", left=left):
                return self.types(left)
            case SliceUnion(left, right) | SliceDifference(left, right):
                both = zip(self.types(left), self.types(right), strict=True)
                return tuple(one if one == other else max(one, other, key=_WIDER.index) for one, other in both)
            case SliceJoin(left=left, right=right):
                return (*self.types(left), *self.types(right))
            case RandomRows(input):
                return self.types(input)[:-2]
            case LineageRows(input, at):
                return (*self.types(input)[:at], *self.types(input)[at + 2 :])
            case LineageColumn(input):
                return (*self.types(input), VARCHAR)
            case SliceParts(input, keys, aggregates):
                kinds = self.types(input)
                return (*kinds[:keys], *(one.type for one in self._parts(plan).measures() if one.name != "m"))
            case SliceGroup(input, keys, aggregates):
                kinds = self.types(input)
                return (*kinds[:keys], *(one.type_of(kinds) or engine_type(one.result) for one in aggregates))

    def _waits(self, plan: SlicePlan) -> bool:
        """Whether rows are kept until they end: not where nothing comes after the slice."""
        return is_arriving(plan) and not self.whole

    # --- rows that arrive ---------------------------------------------------------------------------------------------

    def arriving(self, plan: SlicePlan) -> str:
        """The rows of a stream or a relation that begin in the slice, with their whole periods."""
        if is_static(plan):
            return f"(SELECT * FROM {self._static(plan)} WHERE b >= {SINCE} AND b < {UNTIL})"
        return self._arrived(plan)

    def _arrived(self, plan: SlicePlan) -> str:
        """The rows that begin in the slice, with their whole periods."""
        match plan:
            case SliceScan(block):
                delta, (*kinds, _) = self.streams[block]
                shown = [plain(f"c{n}", kind, f"c{n}") for n, kind in enumerate(kinds)]
                period = f"greatest(t, {_time(self.low)}) AS b, least(c{len(kinds)}, {_time(self.high)}) AS e"
                return f"(SELECT {listed(*shown, period, 'w AS m')} FROM {delta} WHERE b < e)"
            case SliceFilter(input=input) | SliceProject(input=input):
                return self.mapped(plan, self._arrived(input))
            case SliceMatched():
                return self._matched(plan, self._arrived(plan.input))
            case SliceUnion(left, right):
                return self._united(plan, self._arrived(left), self._arrived(right))
            case SliceJoin():
                return self._joined_parts(plan)
        raise AssertionError(f"the rows of {type(plan).__name__} do not carry their ends")

    def _kept_rows(self, plan: SlicePlan, most: str = "") -> str:
        """Rows that arrived and are still valid, in the slice."""
        key = tuple((f"c{n}", kind) for n, kind in enumerate(self.types(plan)))
        return self.tables.kept(ArrivedRows(key, most=most), self._arrived(plan))

    def _joined_parts(self, plan: SliceJoin) -> str:
        """Pairs of which a row comes in the slice: with those of the other side that come, and earlier ones."""
        sides = plan.left, plan.right
        new, held = list[str](), list[str]()
        kept = not any(map(is_static, sides))  # else nothing comes that could meet them
        for side in sides:
            if is_static(side):
                held.append(self._static(side))
                new.append(f"(SELECT * FROM {held[-1]} WHERE false)")
                continue
            names = columns(len(self.types(side)))
            new.append(self.tables.table(f"SELECT {listed(names, 'b', 'e', 'm')} FROM {self._arrived(side)}"))
            held.append(self._waiting(side, new[-1]) if kept else f"(SELECT * FROM {new[-1]} WHERE false)")
        with_all = f"(SELECT * FROM {held[1]} UNION ALL SELECT * FROM {new[1]})"
        first, second = self.pairs(plan, new[0], with_all), self.pairs(plan, held[0], new[1])
        return f"(SELECT * FROM {first} UNION ALL SELECT * FROM {second})"

    def _waiting(self, side: SlicePlan, new: str) -> str:
        """Rows that are valid after the slice, or begin then: pairs with a relation's rows may lie ahead."""
        kinds = self.types(side)
        named = [*zip(places(len(kinds)), kinds, strict=True), ("b", BIGINT), ("e", BIGINT)]
        both = self.tables.called()
        key = listed(columns(len(kinds)), f"greatest(b, {UNTIL}) AS b", "e")
        valid = f"SELECT {key}, sum(m) AS m FROM {both} WHERE e > {UNTIL} GROUP BY ALL"
        state = self.tables.state([*named, ("m", HUGEINT)], valid)
        self.tables.steps.append(self.tables.step(f"SELECT * FROM {state} UNION ALL SELECT * FROM {new}", both))
        return state

    # --- relations ----------------------------------------------------------------------------------------------------

    def _static(self, plan: SlicePlan) -> str:
        """The rows of σ and Π of a relation, of all of time."""
        before, self.tables.steps = self.tables.steps, []
        name = self.tables.table(f"SELECT {listed(columns(width(plan)), 'b', 'e', 'm')} FROM {self._static_rows(plan)}")
        for step in self.tables.steps:  # once
            step()
        self.tables.steps = before
        return name

    def _static_rows(self, plan: SlicePlan) -> str:
        if isinstance(plan, SliceRelation):
            return f"({self._relation(plan)})"
        assert isinstance(plan, SliceFilter | SliceProject), "nothing else is known beforehand"
        return self.mapped(plan, self._static_rows(plan.input))

    def _relation(self, plan: SliceRelation) -> str:
        """The rows of a relation in the time that there is; one without a period is valid at all of it."""
        import pyarrow as pa

        rows = self.relations[plan.table] if plan.table else pa.table({"": [None]})
        kinds = [*map(engine_type, plan.types), *([BIGINT, BIGINT] if plan.period else [])]
        found = self.tables.called()
        self.tables.session.put_relation(found, kinds, rows, (*plan.columns, *(plan.period or ())))
        begin, end = (
            (f"c{len(kinds) - 2}", f"c{len(kinds) - 1}") if plan.period else (_time(self.low), _time(self.high))
        )
        shown = [plain(f"c{n}", kind, f"c{n}") for n, kind in enumerate(kinds[: len(plan.types)])]
        period = f"greatest({begin}, {_time(self.low)}) AS b, least({end}, {_time(self.high)}) AS e"
        there = f"{begin} IS NOT NULL AND {end} IS NOT NULL AND b < e"
        made = f"SELECT {listed(*shown, period, 'w AS m')} FROM {found} WHERE {there}"
        if plan.period:
            ((last,),) = self.tables.session.execute(f"SELECT max(e) FROM ({made})").fetchall()
            self.ends.extend([] if last is None else [integer(last)])
        return made

    def _matched(self, plan: SliceMatched, rows: str) -> str:
        """Rows that agree with one of a relation, whenever that is valid."""
        equal = " AND ".join(f"l.c{mine} = r.c{theirs}" for mine, theirs in plan.keys)
        return f"(SELECT l.* FROM {rows} l SEMI JOIN {self._static(plan.relation)} r ON {equal})"

    # --- operators ----------------------------------------------------------------------------------------------------

    def rows(self, plan: SlicePlan) -> str:
        """The parts of an operator's rows that lie in the slice."""
        if self._waits(plan):
            return self._kept_rows(plan)
        if is_static(plan):
            names = columns(len(self.types(plan)))
            return f"(SELECT {listed(names, CLIPPED, 'm')} FROM {self._static(plan)} WHERE {WITHIN})"
        match plan:
            case SliceScan():
                return self._arrived(plan)
            case SliceFilter(input=input) | SliceProject(input=input):
                return self.mapped(plan, self.rows(input))
            case SliceMatched():
                return self._matched(plan, self.rows(plan.input))
            case SliceUnion(left, right):
                return self._united(plan, self.rows(left), self.rows(right))
            case SliceDistinct(input=input) if self._waits(input):
                key = tuple((f"c{n}", kind) for n, kind in enumerate(self.types(input)))
                return present(self.tables.kept(ArrivedRows(key, last=True), self._arrived(input)), places(len(key)))
            case SliceDistinct(input=input):
                return present(self.rows(input), places(len(self.types(input))))
            case SliceDifference():
                return self._difference(plan)
            case SliceParts():
                return self._merged(plan)
            case SliceGroup():
                return self._grouped(plan)
            case SliceJoin():
                return self._joined(plan)
        raise AssertionError(f"no operator for {type(plan).__name__}")

    def mapped(self, plan: SliceFilter | SliceProject, rows: str, carried: Sequence[str] = OF_ROWS) -> str:
        """The rows for which a condition is true, or what expressions make of them; other columns are ``carried``."""
        if isinstance(plan, SliceFilter):
            return self._passing(plan, rows, (columns(width(plan)), *carried))
        if plan.picks is not None:
            shown = (f"c{place} AS c{n}" for n, place in enumerate(plan.picks))
            return f"(SELECT {listed(*shown, *carried)} FROM {rows})"
        kinds = tuple(zip(places(len(plan.types)), plan.types, strict=True))
        node = MapNode(self.tables.name, "", plan.given, kinds, plan.items, engine=plan.engine)
        return self.tables.computed(node, rows, carried)

    def _passing(self, plan: SliceFilter | SliceJoin, rows: str, names: Sequence[str]) -> str:
        """These columns of the rows for which an operator's condition is true."""
        engine = (("1",), plan.engine) if plan.engine else ((), "")
        node = MapNode(self.tables.name, "", plan.given, _PASSING, ("1",), plan.condition, *engine)
        return f"(SELECT {listed(*names)} FROM {self.tables.passing(node, rows)})"

    def _united(self, plan: SlicePlan, *sides: str) -> str:
        cast = listed(*(f"CAST(c{n} AS {kind}) AS c{n}" for n, kind in enumerate(self.types(plan))), "b", "e", "m")
        return f"({' UNION ALL '.join(f'SELECT {cast} FROM {side}' for side in sides)})"

    def _difference(self, plan: SliceDifference) -> str:
        """EXCEPT ALL and INTERSECT ALL, of the numbers ``x`` and ``y`` of either side's rows."""
        kinds = self.types(plan)
        names = places(len(kinds))
        if self._waits(plan.left) and self._waits(plan.right):
            key = tuple(zip(names, kinds, strict=True))
            measures = Measure("x", "x", "sum(x)"), Measure("y", "y", "sum(y)")
            sides = self._two_sided(plan, self._arrived(plan.left), self._arrived(plan.right))
            both = self.tables.kept(ArrivedRows(key, measures), sides)
        else:
            mine, theirs = only_latest(plan)
            left = self._limited(plan.left, plan.right) if mine else self.rows(plan.left)
            right = self._limited(plan.right, plan.left) if theirs else self.rows(plan.right)
            both = self._two_sided(plan, left, right)
        changes = listed(*names, "unnest([b, e]) AS t", "unnest([x, -x]) AS x", "unnest([y, -y]) AS y")
        copies, there = ("least(x, y)", "x > 0 AND y > 0") if plan.common else ("x - y", "x > y")
        return swept(f"SELECT {changes} FROM {both}", names, copies, there)

    def _two_sided(self, plan: SliceDifference, left: str, right: str) -> str:
        cast = listed(*(f"CAST(c{n} AS {kind}) AS c{n}" for n, kind in enumerate(self.types(plan))), "b", "e")
        return f"(SELECT {cast}, m AS x, 0 AS y FROM {left} UNION ALL SELECT {cast}, 0, m FROM {right})"

    def _limited(self, plan: SlicePlan, static: SlicePlan) -> str:
        """Rows of which no more copies play a part than a relation has at all."""
        names = columns(len(self.types(static)))
        copies = (
            f"SELECT {listed(names, 'sum(m) AS n')} FROM {self._static(static)}{f' GROUP BY {names}' if names else ''}"
        )
        known = self.tables.called()
        self.tables.step(copies, known)()
        return self._kept_rows(plan, known)

    def _parts(self, plan: SliceParts) -> GroupParts:
        return GroupParts(SliceGroup(plan.input, plan.keys, plan.aggregates), self.types(plan.input))

    def _merged(self, plan: SliceParts) -> str:
        (kept,) = self._parts(plan).kept()
        rest = [one for one in kept.measures if one.name != "m"]
        shown = [*(f"{one.added} AS c{plan.keys + n}" for n, one in enumerate(rest)), "sum(m) AS m"]
        key = listed(*kept.names[: plan.keys], "b", "e")
        return f"(SELECT {listed(key, *shown)} FROM ({kept.arriving(self.rows(plan.input))}) GROUP BY {key})"

    def _grouped(self, plan: SliceGroup) -> str:
        if plan.of_parts:
            return self._grouped_parts(plan)
        parts = GroupParts(plan, self.types(plan.input))
        if self._waits(plan.input):
            arrived = self.tables.table(f"SELECT * FROM {self._arrived(plan.input)}")
            rows = [self.tables.kept(one, arrived) for one in parts.kept()]
        else:
            valid = self.tables.table(f"SELECT * FROM {self.rows(plan.input)}")
            rows = [f"({one.arriving(valid)})" for one in parts.kept()]
        return grouped(parts, rows, self.tables)

    def _grouped_parts(self, plan: SliceGroup) -> str:
        most = max((one.column for one in plan.aggregates if one.column is not None), default=0)
        parts = GroupParts(plan, (*self.types(plan.input)[: plan.keys], *[HUGEINT] * (most + 1)))
        numbers = [one.name for one in parts.measures() if one.name != "m"]
        own = (f"c{plan.keys + n} AS {name}" for n, name in enumerate(numbers))
        rows = f"(SELECT {listed(columns(plan.keys), 'b', 'e', 'm', *own)} FROM {self.rows(plan.input)})"
        return grouped(parts, [rows], self.tables)

    # --- joins --------------------------------------------------------------------------------------------------------

    def _joined(self, plan: SliceJoin) -> str:
        if plan.kind == "inner":
            return self.pairs(plan, self.rows(plan.left), self.rows(plan.right))
        left, right = (
            self.tables.table(f"SELECT row_number() OVER () AS id, * FROM {self.rows(side)}")
            for side in (plan.left, plan.right)
        )
        pairs = self.tables.table(f"SELECT * FROM {self.pairs(plan, left, right, _NUMBERED)}")
        by, more = width(plan.left), width(plan.right)
        if plan.kind in ("semi", "anti"):
            return self._alone(left, pairs, "left_id", columns(by), plan.kind == "semi")
        found = [pairs]
        nothing = [[f"NULL AS c{n}" for n in range(*ends)] for ends in ((by, by + more), (0, by))]
        if plan.kind in ("left", "full"):
            found.append(self._alone(left, pairs, "left_id", listed(columns(by), *nothing[0])))
        if plan.kind in ("right", "full"):
            moved = (f"c{n} AS c{by + n}" for n in range(more))
            found.append(self._alone(right, pairs, "right_id", listed(*nothing[1], *moved)))
        return self._united(plan, *found)

    def pairs(self, plan: SliceJoin, left: str, right: str, more: Mapping[str, str] = _COPIES) -> str:
        """The pairs of rows that are valid together, where they are; with ``more`` columns of the rows l and r."""
        by, both = width(plan.left), width(plan.left) + width(plan.right)
        shown = [*(f"l.c{n}" for n in range(by)), *(f"r.c{n - by} AS c{n}" for n in range(by, both))]
        period = "greatest(l.b, r.b) AS b, least(l.e, r.e) AS e"
        own = (f"{text} AS {name}" for name, text in more.items())
        tests = [*(f"l.{mine} = r.{theirs}" for mine, theirs in plan.keys), "l.b < r.e", "r.b < l.e"]
        shown = [*shown, period, *own]
        joined = f"SELECT {listed(*shown)} FROM {left} l JOIN {right} r ON {' AND '.join(tests)}"
        if self.whole and plan.keys:
            joined = f"SELECT * FROM {self._met(joined, plan, shown, tests, (left, right))}"
        if not plan.condition:
            return f"({joined})"
        return self._passing(plan, f"({joined})", (columns(both), "b", "e", *more))

    def _met(
        self, joined: str, plan: SliceJoin, shown: Sequence[str], tests: Sequence[str], sides: tuple[str, str]
    ) -> str:
        """The pairs, found by parts of time where keys have many rows: each in the part in which it begins.

        A part is as long as rows are on average, so that there are at most twice as many parts of rows as rows.
        """
        found, counts = self.tables.called(), list[str]()
        for side, keys in zip(sides, zip(*plan.keys, strict=True), strict=True):
            own = (f"{name} AS k{n}" for n, name in enumerate(keys))
            counts.append(f"(SELECT {listed(*own, 'count(*) AS n')} FROM {side} GROUP BY ALL)")
        using = ", ".join(f"k{n}" for n in range(len(plan.keys)))
        number = f"SELECT sum(l.n::DOUBLE * r.n) FROM {counts[0]} l JOIN {counts[1]} r USING ({using})"
        both = " UNION ALL ".join(f"SELECT b, e FROM {side}" for side in sides)
        length = f"SELECT CAST(least(greatest(avg(e::DOUBLE - b), 1), {_LONGEST}) AS BIGINT) AS w FROM ({both})"
        parts = (f"(SELECT s.*, unnest(range(b // w, (e - 1) // w + 1)) AS z, w FROM {side} s, long)" for side in sides)
        once = [*tests, "l.z = r.z", "l.z = greatest(l.b, r.b) // l.w"]
        binned = f"SELECT {listed(*shown)} FROM {next(parts)} l JOIN {next(parts)} r ON {' AND '.join(once)}"
        variants = self.tables.step(joined, found), self.tables.step(f"WITH long AS ({length}) {binned}", found)

        def run() -> None:
            ((pairs,),) = self.tables.session.execute(number).fetchall()
            variants[(pairs or 0) > _MANY_PAIRS]()

        self.tables.steps.append(run)
        return found

    def _alone(self, rows: str, pairs: str, number: str, shown: str, matched: bool = False) -> str:
        """The parts of numbered rows where they have no partner, or, ``matched``, where they have some."""
        changes = f"SELECT {number} AS id, unnest([b, e]) AS t, unnest([1, -1]) AS x, 0 AS y FROM {pairs}"
        changes += f" UNION ALL SELECT id, unnest([b, e]), 0, 0 FROM {rows}"
        spans = swept(changes, ("id",), "1", "x > 0" if matched else "x = 0")
        return f"(SELECT {listed(shown, 's.b', 's.e', 'r.m')} FROM {rows} r JOIN {spans} s ON r.id = s.id)"


def _time(number: int) -> str:
    return f"CAST('{number}' AS BIGINT)"
