"""SEQ TP in SQL: overlapping, unmatched and negating windows of rows with lineages, in a slice of time.

Papaioannou, Theobald, Böhlen, *Generalized Lineage-Aware Temporal Windows*, Section V. What is kept of a side are the
rows that are valid at the frontier, each with when its open window has begun, ``s``: since then its lineage has been
the one just before the frontier, which the rows that are kept tell. A pair's window is the time that its rows share.

Of different variables a lineage is its text ``l`` and its probability ``p``. Where a variable may be in it twice, or
rows without any value are the same fact as rows without a match, it is a formula (`lineage.encoding`) until a result
is given, and ``p`` is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import itemgetter

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.arrow import arrow_type
from streambound_runtime.engine.session import as_decimal
from streambound_runtime.engine.slice_rows import SliceRows
from streambound_runtime.engine.slice_tables import CLIPPED, ENDED, SINCE, UNTIL, WITHIN, SliceTables
from streambound_runtime.engine.tables import BIGINT, DOUBLE, VARCHAR, columns, listed, places
from streambound_runtime.lineage.bounds import chances
from streambound_runtime.lineage.encoding import decoded, encoded
from streambound_runtime.lineage.formulas import FALSE, TRUE, Formula, LineageTooLargeError, quoted
from streambound_runtime.operators.period_plan import (
    LineageColumn,
    LineageRows,
    RandomRows,
    SliceDifference,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SliceLineage,
    SlicePlan,
    SliceProject,
    SliceUnion,
    inputs_of,
    operators_of,
    width,
)
from streambound_runtime.operators.values import integer
from streambound_runtime.tp.derivations import Combined, any_of, common, derivations, left_over
from streambound_runtime.tp.groups import Member, of_group
from streambound_runtime.tp.limits import OR_BOUNDS, Limits
from streambound_runtime.tp.plan import WINDOWS
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, SIDE, P, formula_of
from streambound_runtime.tp.segments import Valid, padded, paired

LineageOf = Callable[[Formula, Sequence[Valid]], Formula]
"""The lineage of a row and those that match it."""
_WINDOW = (("id", BIGINT), ("b", BIGINT), ("e", BIGINT), ("l", VARCHAR))
_CARRIED = ("b", "e", "l", "p")
_OF_PAIR = {f"{side}_{name}": f"{side}.{name}" for side in "lr" for name in ("id", "v", "p", "s", "blank")}


@dataclass(frozen=True, slots=True)
class SliceWindows:
    """Makes the statements of a block's windows; ``open`` are queries of when what is not given yet has begun."""

    query: SliceLineage
    rows: SliceRows
    open: list[str] = field(default_factory=list)

    @property
    def tables(self) -> SliceTables:
        """The tables of the slice, to which its statements are added."""
        return self.rows.tables

    @property
    def _limits(self) -> Limits:
        return Limits(self.query.nodes, self.query.time_type, self.query.bounds)

    @property
    def _join(self) -> SliceJoin | None:
        return next((one for one in operators_of(self.query.plan) if isinstance(one, SliceJoin)), None)

    @property
    def _final(self) -> bool:
        """Whether windows are given once they have ended, else their parts in the slice."""
        return self.query.final and not self.query.derived

    @property
    def _told(self) -> str:
        """Whether a window up to ``e`` is given."""
        return f"(e < {UNTIL} OR {ENDED})" if self._final else "true"

    def results(self) -> str:
        """The rows of the result in the slice: columns, period, the text of the lineage and its probability."""
        rows, kinds = self._rows(self.query.plan), self.rows.types(self.query.plan)
        return self._given(self._facts([f"SELECT * FROM {rows}"], kinds) if self.query.derived else rows, kinds)

    def of_task(self, finished: bool) -> str:
        """The rows of an operator in a task: with formulas as lineages, or ``finished`` as a result has them."""
        plan, kinds = self.query.plan, self.rows.types(self.query.plan)
        rows = self._rows(plan)
        if self.query.derived and isinstance(plan, LineageRows):
            rows = self._facts([f"SELECT {listed(columns(len(kinds)), *_CARRIED)} FROM {rows}"], kinds)
        return self._given(rows, kinds) if finished else rows

    def _rows(self, plan: SlicePlan) -> str:
        """The rows of an operator, of which several may be one fact where the result is derived."""
        match plan:
            case RandomRows():
                names = columns(len(self.rows.types(plan)))
                return f"(SELECT {listed(names, 'b', 'e', 'v AS l', 'p')} FROM {self._whole(self._held(0, plan))})"
            case LineageRows(input, at):
                places = [n for n in range(len(self.rows.types(input))) if n not in (at, at + 1)]
                shown = (f"c{place} AS c{n}" for n, place in enumerate(places))
                return (
                    f"(SELECT {listed(*shown, 'b', 'e', f'c{at} AS l', f'c{at + 1} AS p')} FROM {self.rows.top(input)})"
                )
            case LineageColumn(input):
                kinds = self.rows.types(input)
                own = f"l AS c{len(kinds)}", "b", "e", f"'{encoded(TRUE)}' AS l", "NULL::DOUBLE AS p"
                return f"(SELECT {listed(columns(len(kinds)), *own)} FROM {self._given(self._distinct(input), kinds)})"
            case SliceFilter(input=input) | SliceProject(input=input):
                return self.rows.mapped(plan, self._rows(input), _CARRIED)
            case SliceUnion(left, right):
                return f"({' UNION ALL '.join(self._of_side(plan, side) for side in (left, right))})"
            case SliceDifference(left, right, common=both):
                sides = [self._of_side(plan, side, n == 1) for n, side in enumerate((left, right))]
                found, kinds = self.tables.called(), self.rows.types(plan)
                self._combined(sides, found, kinds, common if both else left_over)
                return found
            case SliceGroup():
                return self._grouped(plan)
            case SliceJoin():
                return f"({' UNION ALL '.join(self._joined(plan))})"
        raise AssertionError(f"{type(plan).__name__} has no lineage")

    def _of_side(self, plan: SlicePlan, side: SlicePlan, right: bool = False) -> str:
        """The rows of a side of a set operation, of the types that both have."""
        cast = (f"CAST(c{n} AS {kind}) AS c{n}" for n, kind in enumerate(self.rows.types(plan)))
        mark = [f"{right} AS side"] if isinstance(plan, SliceDifference) else []
        return f"SELECT {listed(*cast, *_CARRIED, *mark)} FROM {self._rows(side)}"

    def _grouped(self, plan: SliceGroup) -> str:
        """A row for each number of rows that a group can have, between neighbouring ends of its rows."""
        under, found = plan.input, self.tables.called()
        facts = self._distinct(under.input) if isinstance(under, SliceProject) else self._rows(under)
        rows = self.rows.mapped(under, facts, _CARRIED) if isinstance(under, SliceProject) else facts
        order = f" OVER (ORDER BY {columns(plan.keys)})" if plan.keys else ""
        numbered = self.tables.table(f"SELECT *, dense_rank(){order} AS g FROM {rows}")
        self.tables.steps.append(partial(self._groups, plan, numbered, found))
        keys, kinds = columns(plan.keys), self.rows.types(plan)[plan.keys :]
        own = (f"CAST(f.v{n} AS {kind}) AS c{plan.keys + n}" for n, kind in enumerate(kinds))
        values = f"(SELECT DISTINCT g, {keys} FROM {numbered})"
        shown = listed(columns(plan.keys, "k."), *own, "f.b", "f.e", "f.l", "NULL AS p")
        return f"(SELECT {shown} FROM {found} f JOIN {values} k ON f.g = k.g)"

    def _distinct(self, plan: SlicePlan) -> str:
        """The rows of an operator, each fact once at a time."""
        rows = self._rows(plan)
        if all(isinstance(one, RandomRows | LineageRows | SliceFilter) for one in _of_facts(plan)):
            return rows
        found = self.tables.called()
        self._combined([f"SELECT *, false AS side FROM {rows}"], found, self.rows.types(plan), any_of)
        return found

    # --- rows of the sides --------------------------------------------------------------------------------------------

    def _side(self, side: int, plan: SlicePlan, windows: str) -> str:
        """The rows of a join's side, with numbers; ``windows`` are those of them that are wanted."""
        if isinstance(plan, RandomRows) and not self.query.derived:
            return self._held(side, plan, windows)
        shown = f"row_number() OVER () AS id, *, l AS v, b AS s, {self._blank(side)} AS blank"
        return self.tables.table(f"SELECT {shown} FROM {self._rows(plan)}")

    def _held(self, side: int, plan: RandomRows, windows: str = "") -> str:
        """The rows of a stream or relation that are valid in the slice, with numbers."""
        query, kinds = self.query, self.rows.types(plan)
        names, found = columns(len(kinds)), self.tables.called()
        own = _variable(plan, f"c{len(kinds)}", f"c{len(kinds) + 1}")
        rows = f"SELECT {listed(names, own, 'b', 'e', 'b AS s')} FROM {self.rows.arriving(plan.input)}"
        if not query.parts or self._join is not None:
            # What ends with the frontier has not ended before it: what follows its last window is not known.
            valid = f"r.e >= {UNTIL} AND NOT {ENDED}" if self._final and not query.parts else f"r.e > {UNTIL}"
            since, going = "r.s" if self._final else UNTIL, ""
            if self._final and windows:
                since = f"COALESCE(g.b, {UNTIL})"
                since = f"CASE WHEN r.blank THEN {UNTIL} ELSE {since} END" if self._blank_facts else since
                going = f" LEFT JOIN (SELECT id, b FROM {windows} WHERE e = {UNTIL}) g ON r.id = g.id"
            kept = listed(columns(len(kinds), "r."), "r.v", "r.p", "r.b", "r.e", f"{since} AS s")
            types = [("v", VARCHAR), ("p", DOUBLE), ("b", BIGINT), ("e", BIGINT), ("s", BIGINT)]
            state = [*zip(places(len(kinds)), kinds, strict=True), *types]
            before = self.tables.state(state, f"SELECT {kept} FROM {found} r{going} WHERE {valid}")
            if self._final and not query.parts:
                self.open.append(f"SELECT s AS b FROM {before}")
            rows = f"SELECT * FROM {before} UNION ALL {rows}"
        shown = f"row_number() OVER () AS id, *, {self._blank(side)} AS blank"
        self.tables.steps.append(self.tables.step(f"SELECT {shown} FROM ({rows})", found))
        return found

    def _blank(self, side: int) -> str:
        """Whether a row has no values."""
        if self.query.derived:
            return "false"
        return " AND ".join(f"c{n} IS NULL" for n in self.query.blanks[side]) or "true"

    def _whole(self, rows: str) -> str:
        """Windows whose whole time is known: as soon as it is, once it has ended, or the part in the slice."""
        if self.query.parts:
            return f"(SELECT * FROM {rows} WHERE b >= {SINCE})"
        if self._final:
            return f"(SELECT * FROM {rows} WHERE {self._told})"
        return f"(SELECT * REPLACE ({CLIPPED}) FROM {rows} WHERE {WITHIN})"

    # --- joins --------------------------------------------------------------------------------------------------------

    @property
    def _blank_facts(self) -> bool:
        """Whether rows of either side without any value, and without a match, are one fact: those of a full join."""
        return not self.query.derived and self._join is not None and self._join.kind == "full"

    def _joined(self, join: SliceJoin) -> list[str]:
        wanted = WINDOWS[join.kind]
        outer = join.kind != "anti" and not self.query.derived
        windows = [self.tables.called() if one else "" for one in wanted]
        sides = [self._side(n, side, windows[n]) for n, side in enumerate((join.left, join.right))]
        pairs = self.tables.table(f"SELECT * FROM {self.rows.pairs(join, sides[0], sides[1], _OF_PAIR)}")
        # A match without any value is the same fact as none: it counts into the windows of the other side.
        folded = ["r_blank" if outer and wanted[0] else "false", "l_blank" if outer and wanted[1] else "false"]
        found = [] if join.kind == "anti" else [self._overlapping(join, pairs, folded)]
        for side in (0, 1):
            if wanted[side]:
                self._padded(side, sides[side], pairs, folded[side], windows[side])
                found.append(self._beside(join, side, sides[side], windows[side]))
        if self._blank_facts:
            found.append(self._without_values(join, sides, windows))
        return found

    def _overlapping(self, join: SliceJoin, pairs: str, folded: Sequence[str]) -> str:
        names = columns(width(join.left) + width(join.right))
        rows = self._whole(f"(SELECT * FROM {pairs} WHERE NOT ({' OR '.join(folded)}))")
        if self.query.independent:
            both = "least(l_v, r_v) || ' & ' || greatest(l_v, r_v) AS l"
            return f"SELECT {names}, b, e, {both}, l_p * r_p AS p FROM {rows}"
        found = self.tables.table(f"SELECT row_number() OVER () AS id, * FROM {rows}")
        match = "[{v: r_v, p: r_p, blank: false}] AS matches"
        lineages = self._formulas(f"SELECT id, b, e, l_v AS v, l_p AS p, {match} FROM {found}", _of_pair)
        return f"SELECT {names}, f.b, f.e, w.l, NULL AS p FROM {found} f JOIN {lineages} w ON f.id = w.id"

    def _padded(self, side: int, rows: str, pairs: str, folded: str, found: str) -> None:
        """Unmatched and negating windows of a side's rows, as numbers, periods, lineages and if they are possible."""
        own, other = "lr"[side], "rl"[side]
        begin = f"CASE WHEN b < {SINCE} THEN {own}_s ELSE b END"  # since then all that began before are its matches
        match = f"{begin} AS b, least(e, {UNTIL}) AS e, {other}_v AS v, {other}_p AS p, {folded} AS blank"
        matches = self.tables.table(f"SELECT * FROM (SELECT {own}_id AS id, {match} FROM {pairs}) WHERE b < e")
        parts = f"SELECT id, s AS b, least(e, {UNTIL}) AS e FROM {rows} WHERE s < least(e, {UNTIL})"
        points = f"SELECT DISTINCT id, unnest([b, e]) AS t FROM (SELECT id, b, e FROM {matches} UNION ALL {parts})"
        spans = f"SELECT id, t AS b, lead(t) OVER (PARTITION BY id ORDER BY t) AS e FROM ({points})"
        covered = f"LEFT JOIN {matches} m ON m.id = s.id AND m.b < s.e AND s.b < m.e WHERE s.e IS NOT NULL"
        listed = "list_sort(list({v: m.v, p: m.p, blank: m.blank}) FILTER (m.v IS NOT NULL)) AS matches"
        segments = self.tables.table(f"SELECT s.id, s.b, s.e, {listed} FROM ({spans}) s {covered} GROUP BY ALL")
        segments = f"(SELECT g.*, r.v, r.p FROM {segments} g JOIN {rows} r ON g.id = r.id)"
        several = "'(' || array_to_string(list_transform(matches, lambda m: m.v), ' | ') || ')'"
        others = f"' & !' || CASE len(matches) WHEN 1 THEN matches[1].v ELSE {several} END"
        none = "COALESCE(list_product(list_transform(matches, lambda m: 1 - m.p)), 1)"
        certain = "COALESCE(list_contains(list_transform(matches, lambda m: m.p), 1.0), false)"
        made = f"v || COALESCE({others}, '') AS l, p * {none} AS p, NOT {certain} AS possible"
        written = f"SELECT id, b, e, {made} FROM {segments}"
        independent, such = self.query.independent, "true"
        if independent:
            some = [f"SELECT id FROM {one} WHERE blank" for one in (matches, rows)[: 1 + self._blank_facts]]
            such = f"id IN ({' UNION ALL '.join(some)})"
        if not independent or folded != "false":
            formulas = self._formulas(
                f"SELECT * FROM {segments} WHERE {such}", lambda row, valid: padded(row, independent, valid)
            )
            written += f" WHERE NOT {such} UNION ALL SELECT id, b, e, l, NULL, true FROM {formulas}"
        self.tables.steps.append(self.tables.step(written, found))

    def _beside(self, join: SliceJoin, side: int, rows: str, windows: str) -> str:
        """Rows of a side without a match, or with one that is negated."""
        by, more = width(join.left), width(join.right)
        shown = [f"r.c{n}" for n in range(by)] if side == 0 else [f"NULL AS c{n}" for n in range(by)]
        if join.kind != "anti":
            shown += [f"r.c{n} AS c{by + n}" if side else f"NULL AS c{by + n}" for n in range(more)]
        there = " AND NOT r.blank" if self._blank_facts else ""
        told = f"(SELECT * FROM {windows} WHERE possible AND {self._told})"
        return f"SELECT {listed(*shown, 'w.b', 'w.e', 'w.l', 'w.p')} FROM {told} w JOIN {rows} r ON w.id = r.id{there}"

    def _without_values(self, join: SliceJoin, sides: Sequence[str], windows: Sequence[str]) -> str:
        """Rows without any value on either side are one fact."""
        both = zip(sides, windows, strict=True)
        parts = (
            f"SELECT w.b, w.e, w.l, w.p FROM {own} w JOIN {rows} r ON w.id = r.id AND r.blank" for rows, own in both
        )
        nothing = (f"NULL AS c{n}" for n in range(width(join.left) + width(join.right)))
        return f"SELECT {listed(*nothing, *_CARRIED)} FROM {self._facts(list(parts), ())}"

    def _facts(self, rows: Sequence[str], kinds: Sequence[str]) -> str:
        """Each fact, with values of these types, once at a time: its lineage is the disjunction of its rows'."""
        found, told = self.tables.called(), "true"
        if self.query.final:
            before = self.tables.state(_facts_of(kinds), f"SELECT * FROM {found} WHERE e = {UNTIL} AND NOT {ENDED}")
            rows, told = [f"SELECT * FROM {before}", *rows], f"e < {UNTIL} OR {ENDED}"
            if self.query.derived:
                self.open.append(f"SELECT b FROM {before}")
        self._combined([f"SELECT *, false AS side FROM ({one})" for one in rows], found, kinds, any_of)
        return f"(SELECT * FROM {found} WHERE {told})"

    def _combined(self, rows: Sequence[str], found: str, kinds: Sequence[str], combined: Combined) -> None:
        """Make a table with each fact once at a time, of rows that are marked if they are of a right side."""
        parts = self.tables.table(" UNION ALL ".join(rows))
        self.tables.steps.append(partial(self._derive, parts, found, _facts_of(kinds), combined))

    def _groups(self, plan: SliceGroup, numbered: str, found: str) -> None:
        """Add the statements for the aggregates of each group's rows."""
        limits, made = self._limits, list[list[object]]()
        keys = [as_decimal(*one) for one in zip(places(plan.keys), self.rows.types(plan), strict=False)]
        if self.tables.session.size(numbered):
            own = (
                f"{'NULL' if one.column is None else f'c{one.column}'} AS v{n}" for n, one in enumerate(plan.aggregates)
            )
            shown = listed("g", "b", "e", "l", "p", *own, *keys)
            rows = self.tables.session.read(f"SELECT {shown} FROM {numbered} ORDER BY g, b").to_pylist()
            for number, mine in groupby(rows, key=itemgetter("g")):
                one, members = {}, list[Member]()
                for one in mine:
                    values = [one[f"v{n}"] for n in range(len(plan.aggregates))]
                    members.append(Member(one["b"], one["e"], formula_of(one["l"], one["p"]), values))
                fact = [one[name] for name in places(plan.keys)]
                given = lambda error, b, e, fact=fact: limits.error(error, fact, b, e)  # noqa: E731
                for row in of_group(members, plan.aggregates, limits.nodes, given):
                    made.append([number, *row.values, row.begin, row.end, encoded(row.lineage)])
        kinds = ((f"v{n}", DOUBLE if one.result == "double" else BIGINT) for n, one in enumerate(plan.aggregates))
        self._put(found, [("g", BIGINT), *kinds, *_WINDOW[1:]], made)

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _formulas(self, source: str, lineage: LineageOf) -> str:
        """Lineages as formulas; neighbours of one number with the same one are one window."""
        rows, found = self.tables.table(source), self.tables.called()
        self.tables.steps.append(partial(self._make, rows, found, lineage))
        return found

    def _make(self, rows: str, found: str, lineage: LineageOf) -> None:
        made = list[list[object]]()
        last, ends = FALSE, (0, 0)
        if self.tables.session.size(rows):
            for one in self.tables.session.read(f"SELECT * FROM {rows} ORDER BY id, b").to_pylist():
                matches = one["matches"] or ()
                valid = [Valid(0, 0, formula_of(match["v"], match["p"]), match["blank"]) for match in matches]
                formula = lineage(formula_of(one["v"], one["p"]), valid)
                if formula is FALSE:
                    continue
                if made and formula == last and ends == (one["id"], one["b"]):
                    made[-1][2] = one["e"]
                else:
                    made.append([one["id"], one["b"], one["e"], encoded(formula)])
                last, ends = formula, (one["id"], one["e"])
        self._put(found, _WINDOW, made)

    def _derive(self, parts: str, found: str, known: Sequence[tuple[str, str]], combined: Combined) -> None:
        """One lineage of those that hold together; neighbours that are equivalent are one."""
        import pyarrow as pa

        session, made = self.tables.session, list[pa.RecordBatch]()
        names = [name for name, _ in known]
        *fact, _, _, _, _ = names
        if session.size(parts):
            own = zip(names[len(fact) :], (BEGIN, END, LINEAGE, P), strict=True)
            shown = listed(
                *(as_decimal(*one) for one in known[: len(fact)]), *(f"{name} AS {word}" for name, word in own),
                f"side AS {SIDE}",
            )  # fmt: skip
            rows = session.read(f"SELECT {shown} FROM {parts} ORDER BY {listed(*fact, 'b')}")
            made += derivations(fact, self._limits, iter(rows.to_batches()), combined)
        session.put(found, known, pa.Table.from_batches(made).rename_columns(names) if made else None)

    # --- results ------------------------------------------------------------------------------------------------------

    def _given(self, rows: str, kinds: Sequence[str]) -> str:
        """Rows with texts and probabilities, at least ``p`` and at most ``q``, without those of no possible world."""
        numbered = self.tables.table(f"SELECT row_number() OVER () AS id, * FROM {rows}")
        found = self.tables.called()
        self.tables.steps.append(partial(self._chances, numbered, found, kinds))
        own = (f"COALESCE(f.{name}, CAST(format('{{:.15g}}', n.p) AS DOUBLE)) AS {name}" for name in "pq")
        shown = listed(columns(len(kinds)), "b", "e", "COALESCE(f.l, n.l) AS l", *own)  # as `probability.decimal`
        there = "n.p IS NOT NULL OR f.p IS NOT NULL"
        return f"(SELECT {shown} FROM {numbered} n LEFT JOIN {found} f ON n.id = f.id WHERE {there})"

    def _chances(self, rows: str, found: str, kinds: Sequence[str]) -> None:
        made, limits = list[tuple[object, ...]](), self._limits
        if self.tables.session.size(rows):
            fact = [as_decimal(*one) for one in zip(places(len(kinds)), kinds, strict=True)]
            shown = listed("id", "b", "e", "l", *fact)
            for one in self.tables.session.read(f"SELECT {shown} FROM {rows} WHERE p IS NULL").to_pylist():
                formula = decoded(one["l"])
                try:
                    p = chances(formula, limits.nodes, limits.bounds)
                except LineageTooLargeError as error:
                    values = [one[name] for name in places(len(kinds))]
                    raise limits.error(error, values, integer(one["b"]), integer(one["e"]), OR_BOUNDS) from error
                if p is not None:
                    made.append((one["id"], formula.text, *p))
        self._put(found, [("id", BIGINT), ("l", VARCHAR), ("p", DOUBLE), ("q", DOUBLE)], made)

    def _put(self, found: str, known: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> None:
        import pyarrow as pa

        given = zip(known, zip(*rows, strict=True), strict=True) if rows else ()
        columns = {name: pa.array(values, arrow_type(kind)) for (name, kind), values in given}
        self.tables.session.put(found, known, pa.table(columns) if rows else None)


def _of_facts(plan: SlicePlan) -> Iterator[SlicePlan]:
    """An operator and those under it, down to the rows that have lineages of their own."""
    yield plan
    if not isinstance(plan, RandomRows | LineageRows):
        for part in inputs_of(plan):
            yield from _of_facts(part)


def _facts_of(kinds: Sequence[str]) -> list[tuple[str, str]]:
    """The columns of facts whose values have these types."""
    return [*zip(places(len(kinds)), kinds, strict=True), *_WINDOW[1:], ("p", DOUBLE)]


def _of_pair(row: Formula, valid: Sequence[Valid]) -> Formula:
    return paired(row, valid[0].lineage, independent=False)


def _variable(rows: RandomRows, key: str, p: str) -> str:
    """The name of a row's variable and its probability, from the columns of its key and of that."""
    return f"{variable_sql(rows.relation, key, rows.key)} AS v, {chance_sql(p, rows.probability)} AS p"


def variable_sql(relation: str, key: str, kind: str) -> str:
    """The name of the variable of a row, as `lineage.formulas.variable_name` has it."""
    text = key_sql(key, kind)
    escaped = f"""'"' || replace({text}, '"', '""') || '"'"""
    name = f"CASE WHEN regexp_full_match({text}, '[A-Za-z0-9_]+') THEN {text} ELSE {escaped} END"
    prefix = quoted(relation).replace("'", "''")
    return f"'{prefix}.' || {name}"


def key_sql(key: str, kind: str) -> str:
    """The text that Spark casts a key of a type to, in UTC; of floating point none, which depends on Java's version."""
    found = sql_type(kind)
    match found.family:
        case "boolean":
            return f"CASE WHEN {key} THEN 'true' ELSE 'false' END"
        case "date":
            return f"CAST(DATE '1970-01-01' + CAST({key} AS INT) AS VARCHAR)"
        case "timestamp":
            return f"CAST(make_timestamp({key}) AS VARCHAR)"
        case "decimal" if found.scale:
            one, whole = 10**found.scale, f"abs({key})"
            digits = f"lpad(CAST({whole} % {one} AS VARCHAR), {found.scale}, '0')"
            return f"CASE WHEN {key} < 0 THEN '-' ELSE '' END || {whole} // {one} || '.' || {digits}"
    return f"CAST({key} AS VARCHAR)"


def chance_sql(p: str, kind: str) -> str:
    """The probability that a column of a type has, by its shortest decimal text."""
    if kind.startswith("decimal("):
        return f"CAST({p} || 'e-{sql_type(kind).scale}' AS DOUBLE)"
    return f"CAST(CAST(CAST({p} AS FLOAT) AS VARCHAR) AS DOUBLE)" if kind == "float" else p
